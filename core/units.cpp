#include "core/units.h"

#include <cmath>
#include <limits>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr long double nanoseconds_per_second = 1e9L;
constexpr long double longest = 1e18L;  // ns, 31.7 years: sums of many still fit

/// Multiplying before dividing keeps an exact quotient exact: the 64-bit mantissa holds every product that occurs.
Duration quotient(long double amount, double rate) {
  TRILEMMA_ENSURE(rate > 0, "a rate that divides is positive");
  TRILEMMA_ENSURE(amount >= 0, "an amount of work is not negative");
  const long double nanoseconds = std::ceil(amount * nanoseconds_per_second / static_cast<long double>(rate));
  if (!(nanoseconds < longest)) {
    throw OutOfRange(
        "one step would take more than 30 years of simulated time; check the rates and sizes of the scenario");
  }
  return Duration(static_cast<std::int64_t>(nanoseconds));
}

}  // namespace

Duration to_duration(long double seconds) { return quotient(seconds, 1.0); }

Duration operator/(Bytes size, BitRate rate) {
  return quotient(8.0L * static_cast<long double>(size.value()), rate.value());
}

Duration operator/(Bytes size, ByteRate rate) { return quotient(static_cast<long double>(size.value()), rate.value()); }

Duration operator/(Operations work, OperationRate rate) {
  return quotient(static_cast<long double>(work.value()), rate.value());
}

Duration operator/(Metres way, Speed speed) { return quotient(static_cast<long double>(way.value()), speed.value()); }

Duration period(EventRate rate) { return quotient(1.0L, rate.value()); }

double linear(Decibels ratio) { return std::pow(10.0, ratio.value() / 10.0); }

Decibels decibels(double ratio) { return Decibels(10.0 * std::log10(ratio)); }

PowerLevel thermal_noise(Frequency bandwidth) {
  constexpr double density_dbm_per_hz = -174.0;  // k T at 290 K
  return PowerLevel(density_dbm_per_hz + 10.0 * std::log10(bandwidth.value()));
}

}  // namespace trilemma
