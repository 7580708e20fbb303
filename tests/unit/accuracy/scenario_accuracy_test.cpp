// What a scenario may take from the published accuracies, up to what the program prints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/manifest.h"
#include "sim/accuracy.h"
#include "tests/support/command.h"
#include "tests/support/golden.h"
#include "tests/support/toy_scenario.h"

namespace trilemma::test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

/// A published model with 16-bit weights, cut after layer 1, on PIQA: 74.6 % uncompressed.
Scenario published() {
  static const AccuracyTable table = read_accuracies(config::Catalogue(TRILEMMA_SOURCE_DIR "/configs"));
  Scenario scenario = toy_scenario();
  scenario.llm = table.llms.at("llama-3.2-1b");
  scenario.workload.task = TaskConfig{.kind = "piqa"};
  scenario.accuracies = table;
  return scenario;
}

std::string reason(const Scenario& scenario) {
  const auto answer = accuracy_of(scenario);
  if (!answer) return "no task";
  const auto* nothing = std::get_if<NotPublished>(&*answer);
  return nothing == nullptr ? "" : nothing->reason;
}

Fraction value(const Scenario& scenario) { return std::get<Accuracy>(*accuracy_of(scenario)).value; }

TEST(ScenarioAccuracy, NeedsATask) {
  Scenario scenario = published();
  scenario.workload.task.reset();
  EXPECT_FALSE(accuracy_of(scenario).has_value());
}

TEST(ScenarioAccuracy, WithoutCompressionIsTheBaselineAtAnyCut) {
  Scenario scenario = published();
  for (const Cut cut : {Cut{0}, Cut{1}, Cut{7}, Cut{16}, Cut{std::nullopt}}) {
    scenario.cut = cut;
    EXPECT_EQ(value(scenario), Fraction(0.746));
  }
  scenario.workload.output = FixedLength{Tokens(100)};
  EXPECT_EQ(value(scenario), Fraction(0.746));
}

// Twice the ratio in bytes at equal formats: a complex coefficient counts as one number. 7 in Table II for PIQA.
TEST(ScenarioAccuracy, TakesThePublishedBlockAtTwiceItsRatioInBytes) {
  Scenario scenario = published();
  scenario.codec = FourierPublishedCodec{.ratio = 3.5};
  const AccuracyAnswer at_seven = accuracy_with(scenario, {.method = Method::fc, .ratio = 7});
  EXPECT_EQ(value(scenario), std::get<Accuracy>(at_seven).value);
  // Coefficients of half the bytes: the same bytes are twice as many of them.
  scenario.codec = FourierPublishedCodec{.ratio = 7, .coefficients = NumberFormat::fp16};
  EXPECT_EQ(value(scenario), std::get<Accuracy>(at_seven).value);
  scenario.codec = FourierPublishedCodec{.ratio = 8};
  EXPECT_THAT(reason(scenario), HasSubstr("16"));
}

TEST(ScenarioAccuracy, IgnoresACodecThatSendsNothing) {
  Scenario scenario = published();
  scenario.codec = FourierCodec{.ratio = 8};
  EXPECT_EQ(reason(scenario), "codec fourier; published for identity, fourier-published, topk, svd, qr");
  scenario.cut = Cut{0};
  EXPECT_EQ(value(scenario), Fraction(0.746));
  scenario.cut = Cut{std::nullopt};
  EXPECT_EQ(value(scenario), Fraction(0.746));
}

TEST(ScenarioAccuracy, IsNotThatOfQuantisedWeights) {
  Scenario scenario = published();
  scenario.device.precision = Precision::int4;
  EXPECT_EQ(reason(scenario), "int4 weights on the device; published without quantisation of weights");
  scenario.cut = Cut{0};
  EXPECT_EQ(reason(scenario), "") << "the device computes nothing";
  scenario.edge.precision = Precision::int8;
  EXPECT_EQ(reason(scenario), "int8 weights on the edge; published without quantisation of weights");
  scenario.cut = Cut{std::nullopt};
  scenario.device.precision = Precision::bf16;
  EXPECT_EQ(reason(scenario), "") << "the edge computes nothing";
}

TEST(ScenarioAccuracy, IsNotThatOfAnotherModel) {
  Scenario scenario = published();
  scenario.pruning.heads = Fraction(0.25);
  EXPECT_EQ(reason(scenario), "a pruned model; published for whole ones");
  scenario = published();
  --scenario.llm.layers;
  EXPECT_EQ(reason(scenario), "llama-3.2-1b with other values than its catalogue entry");
  scenario.llm.kind = "custom";
  EXPECT_THAT(reason(scenario), HasSubstr("custom; published for llama-3.2-1b, "));
  scenario = published();
  scenario.workload.task = TaskConfig{};
  EXPECT_THAT(reason(scenario), HasSubstr("task custom; published for "));
}

