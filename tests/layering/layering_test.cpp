// Rules of the source text that no compiler checks.

#include <algorithm>
#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "tests/layering/source_tree.h"

namespace trilemma::test {
namespace {

/// A folder includes only itself and the folders on its left.
const std::vector<std::string> layers{"core", "models", "sim", "analysis", "cli"};

const std::vector<SourceFile>& program() {
  static const std::vector<SourceFile> files = sources_below(layers);
  return files;
}

std::string layer_of(const std::string& path) { return path.substr(0, path.find('/')); }

bool starts_with_any(const std::string& path, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& word) { return path.starts_with(word); });
}

/// The file that a line includes, without its quotes or angle brackets; empty for other lines.
std::string included(const SourceLine& line) {
  static const std::regex include(R"re(\s*#\s*include\s*["<]([^">]+)[">].*)re");
  std::smatch match;
  return std::regex_match(line.text, match, include) ? match[1].str() : "";
}

/// Places, outside the files that begin with one of `allowed`, whose code matches; one a line.
std::string places(const std::string& pattern, const std::vector<std::string>& allowed,
                   const std::vector<SourceFile>& files = program()) {
  const std::regex wanted(pattern);
  std::string found;
  for (const SourceFile& file : files) {
    if (starts_with_any(file.path, allowed)) continue;
    for (const SourceLine& line : file.lines) {
      if (std::regex_search(line.code, wanted))
        found += file.path + ":" + std::to_string(line.number) + ": " + line.text + "\n";
    }
  }
  return found;
}

std::vector<SourceFile> below(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const SourceFile& file : program()) {
    if (starts_with_any(file.path, folders)) files.push_back(file);
  }
  return files;
}

TEST(SourceText, IsAllThere) {
  std::map<std::string, int> files;
  for (const SourceFile& file : program()) ++files[layer_of(file.path)];
  for (const std::string& layer : layers) EXPECT_GE(files[layer], 5) << layer;
}

