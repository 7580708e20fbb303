#include "analysis/calibration/calibration.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// 100 Top/s and 500 GB/s, of which the rate reaches known shares.
ProcessorConfig machine() {
  ProcessorConfig processor;
  processor.memory = Bytes(1'000'000'000'000);
  processor.bandwidth = ByteRate(500e9);
  processor.quantisation_block = 32;
  return processor;
}

PrecisionRate truth() {
  return {.precision = Precision::int4,
          .compute = OperationRate(100e12),
          .compute_efficiency = Fraction(0.4),
          .memory_efficiency = Fraction(0.7),
          .overlap = Fraction(0.5),
          .per_layer = 100us};
}

Measurement row(const std::string& model, Metric metric, std::int64_t tokens) {
  Measurement found{.model = model, .precision = Precision::int4, .metric = metric, .prompt = Tokens(tokens)};
  found.llm = read_part<LlmConfig>(config::Catalogue(configs), "llms", model);
  found.context = Tokens(metric == Metric::decode ? tokens : 0);
  return found;
}

/// Measurements that the true rate gives, with log-normal noise.
std::vector<Measurement> synthetic(double noise, std::uint32_t seed) {
  Rng rng = Streams(seed, 1).stream("measurements");
  ProcessorConfig processor = machine();
  processor.rates = {truth()};
  std::vector<Measurement> rows;
  for (const char* model : {"qwen2.5-0.5b", "llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b", "llama-2-13b"}) {
    for (const std::int64_t tokens : {1, 128, 512}) rows.push_back(row(model, Metric::decode, tokens));
    for (const std::int64_t tokens : {16, 32, 64, 128, 256, 512}) rows.push_back(row(model, Metric::prefill, tokens));
  }
  std::int64_t line = 1;
  for (Measurement& one : rows) {
    one.line = ++line;
    const double factor = noise > 0 ? std::exp(noise * rng.normal()) : 1;
    one.time = to_duration(static_cast<long double>(to_seconds(predicted(processor, one)) * factor));
  }
  return rows;
}

constexpr std::array four{Parameter::compute_efficiency, Parameter::memory_efficiency, Parameter::overlap,
                          Parameter::per_layer};

PrecisionRate unknown() { return {.precision = Precision::int4, .compute = OperationRate(100e12)}; }

double true_value(Parameter parameter) {
  const std::map<Parameter, double> values{{Parameter::compute_efficiency, 0.4},
                                           {Parameter::memory_efficiency, 0.7},
                                           {Parameter::overlap, 0.5},
                                           {Parameter::per_layer, 100e-6}};
  return values.at(parameter);
}

/// Distance from the truth, in standard errors.
double deviation(const FittedParameter& found) {
  const double wanted = true_value(found.parameter);
  const double off = found.parameter == Parameter::overlap ? found.value - wanted : std::log(found.value / wanted);
  return off / found.error;
}

TEST(Calibration, FindsTheParametersOfPerfectMeasurements) {
  const RateFit fit = fit_rate(machine(), unknown(), four, synthetic(0, 1));
  ASSERT_EQ(fit.parameters.size(), 4U);
  for (const FittedParameter& found : fit.parameters) {
    EXPECT_NEAR(found.value / true_value(found.parameter), 1, 1e-3) << config::name_of(found.parameter);
  }
  EXPECT_LT(fit.rate.spread.value(), 1e-3);
}

// Standard errors are those of a linear model: about 95 of 100 estimates lie within two of them.
TEST(Calibration, FindsTheParametersOfNoisyMeasurementsWithinTwoStandardErrors) {
  int within = 0;
  int all = 0;
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    for (const FittedParameter& found : fit_rate(machine(), unknown(), four, synthetic(0.05, seed)).parameters) {
      ASSERT_FALSE(found.at_bound);
      EXPECT_LT(std::abs(deviation(found)), 4) << seed << " " << config::name_of(found.parameter);
      within += std::abs(deviation(found)) < 2 ? 1 : 0;
      ++all;
    }
  }
  // 95 % of 100, less 4 standard errors of a share (2.2 points each).
  EXPECT_GE(within, static_cast<int>((0.95 - 4 * std::sqrt(0.95 * 0.05 / all)) * all));
}

TEST(Calibration, NamesParametersThatCannotBeToldApart) {
  std::vector<Measurement> rows;
  for (const Measurement& one : synthetic(0.02, 1)) {
    if (one.model == "llama-3.2-1b" && one.metric == Metric::decode) rows.push_back(one);
  }
  // One model: its call and its sixteen blocks cost the same whatever is measured.
  constexpr std::array both{Parameter::per_call, Parameter::per_layer};
  try {
    (void)fit_rate(machine(), truth(), both, rows);
    FAIL() << "nobody can tell them apart";
  } catch (const FitProblem& problem) {
    EXPECT_THAT(problem.what(), AllOf(HasSubstr("per_call"), HasSubstr("per_layer"), HasSubstr("apart")));
  }
}

TEST(Calibration, NamesAParameterThatTheMeasurementsDoNotTouch) {
  std::vector<Measurement> rows;
  for (const Measurement& one : synthetic(0.02, 1)) {
    if (one.metric == Metric::decode) rows.push_back(one);
  }
  constexpr std::array two{Parameter::memory_efficiency, Parameter::compute_efficiency};
  PrecisionRate hidden = truth();
  hidden.overlap = Fraction(1);  // arithmetic hides behind the weight stream
  EXPECT_THROW((void)fit_rate(machine(), hidden, two, rows), FitProblem);
}

