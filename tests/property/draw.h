#pragma once

#include <cmath>
#include <initializer_list>

#include "core/random.h"

namespace trilemma::test {

/// Values for test cases; the same master seed and number give the same values on every machine.
class Draw {
 public:
  Draw(std::uint32_t master_seed, std::uint32_t number) : rng_(Streams(master_seed, number).stream("draw")) {}

  double real(double low, double high) { return low + rng_.uniform() * (high - low); }
  /// Each order of magnitude is as likely as the next; low > 0.
  double magnitude(double low, double high) { return std::exp(real(std::log(low), std::log(high))); }
  /// low to high, both included.
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + rng_.uniform(Duration(high - low + 1)).count();
  }
  bool chance(double probability) { return rng_.happens(probability); }
  /// A time of whole nanoseconds, by magnitude.
  Duration time(Duration low, Duration high) {
    return Duration(std::llround(magnitude(static_cast<double>(low.count()), static_cast<double>(high.count()))));
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[whole(0, static_cast<std::int64_t>(choices.size()) - 1)];
  }

 private:
  Rng rng_;
};

}  // namespace trilemma::test
