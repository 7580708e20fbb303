#include "models/accuracy/monotone_cubic.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/property/draw.h"

namespace trilemma::test {
namespace {

TEST(MonotoneCubic, OfTwoKnotsIsALine) { EXPECT_DOUBLE_EQ(monotone_cubic({{2, 10}, {4, 20}}, 2.5), 12.5); }

// Secants 1 and 7 of equal widths: the harmonic mean 2 / (1/1 + 1/7) = 7/4 in the middle. At the left end the parabola
// has (3 1 - 7) / 2 = -2, against the secant, so 0. A Hermite cubic of width 1 has (y0 + y1) / 2 + (d0 - d1) / 8 half
// way: 1/2 - 7/32. At the right end the parabola has (3 7 - 1) / 2 = 10: (1 + 8) / 2 + (7/4 - 10) / 8.
TEST(MonotoneCubic, HasTheValuesOfItsFormula) {
  const std::vector<Knot> knots{{0, 0}, {1, 1}, {2, 8}};
  EXPECT_DOUBLE_EQ(monotone_cubic(knots, 0.5), 0.5 - 7.0 / 32);
  EXPECT_DOUBLE_EQ(monotone_cubic(knots, 1.5), 4.5 - 33.0 / 32);
}

// Widths 1 and 2 with secants 1 and 2: weights 2 2 + 1 = 5 and 2 + 2 1 = 4, slope 9 / (5/1 + 4/2) = 9/7; at the left
// end ((2 1 + 2) 1 - 1 2) / 3 = 2/3.
TEST(MonotoneCubic, WeighsNeighboursByTheirWidths) {
  EXPECT_DOUBLE_EQ(monotone_cubic({{0, 0}, {1, 1}, {3, 5}}, 0.5), 0.5 + (2.0 / 3 - 9.0 / 7) / 8);
}

// Secants 1 and -10: the parabola at the left end has (3 1 + 10) / 2 = 6.5, held at 3; the peak has slope 0.
TEST(MonotoneCubic, HoldsTheSlopeOfItsEnds) {
  EXPECT_DOUBLE_EQ(monotone_cubic({{0, 0}, {1, 1}, {2, -9}}, 0.5), 0.5 + 3.0 / 8);
}

TEST(MonotoneCubic, OfEqualKnotsIsTheirValue) {
  for (const double x : {6.0, 6.3, 7.0, 7.9}) EXPECT_EQ(monotone_cubic({{6, 37.4}, {7, 37.4}, {8, 37.4}}, x), 37.4);
}

/// Two to eight knots at random distances. Small whole values, so that equal neighbours and peaks are frequent.
std::vector<Knot> random_knots(Draw& draw) {
  std::vector<Knot> knots;
  double x = draw.real(-5, 5);
  for (std::int64_t left = draw.whole(2, 8); left > 0; --left) {
    knots.push_back({.x = x, .y = static_cast<double>(draw.whole(0, 6))});
    x += draw.magnitude(0.01, 10);
  }
  return knots;
}

// Rounding alone may carry a value beyond a knot: a few units in the last place of the largest of them.
constexpr double rounding = 6 * 1e-15;

TEST(MonotoneCubic, IsExactAtKnotsAndBetweenNeighboursElsewhere) {
  for (std::uint32_t number = 0; number < 500; ++number) {
    Draw draw(20261203, number);
    const std::vector<Knot> knots = random_knots(draw);
    for (const Knot& knot : knots) EXPECT_EQ(monotone_cubic(knots, knot.x), knot.y) << number;
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
      const auto [low, high] = std::minmax(knots[i].y, knots[i + 1].y);
      const double y = monotone_cubic(knots, draw.real(knots[i].x, knots[i + 1].x));
      EXPECT_GE(y, low - rounding) << number;
      EXPECT_LE(y, high + rounding) << number;
    }
  }
}

TEST(MonotoneCubic, RisesAndFallsWithTheKnots) {
  for (std::uint32_t number = 0; number < 200; ++number) {
    Draw draw(20261204, number);
    const std::vector<Knot> knots = random_knots(draw);
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
      const double sign = knots[i + 1].y < knots[i].y ? -1 : 1;
      double before = knots[i].y;
      for (int step = 1; step < 20; ++step) {
        const double y = monotone_cubic(knots, knots[i].x + (knots[i + 1].x - knots[i].x) * step / 20);
        EXPECT_GE(sign * (y - before), -rounding) << number;
        before = y;
      }
    }
  }
}

}  // namespace
}  // namespace trilemma::test
