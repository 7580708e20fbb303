#pragma once

#include <cstdint>
#include <optional>

#include "core/units.h"

/// Bounds on a probability from k hits in n trials, by the exact binomial law (Clopper and Pearson, Biometrika 1934).
///
/// ASSUMPTION: the trials are independent and alike. Requests of one run are correlated (they share queues and
/// channels), which makes these bounds too narrow: count hits of independent replications, or reduce n to the effective
/// number of requests first.
///
/// Everywhere: k <= n, and 0 < confidence < 1. `confidence` is taken as the decimal number it was written as.
namespace trilemma {

struct Interval {
  double lower;
  double upper;
};

/// 1 - fraction, without the rounding noise of binary arithmetic: the nearest number to the exact decimal difference,
/// 1e-5 for 0.99999. Requires 0 <= fraction <= 1 with at most 15 decimals (further ones are rounded away).
double complement(Fraction fraction);

/// Two-sided interval: each side may err with probability (1 - confidence) / 2. [0, 1] for n = 0.
Interval clopper_pearson(std::uint64_t k, std::uint64_t n, double confidence = 0.95);
/// One-sided bounds: the whole 1 - confidence on one side. 1 and 0 when the data exclude nothing.
double upper_bound(std::uint64_t k, std::uint64_t n, double confidence = 0.95);
double lower_bound(std::uint64_t k, std::uint64_t n, double confidence = 0.95);

/// What n trials with k hits say about "the probability is at most `allowed`".
enum class BoundSide { below, above, unknown };

/// below: the one-sided upper bound is <= allowed; above: the one-sided lower bound is > allowed. Decided by the
/// binomial probability itself, P(Bin(n, allowed) <= k) <= 1 - confidence, and not by comparing a root found
/// numerically, so that it is right to the last request. Requires 0 <= allowed < 1.
BoundSide side_of(std::uint64_t k, std::uint64_t n, double allowed, double confidence = 0.95);

/// Smallest n whose trials without any hit show that the probability is at most `allowed`:
/// (1 - allowed)^n <= 1 - confidence. 299,572 for 1e-5 at 95 %. Requires 0 < allowed < 1.
std::uint64_t requests_for_zero_violations(double allowed, double confidence = 0.95);

/// How many requests more would decide on which side of `allowed` the probability is, if the observed fraction k/n
/// persisted (hits grow in proportion and may be fractional on the way); 0 when it is decided already. Without any
/// trial the fraction is taken to be zero. Empty when it never decides (the fraction equals the bound) or not within
/// 1e12 requests, more than can be simulated. Requires 0 <= allowed < 1.
std::optional<std::uint64_t> more_requests_to_decide(std::uint64_t k, std::uint64_t n, double allowed,
                                                     double confidence = 0.95);

}  // namespace trilemma
