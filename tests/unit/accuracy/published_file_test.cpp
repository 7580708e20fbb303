#include "models/accuracy/published_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/problems.h"

namespace trilemma {
namespace {

using testing::HasSubstr;

const std::string header = "llm,method,task,ratio,ratio_is,accuracy,source\n";
const std::string baseline = "llama-3.2-1b,baseline,piqa,1,swept,74.6 %,here\n";

class PublishedFile : public testing::Test {
 protected:
  static std::vector<PublishedPoint> read(const std::string& text) {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / (name + ".csv");
    std::ofstream(path) << text;
    return read_published(path, "a.csv", config::Catalogue(TRILEMMA_SOURCE_DIR "/configs"));
  }
  static std::string error(const std::string& text) {
    try {
      (void)read(text);
    } catch (const config::Error& problem) {
      return problem.what();
    }
    return "no error";
  }
  /// Of a third line.
  static std::string row_error(const std::string& row) { return error(header + baseline + row + "\n"); }
};

TEST_F(PublishedFile, GivesItsRows) {
  const auto points = read(header + baseline + "\n# a comment\nllama-3.2-1b,top-k,piqa,10.3,average,70.1 %,there\n");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].line, 5);
  EXPECT_EQ(points[1].llm, "llama-3.2-1b");
  EXPECT_EQ(points[1].method, Method::top_k);
  EXPECT_EQ(points[1].task, "piqa");
  EXPECT_EQ(points[1].ratio, 10.3);
  EXPECT_EQ(points[1].ratio_is, RatioIs::average);
  EXPECT_EQ(points[1].accuracy, Fraction(0.701));
  EXPECT_EQ(points[1].source, "there");
}

TEST_F(PublishedFile, AcceptsTheEndsOfTheRanges) {
  EXPECT_EQ(read(header + "llama-3.2-1b,baseline,piqa,1,swept,0 %,here\n")[0].accuracy, Fraction(0));
  EXPECT_EQ(read(header + "llama-3.2-1b,baseline,piqa,1,swept,100 %,here\n")[0].accuracy, Fraction(1));
}

TEST_F(PublishedFile, MayNotBeEmpty) {
  EXPECT_EQ(error(""), "a.csv:1: is empty; write a header and one row a published value");
  EXPECT_EQ(error(header), "a.csv:1: has no row below the header; write one row a published value");
  EXPECT_EQ(error("llm,method,task\n"), "a.csv:1: column 'ratio' is missing; add it to the header");
  EXPECT_THAT(error("llm,metod\n"), HasSubstr("a.csv:1: column 'metod' is not known; write 'method'"));
}

TEST_F(PublishedFile, KnowsOnlyTheWordsOfItsColumns) {
  EXPECT_EQ(row_error("llama-3.2-1c,fc,piqa,6,swept,70 %,here"),
            "a.csv:3: llm: 'llama-3.2-1c' is not in configs/llms; write 'llama-3.2-1b'");
  EXPECT_EQ(row_error("llama-3.2-1b,fc,piqua,6,swept,70 %,here"),
            "a.csv:3: task: 'piqua' is not in configs/tasks; write 'piqa'");
  EXPECT_EQ(row_error("llama-3.2-1b,zip,piqa,6,swept,70 %,here"),
            "a.csv:3: method: 'zip' is not one of baseline, fc, top-k, svd-llm, asvd, fwsvd, qr");
  EXPECT_EQ(row_error("llama-3.2-1b,fc,piqa,6,mean,70 %,here"),
            "a.csv:3: ratio_is: 'mean' is not one of swept, average");
}

TEST_F(PublishedFile, KeepsNumbersInRange) {
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,6,swept,100.1 %,here"),
              HasSubstr("a.csv:3: accuracy: '100.1 %' is outside 0 % to 100 %"));
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,6,swept,-0.1 %,here"), HasSubstr("a.csv:3: accuracy: '-0.1 %' "));
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,6,swept,70,here"), HasSubstr("a.csv:3: accuracy: '70' has no unit"));
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,0.9,swept,70 %,here"),
              HasSubstr("a.csv:3: ratio: '0.9' is outside 1 to 10000"));
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,nan,swept,70 %,here"), HasSubstr("a.csv:3: ratio: 'nan' "));
  EXPECT_THAT(row_error("llama-3.2-1b,baseline,piqa,6,swept,70 %,here"),
              HasSubstr("a.csv:3: ratio: '6' is none of a baseline"));
}

TEST_F(PublishedFile, HasNoGaps) {
  EXPECT_EQ(row_error("llama-3.2-1b,fc,piqa,6,swept,70 %,"), "a.csv:3: source: is missing; a row has no gaps");
  EXPECT_EQ(row_error("llama-3.2-1b,fc,piqa,6,swept,,here"), "a.csv:3: accuracy: is missing; a row has no gaps");
  EXPECT_THAT(row_error("llama-3.2-1b,fc,piqa,6,swept"), HasSubstr("a.csv:3: has 5 cells where the header has 7"));
  EXPECT_EQ(row_error("llama-3.2-1b,fc,siqa,6,swept,70 %,here"),
            "a.csv:3: llama-3.2-1b has no baseline on siqa; add its row");
  const std::string other = "llama-3.2-1b,baseline,siqa,1,swept,40 %,here\n";
  const std::string sweep = "llama-3.2-1b,fc,piqa,6,swept,70 %,here\nllama-3.2-1b,fc,piqa,7,swept,69 %,here\n";
  EXPECT_EQ(error(header + baseline + other + sweep + "llama-3.2-1b,fc,siqa,6,swept,39 %,here\n"),
            "a.csv:6: fc with llama-3.2-1b on siqa has a gap at ratio 7, which others have; add its row");
}

TEST_F(PublishedFile, HasEachCaseOnce) {
  EXPECT_EQ(row_error("llama-3.2-1b,baseline,piqa,1.0,swept,74.7 %,there"),
            "a.csv:3: repeats line 2; write each published value once");
  const std::string both = "llama-3.2-1b,fc,piqa,6,swept,70 %,here\nllama-3.2-1b,fc,piqa,6,average,71 %,here\n";
  EXPECT_EQ(read(header + baseline + both).size(), 3U) << "an average ratio is no swept one";
}

}  // namespace
}  // namespace trilemma