TEST(Calibration, RefusesMoreParametersThanRows) {
  const auto rows = synthetic(0, 1);
  EXPECT_THROW((void)fit_rate(machine(), unknown(), four, std::span(rows).subspan(0, 4)), FitProblem);
}

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
  EXPECT_EQ(device_file(sheet, rates, fmt::format("{0}.csv and {0}.yaml", name)),
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
  HardwareSheet sheet;
  sheet.peaks = {{.precision = Precision::int4}, {.precision = Precision::int8}, {.precision = Precision::int4}};
  EXPECT_EQ(sheet.problems().size(), 1U);
}

TEST(CalibrationSheet, SeveralRuntimesOfAPrecisionSayWhichRowsAreTheirs) {
  using testing::IsEmpty;
  const auto fault = [](const SheetRate& one, const SheetRate& other) {
    HardwareSheet sheet;
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

TEST(Calibration, KeepsTheRuntimesApart) {
  HardwareSheet sheet{.memory = Bytes(1'000'000'000'000), .bandwidth = ByteRate(500e9)};
  for (const char* runtime : {"fast", "slow"}) {
    sheet.peaks.push_back({.precision = Precision::int4,
                           .runtime = runtime,
                           .runtimes = {runtime},
                           .compute = OperationRate(100e12),
                           .fit = {Parameter::memory_efficiency},
                           .compute_efficiency = Fraction(0.5)});
  }
  std::vector<Measurement> rows;
  for (const char* model : {"llama-3.2-1b", "llama-3.2-3b"}) {
    for (const auto& [runtime, efficiency] : {std::pair{"fast", 0.8}, std::pair{"slow", 0.2}}) {
      Measurement one = row(model, Metric::decode, 128);
      ProcessorConfig processor = machine();
      processor.rates = {{.precision = Precision::int4,
                          .compute = OperationRate(100e12),
                          .compute_efficiency = Fraction(0.5),
                          .memory_efficiency = Fraction(efficiency)}};
      one.time = predicted(processor, one);
      one.runtime = runtime;
      one.line = static_cast<std::int64_t>(rows.size()) + 2;
      rows.push_back(one);
    }
  }
  const auto found = calibrate(sheet, rows, "board.csv");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].rate.memory_efficiency.value(), 0.8, 1e-3);
  EXPECT_NEAR(found[1].rate.memory_efficiency.value(), 0.2, 1e-3);
  rows.front().runtime = "third";
  try {
    (void)calibrate(sheet, rows, "board.csv");
    ADD_FAILURE() << "a row of no runtime";
  } catch (const config::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("board.csv:2: runtime: 'third' belongs to no peak of int4"));
  }
}

// A row of the fitted model, left out alone, says nothing of other models.
TEST(Calibration, OneModelGivesNoErrorOnOthers) {
  HardwareSheet sheet{.memory = Bytes(1'000'000'000'000), .bandwidth = ByteRate(500e9)};
  sheet.peaks = {{.precision = Precision::int4,
                  .compute = OperationRate(100e12),
                  .fit = {Parameter::memory_efficiency},
                  .compute_efficiency = Fraction(0.5)}};
  std::vector<Measurement> rows;
  for (const Measurement& one : synthetic(0.05, 1)) {
    if (one.model == "llama-3.2-1b" && one.metric == Metric::decode) rows.push_back(one);
  }
  const auto found = calibrate(sheet, rows, "board.csv");
  EXPECT_FALSE(found[0].rate.decode_error);
  EXPECT_TRUE(errors_of(found[0], Sample::left_out, Phase::decode));
}

TEST(Calibration, FindsTheRatesOfBothKindsOfLayers) {
  PrecisionRate rate = truth();
  rate.convolution_efficiency = Fraction(0.6);
  ProcessorConfig processor = machine();
  processor.rates = {rate};
  std::vector<Measurement> rows;
  for (const double operations : {1e9, 3e9, 1e10}) {
    for (const Metric metric : {Metric::fully_connected, Metric::convolution}) {
      Measurement one{.line = static_cast<std::int64_t>(rows.size()) + 2,
                      .model = fmt::format("network {}", operations),
                      .precision = Precision::int4,
                      .metric = metric,
                      .operations = Operations(operations),
                      .weights = Bytes(1'000)};
      one.time = predicted(processor, one);
      rows.push_back(one);
    }
  }
  PrecisionRate start = truth();
  constexpr std::array both{Parameter::convolution_efficiency, Parameter::memory_efficiency};
  const RateFit fit = fit_rate(machine(), start, both, rows);
  EXPECT_NEAR(fit.rate.convolution_efficiency->value(), 0.6, 1e-3);
  EXPECT_NEAR(fit.rate.memory_efficiency.value(), 0.7, 1e-3);
}

TEST(CalibrationFile, OnePointDecidesNothing) {
  EXPECT_THAT(problem_of("fit,llama-3.2-1b,int4,decode,20 token/s,\n"),
              AllOf(HasSubstr("1 rows"), HasSubstr("memory_efficiency, per_layer")));
}

TEST(CalibrationFile, NothingIsFasterThanTheHardware) {
  // 1.2 billion weights of 4.5 bits at 500 GB/s: 1.4 ms at least.
  EXPECT_THAT(problem_of("fit,llama-3.2-1b,int4,decode,2000 token/s,\n"),
              AllOf(HasSubstr("board.csv:2: value: 500 us is faster than the hardware can"), HasSubstr("1.39")));
}

}  // namespace
}  // namespace trilemma
