#include "models/radio/beam.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trilemma {
namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr double peak_dbi = 8;

/// Field gain of an element towards a wave `sideways` radians off its axis, at `zenith` (TR 38.901 table 7.3-1: both
/// planes 12 (angle / 65 degrees)^2, together at most 30 dB below the peak).
double field_gain(ElementPattern pattern, double sideways, double zenith) {
  if (pattern == ElementPattern::isotropic) return 1;
  const auto loss = [](double angle) { return std::min(12 * (angle / 65) * (angle / 65), 30.0); };
  const double horizontal = std::remainder(sideways, 2 * std::numbers::pi) * degrees;
  const double total = std::min(loss(horizontal) + loss(zenith * degrees - 90), 30.0);
  return std::pow(10, (peak_dbi - total) / 20);
}

/// sum over k < n of exp(j k x) is dirichlet(n, x) exp(j (n - 1) x / 2).
double dirichlet(std::int64_t n, double x) {
  const double half = x / 2;
  const double below = std::sin(half);
  if (std::abs(below) < 1e-9) {  // x is a multiple of 2 pi, where terms are in phase; their middle may have turned
    const bool turned = (n % 2 == 0) && std::cos(half) < 0;
    return static_cast<double>(turned ? -n : n);
  }
  return std::sin(static_cast<double>(n) * half) / below;
}

double column_phase(double facing, WaveAngles wave) {
  return std::numbers::pi * std::sin(wave.zenith) * std::sin(wave.azimuth - facing);
}

double row_phase(WaveAngles wave) { return std::numbers::pi * std::cos(wave.zenith); }

}  // namespace

Beam::Beam(const ArrayConfig& array, double facing, WaveAngles target)
    : array_(array), facing_(facing), row_phase_(row_phase(target)), column_phase_(column_phase(facing, target)) {}

Response Beam::response(WaveAngles wave) const {
  const double rows = row_phase(wave) - row_phase_;
  const double columns = column_phase(facing_, wave) - column_phase_;
  const auto elements = static_cast<double>(array_.rows * array_.columns);
  const double in_phase = dirichlet(array_.rows, rows) * dirichlet(array_.columns, columns) / std::sqrt(elements);
  return {
      .amplitude = in_phase * field_gain(array_.element, wave.azimuth - facing_, wave.zenith),
      .phase = (static_cast<double>(array_.rows - 1) * rows + static_cast<double>(array_.columns - 1) * columns) / 2};
}

double Beam::ideal_gain() const {
  const double field = field_gain(array_.element, 0, std::numbers::pi / 2);
  return static_cast<double>(array_.rows * array_.columns) * field * field;
}

}  // namespace trilemma
