// Results that were looked at once and have to stay as they are. A change that means to alter them rewrites the files:
//
//     TRILEMMA_UPDATE_GOLDEN=1 ctest -L golden
//
// and explains the difference in its commit. Times are sums of whole nanoseconds. What is left of floating point (SINR,
// means, loads) may differ in its last bit between processors with and without fused multiply-add, so that numbers of
// the JSON files are compared to nine digits.

#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/codec/npy.h"
#include "tests/support/command.h"

namespace trilemma::test {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path folder = TRILEMMA_SOURCE_DIR "/tests/golden";

/// Where two results differ; empty where they do not.
std::string difference(const Json& now, const Json& then, double tolerance = 1e-9, const std::string& path = "") {
  if (now.is_number_float() && then.is_number()) {
    const double expected = then.get<double>();
    const bool close = std::abs(now.get<double>() - expected) <= tolerance * std::max(1.0, std::abs(expected));
    return close ? "" : path + ": " + now.dump() + " was " + then.dump();
  }
  if (!now.is_structured() || now.type() != then.type() || now.size() != then.size())
    return now == then ? "" : path + ": " + now.dump() + " was " + then.dump();
  auto before = then.items().begin();
  for (const auto& [key, value] : now.items()) {
    if (key != before.key()) return path + ": key " + key + " was " + before.key();
    if (const std::string found = difference(value, before.value(), tolerance, path + "/" + key); !found.empty())
      return found;
    ++before;
  }
  return "";
}

TEST(Golden, TheQuickstartPrintsWhatItPrinted) {
  const Output output = run_program({"run", TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml", "--format", "md"});
  ASSERT_EQ(output.code, 0);
  EXPECT_EQ(output.text, golden_text(folder / "quickstart.md", output.text));
}

TEST(Golden, TheReadmeShowsWhatTheQuickstartPrints) {
  const Output output = run_program({"run", TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml"});
  ASSERT_EQ(output.code, 0);
  EXPECT_NE(read_text(TRILEMMA_SOURCE_DIR "/README.md").find("```text\n" + output.text + "```"), std::string::npos)
      << "paste this between the text fences of README.md:\n"
      << output.text;
}

/// Noise over a slope with an outlier channel, made here so that no file need be kept.
std::vector<float> pattern(int tokens, int hidden) {
  std::vector<float> values;
  std::uint32_t state = 1;
  for (int s = 0; s < tokens; ++s) {
    for (int d = 0; d < hidden; ++d) {
      state = 1664525U * state + 1013904223U;
      values.push_back(static_cast<float>(state >> 20U) / 256 + static_cast<float>(s + (d == 5 ? 100 : 0)));
    }
  }
  return values;
}

/// Times differ from run to run and are left out, as are errors that are rounding alone. Transforms in single precision
/// round differently on processors with other vector units, and a pattern that flips moves an entropy: three digits.
TEST(Golden, TheCodecsMakeOfAPatternWhatTheyMade) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("golden_codec_" + std::to_string(getpid()) + ".npy");
  write_npy(file, std::vector<std::int64_t>{2, 12, 40}, pattern(24, 40));
  const Output output = run_program({"codec", file.string(), "--sweep", "--format", "json"});
  std::filesystem::remove(file);
  ASSERT_EQ(output.code, 0);
  Json now = Json::parse(output.text);
  constexpr double rounding = 1e-5;
  for (Json& row : now["codecs"]) {
    Json& measured = row["measured"];
    if (measured.is_null()) continue;
    for (const char* time : {"encode_ms", "decode_ms", "encode_bytes_per_s", "decode_bytes_per_s"})
      measured.erase(time);
    if (measured["relative_error"].get<double>() > rounding) continue;
    measured.erase("relative_error");
    measured.erase("psnr_db");
  }
  const std::string then = golden_text(folder / "codec.json", now.dump(2) + "\n");
  EXPECT_EQ(difference(now, Json::parse(then), 1e-3), "");
}

class GoldenSummary : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenSummary, IsWhatItWas) {
  const std::string name = GetParam();
  const Output output = run_program({"run", (folder / (name + ".yaml")).string(), "--format", "json"});
  ASSERT_EQ(output.code, 0);
  Json now = Json::parse(output.text);
  now.erase("manifest");  // version and commit
  const std::string then = golden_text(folder / (name + ".json"), now.dump(2) + "\n");
  EXPECT_EQ(difference(now, Json::parse(then)), "");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, GoldenSummary,
                         ::testing::Values("fixed-chain", "cell-edge", "raw-input", "trace-on-device"),
                         [](const auto& scenario) {
                           std::string name = scenario.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace trilemma::test