TEST(ScenarioAccuracy, OfCompressionIsThatOfCutOneAndOfPromptsAlone) {
  const PaperCodec codec{.method = Method::fc, .ratio = 8};
  Scenario scenario = published();
  scenario.workload.task = TaskConfig{.kind = "arc-easy"};
  EXPECT_EQ(std::get<Accuracy>(accuracy_with(scenario, codec)).value, Fraction(0.56));
  EXPECT_EQ(std::get<Accuracy>(accuracy_with(scenario, codec)).baseline, Fraction(0.565));
  scenario.cut = Cut{2};
  EXPECT_EQ(std::get<NotPublished>(accuracy_with(scenario, codec)).reason, "fc at cut 2; published for cut 1");
  scenario.cut = Cut{1};
  scenario.workload.output = FixedLength{Tokens(2)};
  EXPECT_EQ(std::get<NotPublished>(accuracy_with(scenario, codec)).reason,
            "fc of generated tokens; published for prompts alone, with 'output: 1'");
}

TEST(ScenarioAccuracy, IsPartOfWhatAPointIs) {
  Scenario other = published();
  EXPECT_EQ(point_id(other), point_id(published()));
  other.accuracies.points.back().accuracy = Fraction(0.5);
  EXPECT_NE(point_id(other), point_id(published()));
}

TEST(PaperCodec, KnowsWhatTheMethodIsCalled) {
  EXPECT_EQ(paper_codec(IdentityCodec{})->method, Method::baseline);
  EXPECT_EQ(paper_codec(IdentityCodec{})->ratio, 1);
  EXPECT_FALSE(paper_codec(FourierCodec{}));
}

// ---- What the program prints ----------------------------------------------------------------------------------------

const std::filesystem::path folder = TRILEMMA_SOURCE_DIR "/tests/golden";

Output run_with(std::vector<std::string> words) {
  std::vector<std::string> arguments{"run",   (folder / "fixed-chain.yaml").string(),
                                     "--set", "llm=qwen2.5-3b",
                                     "--set", "device.precision=fp16",
                                     "--set", "codec=identity"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return run_program(arguments);
}

TEST(AccuracyOutput, IsInTheSummaryAndInTheTable) {
  const Json json = Json::parse(run_with({"--set", "workload.task=logiqa", "--format", "json"}).text);
  const Json expected{{"value", 0.358},
                      {"baseline", 0.358},
                      {"source", "FourierCompress Tables II and III (arXiv 2510.16418v1)"},
                      {"kind", "published"}};
  EXPECT_EQ(json["accuracy"], expected);
  EXPECT_EQ(json["scenario"]["workload"]["task"]["kind"], "logiqa");
  EXPECT_THAT(run_with({"--set", "workload.task=logiqa"}).text,
              HasSubstr("\n  accuracy      35.8 % of logiqa (baseline 35.8 %), published: FourierCompress Tables II"));
  const std::string csv = run_with({"--set", "workload.task=logiqa", "--format", "csv"}).text;
  EXPECT_THAT(csv, HasSubstr(",accuracy,accuracy_baseline,"));
  EXPECT_THAT(csv, HasSubstr(",0.358,0.358,"));
}

TEST(AccuracyOutput, IsNullWithAReasonWhereNothingIsPublished) {
  const std::vector<std::string> fourier{"--set", "workload.task=logiqa", "--set", "codec={kind: fourier, ratio: 8}"};
  std::vector<std::string> as_json = fourier;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Json accuracy = Json::parse(run_with(as_json).text)["accuracy"];
  for (const char* key : {"value", "baseline", "source", "kind"}) EXPECT_TRUE(accuracy[key].is_null()) << key;
  EXPECT_EQ(accuracy["reason"],
            "not published for codec fourier; published for identity, fourier-published, topk, svd, qr");
  EXPECT_THAT(run_with(fourier).text, HasSubstr("\n  accuracy      not published for codec fourier; published for "));
}

TEST(AccuracyOutput, IsNoLineWithoutATask) {
  EXPECT_THAT(run_with({}).text, Not(HasSubstr("accuracy")));
  EXPECT_EQ(Json::parse(run_with({"--format", "json"}).text)["accuracy"]["reason"],
            "the workload has no task to score answers on");
}

}  // namespace
}  // namespace trilemma::test
