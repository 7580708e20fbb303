#include "models/accuracy/published.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/csv.h"
#include "sim/accuracy.h"
#include "tests/property/draw.h"

namespace trilemma::test {
namespace {

using testing::HasSubstr;

const AccuracyTable& shipped() {
  static const AccuracyTable table = read_accuracies(config::Catalogue(TRILEMMA_SOURCE_DIR "/configs"));
  return table;
}

AccuracyQuery fc_on(const std::string& task, double ratio) {
  return {.llm = "llama-3.2-1b", .method = Method::fc, .task = task, .paper_ratio = ratio};
}

std::string reason(const AccuracyQuery& query) {
  const AccuracyAnswer answer = published_accuracy(shipped(), query);
  const auto* nothing = std::get_if<NotPublished>(&answer);
  return nothing == nullptr ? "a value" : nothing->reason;
}

/// Rows as text, without the reader of the program: 4 models x 10 tasks x (baseline, 5 swept ratios, 6 methods).
std::vector<std::vector<std::string>> rows() {
  std::vector<std::vector<std::string>> found;
  std::ifstream stream(TRILEMMA_SOURCE_DIR "/configs/accuracy/fouriercompress.csv");
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) found.push_back(csv_cells(line));
  return found;
}

Method method_of(const std::string& word) {
  for (const auto& name : config::names<Method>) {
    if (name.text == word) return name.value;
  }
  ADD_FAILURE() << word;
  return Method::baseline;
}

// One case is printed twice with different values: Table II has 46.6 % at ratio 6, Table III 46.9 % beside an average
// of 6. The ratio that was set is the one that is meant.
TEST(PublishedAccuracy, IsExactAtEveryRow) {
  ASSERT_EQ(rows().size(), 4U * 10U * (1U + 5U + 6U));
  int other = 0;
  for (const auto& row : rows()) {
    const AccuracyAnswer answer = published_accuracy(
        shipped(), {.llm = row[0], .method = method_of(row[1]), .task = row[2], .paper_ratio = std::stod(row[3])});
    ASSERT_TRUE(std::holds_alternative<Accuracy>(answer)) << testing::PrintToString(row);
    const auto& accuracy = std::get<Accuracy>(answer);
    EXPECT_EQ(accuracy.kind, AccuracyKind::published);
    if (row[0] == "llama-3.2-3b" && row[1] == "fc" && row[2] == "siqa" && row[4] == "average") {
      ++other;
      EXPECT_EQ(row[5], "46.9 %");
      EXPECT_EQ(accuracy.value, Fraction(0.466));
      continue;
    }
    // The number that is nearest to the printed decimal: "74.6 %" is 74.6e-2.
    const double printed = std::stod(row[5].substr(0, row[5].find(' ')) + "e-2");
    EXPECT_EQ(accuracy.value.value(), printed) << testing::PrintToString(row);
    EXPECT_TRUE(row[1] != "baseline" || accuracy.baseline == accuracy.value) << testing::PrintToString(row);
  }
  EXPECT_EQ(other, 1);
}

// The paper prints these means of the ten tasks with one digit (Table III): a check of the transcription.
TEST(PublishedAccuracy, HasThePrintedAveragesOfTableThree) {
  const std::vector<Method> methods{Method::fwsvd, Method::asvd, Method::svd_llm, Method::qr,
                                    Method::top_k, Method::fc,   Method::baseline};
  const std::map<std::string, std::vector<double>> printed{{"llama-3.2-1b", {37.0, 37.4, 38.9, 35.8, 37.1, 43.6, 43.6}},
                                                           {"llama-3.2-3b", {43.6, 43.7, 44.0, 43.4, 46.8, 47.3, 47.6}},
                                                           {"qwen2.5-1.5b", {40.5, 40.7, 41.4, 40.3, 43.4, 44.5, 44.8}},
                                                           {"qwen2.5-3b", {42.1, 41.9, 42.8, 42.3, 45.2, 46.4, 46.3}}};
  for (const auto& [llm, means] : printed) {
    for (std::size_t m = 0; m < methods.size(); ++m) {
      double sum = 0;
      int count = 0;
      for (const PublishedPoint& point : shipped().points) {
        const bool third = point.ratio_is == RatioIs::average || point.method == Method::baseline;
        if (point.llm != llm || point.method != methods[m] || !third) continue;
        sum += 100 * point.accuracy.value();
        ++count;
      }
      EXPECT_EQ(count, 10);
      EXPECT_NEAR(sum / count, means[m], 0.1) << llm << " " << config::name_of(methods[m]);
    }
  }
}

// What docs/models.md says of Table III: each of its values for the paper's own method is one of Table II.
TEST(PublishedAccuracy, OfTheAverageRatiosIsThatOfSomeSweptOne) {
  int checked = 0;
  for (const PublishedPoint& average : shipped().points) {
    if (average.method != Method::fc || average.ratio_is != RatioIs::average) continue;
    ++checked;
    EXPECT_TRUE(std::any_of(shipped().points.begin(), shipped().points.end(),
                            [&](const PublishedPoint& swept) {
                              return swept.method == Method::fc && swept.ratio_is == RatioIs::swept &&
                                     swept.llm == average.llm && swept.task == average.task &&
                                     swept.accuracy == average.accuracy;
                            }))
        << average.llm << " " << average.task;
  }
  EXPECT_EQ(checked, 40);
}

TEST(PublishedAccuracy, BetweenSweptRatiosLiesBetweenTheirValues) {
  for (const PublishedPoint& left : shipped().points) {
    if (left.method != Method::fc || left.ratio_is != RatioIs::swept || left.ratio == 10) continue;
    const auto next = published_accuracy(
        shipped(), {.llm = left.llm, .method = Method::fc, .task = left.task, .paper_ratio = left.ratio + 1});
    const auto [low, high] = std::minmax(left.accuracy, std::get<Accuracy>(next).value);
    Draw draw(20261205, static_cast<std::uint32_t>(left.line));
    for (int i = 0; i < 5; ++i) {
      const auto answer = published_accuracy(shipped(), {.llm = left.llm,
                                                         .method = Method::fc,
                                                         .task = left.task,
                                                         .paper_ratio = left.ratio + draw.real(0.01, 0.99)});
      const auto& accuracy = std::get<Accuracy>(answer);
      EXPECT_EQ(accuracy.kind, AccuracyKind::interpolated);
      EXPECT_GE(accuracy.value.value(), low.value() - 1e-15);
      EXPECT_LE(accuracy.value.value(), high.value() + 1e-15);
    }
  }
}

// 56.0 at 8 and 55.2 at 9, with 56.2 and 53.7 beside them: secants -0.2, -0.8, -1.5, so slopes -2 / (1/0.2 + 1/0.8) =
// -0.32 and -2 / (1/0.8 + 1/1.5), and half way (56.0 + 55.2) / 2 + (d0 - d1) / 8.
TEST(PublishedAccuracy, IsInterpolatedAlongTheSweep) {
  const double right_slope = -2 / (1 / 0.8 + 1 / 1.5);
  const auto accuracy = std::get<Accuracy>(published_accuracy(shipped(), fc_on("arc-easy", 8.5)));
  EXPECT_NEAR(100 * accuracy.value.value(), 55.6 + (-0.32 - right_slope) / 8, 1e-12);
  EXPECT_EQ(accuracy.baseline, Fraction(0.565));
  EXPECT_EQ(accuracy.source, "between ratios 8 and 9 of FourierCompress Table II (arXiv 2510.16418v1)");
}

TEST(PublishedAccuracy, StopsAtTheEndsOfTheSweep) {
  const double below = std::nextafter(6.0, 0.0);
  const double above = std::nextafter(10.0, 20.0);
  EXPECT_THAT(reason(fc_on("arc-easy", below)), HasSubstr("nearest: ratio 6 with 56.4 %, FourierCompress Table II"));
  EXPECT_EQ(reason(fc_on("arc-easy", 6)), "a value");
  EXPECT_EQ(reason(fc_on("arc-easy", 10)), "a value");
  EXPECT_THAT(reason(fc_on("arc-easy", above)), HasSubstr("nearest: ratio 10 with 53.7 %"));
  EXPECT_EQ(reason(fc_on("piqa", 10.3)), "a value") << "Table III";
  EXPECT_THAT(reason(fc_on("piqa", 10.2)), HasSubstr("fc at ratio 10.2 on piqa; nearest: ratio 10.3 with 74.6 %"));
}

// Nobody measured anything between the baseline and ratio 6, nor that `fc` at ratio 1 loses nothing.
TEST(PublishedAccuracy, OfTheBaselineIsNoEndOfTheSweep) {
  for (const double ratio : {1.0, 1.5, 3.8, 5.0})
    EXPECT_THAT(reason(fc_on("piqa", ratio)), HasSubstr("nearest: ratio 6 ")) << ratio;
}

TEST(PublishedAccuracy, OfOtherMethodsIsKnownAtOneRatioOnly) {
  AccuracyQuery query = fc_on("piqa", 10.3);
  query.method = Method::top_k;
  EXPECT_EQ(reason(query), "a value");
  query.paper_ratio = 10;
  EXPECT_THAT(reason(query), HasSubstr("top-k at ratio 10 on piqa; nearest: ratio 10.3 with "));
}

TEST(PublishedAccuracy, SaysWhatIsPublishedInstead) {
  EXPECT_EQ(reason({.llm = "phi-2", .method = Method::fc, .task = "piqa"}),
            "phi-2; published for llama-3.2-1b, llama-3.2-3b, qwen2.5-1.5b, qwen2.5-3b");
  EXPECT_THAT(reason(fc_on("hellaswag", 6)), HasSubstr("task hellaswag; published for openbookqa, arc-easy, "));
  AccuracyTable one = shipped();
  std::erase_if(one.points, [](const PublishedPoint& point) { return point.method == Method::qr; });
  AccuracyQuery query = fc_on("piqa", 6);
  query.method = Method::qr;
  EXPECT_THAT(std::get<NotPublished>(published_accuracy(one, query)).reason,
              HasSubstr("qr on piqa; published for baseline, fc, "));
}

}  // namespace
}  // namespace trilemma::test
