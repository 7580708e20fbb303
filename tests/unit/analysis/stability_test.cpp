#include "analysis/stability.h"

#include <array>

#include <gtest/gtest.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Samples = std::array<std::uint64_t, 4>;

TEST(BacklogGrows, WhenEverySampleIsHigherAndTheLastExceedsFourStandardErrors) {
  // 4 sqrt(10,000) = 400.
  EXPECT_TRUE(backlog_grows(Samples{100, 200, 300, 401}, 10'000));
  EXPECT_FALSE(backlog_grows(Samples{100, 200, 300, 400}, 10'000));
}

TEST(BacklogGrows, NotWhenItPausesOrShrinksOnTheWay) {
  EXPECT_FALSE(backlog_grows(Samples{100, 300, 300, 500}, 10'000));
  EXPECT_FALSE(backlog_grows(Samples{100, 300, 200, 500}, 10'000));
  EXPECT_FALSE(backlog_grows(Samples{500, 500, 500, 500}, 10'000));
}

TEST(BacklogGrows, NotWithoutRequestsOrSamples) {
  EXPECT_FALSE(backlog_grows(Samples{}, 0));
  EXPECT_FALSE(backlog_grows({}, 0));
}

TEST(BacklogGrows, NeedsMoreThanSixteenArrivalsToSeeAStandstill) {
  // Nothing leaves: a > 4 sqrt(a) when a > 16.
  EXPECT_FALSE(backlog_grows(Samples{4, 8, 12, 16}, 16));
  EXPECT_TRUE(backlog_grows(Samples{4, 8, 12, 17}, 17));
}

TEST(BacklogGrows, DoesNotOverflowForHugeCounts) {
  constexpr std::uint64_t arrivals = std::uint64_t{1} << 62;  // 4 sqrt = 2^33
  constexpr std::uint64_t limit = std::uint64_t{1} << 33;
  EXPECT_FALSE(backlog_grows(Samples{1, 2, 3, limit}, arrivals));
  EXPECT_TRUE(backlog_grows(Samples{1, 2, 3, limit + 1}, arrivals));
}

TEST(BacklogGrowth, IsTheLastSampleOverTheWindow) {
  EXPECT_DOUBLE_EQ(backlog_growth(Samples{1, 2, 3, 801}, 2s).value(), 400.5);
  EXPECT_DOUBLE_EQ(backlog_growth({}, 1s).value(), 0);
  EXPECT_THROW((void)backlog_growth(Samples{}, 0s), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
