#include "analysis/quantile.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/binomial.hpp>

#include "analysis/latency_histogram.h"
#include "analysis/proportion.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

using boost::math::binomial_distribution;

constexpr std::uint64_t ticks_per_one = 1'000'000'000'000'000;  // 15 decimals, all that a double near 1 can hold

/// 1 - q as an integer number of ticks: ranks have to be exact, and ceil() of a rounded product is not.
std::uint64_t complement_ticks(Fraction q) {
  return static_cast<std::uint64_t>(std::llround(complement(q) * static_cast<double>(ticks_per_one)));
}

/// Smallest b with P(Bin <= b) >= 1 - above.
std::uint64_t binomial_quantile(const binomial_distribution<>& hits, double above) {
  auto b = static_cast<std::uint64_t>(quantile(boost::math::complement(hits, above)));
  const auto reaches = [&](std::uint64_t k) {
    return cdf(boost::math::complement(hits, static_cast<double>(k))) <= above;
  };
  // The library's rounding depends on its policies: settle the last step by the definition.
  while (!reaches(b)) ++b;
  while (b > 0 && reaches(b - 1)) --b;
  return b;
}

std::optional<Duration> value_at(const LatencyHistogram& latencies, std::optional<std::uint64_t> rank) {
  return rank ? latencies.value_at_rank(*rank) : std::nullopt;
}

std::string among_lost(const std::string& what, const LatencyHistogram& latencies) {
  return what + " is among " + std::to_string(latencies.lost()) + " lost requests of " +
         std::to_string(latencies.count());
}

std::string reason_for_gap(const QuantileEstimate& estimate, const LatencyHistogram& latencies) {
  const std::string needs = "needs " + std::to_string(estimate.requests_needed) + " requests, has ";
  if (latencies.count() < estimate.requests_needed) return needs + std::to_string(latencies.count());
  if (!estimate.value) return among_lost("the quantile", latencies);
  if (!estimate.upper) return among_lost("the upper bound", latencies);
  if (!estimate.lower) return "no sample is low enough for a lower bound";
  return "";
}

}  // namespace

std::uint64_t quantile_rank(Fraction q, std::uint64_t n) {
  TRILEMMA_ENSURE(q > Fraction(0) && q <= Fraction(1), "a quantile lies in (0, 1]");
  TRILEMMA_ENSURE(n >= 1, "a rank is asked of a sample that is not empty");
  using Wide = unsigned __int128;  // n times 1e15 does not fit into 64 bits
  // ceil(q n) = n - floor((1 - q) n)
  const auto above = static_cast<std::uint64_t>(static_cast<Wide>(complement_ticks(q)) * n / ticks_per_one);
  return std::max<std::uint64_t>(n - above, 1);
}

std::uint64_t requests_for_quantile(Fraction q) {
  const std::uint64_t ticks = complement_ticks(q);
  TRILEMMA_ENSURE(q > Fraction(0) && ticks > 0, "a quantile to estimate lies strictly between 0 and 1");
  return (10 * ticks_per_one + ticks - 1) / ticks;
}

QuantileRanks quantile_ranks(Fraction q, std::uint64_t n, double confidence) {
  TRILEMMA_ENSURE(q > Fraction(0) && q < Fraction(1), "a quantile to bound lies strictly between 0 and 1");
  TRILEMMA_ENSURE(confidence > 0 && confidence < 1, "a confidence lies strictly between 0 and 1");
  if (n == 0) return {std::nullopt, std::nullopt, 1};
  const binomial_distribution<> below(static_cast<double>(n), q.value());
  const double error = complement(Fraction(confidence)) / 2;
  const std::uint64_t lower = binomial_quantile(below, 1 - error);
  const std::uint64_t upper = binomial_quantile(below, error) + 1;
  const double too_low = lower == 0 ? 0 : cdf(below, static_cast<double>(lower - 1));
  const double too_high = cdf(boost::math::complement(below, static_cast<double>(upper - 1)));
  QuantileRanks ranks{std::nullopt, std::nullopt, 1 - too_low - too_high};
  if (lower >= 1) ranks.lower = lower;
  if (upper <= n) ranks.upper = upper;
  return ranks;
}

QuantileEstimate estimate_quantile(const LatencyHistogram& latencies, Fraction q) {
  QuantileEstimate estimate;
  estimate.requests_needed = requests_for_quantile(q);
  if (latencies.count() >= estimate.requests_needed) estimate.value = latencies.quantile(q);
  const QuantileRanks ranks = quantile_ranks(q, latencies.count());
  estimate.lower = value_at(latencies, ranks.lower);
  estimate.upper = value_at(latencies, ranks.upper);
  estimate.reason = reason_for_gap(estimate, latencies);
  return estimate;
}

}  // namespace trilemma
