#include "models/codec/low_pass.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr Shape shapes[] = {{1, 1},  {1, 2}, {2, 1}, {2, 2},  {3, 3},  {1, 64},
                            {64, 1}, {5, 8}, {8, 5}, {6, 10}, {7, 13}, {32, 64}};

TEST(LowPass, KeepsEverythingIfEverythingFits) {
  for (const Shape shape : shapes) {
    EXPECT_EQ(choose_low_pass(shape, elements(shape)), (LowPass{shape.tokens, shape.hidden}));
    EXPECT_EQ(choose_low_pass(shape, elements(shape) + 1000), (LowPass{shape.tokens, shape.hidden}));
  }
}

TEST(LowPass, KeepsDcIfOnlyOneRealFits) {
  for (const Shape shape : shapes) EXPECT_EQ(choose_low_pass(shape, 1), (LowPass{1, 1}));
}

TEST(LowPass, IsValidAndWithinEveryBudgetAndUsesFiveSixteenthsOfIt) {
  for (const Shape shape : shapes) {
    for (std::int64_t budget = 1; budget <= elements(shape); ++budget) {
      const LowPass block = choose_low_pass(shape, budget);
      EXPECT_TRUE(valid(block, shape)) << shape.tokens << " x " << shape.hidden << " in " << budget;
      EXPECT_LE(reals(block), budget);
      EXPECT_GE(16 * reals(block), 5 * budget);
    }
  }
}

/// Every valid block that fits, without the shortcut of taking the largest K_D only.
std::int64_t fullest_by_brute_force(Shape shape, std::int64_t budget) {
  std::int64_t fullest = 0;
  for (std::int64_t tokens = 1; tokens <= shape.tokens; ++tokens) {
    for (std::int64_t hidden = 1; hidden <= shape.hidden; ++hidden) {
      const LowPass block{tokens, hidden};
      if (valid(block, shape) && reals(block) <= budget) fullest = std::max(fullest, reals(block));
    }
  }
  return fullest;
}

TEST(LowPass, HoldsFifteenSixteenthsOfTheFullestBlock) {
  for (const Shape shape : {Shape{5, 8}, Shape{8, 5}, Shape{7, 13}, Shape{12, 30}}) {
    for (std::int64_t budget = 1; budget <= elements(shape); ++budget) {
      EXPECT_GE(16 * reals(choose_low_pass(shape, budget)), 15 * fullest_by_brute_force(shape, budget));
    }
  }
}

TEST(LowPass, HasTheProportionsOfTheMatrix) {
  // 256 reals in 32 x 64: K_S : K_D = 1 : 2 gives K_S = 11.3; 11 x 23 = 253 is the odd pair next to it.
  EXPECT_EQ(choose_low_pass({32, 64}, 256), (LowPass{11, 23}));
  // 128 x 2048 at 1/8 of the reals: K_S = 128 / sqrt(8) = 45.3, next odd width 45, and 32768 / 45 = 728.2 leaves 727.
  EXPECT_EQ(choose_low_pass({128, 2048}, 32768), (LowPass{45, 727}));
}

TEST(LowPass, RefusesEvenWidthsThatAreNotTheWholeSide) {
  EXPECT_TRUE(valid({4, 6}, {4, 6}));
  EXPECT_FALSE(valid({4, 1}, {5, 6}));
  EXPECT_FALSE(valid({1, 2}, {5, 6}));
  EXPECT_FALSE(valid({0, 1}, {5, 6}));
  EXPECT_FALSE(valid({1, 7}, {5, 6}));
}

TEST(WireOrder, HoldsExactlyTheIndependentRealsOfEveryBlock) {
  for (const Shape shape : shapes) {
    for (std::int64_t budget = 1; budget <= elements(shape); ++budget) {
      const LowPass block = choose_low_pass(shape, budget);
      std::int64_t count = 0;
      std::set<std::uint32_t> seen;
      for (const Bin bin : wire_order(shape, block)) {
        count += bin.is_real ? 1 : 2;
        EXPECT_TRUE(seen.insert(bin.index).second);
      }
      EXPECT_EQ(count, reals(block)) << shape.tokens << " x " << shape.hidden << " in " << budget;
    }
  }
}

TEST(WireOrder, StartsWithDcThenTheFirstRowThenTheFirstColumn) {
  // 4 x 6, all kept: the half spectrum is 4 wide. Row u = 0 is indices 1, 2, 3; column v = 0 is rows 1 and 2, since row
  // 3 mirrors row 1. Real are the bins with u in {0, 2} and v in {0, 3}.
  const auto order = wire_order({4, 6}, {4, 6});
  const std::uint32_t expected[] = {0, 1, 2, 3, 4, 8};
  const bool expected_real[] = {true, false, false, true, false, true};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(order[i].index, expected[i]);
    EXPECT_EQ(order[i].is_real, expected_real[i]);
  }
}

}  // namespace
}  // namespace trilemma
