#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ensure.h"
#include "core/units.h"

namespace trilemma {

/// Streaming latency distribution in constant memory (at most 0.45 MB): log-linear bins over integer nanoseconds, one
/// bin a value below 2048 ns and 1024 bins an octave above, in the manner of HdrHistogram (Tene, 2012).
///
/// Every non-negative Duration is accepted. Count, sum, minimum and maximum are exact; any other order statistic is
/// exact below 2048 ns and within 1/2048 = 0.0488 % above. A lost request (failed, dropped, timed out) is an infinite
/// latency: it takes part in ranks, never in mean, minimum and maximum.
class LatencyHistogram {
 public:
  /// Counts one completed request. Requires latency >= 0.
  void record(Duration latency) {
    TRILEMMA_ENSURE(latency >= Duration::zero(), "a latency is not negative");
    const auto value = static_cast<std::uint64_t>(latency.count());
    const std::size_t bin = bin_of(value);
    Block& block = blocks_[bin / bins_per_block];
    if (block.empty()) block.resize(bins_per_block);
    ++block[bin % bins_per_block];
    ++completed_;
    sum_ += value;
    if (latency < min_) min_ = latency;
    if (latency > max_) max_ = latency;
  }
  /// Counts one request that never got its answer.
  void record_lost() { ++lost_; }
  /// Adds all requests of `other`; the result does not depend on the order of merging.
  void merge(const LatencyHistogram& other);

  /// Completed and lost requests.
  [[nodiscard]] std::uint64_t count() const { return completed_ + lost_; }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

  /// Of the completed requests; each requires completed() > 0. The mean is exact but for rounding up to 1 ns.
  [[nodiscard]] Duration mean() const;
  /// The same without rounding, in nanoseconds, so that means of parts add up to the mean of the whole.
  [[nodiscard]] double mean_nanoseconds() const;
  [[nodiscard]] Duration min() const;
  [[nodiscard]] Duration max() const;

  /// The `rank`-th smallest latency, 1 <= rank <= count(); nullopt when it is infinite, that is among the lost ones.
  /// The answer is the middle of the bin that holds it, pulled into [min(), max()]; ranks 1 and completed() are exact.
  [[nodiscard]] std::optional<Duration> value_at_rank(std::uint64_t rank) const;
  /// The order statistic of rank ceil(q n), 0 < q <= 1; nullopt when it is infinite or when there are no requests.
  /// Makes no statement about the precision of the sample: see estimate_quantile().
  [[nodiscard]] std::optional<Duration> quantile(Fraction q) const;

  bool operator==(const LatencyHistogram&) const = default;

 private:
  using Block = std::vector<std::uint64_t>;  // empty until its first sample: nearly all octaves stay empty
  // Not standard C++, but a sum of 1e10 latencies of hours does not fit into 64 bits.
  using Sum = unsigned __int128;

  static constexpr int block_bits = 10;
  static constexpr std::size_t bins_per_block = std::size_t{1} << block_bits;
  static constexpr std::size_t block_count = 54;  // two of width 1 ns, then one for each octave from 2^11 to 2^62

  /// Low bits that the bin of `value` leaves out, so that the others are a number in [1024, 2048).
  static constexpr int dropped_bits(std::uint64_t value) {
    const auto width = static_cast<int>(std::bit_width(value));
    return width > block_bits + 1 ? width - (block_bits + 1) : 0;
  }
  static constexpr std::size_t bin_of(std::uint64_t value) {
    const int shift = dropped_bits(value);
    return (static_cast<std::size_t>(shift) << block_bits) + static_cast<std::size_t>(value >> shift);
  }
  static Duration middle_of(std::size_t bin);
  [[nodiscard]] std::size_t bin_at_rank(std::uint64_t rank) const;

  std::array<Block, block_count> blocks_;
  std::uint64_t completed_ = 0;
  std::uint64_t lost_ = 0;
  Sum sum_ = 0;  // ns
  Duration min_ = Duration::max();
  Duration max_ = Duration::min();
};

/// Exact number of requests later than a target known in advance: strictly above it, or lost.
class ViolationCounter {
 public:
  /// Requires target >= 0.
  explicit ViolationCounter(Duration target) : target_(target) {
    TRILEMMA_ENSURE(target >= Duration::zero(), "a latency target is not negative");
  }

  void record(Duration latency) {
    ++requests_;
    if (latency > target_) ++violations_;
  }
  void record_lost() {
    ++requests_;
    ++violations_;
  }
  /// Adds the requests of a counter with the same target.
  void merge(const ViolationCounter& other);

  [[nodiscard]] Duration target() const { return target_; }
  [[nodiscard]] std::uint64_t violations() const { return violations_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }

  bool operator==(const ViolationCounter&) const = default;

 private:
  Duration target_;
  std::uint64_t violations_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace trilemma
