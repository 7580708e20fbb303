#include "models/workload/trace.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/problems.h"

namespace trilemma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Trace : public ::testing::Test {
 protected:
  std::vector<TraceRow> read(const std::string& text, TraceArrivals config = {.time_unit = 1ms},
                             std::int64_t clients = 3) const {
    // One file a test: tests may run side by side.
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / (name + ".csv");
    std::ofstream(path) << text;
    return read_trace(path, "load.csv", config, clients);
  }

  std::string error(const std::string& text, const TraceArrivals& config = {.time_unit = 1ms}) const {
    try {
      (void)read(text, config);
    } catch (const config::Error& problem) {
      return problem.what();
    }
    return "no error";
  }
};

TEST_F(Trace, RowsGiveTimeAndClient) {
  const auto rows = read("time,client\n0,0\n1.5,2\n1.5,1\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].time, 0ms);
  EXPECT_EQ(rows[0].client, 0);
  EXPECT_FALSE(rows[0].prompt.has_value());
  EXPECT_FALSE(rows[0].output.has_value());
  EXPECT_EQ(rows[1].time, 1'500us);
  EXPECT_EQ(rows[1].client, 2);
  EXPECT_EQ(rows[2].time, 1'500us);
  EXPECT_EQ(rows[2].client, 1);
}

TEST_F(Trace, PromptAndOutputAreOptionalColumns) {
  EXPECT_EQ(read("time,client,prompt\n0,0,17\n")[0].prompt, Tokens(17));
  const auto rows = read("time,client,prompt,output\n0,0,17,3\n");
  EXPECT_EQ(rows[0].prompt, Tokens(17));
  EXPECT_EQ(rows[0].output, Tokens(3));
}

TEST_F(Trace, AcceptsLinesOfWindowsBlankLinesAndAMissingLastNewline) {
  EXPECT_EQ(read("time,client\r\n0,0\r\n\r\n1,1\r\n").size(), 2U);
  EXPECT_EQ(read("time,client\n0,0\n\n1,1").size(), 2U);
  EXPECT_EQ(read("\xef\xbb\xbftime,client\n0,0\n").size(), 1U);
}

TEST_F(Trace, TimesAreScaledAndCountedFromTheirOrigin) {
  const std::string text = "time,client\n1700000000,0\n1700000002,0\n";
  const auto epoch = read(text, {.time_unit = 1s, .from_zero = false});
  EXPECT_EQ(epoch[0].time, 0s);
  EXPECT_EQ(epoch[1].time, 2s);
  const auto stretched = read(text, {.time_unit = 1s, .from_zero = false, .time_scale = 2.5});
  EXPECT_EQ(stretched[1].time, 5s);
  EXPECT_EQ(read(text, {.time_unit = 1s})[0].time, 1'700'000'000s);
}

TEST_F(Trace, TimesAreRoundedToTheNearestNanosecond) {
  EXPECT_EQ(read("time,client\n0.0000014,0\n0.0000016,0\n")[0].time, 1ns);
  EXPECT_EQ(read("time,client\n0.0000014,0\n0.0000016,0\n")[1].time, 2ns);
}

TEST_F(Trace, EveryErrorNamesFileAndLine) {
  EXPECT_THAT(error(""), StartsWith("load.csv:1: "));
  EXPECT_THAT(error("time,client\n"), StartsWith("load.csv:1: "));
  EXPECT_THAT(error("t,client\n0,0\n"), AllOf(StartsWith("load.csv:1: "), HasSubstr("'t,client'")));
  EXPECT_THAT(error("client,time\n0,0\n"), StartsWith("load.csv:1: "));
  EXPECT_THAT(error("time\n0\n"), StartsWith("load.csv:1: "));
  EXPECT_THAT(error("time,client,prompt,output,x\n0,0,1,1,1\n"), StartsWith("load.csv:1: "));
  EXPECT_THAT(error("time,client\n0,0\n1\n"), AllOf(StartsWith("load.csv:3: "), HasSubstr("1 cells")));
  EXPECT_THAT(error("time,client\n0,0,5\n"), AllOf(StartsWith("load.csv:2: "), HasSubstr("3 cells")));
}

TEST_F(Trace, CellsThatAreNoNumbersAreRefused) {
  for (const char* bad : {"", " 1", "x", "nan", "inf", "1e", "1ms", "0x10"}) {
    EXPECT_THAT(error(std::string("time,client\n") + bad + ",0\n"), StartsWith("load.csv:2: time ")) << bad;
  }
  for (const char* bad : {"", "x", "1.0", "010", "-1", "3", "99999999999999999999"}) {
    EXPECT_THAT(error(std::string("time,client\n0,") + bad + "\n"), StartsWith("load.csv:2: client ")) << bad;
  }
  for (const char* bad : {"0", "-5", "2.5", "1000000001"}) {
    EXPECT_THAT(error(std::string("time,client,prompt\n0,0,") + bad + "\n"), StartsWith("load.csv:2: prompt ")) << bad;
  }
  EXPECT_THAT(error("time,client,prompt,output\n0,0,1,0\n"), StartsWith("load.csv:2: output "));
}

TEST_F(Trace, TimesThatGoBackAreRefused) {
  EXPECT_THAT(error("time,client\n2,0\n1,0\n"), AllOf(StartsWith("load.csv:3: "), HasSubstr("before the row above")));
}

TEST_F(Trace, TimesOutsideTheRunAreRefused) {
  EXPECT_THAT(error("time,client\n-1,0\n"), StartsWith("load.csv:2: "));
  EXPECT_THAT(error("time,client\n1e30,0\n"), StartsWith("load.csv:2: "));
}

TEST_F(Trace, AMissingFileOrAFolderIsRefused) {
  EXPECT_THROW(read_trace("/does/not/exist.csv", "load.csv", {.time_unit = 1ms}, 1), config::Error);
  EXPECT_THROW(read_trace(::testing::TempDir(), "load.csv", {.time_unit = 1ms}, 1), config::Error);
}

}  // namespace
}  // namespace trilemma
