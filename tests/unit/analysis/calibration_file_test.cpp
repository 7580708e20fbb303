#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/calibration/calibration.h"
#include "core/config/problems.h"
#include "core/config/reader.h"
#include "core/config/yaml.h"
#include "core/random.h"
#include "sim/experiment.h"

namespace trilemma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path configs = TRILEMMA_SOURCE_DIR "/configs";

// ---- The shipped calibrations ---------------------------------------------------------------------------------------

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<CalibratedRate> shipped(const std::string& name) {
  const config::Catalogue catalogue(configs);
  const std::string data = name + ".csv";
  return calibrate(read_part<HardwareSheet>(catalogue, "calibration", name),
                   read_measurements(configs / "calibration" / data, data, catalogue), data);
}

class ShippedCalibration : public testing::TestWithParam<std::string> {};

TEST_P(ShippedCalibration, GivesTheDeviceFileByteForByte) {
  const std::string& name = GetParam();
  const auto rates = shipped(name);
  const std::string sheet = text_of(configs / "calibration" / (name + ".yaml"));
  const std::string head = sheet.substr(0, sheet.find("\npeaks:") + 1);
  EXPECT_EQ(device_file(head, rates, fmt::format("{0}.csv and {0}.yaml", name)),
            text_of(configs / "devices" / (name + ".yaml")));
  // The page of all errors has these rows.
  const std::string page = text_of(TRILEMMA_SOURCE_DIR "/results/calibration.md");
  for (const auto& cells : error_rows(name, rates)) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| {} |", fmt::join(cells, " | "))));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ShippedCalibration,
                         testing::ValuesIn(config::Catalogue(configs).names("calibration")), [](const auto& device) {
                           std::string name = device.param;
                           for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
                           return name;
                         });

TEST(Calibration, EveryDeviceHasASheetAndWhatHasNoMeasurementsIsAGuess) {
  const config::Catalogue catalogue(configs);
  EXPECT_EQ(catalogue.names("devices"), catalogue.names("calibration"));
  for (const std::string& name : catalogue.names("calibration")) {
    const auto rates = shipped(name);
    if (std::any_of(rates.begin(), rates.end(), [](const auto& rate) { return !rate.points.empty(); })) continue;
    for (const CalibratedRate& rate : rates) EXPECT_EQ(rate.rate.quality, Quality::guess) << name;
  }
}

// ---- Files that are wrong -------------------------------------------------------------------------------------------

std::string problem_of(const std::string& rows) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "calibration_test.csv";
  std::ofstream(path) << "use,model,precision,metric,value,prompt\n" << rows;
  const config::Catalogue catalogue(configs);
  HardwareSheet sheet{.memory = Bytes(1'000'000'000'000), .bandwidth = ByteRate(500e9)};
  sheet.peaks = {{.precision = Precision::int4,
                  .compute = OperationRate(100e12),
                  .fit = {Parameter::memory_efficiency, Parameter::per_layer}}};
  try {
    (void)calibrate(sheet, read_measurements(path, "board.csv", catalogue), "board.csv");
  } catch (const config::Error& error) {
    std::filesystem::remove(path);
    return error.what();
  }
  std::filesystem::remove(path);
  return "";
}

