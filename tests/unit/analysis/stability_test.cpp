#include "analysis/stability.h"

#include <gtest/gtest.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

// 4 sqrt(10,000) = 400.
constexpr HalfCounts at_the_limit{.arrivals = 10'000, .completions = 9'600};
constexpr HalfCounts above_the_limit{.arrivals = 10'000, .completions = 9'599};

TEST(BacklogGrows, WhenBothHalvesExceedFourStandardErrors) {
  EXPECT_TRUE(backlog_grows(above_the_limit, above_the_limit));
  EXPECT_FALSE(backlog_grows(at_the_limit, above_the_limit));
  EXPECT_FALSE(backlog_grows(above_the_limit, at_the_limit));
  EXPECT_FALSE(backlog_grows(at_the_limit, at_the_limit));
}

TEST(BacklogGrows, NotWhenTheBacklogShrinks) {
  EXPECT_FALSE(backlog_grows(above_the_limit, {.arrivals = 10'000, .completions = 20'000}));
  EXPECT_FALSE(backlog_grows({}, {}));
}

TEST(BacklogGrows, NeedsMoreThanSixteenArrivalsToSeeAStandstill) {
  // Nothing completes: a > 4 sqrt(a) when a > 16.
  EXPECT_FALSE(backlog_grows({16, 0}, {16, 0}));
  EXPECT_TRUE(backlog_grows({17, 0}, {17, 0}));
}

TEST(BacklogGrows, DoesNotOverflowForHugeCounts) {
  constexpr std::uint64_t arrivals = std::uint64_t{1} << 62;  // 4 sqrt = 2^33
  constexpr std::uint64_t limit = arrivals - (std::uint64_t{1} << 33);
  EXPECT_FALSE(backlog_grows({arrivals, limit}, {arrivals, limit}));
  EXPECT_TRUE(backlog_grows({arrivals, limit - 1}, {arrivals, limit - 1}));
}

TEST(BacklogGrowth, IsTheBacklogOverTheWindow) {
  // 400 + 401 requests left behind in 2 s.
  EXPECT_DOUBLE_EQ(backlog_growth(at_the_limit, above_the_limit, 2s).value(), 400.5);
  EXPECT_DOUBLE_EQ(backlog_growth({10, 5}, {10, 20}, 1s).value(), -5);
  EXPECT_THROW(backlog_growth({}, {}, 0s), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
