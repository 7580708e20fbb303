#pragma once

#include <deque>
#include <utility>
#include <vector>

namespace trilemma {

/// Objects that are used again and again and never move: `take()` hands out an idle one as it was left, or a new one.
template <class T>
class ObjectPool {
 public:
  /// `make` returns a T; called only when none is idle.
  template <class Make>
  T& take(Make&& make) {
    if (idle_.empty()) return objects_.emplace_back(std::forward<Make>(make)());
    T& object = *idle_.back();
    idle_.pop_back();
    return object;
  }
  void give_back(T& object) { idle_.push_back(&object); }

 private:
  std::deque<T> objects_;
  std::vector<T*> idle_;
};

}  // namespace trilemma
