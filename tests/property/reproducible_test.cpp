// The same command gives the same bytes, however and how often it is run.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/request.h"
#include "tests/support/command.h"

namespace trilemma::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string quickstart = TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml";

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The quickstart made short, and the same at the edge of the cell, where requests fail and take several tokens.
const Words shortened{"run", quickstart, "--set", "duration=5 s", "--set", "replications=2"};
const Words lossy = shortened + Words{"--set", "radio.placement={kind: disc, radius: 590 m}",
                                      "--set", "radio.harq={max_transmissions: 2, target: 50 %}",
                                      "--set", "workload.output=3",
                                      "--set", "workload.arrivals={kind: poisson, rate: 1 /s}"};

/// A folder of its own for each test, removed at the end.
class Reproducible : public ::testing::Test {
 protected:
  Reproducible()
      : folder_(
            fs::temp_directory_path() /
            fmt::format("trilemma-{}-{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~Reproducible() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string out(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The only point below an --out folder.
fs::path point_below(const fs::path& folder) {
  std::vector<fs::path> points;
  for (const auto& entry : fs::directory_iterator(folder)) points.push_back(entry.path());
  EXPECT_EQ(points.size(), 1U);
  return points.empty() ? folder : points.front();
}

json summary_without_manifest(const fs::path& point) {
  json summary = json::parse(text_of(point / "summary.json"));
  EXPECT_TRUE(summary.contains("manifest"));
  summary.erase("manifest");
  return summary;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line + ",");
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

/// records.csv by rows, each by column.
std::vector<std::map<std::string, std::string>> rows_of(const fs::path& file) {
  std::istringstream stream(text_of(file));
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> header = cells_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), header.size()) << line;
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) row[header[i]] = cells[i];
  }
  return rows;
}

/// "1.000250" ms as 1000250 ns, exactly.
std::int64_t nanoseconds(const std::string& milliseconds) {
  const std::size_t point = milliseconds.find('.');
  EXPECT_EQ(milliseconds.size() - point, 7U) << milliseconds << " has six decimals";
  return std::stoll(milliseconds.substr(0, point) + milliseconds.substr(point + 1));
}

TEST_F(Reproducible, EveryFormatPrintsTheSameBytesTwice) {
  for (const Words& scenario : {shortened, lossy}) {
    for (const char* format : {"json", "csv", "md", "table"}) {
      const Output once = run_program(scenario + Words{"--format", format});
      EXPECT_EQ(once.code, 0) << format;
      EXPECT_FALSE(once.text.empty()) << format;
      EXPECT_EQ(once.text, run_program(scenario + Words{"--format", format}).text) << format;
    }
  }
}

TEST_F(Reproducible, WritingFilesDoesNotChangeWhatIsPrinted) {
  for (const char* format : {"json", "csv", "md", "table"}) {
    const Words command = lossy + Words{"--format", format};
    const std::string printed = run_program(command).text;
    EXPECT_EQ(printed, run_program(command + Words{"--out", out(format)}).text) << format;
    EXPECT_EQ(printed, run_program(command + Words{"--out", out("r-" + std::string(format)), "--records"}).text)
        << format;
    EXPECT_EQ(printed, run_program(command + Words{"--progress", "none"}).text) << format;
  }
}

TEST_F(Reproducible, FilesAreTheSameButForTheManifest) {
  ASSERT_EQ(run_program(lossy + Words{"--out", out("a"), "--records"}).code, 0);
  ASSERT_EQ(run_program(lossy + Words{"--out", out("b"), "--records"}).code, 0);
  const fs::path a = point_below(out("a"));
  const fs::path b = point_below(out("b"));
  EXPECT_EQ(a.filename(), b.filename());
  EXPECT_EQ(summary_without_manifest(a), summary_without_manifest(b));
  EXPECT_EQ(text_of(a / "records.csv"), text_of(b / "records.csv"));
}

