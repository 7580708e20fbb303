#include "analysis/quantile.h"

#include <gtest/gtest.h>

#include "analysis/latency_histogram.h"
#include "core/ensure.h"
#include "tests/unit/analysis/reference_rows.h"

namespace trilemma {
namespace {

/// Latencies 1, 2, .. n ns, so that below 2048 ns the value of an order statistic is its rank.
LatencyHistogram ranks_as_latencies(int n) {
  LatencyHistogram histogram;
  for (int v = 1; v <= n; ++v) histogram.record(Duration(v));
  return histogram;
}

TEST(QuantileRank, IsTheCeilingOfQTimesN) {
  EXPECT_EQ(quantile_rank(Fraction(0.5), 10), 5u);
  EXPECT_EQ(quantile_rank(Fraction(0.5), 11), 6u);
  EXPECT_EQ(quantile_rank(Fraction(0.99), 100), 99u);
  EXPECT_EQ(quantile_rank(Fraction(0.99), 101), 100u);  // 99.99
  EXPECT_EQ(quantile_rank(Fraction(1), 7), 7u);
  EXPECT_EQ(quantile_rank(Fraction(1e-9), 7), 1u);
}

TEST(QuantileRank, IsNotMovedByBinaryRounding) {
  // 0.07 * 100 is 7.000000000000001 in binary floating point, and its ceiling 8.
  EXPECT_EQ(quantile_rank(Fraction(0.07), 100), 7u);
  EXPECT_EQ(quantile_rank(Fraction(0.99999), 1'000'000), 999'990u);
  EXPECT_EQ(quantile_rank(Fraction(0.99999), 10'000'000'000), 9'999'900'000u);
  EXPECT_EQ(quantile_rank(Fraction(0.999999999), 10'000'000'001), 9'999'999'991u);  // ...990.99
}

TEST(QuantileRank, RefusesWhatIsNoQuantile) {
  EXPECT_THROW(quantile_rank(Fraction(0), 10), InvariantViolation);
  EXPECT_THROW(quantile_rank(Fraction(1.1), 10), InvariantViolation);
  EXPECT_THROW(quantile_rank(Fraction(0.5), 0), InvariantViolation);
}

TEST(RequestsForQuantile, IsTenOverTheTail) {
  EXPECT_EQ(requests_for_quantile(Fraction(0.5)), 20u);
  EXPECT_EQ(requests_for_quantile(Fraction(0.9)), 100u);
  EXPECT_EQ(requests_for_quantile(Fraction(0.99)), 1'000u);
  EXPECT_EQ(requests_for_quantile(Fraction(0.999)), 10'000u);
  EXPECT_EQ(requests_for_quantile(Fraction(0.99999)), 1'000'000u);
  EXPECT_EQ(requests_for_quantile(Fraction(0.7)), 34u);  // 33.3
  EXPECT_THROW(requests_for_quantile(Fraction(1)), InvariantViolation);
}

TEST(QuantileRanks, ReproduceTheReferenceTable) {
  for (const auto& row :
       test::reference_rows("tail_statistics.csv", "order-statistic 95% CI for quantile (1-based ranks)")) {
    const auto expected = test::split_csv(row.value, ';');
    const auto ranks = quantile_ranks(Fraction(row.param("q")), static_cast<std::uint64_t>(row.param("n")));
    EXPECT_EQ(ranks.lower, std::stoull(expected.at(0))) << row.params;
    EXPECT_EQ(ranks.upper, std::stoull(expected.at(1))) << row.params;
    EXPECT_NEAR(ranks.coverage, std::stod(expected.at(2)), 0.5e-5) << row.params;
  }
}

TEST(QuantileRanks, UpperBoundAppearsWithTheRequestThatCanSupportIt) {
  // One-sided at 95 % is two-sided at 90 %: the maximum exceeds the quantile when q^n <= 0.05.
  for (const auto& row :
       test::reference_rows("tail_statistics.csv", "min n so max obs >= q-quantile w.p. 0.95 (one-sided)")) {
    const Fraction q(row.param("q"));
    const auto n = static_cast<std::uint64_t>(row.number());
    EXPECT_EQ(quantile_ranks(q, n, 0.90).upper, n) << row.params;
    EXPECT_EQ(quantile_ranks(q, n - 1, 0.90).upper, std::nullopt) << row.params;
  }
}

TEST(QuantileRanks, OfTheMedianOfSixAreTheExtremes) {
  // P(B = 0) = P(B = 6) = 1/64 = 0.0156 <= 0.025, but P(B <= 1) = 7/64 > 0.025; of five P(B = 0) = 1/32 = 0.031.
  const auto six = quantile_ranks(Fraction(0.5), 6);
  EXPECT_EQ(six.lower, 1u);
  EXPECT_EQ(six.upper, 6u);
  EXPECT_DOUBLE_EQ(six.coverage, 62.0 / 64);
  const auto five = quantile_ranks(Fraction(0.5), 5);
  EXPECT_EQ(five.lower, std::nullopt);
  EXPECT_EQ(five.upper, std::nullopt);
  EXPECT_DOUBLE_EQ(five.coverage, 1);
}

TEST(QuantileRanks, OfNothingBoundNothing) {
  const auto ranks = quantile_ranks(Fraction(0.5), 0);
  EXPECT_EQ(ranks.lower, std::nullopt);
  EXPECT_EQ(ranks.upper, std::nullopt);
}

TEST(QuantileEstimate, GivesValueAndBoundsFromEnoughRequests) {
  const auto estimate = estimate_quantile(ranks_as_latencies(1000), Fraction(0.99));
  EXPECT_EQ(estimate.value, 990ns);
  EXPECT_EQ(estimate.lower, 983ns);  // ranks of the reference table
  EXPECT_EQ(estimate.upper, 997ns);
  EXPECT_EQ(estimate.reason, "");
  EXPECT_EQ(estimate.requests_needed, 1000u);
}

TEST(QuantileEstimate, RefusesAPointEstimateOneRequestShort) {
  const auto estimate = estimate_quantile(ranks_as_latencies(999), Fraction(0.99));
  EXPECT_EQ(estimate.value, std::nullopt);
  EXPECT_EQ(estimate.reason, "needs 1000 requests, has 999");
  EXPECT_TRUE(estimate.lower);
  EXPECT_TRUE(estimate.upper);
}

TEST(QuantileEstimate, FromFiftyRequestsHasALowerBoundOnly) {
  // P(B <= 49) = 1 - 0.999^50 = 0.0488 >= 0.025 and P(B <= 48) = 0.0012: rank 49 is below the quantile.
  const auto estimate = estimate_quantile(ranks_as_latencies(50), Fraction(0.999));
  EXPECT_EQ(estimate.value, std::nullopt);
  EXPECT_EQ(estimate.lower, 49ns);
  EXPECT_EQ(estimate.upper, std::nullopt);
  EXPECT_EQ(estimate.reason, "needs 10000 requests, has 50");
}

TEST(QuantileEstimate, OfNothingIsEmptyWithAReason) {
  const auto estimate = estimate_quantile(LatencyHistogram(), Fraction(0.5));
  EXPECT_FALSE(estimate.value || estimate.lower || estimate.upper);
  EXPECT_EQ(estimate.reason, "needs 20 requests, has 0");
}

TEST(QuantileEstimate, IsEmptyAmongLostRequests) {
  auto latencies = ranks_as_latencies(989);
  for (int i = 0; i < 11; ++i) latencies.record_lost();
  const auto estimate = estimate_quantile(latencies, Fraction(0.99));  // rank 990
  EXPECT_EQ(estimate.value, std::nullopt);
  EXPECT_EQ(estimate.lower, 983ns);
  EXPECT_EQ(estimate.upper, std::nullopt);
  EXPECT_EQ(estimate.reason, "the quantile is among 11 lost requests of 1000");
}

TEST(QuantileEstimate, SaysWhenOnlyTheUpperBoundIsAmongLostRequests) {
  auto latencies = ranks_as_latencies(990);
  for (int i = 0; i < 10; ++i) latencies.record_lost();
  const auto estimate = estimate_quantile(latencies, Fraction(0.99));
  EXPECT_EQ(estimate.value, 990ns);
  EXPECT_EQ(estimate.upper, std::nullopt);
  EXPECT_EQ(estimate.reason, "the upper bound is among 10 lost requests of 1000");
}

TEST(QuantileEstimate, OfALowQuantileMayLackItsLowerBound) {
  // Needs 10 / 0.9 -> 12 requests; P(B = 0) = 0.9^12 = 0.28 >= 0.025, so no sample is surely below.
  const auto estimate = estimate_quantile(ranks_as_latencies(12), Fraction(0.1));
  EXPECT_EQ(estimate.value, 2ns);
  EXPECT_EQ(estimate.lower, std::nullopt);
  EXPECT_EQ(estimate.reason, "no sample is low enough for a lower bound");
}

}  // namespace
}  // namespace trilemma
