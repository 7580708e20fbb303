#include "models/accuracy/monotone_cubic.h"

#include <algorithm>
#include <cmath>

#include "core/ensure.h"

namespace trilemma {
namespace {

double width(const std::vector<Knot>& knots, std::size_t i) { return knots[i + 1].x - knots[i].x; }
double secant(const std::vector<Knot>& knots, std::size_t i) { return (knots[i + 1].y - knots[i].y) / width(knots, i); }

double inner_slope(const std::vector<Knot>& knots, std::size_t i) {
  const double before = secant(knots, i - 1);
  const double after = secant(knots, i);
  if (before * after <= 0) return 0;
  const double weight_before = 2 * width(knots, i) + width(knots, i - 1);
  const double weight_after = width(knots, i) + 2 * width(knots, i - 1);
  return (weight_before + weight_after) / (weight_before / before + weight_after / after);
}

/// Slope of the parabola through three points, the end of the curve first: its secant, and width and secant of the
/// interval behind. Held where the curve would leave the range of the knots.
double end_slope(double width_end, double secant_end, double width_next, double secant_next) {
  const double slope = ((2 * width_end + width_next) * secant_end - width_end * secant_next) / (width_end + width_next);
  if (slope * secant_end <= 0) return 0;
  if (secant_end * secant_next <= 0 && std::abs(slope) > 3 * std::abs(secant_end)) return 3 * secant_end;
  return slope;
}

double slope(const std::vector<Knot>& knots, std::size_t i) {
  const std::size_t last = knots.size() - 1;
  if (last == 1) return secant(knots, 0);
  if (i == 0) return end_slope(width(knots, 0), secant(knots, 0), width(knots, 1), secant(knots, 1));
  if (i == last)
    return end_slope(width(knots, last - 1), secant(knots, last - 1), width(knots, last - 2), secant(knots, last - 2));
  return inner_slope(knots, i);
}

}  // namespace

double monotone_cubic(const std::vector<Knot>& knots, double x) {
  TRILEMMA_ENSURE(knots.size() >= 2 && knots.front().x <= x && x <= knots.back().x, "x lies within the knots");
  const auto right =
      std::upper_bound(knots.begin() + 1, knots.end() - 1, x, [](double at, const Knot& knot) { return at < knot.x; });
  const auto i = static_cast<std::size_t>(right - knots.begin()) - 1;
  if (x == knots[i + 1].x) return knots[i + 1].y;
  const double left_slope = slope(knots, i);
  const double right_slope = slope(knots, i + 1);
  const double step = x - knots[i].x;
  const double along = step / width(knots, i);
  const double square = 3 * secant(knots, i) - 2 * left_slope - right_slope;
  const double cube = left_slope + right_slope - 2 * secant(knots, i);
  return knots[i].y + step * (left_slope + along * (square + along * cube));
}

}  // namespace trilemma
