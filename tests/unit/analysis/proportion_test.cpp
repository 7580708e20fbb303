#include "analysis/proportion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/analysis/reference_rows.h"

namespace trilemma {
namespace {

TEST(Complement, OfADecimalIsTheNearestDouble) {
  EXPECT_EQ(complement(Fraction(0.99999)), 1e-5);  // 1 - 0.99999 is 1.0000000000010001e-05
  EXPECT_EQ(complement(Fraction(0.999999999)), 1e-9);
  EXPECT_EQ(complement(Fraction(0.95)), 0.05);
  EXPECT_EQ(complement(Fraction(0.1)), 0.9);
  EXPECT_EQ(complement(Fraction(0)), 1);
  EXPECT_EQ(complement(Fraction(1)), 0);
  EXPECT_THROW(complement(Fraction(1.5)), InvariantViolation);
}

TEST(ClopperPearson, ReproducesTheReferenceTable) {
  for (const auto& row : test::reference_rows("tail_statistics.csv", "CI95 for proportion")) {
    const auto interval =
        clopper_pearson(static_cast<std::uint64_t>(row.param("k")), static_cast<std::uint64_t>(row.param("n")));
    // The table has seven significant digits: half a unit of the last is at most 5e-7 of the value.
    const double tolerance = 5e-7 * row.number();
    if (row.quantity == "ClopperPearson_lo") {
      EXPECT_NEAR(interval.lower, row.number(), tolerance) << row.params;
    } else if (row.quantity == "ClopperPearson_hi") {
      EXPECT_NEAR(interval.upper, row.number(), tolerance) << row.params;
    }
  }
}

TEST(ClopperPearson, IsClosedFormAtTheEnds) {
  // No hit: (1 - upper)^n = 0.025; all hits: lower^n = 0.025.
  const auto none = clopper_pearson(0, 20);
  EXPECT_EQ(none.lower, 0);
  EXPECT_NEAR(none.upper, 1 - std::pow(0.025, 1.0 / 20), 1e-15);
  const auto all = clopper_pearson(20, 20);
  EXPECT_NEAR(all.lower, std::pow(0.025, 1.0 / 20), 1e-15);
  EXPECT_EQ(all.upper, 1);
}

TEST(ClopperPearson, IsSymmetricInHitsAndMisses) {
  const auto hits = clopper_pearson(3, 11);
  const auto misses = clopper_pearson(8, 11);
  EXPECT_NEAR(hits.lower, 1 - misses.upper, 1e-15);
  EXPECT_NEAR(hits.upper, 1 - misses.lower, 1e-15);
}

TEST(ClopperPearson, KnowsNothingWithoutTrials) {
  const auto interval = clopper_pearson(0, 0);
  EXPECT_EQ(interval.lower, 0);
  EXPECT_EQ(interval.upper, 1);
}

TEST(ClopperPearson, RefusesMoreHitsThanTrialsAndUselessConfidence) {
  EXPECT_THROW(clopper_pearson(2, 1), InvariantViolation);
  EXPECT_THROW(clopper_pearson(1, 2, 0), InvariantViolation);
  EXPECT_THROW(clopper_pearson(1, 2, 1), InvariantViolation);
}

TEST(OneSidedBounds, AreTheEndsOfTheWiderInterval) {
  const auto interval = clopper_pearson(3, 1000, 0.90);
  EXPECT_DOUBLE_EQ(upper_bound(3, 1000, 0.95), interval.upper);
  EXPECT_DOUBLE_EQ(lower_bound(3, 1000, 0.95), interval.lower);
}

TEST(OneSidedBounds, AreClosedFormAtTheEnds) {
  EXPECT_NEAR(upper_bound(0, 100), 1 - std::pow(0.05, 0.01), 1e-15);
  EXPECT_NEAR(lower_bound(100, 100), std::pow(0.05, 0.01), 1e-15);
  EXPECT_EQ(lower_bound(0, 100), 0);
  EXPECT_EQ(upper_bound(100, 100), 1);
  EXPECT_EQ(lower_bound(0, 0), 0);
  EXPECT_EQ(upper_bound(0, 0), 1);
}

TEST(SideOf, TurnsAtTheRequestOfTheReferenceTable) {
  for (const auto& row : test::reference_rows("tail_statistics.csv", "n to show p<=1e-5 at 95% with k failures")) {
    const auto k = static_cast<std::uint64_t>(row.param("k"));
    const auto n = static_cast<std::uint64_t>(row.number());
    EXPECT_EQ(side_of(k, n - 1, 1e-5), BoundSide::unknown) << row.params;
    EXPECT_EQ(side_of(k, n, 1e-5), BoundSide::below) << row.params;
  }
}

TEST(SideOf, AgreesWithTheBounds) {
  for (const std::uint64_t n : {1u, 10u, 100u, 1000u}) {
    for (std::uint64_t k = 0; k <= n; k += 1 + n / 20) {
      for (const double allowed : {0.003, 0.05, 0.3, 0.9}) {
        const BoundSide side = side_of(k, n, allowed);
        EXPECT_EQ(side == BoundSide::below, upper_bound(k, n) <= allowed) << k << " of " << n << ", " << allowed;
        EXPECT_EQ(side == BoundSide::above, lower_bound(k, n) > allowed) << k << " of " << n << ", " << allowed;
      }
    }
  }
}

TEST(RequestsForZeroViolations, ReproducesTheReferenceTable) {
  for (const auto& row : test::reference_rows("tail_statistics.csv", "zero-failure n to show p<=1e-5")) {
    const double confidence = row.param("conf");
    const auto n = static_cast<std::uint64_t>(row.number());
    EXPECT_EQ(requests_for_zero_violations(1e-5, confidence), n) << row.params;
    EXPECT_EQ(side_of(0, n - 1, 1e-5, confidence), BoundSide::unknown) << row.params;
    EXPECT_EQ(side_of(0, n, 1e-5, confidence), BoundSide::below) << row.params;
  }
}

TEST(RequestsForZeroViolations, TakesATieAsShown) {
  EXPECT_EQ(requests_for_zero_violations(0.5, 0.75), 2u);  // 0.5^2 = 0.25 exactly
  EXPECT_EQ(requests_for_zero_violations(0.5, 0.76), 3u);
  EXPECT_THROW(requests_for_zero_violations(0, 0.95), InvariantViolation);
  EXPECT_THROW(requests_for_zero_violations(1, 0.95), InvariantViolation);
}

TEST(MoreRequestsToDecide, WithoutViolationsAreThoseOfZeroViolations) {
  EXPECT_EQ(more_requests_to_decide(0, 0, 1e-5), 299'572u);
  EXPECT_EQ(more_requests_to_decide(0, 299'000, 1e-5), 572u);
  EXPECT_EQ(more_requests_to_decide(0, 299'571, 1e-5), 1u);
  EXPECT_EQ(more_requests_to_decide(0, 299'572, 1e-5), 0u);
}

TEST(MoreRequestsToDecide, AreJustEnoughAtTheSameFraction) {
  // 1 of 4 and 3 of 4 against 1/2: only at multiples of 4 is the number of hits whole.
  for (const std::uint64_t quarters : {1u, 3u}) {
    const auto more = more_requests_to_decide(quarters, 4, 0.5);
    ASSERT_TRUE(more);
    const std::uint64_t decided = (4 + *more + 3) / 4;  // in steps of 4 requests, from the first that decides
    EXPECT_NE(side_of(quarters * decided, 4 * decided, 0.5), BoundSide::unknown);
    EXPECT_EQ(side_of(quarters * (decided - 1), 4 * (decided - 1), 0.5), BoundSide::unknown);
  }
}

TEST(MoreRequestsToDecide, GrowWithTheInverseSquareOfTheDistanceToTheBound) {
  // Normal approximation for 1.1e-5 against 1e-5: 1.645^2 * 1.05e-5 / (1e-6)^2 = 2.8e7 requests, with about 300 hits,
  // so that it is good to a few per cent.
  const auto more = more_requests_to_decide(11, 1'000'000, 1e-5);
  ASSERT_TRUE(more);
  EXPECT_NEAR(static_cast<double>(*more + 1'000'000), 1.645 * 1.645 * 1.05e-5 / 1e-12, 0.1 * 2.8e7);
}

TEST(MoreRequestsToDecide, NeverDecideAtTheBoundItself) {
  EXPECT_EQ(more_requests_to_decide(10, 1'000'000, 1e-5), std::nullopt);
  EXPECT_EQ(more_requests_to_decide(1, 2, 0.5), std::nullopt);
  // A part in a million off the bound: about 1.645^2 1e-5 / (1e-11)^2 = 2.7e17 requests.
  EXPECT_EQ(more_requests_to_decide(10, 1'000'001, 1e-5), std::nullopt);
  EXPECT_EQ(more_requests_to_decide(0, 1'000, 0), std::nullopt);
}

}  // namespace
}  // namespace trilemma
