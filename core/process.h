#pragma once

#include <coroutine>
#include <cstddef>

#include "core/scheduler.h"

namespace trilemma {

/// A process is on its scheduler's list while it is alive, so that a run cut short leaks nothing.
class ProcessLink {
 public:
  explicit ProcessLink(Scheduler& scheduler);
  ~ProcessLink();
  ProcessLink(const ProcessLink&) = delete;
  ProcessLink& operator=(const ProcessLink&) = delete;

  static void destroy_all(Scheduler& scheduler);

 protected:
  /// The coroutine that destroy_all() destroys.
  void belongs_to(std::coroutine_handle<> coroutine) { coroutine_ = coroutine; }

 private:
  Scheduler& scheduler_;
  ProcessLink* previous_ = nullptr;
  ProcessLink* next_ = nullptr;
  std::coroutine_handle<> coroutine_;
};

/// Something one process waits for and another one does, once.
class Signal {
 public:
  void fire() {
    fired_ = true;
    if (waiting_) waiting_();
  }
  [[nodiscard]] bool await_ready() const { return fired_; }
  void await_suspend(std::coroutine_handle<> waiting) { waiting_ = Action::resume(waiting); }
  void await_resume() const {}

 private:
  bool fired_ = false;
  Action waiting_;
};

/// A coroutine that starts at once and destroys itself when it ends. Its first parameter is a Scheduler& or an object
/// with `Scheduler& scheduler()`; everything it refers to outlives it. Exceptions come out of Scheduler::run().
class Process {
 public:
  class promise_type : public ProcessLink {
   public:
    template <class First, class... Rest>
    explicit promise_type(First& first, Rest&... /*rest*/) : ProcessLink(scheduler_of(first)) {
      belongs_to(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static Process get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] static void unhandled_exception() { throw; }

    template <class First, class... Rest>
    static void* operator new(std::size_t size, First& first, Rest&... /*rest*/) {
      return scheduler_of(first).memory().take(size);
    }
    static void operator delete(void* frame) noexcept { BlockPool::give_back(frame); }

   private:
    static Scheduler& scheduler_of(Scheduler& scheduler) { return scheduler; }
    template <class T>
    static Scheduler& scheduler_of(T& owner) {
      return owner.scheduler();
    }
  };
};

}  // namespace trilemma
