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

/// What a rate gives for them, with log-normal noise.
std::vector<Measurement> measured(std::vector<Measurement> rows, const PrecisionRate& rate, double noise,
                                  std::uint32_t seed) {
  Rng rng = Streams(seed, 1).stream("measurements");
  ProcessorConfig processor = machine();
  processor.rates = {rate};
  std::int64_t line = 1;
  for (Measurement& one : rows) {
    one.line = ++line;
    const double factor = noise > 0 ? std::exp(noise * rng.normal()) : 1;
    one.time = to_duration(static_cast<long double>(to_seconds(predicted(processor, one)) * factor));
  }
  return rows;
}

/// Tokens and prompts of five models.
std::vector<Measurement> tokens_and_prompts() {
  std::vector<Measurement> rows;
  for (const char* model : {"qwen2.5-0.5b", "llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b", "llama-2-13b"}) {
    for (const std::int64_t tokens : {1, 128, 512}) rows.push_back(row(model, Metric::decode, tokens));
    for (const std::int64_t tokens : {16, 32, 64, 128, 256, 512}) rows.push_back(row(model, Metric::prefill, tokens));
  }
  return rows;
}

/// Passes of two models, as published for servers: one and two tokens are four rows of the weight stream.
std::vector<Measurement> passes() {
  std::vector<Measurement> rows;
  for (const char* model : {"llama-2-7b", "phi-2"}) {
    for (const std::int64_t tokens : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048})
      rows.push_back(row(model, Metric::matrices, tokens));
  }
  return rows;
}

std::vector<Measurement> synthetic(double noise, std::uint32_t seed) {
  return measured(tokens_and_prompts(), truth(), noise, seed);
}

constexpr std::array four{Parameter::compute_efficiency, Parameter::memory_efficiency, Parameter::overlap,
                          Parameter::per_layer};

PrecisionRate unknown() { return {.precision = Precision::int4, .compute = OperationRate(100e12)}; }

double value_of(const PrecisionRate& rate, Parameter parameter) {
  const std::map<Parameter, double> values{{Parameter::compute_efficiency, rate.compute_efficiency.value()},
                                           {Parameter::memory_efficiency, rate.memory_efficiency.value()},
                                           {Parameter::overlap, rate.overlap.value()},
                                           {Parameter::per_layer, to_seconds(rate.per_layer)}};
  return values.at(parameter);
}

/// Distance from the truth, in standard errors.
double deviation(const FittedParameter& found, const PrecisionRate& rate) {
  const double wanted = value_of(rate, found.parameter);
  const bool share =
      found.parameter == Parameter::compute_efficiency || found.parameter == Parameter::memory_efficiency;
  return (share ? std::log(found.value / wanted) : found.value - wanted) / found.error;
}

TEST(Calibration, FindsTheParametersOfPerfectMeasurements) {
  const RateFit fit = fit_rate(machine(), unknown(), four, synthetic(0, 1));
  ASSERT_EQ(fit.parameters.size(), 4U);
  for (const FittedParameter& found : fit.parameters) {
    EXPECT_NEAR(found.value / value_of(truth(), found.parameter), 1, 1e-3) << config::name_of(found.parameter);
  }
  EXPECT_LT(fit.rate.spread.value(), 1e-3);
}

/// Standard errors are those of a linear model: about 95 of 100 estimates lie within two of them, and that for all and
/// for each parameter, less 4 standard errors of a share.
void expect_coverage(const std::vector<Measurement>& rows, const PrecisionRate& rate) {
  constexpr int seeds = 60;
  std::map<Parameter, int> within;
  int all = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    for (const FittedParameter& found :
         fit_rate(machine(), unknown(), four, measured(rows, rate, 0.05, seed)).parameters) {
      const double off = std::abs(deviation(found, rate));
      EXPECT_LT(off, 4) << seed << " " << config::name_of(found.parameter);
      within[found.parameter] += off < 2 ? 1 : 0;
      all += off < 2 ? 1 : 0;
    }
  }
  const auto least = [](int count) { return static_cast<int>((0.95 - 4 * std::sqrt(0.95 * 0.05 / count)) * count); };
  EXPECT_GE(all, least(seeds * 4));
  for (const auto& [parameter, count] : within) EXPECT_GE(count, least(seeds)) << config::name_of(parameter);
}

TEST(Calibration, FindsTheParametersOfNoisyMeasurementsWithinTwoStandardErrors) {
  expect_coverage(tokens_and_prompts(), truth());
}

// A cost of 3 % of the shortest row, which noise of 5 % drives to 0 now and then.
TEST(Calibration, FindsACostNearNothingWithinTwoStandardErrors) {
  PrecisionRate rate = truth();
  rate.per_layer = 10us;
  expect_coverage(passes(), rate);
}

// One model's tokens at six contexts: weights and blocks take nearly the same share of each. Noise may drive one of the
// two to the end of its range; that does not make the other known.
TEST(Calibration, AParameterAtTheEndOfItsRangeLeavesTheOthersUncertain) {
  constexpr std::array two{Parameter::memory_efficiency, Parameter::per_layer};
  PrecisionRate start = unknown();
  start.compute_efficiency = Fraction(0.4);
  int refused = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Rng rng = Streams(seed, 1).stream("measurements");
    ProcessorConfig processor = machine();
    processor.rates = {truth()};
    std::vector<Measurement> rows;
    for (const std::int64_t context : {32, 64, 128, 256, 512, 1024}) {
      Measurement one = row("llama-3.2-1b", Metric::decode, context);
      one.time =
          to_duration(static_cast<long double>(to_seconds(predicted(processor, one)) * std::exp(0.01 * rng.normal())));
      rows.push_back(one);
    }
    try {
      for (const FittedParameter& found : fit_rate(machine(), start, two, rows).parameters) {
        EXPECT_LT(std::abs(deviation(found, truth())), 4) << seed << " " << config::name_of(found.parameter);
        EXPECT_GT(found.error, found.parameter == Parameter::per_layer ? 0.05 * 100e-6 : 0.05);
      }
    } catch (const FitProblem& problem) {
      ++refused;
      EXPECT_THAT(problem.what(), testing::AnyOf(HasSubstr("memory_efficiency"), HasSubstr("per_layer")));
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Calibration, RefusesAFitThatIsFarOff) {
  PrecisionRate start = unknown();
  start.per_layer = 3600s;
  constexpr std::array one{Parameter::memory_efficiency, Parameter::compute_efficiency};
  EXPECT_THROW((void)fit_rate(machine(), start, one, synthetic(0.05, 1)), FitProblem);
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

}  // namespace
}  // namespace trilemma
