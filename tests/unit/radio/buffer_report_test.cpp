#include "models/radio/buffer_report.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr Bytes last_short{150'000};
constexpr Bytes last_long{81'338'368};

/// The levels that reports of 0 to the last bound take, found by asking just above each.
std::set<std::int64_t> levels(BufferTable table, Bytes last) {
  std::set<std::int64_t> found;
  Bytes waiting{0};
  while (true) {
    const Bytes level = reported(table, waiting);
    found.insert(level.value());
    if (level >= last) return found;
    waiting = level + Bytes(1);
  }
}

TEST(BufferReport, AnEmptyBufferIsReportedAsEmpty) {
  for (const BufferTable table : {BufferTable::exact, BufferTable::short5, BufferTable::long8}) {
    EXPECT_EQ(reported(table, Bytes(0)), Bytes(0));
  }
}

TEST(BufferReport, AnExactReportIsTheBuffer) {
  for (const std::int64_t waiting : {1, 10, 11, 150'001, 81'338'369}) {
    EXPECT_EQ(reported(BufferTable::exact, Bytes(waiting)), Bytes(waiting));
  }
}

// TS 38.321 table 6.1.3.1-1: index 0 is 0, 1 to 30 the upper ends, 31 everything above. Table 6.1.3.1-2: the same with
// 254 beyond the last upper end, and 255 reserved.
TEST(BufferReport, FiveBitsHave31LevelsUpTo150000AndEightBits254UpTo81338368) {
  const auto of_five_bits = levels(BufferTable::short5, last_short);
  EXPECT_EQ(of_five_bits.size(), 31U);
  EXPECT_EQ(*of_five_bits.rbegin(), 150'000);
  const auto of_eight_bits = levels(BufferTable::long8, last_long);
  EXPECT_EQ(of_eight_bits.size(), 254U);
  EXPECT_EQ(*of_eight_bits.rbegin(), 81'338'368);
}

// TS 38.321 tables: <= 10, <= 14, <= 20 of five bits; <= 10, <= 11 of eight.
TEST(BufferReport, ALevelEndsAtItsUpperBound) {
  EXPECT_EQ(reported(BufferTable::short5, Bytes(1)), Bytes(10));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(10)), Bytes(10));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(11)), Bytes(14));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(14)), Bytes(14));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(15)), Bytes(20));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(107'669)), Bytes(107'669));
  EXPECT_EQ(reported(BufferTable::short5, Bytes(107'670)), last_short);
  EXPECT_EQ(reported(BufferTable::long8, Bytes(1)), Bytes(10));
  EXPECT_EQ(reported(BufferTable::long8, Bytes(11)), Bytes(11));
  EXPECT_EQ(reported(BufferTable::long8, Bytes(76'380'419)), Bytes(76'380'419));
  EXPECT_EQ(reported(BufferTable::long8, Bytes(76'380'420)), last_long);
}

// Both tables are exponential: the levels of five bits lie a factor of (150,000 / 10)^(1/29) = 1.393 apart, those of
// eight bits one of (81,338,368 / 10)^(1/252) = 1.0651, each rounded to whole bytes.
TEST(BufferReport, LevelsRiseByAConstantFactor) {
  const auto expect_factor = [](const std::set<std::int64_t>& found, double factor) {
    std::int64_t before = 0;
    for (const std::int64_t level : found) {
      if (before > 0) {
        EXPECT_NEAR(static_cast<double>(level), static_cast<double>(before) * factor,
                    1.0 + 0.002 * static_cast<double>(before))
            << before;
      }
      before = level;
    }
  };
  expect_factor(levels(BufferTable::short5, last_short), std::pow(15'000.0, 1.0 / 29));
  expect_factor(levels(BufferTable::long8, last_long), std::pow(8'133'836.8, 1.0 / 252));
}

TEST(BufferReport, AReportIsNeverTooSmallBeforeTheLastLevelAndNeverFalls) {
  for (const auto& [table, last] : {std::pair{BufferTable::short5, last_short}, {BufferTable::long8, last_long}}) {
    Bytes before{0};
    for (Bytes waiting{1}; waiting < last; waiting += Bytes(1 + waiting.value() * 3 / 1000)) {
      const Bytes told = reported(table, waiting);
      ASSERT_GE(told, waiting);
      ASSERT_GE(told, before);
      ASSERT_EQ(reported(table, told), told) << "a bound is its own level";
      before = told;
    }
  }
}

TEST(BufferReport, BeyondTheLastLevelTheLastBoundIsReported) {
  EXPECT_EQ(reported(BufferTable::short5, last_short + Bytes(1)), last_short);
  EXPECT_EQ(reported(BufferTable::long8, Bytes(std::int64_t{1} << 40)), last_long);
}

TEST(BufferReport, ABufferIsNotNegative) {
  EXPECT_THROW((void)reported(BufferTable::long8, Bytes(-1)), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
