#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/units.h"

/// Quantiles of latency with bounds from order statistics: no assumption about the shape of the distribution.
///
/// ASSUMPTION: the requests are independent. Latencies of one run are correlated (neighbours wait in the same queue),
/// which makes these bounds too narrow; they are right for independent replications, and for one run only after its
/// effective number of requests was reduced for autocorrelation.
namespace trilemma {

class LatencyHistogram;

/// Rank of the q-quantile among n sorted samples, 1-based: ceil(q n), exact for a q of at most 15 decimals.
/// Requires 0 < q <= 1 and n >= 1.
std::uint64_t quantile_rank(Fraction q, std::uint64_t n);

/// Requests that a point estimate of the q-quantile needs, ceil(10 / (1 - q)): then about ten samples lie above it.
/// Requires 0 < q < 1.
std::uint64_t requests_for_quantile(Fraction q);

/// 1-based ranks of the order statistics that bound a quantile; a rank the sample does not reach is empty.
struct QuantileRanks {
  std::optional<std::uint64_t> lower;
  std::optional<std::uint64_t> upper;
  double coverage;  // probability that the quantile lies between them (an empty one being zero or infinity)
};

/// Equal-tailed ranks: with B ~ Bin(n, q) the number of samples below the quantile, `lower` is the smallest r with
/// P(B <= r) >= (1 - confidence)/2 and `upper` is one more than the smallest b with P(B <= b) >= (1 + confidence)/2,
/// so that either side errs with probability at most (1 - confidence)/2; coverage P(lower <= B <= upper - 1).
/// David and Nagaraja, Order Statistics, 2003, section 7.1. n=1e4, q=0.99: 9880 and 9920, coverage 95.6 %.
/// Requires 0 < q < 1 and 0 < confidence < 1.
QuantileRanks quantile_ranks(Fraction q, std::uint64_t n, double confidence = 0.95);

/// Each value is within the resolution of LatencyHistogram.
struct QuantileEstimate {
  std::optional<Duration> value;
  std::optional<Duration> lower;  // of the two-sided 95 % interval
  std::optional<Duration> upper;
  std::string reason;                 // why the value, or else the upper bound, or else the lower one, is empty
  std::uint64_t requests_needed = 0;  // in all, for a point estimate
};

/// The q-quantile of all requests, lost ones counting as infinitely late. Requires 0 < q < 1.
QuantileEstimate estimate_quantile(const LatencyHistogram& latencies, Fraction q);

}  // namespace trilemma
