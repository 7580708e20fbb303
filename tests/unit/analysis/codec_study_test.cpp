#include "analysis/codec_study.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/catalogue.h"
#include "sim/accuracy.h"
#include "sim/experiment.h"
#include "sim/measured_accuracy.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

using testing::HasSubstr;

const std::filesystem::path source = TRILEMMA_SOURCE_DIR;
const std::filesystem::path checkpoint = source / "configs/checkpoints/kjv-4m";

CodecStudy& study() {
  static CodecStudy one(checkpoint / "kjv256_q80.bin", checkpoint / "held_out_257_u16.bin", StudyPlan{});
  return one;
}

StudiedCodec codec(const std::string& name) {
  for (const StudiedCodec& one : studied_codecs()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument(name);
}

// The page in results/ is what the program finds. Some rows behind the last cut, where little is left to compute.
TEST(CodecStudy, FindsWhatThePublishedPageSays) {
  std::ostringstream text;
  text << std::ifstream(source / "results/codec_accuracy.md").rdbuf();
  const std::string page = text.str();
  const std::string section = page.substr(page.find("## Behind block 5"));
  for (const char* name :
       {"identity fp16", "quantise per token int4", "fourier-published fp16", "topk int4", "transform klt"}) {
    const StudiedCodec one = codec(name);
    const StudyRow row = study().row(one, 5, one.has_ratio ? std::optional(7.6) : std::nullopt);
    const auto cells = study_cells(row);
    std::string line = "|";
    for (std::size_t i = 0; i + 2 < cells.size(); ++i) line += " " + cells[i] + " |";  // without the times
    EXPECT_THAT(section, HasSubstr(line)) << name;
  }
}

TEST(CodecStudy, SendingEverythingChangesNothing) {
  const StudyRow row = study().row(codec("identity fp16"), 5, std::nullopt);
  EXPECT_EQ(row.ratio, 1);
  EXPECT_LT(row.error, std::ldexp(1.0, -11));  // half a unit of the last place of fp16
  EXPECT_NEAR(row.agreement, 1, 4 / 5120.0);   // a tie may fall the other way
  EXPECT_NEAR(row.perplexity_ratio, 1, 1e-3);
  EXPECT_TRUE(row.near_lossless());
}

// By its energy at the cut: an error cannot be more than all of it, and what agrees less is more perplexed.
TEST(CodecStudy, LosesMoreWithFewerBytes) {
  const StudiedCodec klt = codec("transform klt");
  StudyRow before = study().row(klt, 5, 2);
  for (const double ratio : {7.6, 16.0}) {
    const StudyRow row = study().row(klt, 5, ratio);
    EXPECT_GT(row.error, before.error);
    EXPECT_LT(row.agreement, before.agreement);
    EXPECT_GT(row.perplexity_ratio, before.perplexity_ratio);
    EXPECT_GE(row.ratio, ratio);
    before = row;
  }
}

Scenario measured() {
  Scenario scenario = test::toy_scenario();
  const config::Catalogue catalogue(source / "configs");
  scenario.llm = read_part<LlmConfig>(catalogue, "llms", "kjv-4m");
  scenario.llm.kind = "kjv-4m";
  scenario.checkpoint = checkpoint;
  scenario.workload.task = TaskConfig{.kind = measured_task};
  scenario.cut = Cut{5};
  return scenario;
}

TEST(MeasuredAccuracy, IsThatOfTheModelThroughTheCodec) {
  Scenario scenario = measured();
  scenario.device.precision = scenario.edge.precision = Precision::fp16;
  scenario.codec = QuantiseCodec{.format = NumberFormat::int2};
  const auto answer = accuracy_of(scenario);
  ASSERT_TRUE(answer);
  const auto accuracy = std::get<Accuracy>(*answer);
  EXPECT_EQ(accuracy.kind, AccuracyKind::measured);
  EXPECT_EQ(accuracy.baseline.value(), study().reference().top1());
  const StudyRow row = study().row(codec("quantise per token int2"), 5, std::nullopt);
  EXPECT_NEAR(100 * (accuracy.baseline - accuracy.value).value(), row.lost_points, 1e-9);
}

TEST(MeasuredAccuracy, SeesTheWeightsOfBothSides) {
  Scenario scenario = measured();
  scenario.codec = IdentityCodec{};
  scenario.cut = Cut{std::nullopt};
  scenario.device.precision = scenario.edge.precision = Precision::fp16;
  const auto value = [&] { return std::get<Accuracy>(measured_accuracy(scenario)).value; };
  EXPECT_EQ(value().value(), study().reference().top1());
  scenario.device.precision = Precision::int2;
  EXPECT_LT(value().value(), study().reference().top1() / 2);
}

TEST(MeasuredAccuracy, OfRawInputIsThatOfTheEdgeAlone) {
  Scenario scenario = measured();
  scenario.cut = Cut{0};
  scenario.device.precision = Precision::int2;
  scenario.edge.precision = Precision::fp16;
  EXPECT_EQ(std::get<Accuracy>(measured_accuracy(scenario)).value.value(), study().reference().top1());
}

TEST(MeasuredAccuracy, NeedsTheCheckpointOfTheModel) {
  Scenario scenario = measured();
  const auto reason = [&] { return std::get<NotPublished>(measured_accuracy(scenario)).reason; };
  scenario.llm.hidden *= 2;
  EXPECT_THAT(reason(), HasSubstr("other sides than its checkpoint"));
  scenario = measured();
  scenario.llm.attention_bias = true;
  EXPECT_THAT(reason(), HasSubstr("other sides than its checkpoint"));
  scenario = measured();
  scenario.workload.output = FixedLength{Tokens(2)};
  EXPECT_THAT(reason(), HasSubstr("output: 1"));
  scenario = measured();
  scenario.codec = FourierTextCodec{.ratio = 4, .fallback = Fraction(0.5)};
  EXPECT_THAT(reason(), HasSubstr("falls back"));
  scenario = measured();
  scenario.device.precision = Precision::int1;
  EXPECT_THAT(reason(), HasSubstr("1 bit"));
  scenario = measured();
  scenario.codec = FourierCodec{.ratio = 1e4};
  EXPECT_THAT(reason(), HasSubstr("choose a ratio of at most"));
  scenario.checkpoint = "/no/such/folder";
  EXPECT_THAT(reason(), HasSubstr("configs/checkpoints"));
}

}  // namespace
}  // namespace trilemma
