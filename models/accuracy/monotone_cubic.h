#pragma once

#include <vector>

namespace trilemma {

/// A point that a curve goes through.
struct Knot {
  double x;
  double y;
};

/// Piecewise cubic Hermite interpolation without overshoot: between two knots the value lies between theirs, and the
/// curve rises and falls only where the knots do. Fritsch and Carlson, SIAM J. Numer. Anal. 17(2), 1980; inner slopes
/// of Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5(2), 1984: the weighted harmonic mean of the neighbours' slopes.
/// Exact at the knots. Requires at least two knots, x ascending, and `x` within them.
double monotone_cubic(const std::vector<Knot>& knots, double x);

}  // namespace trilemma
