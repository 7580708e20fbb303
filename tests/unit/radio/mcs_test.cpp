#include "models/radio/mcs.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

/// Rows of the standard's table that carry a code rate; the reserved ones do not.
void expect_rows_of(McsTable table, const std::string& file) {
  std::size_t rows = 0;
  for (const test::Row& row : test::read_csv(file)) {
    if (row.at("code_rate_x1024").empty()) continue;
    ASSERT_LT(rows, mcs_table(table).size());
    const Mcs& mcs = mcs_table(table)[rows++];
    EXPECT_EQ(mcs.modulation_order, test::integer(row, "Qm"));
    EXPECT_EQ(mcs.code_rate * 1024, test::number(row, "code_rate_x1024"));
    EXPECT_NEAR(mcs.spectral_efficiency(), test::number(row, "spectral_eff"), 2e-4);  // four digits in the standard
  }
  EXPECT_EQ(rows, mcs_table(table).size());
}

TEST(McsTables, Qam64IsTable1OfTheStandard) { expect_rows_of(McsTable::qam64, "nr_mcs_table1.csv"); }
TEST(McsTables, Qam256IsTable2OfTheStandard) { expect_rows_of(McsTable::qam256, "nr_mcs_table2.csv"); }
TEST(McsTables, LowSpectralEfficiencyIsTable3OfTheStandard) {
  expect_rows_of(McsTable::qam64_low_se, "nr_mcs_table3.csv");
}

TEST(McsTables, HaveTheNamesThatFilesUse) {
  EXPECT_EQ(config::name_of(McsTable::qam64), "qam64");
  EXPECT_EQ(config::name_of(McsTable::qam256), "qam256");
  EXPECT_EQ(config::name_of(McsTable::qam64_low_se), "qam64-low-se");
}

}  // namespace
}  // namespace trilemma