TEST_F(Reproducible, ThePrintedJsonIsTheSummaryFile) {
  const Output printed = run_program(lossy + Words{"--out", out("a"), "--format", "json"});
  json parsed = json::parse(printed.text);
  parsed.erase("manifest");
  EXPECT_EQ(parsed, summary_without_manifest(point_below(out("a"))));
}

TEST_F(Reproducible, AFinishedPointIsShownAgainAndNeverOverwritten) {
  const Words command = lossy + Words{"--out", out("a"), "--records"};
  const Output first = run_program(command);
  const fs::path point = point_below(out("a"));
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> before;
  for (const auto& entry : fs::directory_iterator(point)) {
    before[entry.path()] = {text_of(entry.path()), entry.last_write_time()};
  }
  ASSERT_GE(before.size(), 2U);
  const Output second = run_program(command);
  EXPECT_EQ(second.code, first.code);
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(point_below(out("a")), point);
  for (const auto& [path, was] : before) {
    EXPECT_EQ(text_of(path), was.first) << path;
    EXPECT_EQ(fs::last_write_time(path), was.second) << path;
  }
}

TEST_F(Reproducible, AnotherScenarioGetsAnotherFolder) {
  run_program(shortened + Words{"--out", out("a")});
  const fs::path first = point_below(out("a"));
  run_program(shortened + Words{"--out", out("a"), "--set", "seed=2"});
  EXPECT_TRUE(fs::exists(first));
  EXPECT_EQ(std::distance(fs::directory_iterator(out("a")), fs::directory_iterator{}), 2);
}

TEST_F(Reproducible, EveryRowOfTheRecordsAddsUp) {
  ASSERT_EQ(run_program(lossy + Words{"--out", out("a"), "--records"}).code, 0);
  const fs::path point = point_below(out("a"));
  const json requests = summary_without_manifest(point)["requests"];
  const auto rows = rows_of(point / "records.csv");
  std::map<std::string, std::int64_t> outcomes;
  for (const auto& row : rows) {
    ++outcomes[row.at("outcome")];
    std::int64_t stages = 0;
    for (const std::string_view stage : stage_names) {
      stages += nanoseconds(row.at(std::string(stage) + "_ms"));
    }
    const std::int64_t latency = nanoseconds(row.at("latency_ms"));
    ASSERT_EQ(stages, latency);
    ASSERT_EQ(nanoseconds(row.at("finish_ms")) - nanoseconds(row.at("arrival_ms")), latency);
    if (row.at("outcome") == "completed") {
      ASSERT_LE(nanoseconds(row.at("floor_ms")), latency);
      ASSERT_LE(nanoseconds(row.at("first_token_ms")), latency);
    } else {
      ASSERT_EQ(row.at("first_token_ms"), "");
    }
  }
  EXPECT_EQ(outcomes["completed"], requests["completed"].get<std::int64_t>());
  EXPECT_EQ(outcomes["failed"], requests["failed"].get<std::int64_t>());
  EXPECT_EQ(outcomes.size(), 2U) << "the scenario has both outcomes";
}

// The mean of the file is the mean of the summary: both are of the completed requests after the warm-up of 1 s.
TEST_F(Reproducible, TheSummaryFollowsFromTheRecords) {
  run_program(shortened + Words{"--out", out("a"), "--records"});
  const fs::path point = point_below(out("a"));
  const json summary = summary_without_manifest(point);
  std::int64_t sum = 0;
  std::int64_t measured = 0;
  for (const auto& row : rows_of(point / "records.csv")) {
    if (nanoseconds(row.at("arrival_ms")) < 1'000'000'000 || row.at("outcome") != "completed") continue;
    ++measured;
    sum += nanoseconds(row.at("latency_ms"));
  }
  ASSERT_GT(measured, 0);
  EXPECT_EQ(summary["requests"]["measured"].get<std::int64_t>(), measured);
  const double mean_ms = static_cast<double>(sum) / static_cast<double>(measured) * 1e-6;
  EXPECT_NEAR(summary["latency_ms"]["mean"].get<double>(), mean_ms, 1e-6);
}

}  // namespace
}  // namespace trilemma::test
