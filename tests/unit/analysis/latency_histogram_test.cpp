#include "analysis/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr Duration hour = std::chrono::hours(1);
constexpr Duration longest = Duration::max();

LatencyHistogram histogram_of(const std::vector<Duration>& samples) {
  LatencyHistogram histogram;
  for (const Duration sample : samples) histogram.record(sample);
  return histogram;
}

/// Latencies spread evenly over the octaves from 1 ns to 2^62 ns.
std::vector<Duration> log_uniform_samples(std::size_t n) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> exponent(0, 62);
  std::vector<Duration> samples;
  for (std::size_t i = 0; i < n; ++i) {
    samples.emplace_back(static_cast<Duration::rep>(std::exp2(exponent(random))));
  }
  return samples;
}

double relative_error(Duration value, Duration truth) {
  return std::abs(static_cast<double>((value - truth).count())) / static_cast<double>(truth.count());
}

TEST(LatencyHistogram, IsExactBelow2048Nanoseconds) {
  LatencyHistogram histogram;
  for (int v = 0; v < 2048; ++v) histogram.record(Duration(v));
  for (int v = 0; v < 2048; ++v) {
    EXPECT_EQ(histogram.value_at_rank(static_cast<std::uint64_t>(v) + 1), Duration(v));
  }
}

TEST(LatencyHistogram, BinsStartToSpanTwoNanosecondsAt2048) {
  // 2046 and 2047 have bins of their own; 2048 and 2049 share the one whose middle is 2049.
  const auto histogram = histogram_of({0ns, 2046ns, 2047ns, 2048ns, 2049ns, hour});
  EXPECT_EQ(histogram.value_at_rank(2), 2046ns);
  EXPECT_EQ(histogram.value_at_rank(3), 2047ns);
  EXPECT_EQ(histogram.value_at_rank(4), 2049ns);
  EXPECT_EQ(histogram.value_at_rank(5), 2049ns);
}

TEST(LatencyHistogram, EveryOrderStatisticIsWithinHalfAPerMille) {
  auto samples = log_uniform_samples(20'000);
  const auto histogram = histogram_of(samples);
  std::sort(samples.begin(), samples.end());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto value = histogram.value_at_rank(i + 1);
    ASSERT_TRUE(value);
    ASSERT_LE(relative_error(*value, samples[i]), 0.0005) << samples[i].count();
  }
}

TEST(LatencyHistogram, EveryEdgeOfAnOctaveIsWithinHalfAPerMille) {
  for (int octave = 1; octave < 63; ++octave) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const Duration value((std::int64_t{1} << octave) + offset);
      // The extremes are given exactly, so the value in the middle is the one that comes from its bin.
      const auto middle = histogram_of({0ns, value, longest}).value_at_rank(2);
      ASSERT_TRUE(middle);
      EXPECT_LE(relative_error(*middle, value), 0.0005) << value.count();
    }
  }
}

TEST(LatencyHistogram, NeverLeavesTheRangeOfItsSamples) {
  // 1,000,000 ns lies in the bin [999,936, 1,000,448) of width 2^9 with the middle 1,000,192.
  const auto low = histogram_of({1'000'000ns, 1'000'001ns, 1'000'002ns});
  EXPECT_EQ(low.value_at_rank(2), 1'000'002ns);
  const auto high = histogram_of({1'000'300ns, 1'000'301ns, 1'000'302ns});
  EXPECT_EQ(high.value_at_rank(2), 1'000'300ns);
}

TEST(LatencyHistogram, MinimumMaximumAndTheirRanksAreExact) {
  const auto histogram = histogram_of({123'456'789ns, 987'654'321ns, 500'000'001ns});
  EXPECT_EQ(histogram.min(), 123'456'789ns);
  EXPECT_EQ(histogram.max(), 987'654'321ns);
  EXPECT_EQ(histogram.value_at_rank(1), 123'456'789ns);
  EXPECT_EQ(histogram.value_at_rank(3), 987'654'321ns);
}

TEST(LatencyHistogram, HoldsTheWholeRangeOfDurations) {
  const auto histogram = histogram_of({0ns, longest});
  EXPECT_EQ(histogram.min(), 0ns);
  EXPECT_EQ(histogram.max(), longest);
}

TEST(LatencyHistogram, RefusesNegativeLatencies) {
  LatencyHistogram histogram;
  EXPECT_THROW(histogram.record(-1ns), InvariantViolation);
  EXPECT_EQ(histogram, LatencyHistogram());
}

