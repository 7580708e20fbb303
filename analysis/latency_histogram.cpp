#include "analysis/latency_histogram.h"

#include <algorithm>

#include "analysis/quantile.h"

namespace trilemma {

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < block_count; ++i) {
    const Block& from = other.blocks_[i];
    Block& to = blocks_[i];
    if (from.empty()) continue;
    if (to.empty()) to.resize(bins_per_block);
    for (std::size_t bin = 0; bin < bins_per_block; ++bin) to[bin] += from[bin];
  }
  completed_ += other.completed_;
  lost_ += other.lost_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::mean_nanoseconds() const {
  TRILEMMA_ENSURE(completed_ > 0, "a mean is of at least one sample");
  return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(completed_));
}

Duration LatencyHistogram::mean() const {
  TRILEMMA_ENSURE(completed_ > 0, "a mean is asked only of completed requests");
  return Duration(static_cast<Duration::rep>((sum_ + (completed_ - 1)) / completed_));
}

Duration LatencyHistogram::min() const {
  TRILEMMA_ENSURE(completed_ > 0, "a minimum is asked only of completed requests");
  return min_;
}

Duration LatencyHistogram::max() const {
  TRILEMMA_ENSURE(completed_ > 0, "a maximum is asked only of completed requests");
  return max_;
}

Duration LatencyHistogram::middle_of(std::size_t bin) {
  // Block 0 and 1 hold one value a bin; block b >= 2 holds [1024, 2048) times 2^(b-1).
  if (bin < 2 * bins_per_block) return Duration(static_cast<Duration::rep>(bin));
  const std::size_t shift = bin / bins_per_block - 1;
  const std::uint64_t low = (bins_per_block + bin % bins_per_block) << shift;
  return Duration(static_cast<Duration::rep>(low + (std::uint64_t{1} << (shift - 1))));
}

std::size_t LatencyHistogram::bin_at_rank(std::uint64_t rank) const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < block_count; ++i) {
    for (std::size_t bin = 0; bin < blocks_[i].size(); ++bin) {
      below += blocks_[i][bin];
      if (below >= rank) return i * bins_per_block + bin;
    }
  }
  TRILEMMA_ENSURE(false, "the bins hold all completed requests");
  return 0;
}

std::optional<Duration> LatencyHistogram::value_at_rank(std::uint64_t rank) const {
  TRILEMMA_ENSURE(rank >= 1 && rank <= count(), "a rank lies between 1 and the number of requests");
  if (rank > completed_) return std::nullopt;
  if (rank == 1) return min_;
  if (rank == completed_) return max_;
  return std::clamp(middle_of(bin_at_rank(rank)), min_, max_);
}

std::optional<Duration> LatencyHistogram::quantile(Fraction q) const {
  if (count() == 0) return std::nullopt;
  return value_at_rank(quantile_rank(q, count()));
}

void ViolationCounter::merge(const ViolationCounter& other) {
  TRILEMMA_ENSURE(target_ == other.target_, "merged violations were counted against one target");
  violations_ += other.violations_;
  requests_ += other.requests_;
}

}  // namespace trilemma