TEST(CalibrationFile, NamesTheRowThatIsWrong) {
  const std::string good = "fit,llama-3.2-1b,int4,decode,20 token/s,\n";
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,,\n"), HasSubstr("board.csv:3: value: is missing"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,-3 token/s,\n"),
              HasSubstr("board.csv:3: value: '-3 token/s'"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,8,\n"), HasSubstr("board.csv:3: value: '8' has no unit"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,prefill,80 ms,\n"),
              HasSubstr("board.csv:3: prompt: is missing"));
  EXPECT_THAT(problem_of(good + good), HasSubstr("board.csv:3: repeats line 2"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-1b,int4,decode,50 ms,\n"), HasSubstr("board.csv:3: repeats line 2"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode\n"), HasSubstr("board.csv:3: has 4 cells"));
  EXPECT_THAT(problem_of(good + "fit,lama-3.2-3b,int4,decode,8 token/s,\n"), HasSubstr("write 'llama-3.2-3b'"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int8,decode,8 token/s,\n"),
              HasSubstr("board.csv:3: precision: 'int8'"));
  EXPECT_THAT(problem_of(good + "maybe,llama-3.2-3b,int4,decode,8 token/s,\n"),
              HasSubstr("use: 'maybe' is not one of fit, test"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,1e-300 token/s,\n"),
              HasSubstr("board.csv:3: value: '1e-300"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,prefill,1 ms,99999999\n"),
              HasSubstr("board.csv:3: prompt: '99999999'"));
  EXPECT_THAT(problem_of(good + "fit,some-network,int4,convolution,8 ms,\n"),
              HasSubstr("board.csv:3: operations: is missing"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,prefill,80 ms,200000\n"),
              HasSubstr("board.csv:3: prompt: 200000 tokens"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,\"8 token/s,\n"),
              HasSubstr("board.csv:3: has a quote that does not end"));
  EXPECT_THAT(problem_of(good + "fit,llama-3.2-3b,int4,decode,8\r token/s,\n"),
              HasSubstr("board.csv:3: has a carriage return"));
  EXPECT_THAT(problem_of(""), HasSubstr("has no row"));
}

std::vector<std::string> faults_of(SheetRate rate) {
  rate.precision = Precision::int4;
  std::vector<std::string> keys;
  for (const config::FieldProblem& problem : rate.problems()) keys.push_back(problem.key);
  return keys;
}

TEST(CalibrationSheet, SaysOfEachParameterOnceWhereItComesFrom) {
  using testing::ElementsAre;
  const Fraction half(0.5);
  const auto ce = Parameter::compute_efficiency;
  const auto me = Parameter::memory_efficiency;
  EXPECT_THAT(faults_of({.fit = {ce, me}}), ElementsAre());
  EXPECT_THAT(faults_of({.fit = {me}, .compute_efficiency = half}), ElementsAre());
  EXPECT_THAT(faults_of({.fit = {me}}), ElementsAre("compute_efficiency"));
  EXPECT_THAT(faults_of({}), ElementsAre("compute_efficiency", "memory_efficiency"));
  EXPECT_THAT(faults_of({.fit = {ce, me, me}}), ElementsAre("fit"));
  EXPECT_THAT(faults_of({.fit = {ce, me}, .memory_efficiency = half}), ElementsAre("memory_efficiency"));
  HardwareSheet sheet{.memory = Bytes(1000)};
  sheet.peaks = {{.precision = Precision::int4}, {.precision = Precision::int8}, {.precision = Precision::int4}};
  EXPECT_EQ(sheet.problems().size(), 1U);
}

TEST(CalibrationSheet, SeveralRuntimesOfAPrecisionSayWhichRowsAreTheirs) {
  using testing::IsEmpty;
  const auto fault = [](const SheetRate& one, const SheetRate& other) {
    HardwareSheet sheet{.memory = Bytes(1000)};
    sheet.peaks = {one, other};
    const auto found = sheet.problems();
    return found.empty() ? std::string() : found.front().problem;
  };
  EXPECT_THAT(fault({.runtime = "a", .runtimes = {"x"}}, {.runtime = "b", .runtimes = {"y", "z"}}), IsEmpty());
  EXPECT_THAT(fault({.runtime = "a", .runtimes = {"x"}}, {.runtime = "a", .runtimes = {"y"}}), HasSubstr("'a' twice"));
  EXPECT_THAT(fault({.runtime = "a", .runtimes = {"x"}}, {.runtime = "b"}), HasSubstr("'b' does not say"));
  EXPECT_THAT(fault({.runtime = "a", .runtimes = {"x"}}, {.runtime = "b", .runtimes = {"y", "x"}}),
              HasSubstr("rows of runtime 'x' to 'a' and to 'b'"));
  EXPECT_THAT(fault({.precision = Precision::int8}, {.precision = Precision::int4}), IsEmpty());
}

TEST(CalibrationFile, OnePointDecidesNothing) {
  EXPECT_THAT(problem_of("fit,llama-3.2-1b,int4,decode,20 token/s,\n"),
              AllOf(HasSubstr("board.csv:2: int4: has 1 rows"), HasSubstr("memory_efficiency, per_layer")));
}

TEST(CalibrationFile, NothingIsFasterThanTheHardware) {
  // 1.2 billion weights of 4.5 bits at 500 GB/s: 1.4 ms at least.
  EXPECT_THAT(problem_of("fit,llama-3.2-1b,int4,decode,2000 token/s,\n"),
              AllOf(HasSubstr("board.csv:2: value: 500 us is faster than the hardware can"), HasSubstr("1.39")));
}

TEST(DeviceFile, TextOfTheSheetSurvives) {
  CalibratedRate rate{.rate = {.precision = Precision::int4, .compute = OperationRate(1e12)}};
  rate.rate.runtime = "my \"fast\" C:\\temp\n";
  const std::string text = device_file("memory: 1 GiB\nbandwidth: 1 GB/s\n", std::vector{rate}, "a and b");
  config::Problems problems;
  const config::Catalogue catalogue(configs);
  config::Reader reader(catalogue, problems);
  const auto read = reader.read<ProcessorConfig>(config::read_yaml_text(text, {.source = "device"}));
  problems.throw_if_any();
  EXPECT_EQ(read.rates.at(0).runtime, rate.rate.runtime);
}

}  // namespace
}  // namespace trilemma