TEST(SourceText, CommentsAndLiteralsAreNoCode) {
  EXPECT_EQ(code_of("int a = 1;  // rand()"), "int a = 1;  ");
  EXPECT_EQ(code_of(R"(call("a // b", 'c', x);)"), R"(call("", '', x);)");
  EXPECT_EQ(code_of(R"(call("say \"no\"");  // x)"), R"(call("");  )");
  EXPECT_EQ(code_of("1'000'000 / x"), "1'000'000 / x");
}

TEST(Layers, IncludeOnlyThemselvesAndTheLeft) {
  for (const SourceFile& file : program()) {
    const auto own = std::find(layers.begin(), layers.end(), layer_of(file.path));
    for (const SourceLine& line : file.lines) {
      const std::string header = included(line);
      const auto other = std::find(layers.begin(), layers.end(), layer_of(header));
      if (header.find('/') == std::string::npos || other == layers.end()) continue;
      EXPECT_LE(other, own) << file.path << ":" << line.number << " includes " << header;
    }
  }
}

TEST(Layers, ProjectHeadersAreNamedFromTheRoot) {
  for (const SourceFile& file : program()) {
    for (const SourceLine& line : file.lines) {
      if (line.text.find("#include \"") == std::string::npos) continue;
      const std::string header = included(line);
      const bool known = starts_with_any(header, {"core/", "models/", "sim/", "analysis/", "cli/", "ns3/"});
      EXPECT_TRUE(known || header == "trilemma_version.h") << file.path << ":" << line.number << " " << header;
    }
  }
}

TEST(Layers, Ns3StaysWhereItBelongs) {
  for (const SourceFile& file : program()) {
    for (const SourceLine& line : file.lines) {
      const std::string header = included(line);
      EXPECT_FALSE(header.ends_with("core-module.h")) << file.path << ": does not compile as C++20";
      if (!header.starts_with("ns3/")) continue;
      EXPECT_TRUE(
          starts_with_any(file.path, {"core/scheduler.cpp", "core/random.cpp", "models/radio/", "models/link/ns3.cpp"}))
          << file.path << ":" << line.number << " includes " << header;
    }
  }
}

TEST(Determinism, ChanceComesFromNamedStreamsOnly) {
  EXPECT_EQ(places(R"(random_device|\bs?rand\s*\(|\bmt19937|<random>|std::\w+_distribution)", {}), "");
}

TEST(Determinism, TheHostsClockIsReadWhereResultsCannotSeeIt) {
  EXPECT_EQ(places(R"(\btime\s*\(\s*(nullptr|NULL|0|&))", {"analysis/manifest.cpp"}), "");
  const std::vector<SourceFile> simulation = below({"core/", "models/", "sim/"});
  EXPECT_EQ(places("system_clock|gettimeofday|clock_gettime", {}, simulation), "");
  EXPECT_EQ(places("steady_clock|high_resolution_clock", {"core/scheduler.cpp"}, simulation), "");
}

TEST(Determinism, NoResultsFollowTheOrderOfAHashTable) {
  EXPECT_EQ(places("unordered_(map|set)", {"core/config/yaml.cpp"}), "") << "look-up only, never walked, is allowed";
}

TEST(Style, FilesFitInFourHundredLines) {
  std::vector<SourceFile> files = program();
  for (SourceFile& file : sources_below({"tests", "bench"})) files.push_back(std::move(file));
  for (const SourceFile& file : files) EXPECT_LE(file.lines.size(), 400U) << file.path;
}

TEST(Style, NothingIsLeftForLater) {
  const std::regex later(
      "\\b(TO"
      "DO|FIX"
      "ME)\\b");
  std::vector<SourceFile> files = program();
  for (SourceFile& file : sources_below({"tests", "bench"})) files.push_back(std::move(file));
  for (const SourceFile& file : files) {
    for (const SourceLine& line : file.lines) {
      EXPECT_FALSE(std::regex_search(line.text, later)) << file.path << ":" << line.number << ": " << line.text;
    }
  }
}

TEST(Style, OwnershipIsPlain) {
  EXPECT_EQ(places(R"(shared_ptr|\bdynamic_cast\b|\bmalloc\s*\(|\bfree\s*\()", {"core/block_pool.h"}), "");
}

TEST(Style, OnlyTheCommandLinePrints) { EXPECT_EQ(places(R"(std::c(out|err)\b|\bprintf\s*\()", {"cli/"}), ""); }

/// A power of ten or two beside `*` or `/` is a change of units. Those belong to core/units and core/config/text; each
/// exception says why it is none.
TEST(Units, AreConvertedInOnePlace) {
  const std::vector<std::string> allowed{
      "core/units.",
      "core/config/text.",
      "core/random.cpp",                       // a gap is rounded to the nearest nanosecond, not up like to_duration()
      "models/radio/mcs.cpp",                  // code rates stand x 1024 in TS 38.214
      "models/radio/tbs.cpp",                  // the highest code rate is 948/1024
      "models/radio/numerology.cpp",           // MHz and exact nanoseconds of TS 38.101 and TS 38.211
      "models/radio/propagation.cpp",          // GHz in the formulas of TR 38.901
      "sim/classes.cpp",                       // sizes in messages, three digits
      "analysis/table.cpp",                    // sizes in tables, three digits
      "analysis/calibration/device_file.cpp",  // times in the device file, four digits
      "analysis/records.cpp",                  // milliseconds with all their nanoseconds, in integers
      "analysis/summary.cpp",                  // mean nanoseconds of a histogram
      "analysis/summary_json.cpp",             // rounding of numbers for people
      "analysis/manifest.cpp",                 // getrusage counts in KiB
  };
  const std::string factor = R"re((1024(\.0?)?|0x1p[1-9]0|1e-?(3|6|9|12)|1'?000('?000)*(\.0?)?)[LlUuFf]*)re";
  const std::string behind = R"re([*/]\s*)re" + factor + R"re((?![\w.']))re";
  const std::string in_front = R"re((^|[^\w.']))re" + factor + R"re(\s*[*/])re";
  EXPECT_EQ(places(behind + "|" + in_front, allowed), "");
}

}  // namespace
}  // namespace trilemma::test
