#pragma once

#include <coroutine>

namespace trilemma {

/// What to do when an event happens: a function and the object it works on. Trivially copyable, never allocates.
class Action {
 public:
  constexpr Action() = default;

  /// Calls `object.*Method()`. The object must outlive the event.
  template <auto Method, class Object>
  static Action call(Object& object) {
    return {[](void* self) { (static_cast<Object*>(self)->*Method)(); }, &object};
  }
  /// Resumes a suspended coroutine.
  static Action resume(std::coroutine_handle<> coroutine) {
    return {[](void* address) { std::coroutine_handle<>::from_address(address).resume(); }, coroutine.address()};
  }

  void operator()() const { run_(object_); }
  explicit operator bool() const { return run_ != nullptr; }

 private:
  constexpr Action(void (*run)(void*), void* object) : run_(run), object_(object) {}

  void (*run_)(void*) = nullptr;
  void* object_ = nullptr;
};

}  // namespace trilemma
