#include "analysis/proportion.h"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/beta.hpp>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// P(Bin(n, p) <= k); the beta function continues it to fractional k, 0 <= k <= n.
double at_most(double k, double n, double p) {
  if (k >= n) return 1;
  return boost::math::ibetac(k + 1, n - k, p);
}

/// P(Bin(n, p) >= k), likewise.
double at_least(double k, double n, double p) {
  if (k <= 0) return 1;
  return boost::math::ibeta(k, n - k + 1, p);
}

/// The p at which k or fewer hits have probability `error`; likewise k or more.
double upper_limit(std::uint64_t k, std::uint64_t n, double error) {
  if (k == n) return 1;
  return boost::math::ibetac_inv(static_cast<double>(k) + 1, static_cast<double>(n - k), error);
}

double lower_limit(std::uint64_t k, std::uint64_t n, double error) {
  if (k == 0) return 0;
  return boost::math::ibeta_inv(static_cast<double>(k), static_cast<double>(n - k) + 1, error);
}

double error_of(double confidence) {
  TRILEMMA_ENSURE(confidence > 0 && confidence < 1, "a confidence lies strictly between 0 and 1");
  return complement(Fraction(confidence));
}

BoundSide side(double k, double n, double allowed, double error) {
  if (at_most(k, n, allowed) <= error) return BoundSide::below;
  if (at_least(k, n, allowed) < error) return BoundSide::above;
  return BoundSide::unknown;
}

/// Smallest n in (undecided, decided] at which `is_decided` holds; it holds from there on.
template <class Predicate>
std::uint64_t first_decided(std::uint64_t undecided, std::uint64_t decided, Predicate is_decided) {
  while (decided - undecided > 1) {
    const std::uint64_t middle = undecided + (decided - undecided) / 2;
    (is_decided(middle) ? decided : undecided) = middle;
  }
  return decided;
}

}  // namespace

double complement(Fraction fraction) {
  TRILEMMA_ENSURE(fraction >= Fraction(0) && fraction <= Fraction(1), "a fraction lies between 0 and 1");
  // The count of 1e-15 is an integer below 2^53, so the division is the only rounding.
  return std::round((1 - fraction.value()) * 1e15) / 1e15;
}

Interval clopper_pearson(std::uint64_t k, std::uint64_t n, double confidence) {
  TRILEMMA_ENSURE(k <= n, "there are no more hits than trials");
  const double error = error_of(confidence) / 2;
  return {lower_limit(k, n, error), upper_limit(k, n, error)};
}

double upper_bound(std::uint64_t k, std::uint64_t n, double confidence) {
  TRILEMMA_ENSURE(k <= n, "there are no more hits than trials");
  return upper_limit(k, n, error_of(confidence));
}

double lower_bound(std::uint64_t k, std::uint64_t n, double confidence) {
  TRILEMMA_ENSURE(k <= n, "there are no more hits than trials");
  return lower_limit(k, n, error_of(confidence));
}

BoundSide side_of(std::uint64_t k, std::uint64_t n, double allowed, double confidence) {
  TRILEMMA_ENSURE(k <= n, "there are no more hits than trials");
  TRILEMMA_ENSURE(allowed >= 0 && allowed < 1, "an allowed probability lies in [0, 1)");
  return side(static_cast<double>(k), static_cast<double>(n), allowed, error_of(confidence));
}

std::uint64_t requests_for_zero_violations(double allowed, double confidence) {
  TRILEMMA_ENSURE(allowed > 0 && allowed < 1, "an allowed probability lies strictly between 0 and 1");
  return static_cast<std::uint64_t>(std::ceil(std::log(error_of(confidence)) / std::log1p(-allowed)));
}

std::optional<std::uint64_t> more_requests_to_decide(std::uint64_t k, std::uint64_t n, double allowed,
                                                     double confidence) {
  if (side_of(k, n, allowed, confidence) != BoundSide::unknown) return 0;
  constexpr std::uint64_t limit = 1'000'000'000'000;
  const double fraction = n == 0 ? 0 : static_cast<double>(k) / static_cast<double>(n);
  const double error = error_of(confidence);
  const auto is_decided = [=](std::uint64_t requests) {
    const auto trials = static_cast<double>(requests);
    return side(fraction * trials, trials, allowed, error) != BoundSide::unknown;
  };
  std::uint64_t undecided = n;
  std::uint64_t tried = n;
  do {
    if (tried >= limit) return std::nullopt;
    undecided = tried;
    tried = std::min(std::max<std::uint64_t>(2 * tried, 1), limit);
  } while (!is_decided(tried));
  return first_decided(undecided, tried, is_decided) - n;
}

}  // namespace trilemma
