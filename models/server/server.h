#pragma once

#include <cstdint>

#include "core/action.h"
#include "core/scheduler.h"
#include "models/server/pace.h"

namespace trilemma {

/// c parallel executors behind one first-come-first-served queue (G/G/c FCFS), never idle while a job waits.
/// `const Served served = co_await server.run(work);` returns when the work is done.
class Server {
 public:
  struct Served {
    Duration waited;  // in the queue
    Duration took;    // the work, at the pace of the machine
  };

  /// Requires executors >= 1, and one executor where the pace remembers (throttling).
  Server(Scheduler& scheduler, std::int64_t executors, Pace pace = {})
      : scheduler_(scheduler), idle_(executors), pace_(std::move(pace)) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  class Job {
   public:
    Job(Server& server, Duration service) : server_(server), service_(service) {}
    [[nodiscard]] static bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      done_ = Action::resume(waiting);
      server_.enter(*this);
    }
    [[nodiscard]] Served await_resume() const { return {.waited = started_ - arrived_, .took = service_}; }

   private:
    friend class Server;
    void finish() { server_.leave(*this); }

    Server& server_;
    Duration service_;
    Instant arrived_{0};
    Instant started_{0};
    Action done_;
    Job* next_ = nullptr;
  };

  Job run(Duration service) { return {*this, service}; }

  /// Total time of the jobs finished so far.
  [[nodiscard]] Duration busy() const { return busy_; }
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }

 private:
  void enter(Job& job);
  void start(Job& job);
  void leave(Job& job);

  Scheduler& scheduler_;
  std::int64_t idle_;
  Pace pace_;
  std::int64_t waiting_ = 0;
  Job* first_ = nullptr;  // the queue is threaded through the jobs: no memory of its own
  Job* last_ = nullptr;
  Duration busy_{0};
};

}  // namespace trilemma
