#include "analysis/verdict.h"

#include <gtest/gtest.h>

#include "analysis/proportion.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr Fraction five_nines(0.99999);

TEST(Judge, FiveNinesHoldFrom299572RequestsWithoutAViolation) {
  // (1 - 1e-5)^n <= 0.05 from n = 299,572 on.
  EXPECT_EQ(judge(0, 299'000, five_nines).verdict, Verdict::undecided);
  EXPECT_EQ(judge(0, 299'571, five_nines).verdict, Verdict::undecided);
  EXPECT_EQ(judge(0, 299'572, five_nines).verdict, Verdict::holds);
  EXPECT_EQ(judge(0, 300'000, five_nines).verdict, Verdict::holds);
}

TEST(Judge, OneViolationTakesMoreRequests) {
  EXPECT_EQ(judge(1, 474'384, five_nines).verdict, Verdict::undecided);
  EXPECT_EQ(judge(1, 474'385, five_nines).verdict, Verdict::holds);
}

TEST(Judge, FailsWhenTheLowerBoundIsAboveTheAllowedShare) {
  // One violation of n fails 90 % when P(at least one) = 1 - 0.9^n < 0.05: never, as n = 1 gives 0.1. Two violations:
  // P(both of 2) = 0.01 < 0.05; P(>= 2 of 3) = 3 * 0.01 * 0.9 + 0.001 = 0.028; P(>= 2 of 4) = 0.0523.
  EXPECT_EQ(judge(1, 1, Fraction(0.9)).verdict, Verdict::undecided);
  EXPECT_EQ(judge(2, 3, Fraction(0.9)).verdict, Verdict::fails);
  EXPECT_EQ(judge(2, 4, Fraction(0.9)).verdict, Verdict::undecided);
}

TEST(Judge, SingleViolationInFewRequestsFailsFiveNines) {
  // 1 - (1 - 1e-5)^n < 0.05 for n < ln 0.95 / ln(1 - 1e-5) = 5129.3.
  EXPECT_EQ(judge(1, 5'129, five_nines).verdict, Verdict::fails);
  EXPECT_EQ(judge(1, 5'130, five_nines).verdict, Verdict::undecided);
}

TEST(Judge, ReportsItsCountsAndOneSidedBounds) {
  const auto verdict = judge(3, 1'000, Fraction(0.999), 0.99);
  EXPECT_EQ(verdict.violations, 3u);
  EXPECT_EQ(verdict.requests, 1'000u);
  EXPECT_EQ(verdict.lower, lower_bound(3, 1'000, 0.99));
  EXPECT_EQ(verdict.upper, upper_bound(3, 1'000, 0.99));
}

TEST(Judge, SaysHowManyRequestsWouldDecide) {
  EXPECT_EQ(judge(0, 299'000, five_nines).more_requests_needed, 572u);
  EXPECT_EQ(judge(0, 300'000, five_nines).more_requests_needed, 0u);
  EXPECT_EQ(judge(10, 1'000'000, five_nines).more_requests_needed, std::nullopt);
}

TEST(Judge, KnowsNothingWithoutRequests) {
  const auto verdict = judge(0, 0, five_nines);
  EXPECT_EQ(verdict.verdict, Verdict::undecided);
  EXPECT_EQ(verdict.lower, 0);
  EXPECT_EQ(verdict.upper, 1);
  EXPECT_EQ(verdict.more_requests_needed, 299'572u);
}

TEST(Judge, OneViolationRefutesCertaintyAndNoneProvesIt) {
  EXPECT_EQ(judge(1, 1'000'000, Fraction(1)).verdict, Verdict::fails);
  EXPECT_EQ(judge(0, 1'000'000, Fraction(1)).verdict, Verdict::undecided);
  EXPECT_EQ(judge(0, 1'000'000, Fraction(1)).more_requests_needed, std::nullopt);
}

TEST(Judge, AllRequestsLostFail) { EXPECT_EQ(judge(100, 100, Fraction(0.5)).verdict, Verdict::fails); }

TEST(Judge, RefusesMeaninglessArguments) {
  EXPECT_THROW(judge(0, 10, Fraction(0)), InvariantViolation);
  EXPECT_THROW(judge(0, 10, Fraction(1.1)), InvariantViolation);
  EXPECT_THROW(judge(11, 10, Fraction(0.9)), InvariantViolation);
  EXPECT_THROW(judge(0, 10, Fraction(0.9), 1), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