TEST(LatencyHistogram, MeanRoundsUp) {
  EXPECT_EQ(histogram_of({1ns, 2ns}).mean(), 2ns);  // 1.5
  EXPECT_EQ(histogram_of({1ns, 3ns}).mean(), 2ns);
  EXPECT_EQ(histogram_of({0ns, 0ns, 1ns}).mean(), 1ns);  // 0.33
}

TEST(LatencyHistogram, SumDoesNotOverflow) {
  // Doubling 34 times by merging gives 2^34 = 1.7e10 samples of an hour and as many of an hour and 2 ns: a sum of
  // 1.2e23 ns, 2^13 times more than 64 bits hold.
  auto histogram = histogram_of({hour, hour + 2ns});
  for (int i = 0; i < 34; ++i) histogram.merge(LatencyHistogram(histogram));
  EXPECT_EQ(histogram.count(), std::uint64_t{1} << 35);
  EXPECT_EQ(histogram.mean(), hour + 1ns);
}

TEST(LatencyHistogram, LostRequestsAreInfinitelyLate) {
  auto histogram = histogram_of({1ms, 2ms, 3ms});
  histogram.record_lost();
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.completed(), 3u);
  EXPECT_EQ(histogram.lost(), 1u);
  EXPECT_EQ(histogram.mean(), 2ms);
  EXPECT_EQ(histogram.max(), 3ms);
  EXPECT_EQ(histogram.quantile(Fraction(0.75)), 3ms);           // rank 3
  EXPECT_EQ(histogram.quantile(Fraction(0.76)), std::nullopt);  // rank 4
  EXPECT_EQ(histogram.value_at_rank(4), std::nullopt);
}

TEST(LatencyHistogram, QuantileOfNothingIsEmpty) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(Fraction(0.5)), std::nullopt);
  histogram.record_lost();
  EXPECT_EQ(histogram.quantile(Fraction(0.5)), std::nullopt);
}

TEST(LatencyHistogram, MomentsOfNoCompletedRequestBreakAnInvariant) {
  LatencyHistogram histogram;
  histogram.record_lost();
  EXPECT_THROW(static_cast<void>(histogram.mean()), InvariantViolation);
  EXPECT_THROW(static_cast<void>(histogram.min()), InvariantViolation);
  EXPECT_THROW(static_cast<void>(histogram.max()), InvariantViolation);
}

TEST(LatencyHistogram, RanksOutsideTheSampleBreakAnInvariant) {
  const auto histogram = histogram_of({1ms, 2ms});
  EXPECT_THROW(static_cast<void>(histogram.value_at_rank(0)), InvariantViolation);
  EXPECT_NO_THROW(static_cast<void>(histogram.value_at_rank(2)));
  EXPECT_THROW(static_cast<void>(histogram.value_at_rank(3)), InvariantViolation);
}

TEST(LatencyHistogram, MergingInAnyOrderEqualsRecordingInOne) {
  const auto samples = log_uniform_samples(3'000);
  auto whole = histogram_of(samples);
  whole.record_lost();
  std::vector<LatencyHistogram> parts(3);
  for (std::size_t i = 0; i < samples.size(); ++i) parts[i % 3].record(samples[i]);
  parts[1].record_lost();
  std::vector<std::size_t> order{0, 1, 2};
  do {
    LatencyHistogram merged;
    for (const std::size_t part : order) merged.merge(parts[part]);
    EXPECT_EQ(merged, whole);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(LatencyHistogram, MergingAnEmptyOneChangesNothing) {
  auto histogram = histogram_of({1ms, 2ms});
  const LatencyHistogram before = histogram;
  histogram.merge(LatencyHistogram());
  EXPECT_EQ(histogram, before);
}

TEST(ViolationCounter, CountsStrictlyAboveTheTargetAndLostOnes) {
  ViolationCounter counter(1ms);
  counter.record(1ms);
  EXPECT_EQ(counter.violations(), 0u);
  counter.record(1ms + 1ns);
  EXPECT_EQ(counter.violations(), 1u);
  counter.record_lost();
  EXPECT_EQ(counter.violations(), 2u);
  EXPECT_EQ(counter.requests(), 3u);
}

TEST(ViolationCounter, MergesOnlyCountersOfOneTarget) {
  ViolationCounter a(1ms);
  a.record(2ms);
  ViolationCounter b(1ms);
  b.record(500us);
  a.merge(b);
  EXPECT_EQ(a.violations(), 1u);
  EXPECT_EQ(a.requests(), 2u);
  EXPECT_THROW(a.merge(ViolationCounter(2ms)), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
