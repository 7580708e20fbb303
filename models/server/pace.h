#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"

namespace trilemma {

/// Thermal throttling in two levels. Heat rises by 1 in `onset` of work and falls by 1 in `recovery` of rest, between 0
/// and 1. At 1 the machine becomes `slowdown` times slower, and stays so until it has cooled to 0.
struct ThrottlingConfig {
  Duration onset{180'000'000'000};
  Duration recovery{60'000'000'000};
  double slowdown = 2;

  static constexpr auto fields() {
    using config::field;
    constexpr config::Bounds time{.min = 1e3, .max = 3.6e12};
    return std::tuple{
        field("onset", &ThrottlingConfig::onset, "work without rest after which a cool machine slows down", time),
        field("recovery", &ThrottlingConfig::recovery, "rest after which a hot machine is as fast as before", time),
        field("slowdown", &ThrottlingConfig::slowdown, "factor on the time of work done hot", config::between(1, 100))};
  }
};

/// How long work takes beside what the compute model says: multiplicative log-normal noise of median 1 and standard
/// deviation `spread` of the logarithm, cut at 4 of them, and throttling.
class Pace {
 public:
  /// Largest deviation of the noise in standard deviations: no factor is below exp(-cut spread).
  static constexpr double cut = 4;

  /// Always as the model says.
  Pace() = default;
  Pace(double spread, std::optional<ThrottlingConfig> throttling, Rng noise)
      : spread_(spread), throttling_(throttling), noise_(std::move(noise)) {}

  /// Time of work that starts at `start`, not before the work before it is over.
  [[nodiscard]] Duration stretched(Instant start, Duration work);
  /// No work of `work` takes less.
  [[nodiscard]] static Duration least(Duration work, double spread);

 private:
  [[nodiscard]] Duration throttled(Instant start, Duration work);

  double spread_ = 0;
  std::optional<ThrottlingConfig> throttling_;
  std::optional<Rng> noise_;
  double heat_ = 0;
  bool hot_ = false;
  Instant rest_since_{0};
};

}  // namespace trilemma
