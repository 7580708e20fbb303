#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

/// Physical quantities as types. A quantity is built explicitly from a number in its base unit (named beside each
/// alias), added and scaled freely, and turned into another quantity only by the named laws at the end of this file.
namespace trilemma {

/// Simulated time: integer nanoseconds, so that sums of stages are exact. Range +-292 years.
using Duration = std::chrono::nanoseconds;
/// Time since the start of a run.
using Instant = Duration;

using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

template <class Unit, class Representation = double>
class Quantity {
 public:
  using Rep = Representation;

  constexpr Quantity() = default;
  explicit constexpr Quantity(Rep value) : value_(value) {}

  /// The number in the base unit.
  [[nodiscard]] constexpr Rep value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.value_ / divisor); }
  /// Ratio of two like quantities.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct ByteUnit, std::int64_t>;     // bytes (8 bits)
using Tokens = Quantity<struct TokenUnit, std::int64_t>;   // tokens of the language model
using BitRate = Quantity<struct BitRateUnit>;              // bit/s
using ByteRate = Quantity<struct ByteRateUnit>;            // B/s, of memories
using Operations = Quantity<struct OperationUnit>;         // arithmetic operations (one multiply-add is two)
using OperationRate = Quantity<struct OperationRateUnit>;  // operations per second
using Frequency = Quantity<struct FrequencyUnit>;          // Hz
using EventRate = Quantity<struct EventRateUnit>;          // events per second, written '2 /s'
using Decibels = Quantity<struct DecibelUnit>;             // dB, a power ratio
using PowerLevel = Quantity<struct PowerLevelUnit>;        // dBm, an absolute power
using Watts = Quantity<struct WattUnit>;                   // W
using Joules = Quantity<struct JouleUnit>;                 // J
using Metres = Quantity<struct MetreUnit>;                 // m
using Speed = Quantity<struct SpeedUnit>;                  // m/s, of bodies, written '3 km/h'
using Fraction = Quantity<struct FractionUnit>;            // 1 = 100 %, written '99.9 %'

// ---- Laws between units -------------------------------------------------------------------------------------------

/// The only door from floating-point seconds to simulated time; rounds up to the next nanosecond, so that no latency
/// is ever understated. Requires seconds >= 0. This and the quotients below throw OutOfRange for more than 30 years.
Duration to_duration(long double seconds);
/// Seconds as a floating-point number, for statistics and output only.
constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }
constexpr double to_milliseconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-6; }

/// Serialisation time of `size` at `rate` > 0: 8 size / rate, rounded up.
Duration operator/(Bytes size, BitRate rate);
/// Time to stream `size` from a memory of bandwidth `rate` > 0, rounded up.
Duration operator/(Bytes size, ByteRate rate);
/// Time of `work` at `rate` > 0, rounded up.
Duration operator/(Operations work, OperationRate rate);
/// Time to cover `way` at `speed` > 0, rounded up.
Duration operator/(Metres way, Speed speed);
/// Way covered in a time.
constexpr Metres operator*(Speed speed, Duration duration) { return Metres(speed.value() * to_seconds(duration)); }
/// 1 km/h is 5/18 m/s; whole numbers give the double nearest to the true value, as their text does.
constexpr Speed kilometres_per_hour(double number) { return Speed(number * 5 / 18); }
/// Mean distance between events at `rate` > 0, rounded up.
Duration period(EventRate rate);
/// Energy of a constant power.
constexpr Joules operator*(Watts power, Duration duration) { return Joules(power.value() * to_seconds(duration)); }

/// 10^(x/10) and its inverse.
double linear(Decibels ratio);
Decibels decibels(double ratio);

/// Levels in dBm and gains in dB.
constexpr PowerLevel operator+(PowerLevel level, Decibels gain) { return PowerLevel(level.value() + gain.value()); }
constexpr PowerLevel operator-(PowerLevel level, Decibels loss) { return PowerLevel(level.value() - loss.value()); }
constexpr Decibels ratio(PowerLevel a, PowerLevel b) { return Decibels(a.value() - b.value()); }
/// Thermal noise of `bandwidth` at 290 K: -174 dBm/Hz + 10 lg(bandwidth / Hz).
PowerLevel thermal_noise(Frequency bandwidth);

}  // namespace trilemma
