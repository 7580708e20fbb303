#include "models/radio/tbs.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

TransportBlockShape shape_of(const test::Row& row) {
  return {.resource_blocks = test::integer(row, "n_prb"),
          .symbols = test::integer(row, "n_symb"),
          .dmrs_per_prb = test::integer(row, "n_dmrs_re_per_prb"),
          .overhead_per_prb = test::integer(row, "n_oh"),
          .layers = test::integer(row, "layers")};
}

TEST(TransportBlock, HasTheSizeOfEveryTestVector) {
  for (const test::Row& row : test::read_csv("nr_tbs_examples.csv")) {
    const McsTable table = test::integer(row, "mcs_table") == 1 ? McsTable::qam64 : McsTable::qam64_low_se;
    const Mcs& mcs = mcs_table(table)[static_cast<std::size_t>(test::integer(row, "mcs"))];
    EXPECT_EQ(transport_block_bits(shape_of(row), mcs), std::stoll(row.at("tbs_bits")))
        << "table " << row.at("mcs_table") << ", MCS " << row.at("mcs") << ", " << row.at("n_prb") << " blocks, "
        << row.at("n_symb") << " symbols";
  }
}

// Allocations from one resource element up, at every MCS, reach each of the 93 sizes and, below the largest, no other.
TEST(TransportBlock, SmallSizesAreThe93OfTheStandard) {
  std::set<std::int64_t> expected;
  for (const test::Row& row : test::read_csv("nr_tbs_small.csv")) expected.insert(std::stoll(row.at("tbs_bits")));
  ASSERT_EQ(expected.size(), 93U);

  std::set<std::int64_t> reached;
  for (const Mcs& mcs : mcs_table(McsTable::qam64)) {
    for (int blocks = 1; blocks <= 66; ++blocks) {
      for (int taken = 0; taken < 12; ++taken) {
        const auto bits = transport_block_bits({.resource_blocks = blocks, .symbols = 1, .dmrs_per_prb = taken}, mcs);
        if (bits <= 3824) reached.insert(bits);
      }
    }
  }
  EXPECT_EQ(reached, expected);
}

// Clause 5.1.3.2, step 1: no more than 156 resource elements of a resource block count, though 14 symbols have 168.
TEST(TransportBlock, CountsAtMost156ResourceElementsOfABlock) {
  const Mcs& mcs = mcs_table(McsTable::qam64)[20];
  EXPECT_EQ(transport_block_bits({.resource_blocks = 50, .dmrs_per_prb = 0}, mcs),
            transport_block_bits({.resource_blocks = 50, .dmrs_per_prb = 12}, mcs));
}

// 96 resource elements x 8 bits x 682.5/1024 = 511.875 bits, 504 in steps of 8; a rate of 683/1024 would give 512.25.
// 264 x 156 elements hold 219594.4: less 24, rounded to 54 steps of 2^(17 - 5), 221184, in 27 code blocks:
// 8 x 27 x ceil(221208 / 216) - 24.
TEST(TransportBlock, CodeRatesAreNotRoundedToWholeUnits) {
  const Mcs& mcs = mcs_table(McsTable::qam256)[20];
  EXPECT_EQ(transport_block_bits({.resource_blocks = 1, .symbols = 9}, mcs), 504);
  EXPECT_EQ(transport_block_bits({.resource_blocks = 264}, mcs), 216 * 1025 - 24);
}

TEST(TransportBlock, RefusesAnAllocationWithoutRoomForData) {
  const Mcs& mcs = mcs_table(McsTable::qam64)[0];
  EXPECT_THROW((void)transport_block_bits({.resource_blocks = 0}, mcs), InvariantViolation);
  EXPECT_THROW((void)transport_block_bits({.resource_blocks = 1, .symbols = 1, .dmrs_per_prb = 12}, mcs),
               InvariantViolation);
  EXPECT_THROW((void)transport_block_bits({.resource_blocks = 1, .symbols = 15}, mcs), InvariantViolation);
}

// TS 38.212 clause 7.2.2: graph 2 if A <= 292, or A <= 3824 and R <= 0.67, or R <= 0.25.
TEST(BaseGraphs, FollowSizeAndRate) {
  EXPECT_EQ(base_graph(292, 0.9), BaseGraph::two);
  EXPECT_EQ(base_graph(293, 0.9), BaseGraph::one);
  EXPECT_EQ(base_graph(3824, 0.67), BaseGraph::two);
  EXPECT_EQ(base_graph(3824, 0.68), BaseGraph::one);
  EXPECT_EQ(base_graph(3825, 0.67), BaseGraph::one);
  EXPECT_EQ(base_graph(100'000, 0.25), BaseGraph::two);
}

TEST(CodeBlocksOfATransportBlock, CarryOneCrcWhenTheBlockIsWhole) {
  EXPECT_EQ(code_blocks(3824, 0.5).count, 1);
  EXPECT_EQ(code_blocks(3824, 0.5).bits, 3824 + 16);
  EXPECT_EQ(code_blocks(8424, 0.5).count, 1);
  EXPECT_EQ(code_blocks(8424, 0.5).bits, 8448);  // the longest block of graph 1, filled
}

// One byte more than a graph-1 block: 8432 + 24 bits in ceil(8456 / 8424) = 2 pieces of (8456 + 2 x 24) / 2 bits.
TEST(CodeBlocksOfATransportBlock, CarryACrcEachWhenTheBlockIsCut) {
  EXPECT_EQ(code_blocks(8432, 0.5).count, 2);
  EXPECT_EQ(code_blocks(8432, 0.5).bits, 4252);
  // Graph 2 holds 3840 bits: 7640 + 24 bits in ceil(7664 / 3816) = 3 pieces of ceil((7664 + 72) / 3) bits.
  EXPECT_EQ(code_blocks(7640, 0.2).count, 3);
  EXPECT_EQ(code_blocks(7640, 0.2).bits, 2579);
}

// The sizes of clause 5.1.3.2 are made so that the pieces are equal and need no filler.
TEST(CodeBlocksOfATransportBlock, AreEqualForEverySizeOfTheStandard) {
  for (const Mcs& mcs : mcs_table(McsTable::qam64_low_se)) {
    for (int blocks = 1; blocks <= 264; ++blocks) {
      const std::int64_t bits = transport_block_bits({.resource_blocks = blocks}, mcs);
      const CodeBlocks pieces = code_blocks(bits, mcs.code_rate);
      if (pieces.count == 1) continue;
      EXPECT_EQ(pieces.count * (pieces.bits - 24), bits + 24) << blocks;
    }
  }
}

TEST(PeakRate, IsThatOfTheCapabilityFormula) {
  for (const test::Row& row : test::read_csv("nr_peak_rate_fr2.csv")) {
    const BitRate rate = peak_rate({.mu = static_cast<int>(std::lround(std::log2(test::number(row, "scs_khz") / 15))),
                                    .resource_blocks = test::integer(row, "n_rb"),
                                    .layers = test::integer(row, "layers"),
                                    .modulation_order = test::integer(row, "Qm"),
                                    .scaling = test::number(row, "scaling_f"),
                                    .overhead = test::number(row, "OH")});
    EXPECT_NEAR(rate.value() / 1e6, test::number(row, "rate_Mbps"), 0.00501);  // two decimals in the table
  }
}

}  // namespace
}  // namespace trilemma
