#include "models/radio/antenna.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr double radian = 180 / std::numbers::pi;  // degrees

Bearing unit(double x, double y, double z) {
  const double length = std::hypot(x, y, z);
  TRILEMMA_ENSURE(length > 0, "a direction needs two places that differ");
  return {.x = x / length, .y = y / length, .z = z / length};
}

double dot(const Bearing& a, const Bearing& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// |F(n, d)|^2: power in the direction `offset` (difference of direction cosines) over that of the beam.
double array_factor(std::int64_t elements, double offset) {
  const double half_phase = std::numbers::pi * offset / 2;
  const double denominator = static_cast<double>(elements) * std::sin(half_phase);
  if (std::abs(denominator) < 1e-9) return 1;  // the beam itself, or a grating lobe at its edge
  const double factor = std::sin(static_cast<double>(elements) * half_phase) / denominator;
  return factor * factor;
}

/// A_EdB of table 7.3-1, one plane: parabola of 65 degrees at 3 dB, at most 30 dB.
double attenuation(double degrees) { return std::min(12 * (degrees / 65) * (degrees / 65), 30.0); }

constexpr double element_peak = 8;  // dBi

}  // namespace

Bearing bearing(Degrees zenith, Degrees azimuth) {
  const double ground = std::sin(zenith.value() / radian);
  return {.x = ground * std::cos(azimuth.value() / radian),
          .y = ground * std::sin(azimuth.value() / radian),
          .z = std::cos(zenith.value() / radian)};
}

Bearing bearing(const Position& from, const Position& to) {
  return unit((to.x - from.x).value(), (to.y - from.y).value(), (to.z - from.z).value());
}

Bearing level_bearing(const Position& from, const Position& to) {
  return unit((to.x - from.x).value(), (to.y - from.y).value(), 0);
}

Decibels element_gain(ElementPattern pattern, const Bearing& toward) {
  if (pattern == ElementPattern::isotropic) return Decibels(0);
  const double zenith = std::acos(std::clamp(toward.z, -1.0, 1.0)) * radian;
  const double azimuth = std::atan2(toward.y, toward.x) * radian;
  return Decibels(element_peak - std::min(attenuation(zenith - 90) + attenuation(azimuth), 30.0));
}

Decibels peak_gain(const ArrayConfig& array) {
  const Decibels element(array.element == ElementPattern::isotropic ? 0 : element_peak);
  return element + decibels(static_cast<double>(array.rows * array.columns));
}

Antenna::Antenna(const ArrayConfig& array, const Bearing& boresight) : array_(array), front_(boresight) {
  const double ground = std::hypot(boresight.x, boresight.y);
  // An array that faces straight up or down has no level side of its own: y will do.
  side_ = ground > 1e-9 ? Bearing{.x = -boresight.y / ground, .y = boresight.x / ground, .z = 0}
                        : Bearing{.x = 0, .y = 1, .z = 0};
  up_ = {.x = front_.y * side_.z - front_.z * side_.y,
         .y = front_.z * side_.x - front_.x * side_.z,
         .z = front_.x * side_.y - front_.y * side_.x};
}

Bearing Antenna::local(const Bearing& global) const {
  return {.x = dot(global, front_), .y = dot(global, side_), .z = dot(global, up_)};
}

Decibels Antenna::gain(const Bearing& beam, const Bearing& toward) const {
  const Bearing steered = local(beam);
  const Bearing seen = local(toward);
  const double factor =
      array_factor(array_.rows, seen.z - steered.z) * array_factor(array_.columns, seen.y - steered.y);
  return element_gain(array_.element, seen) + decibels(static_cast<double>(array_.rows * array_.columns) * factor);
}

}  // namespace trilemma
