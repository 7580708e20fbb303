#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "core/config/yaml.h"
#include "sim/experiment.h"
#include "tests/negative/program.h"

/// Scenario files that somebody broke: each is accepted or refused with lines that name a place and what to write.
namespace trilemma::test {
namespace {

const config::Catalogue catalogue(TRILEMMA_SOURCE_DIR "/configs");
constexpr int mutants = 1500;

std::size_t below(std::mt19937_64& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

/// Any byte may be changed, dropped, doubled or moved.
std::string with_broken_bytes(std::string text, std::mt19937_64& random) {
  constexpr std::string_view letters = "\n\t :-{}[],#&*!|>'\"%@`?~09.aZ\xc3\xff\x01";
  for (auto left = 1 + below(random, 3); left > 0; --left) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 4)) {
      case 0:
        text[at] = letters[below(random, letters.size())];
        break;
      case 1:
        text.erase(at, 1 + below(random, 5));
        break;
      case 2:
        text.insert(at, text.substr(at, 1 + below(random, 20)));
        break;
      default:
        text.insert(at, 1, letters[below(random, letters.size())]);
    }
  }
  return text;
}

/// A word after a colon becomes another word: wrong, huge, tiny or of another kind.
std::string with_broken_value(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> values{"0",         "-1",      "1e308",  "9223372036854775807",
                                               "1e-300 /s", "0.5 ms",  "100 h",  "1 B",
                                               "[]",        "{}",      "~",      "all",
                                               "1 TiB",     "100 %",   "0 %",    "-0",
                                               "none",      "[1, 2]",  "28 GHz", "{kind: none}",
                                               "1 bit/s",   "65535 B", "int8",   "4096"};
  std::vector<std::size_t> colons;
  for (std::size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at + 1))
    colons.push_back(at + 2);
  const std::size_t at = colons[below(random, colons.size())];
  const std::size_t end = std::min(text.find_first_of(",}\n#", at), text.size());
  return text.replace(at, end - at, values[below(random, values.size())]);
}

/// The lines of the refusal; none when the text was accepted.
std::vector<std::string> refusal(const std::string& text) {
  try {
    config::Problems problems;
    config::Reader reader(catalogue, problems);
    (void)reader.read<Scenario>(config::read_yaml_text(text, {.source = "mutant.yaml", .line = 1, .column = 1}));
    problems.throw_if_any();
    return {};
  } catch (const config::Error& error) {
    return lines(error.what());
  }
}

void expect_survives(std::string (*mutate)(std::string, std::mt19937_64&)) {
  const std::string quickstart = file_text(TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml");
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < mutants; ++i) {
    const std::string mutant = mutate(quickstart, random);
    std::vector<std::string> found;
    ASSERT_NO_THROW(found = refusal(mutant)) << mutant;
    refused += found.empty() ? 0 : 1;
    for (const std::string& line : found) {
      ASSERT_TRUE(line.starts_with("mutant.yaml:") || line.starts_with("configs/")) << line << "\n" << mutant;
      ASSERT_LT(line.size(), 2000U) << line;
    }
  }
  EXPECT_GT(refused, mutants / 10) << "the mutations do break something";
}

TEST(Mutation, OfBytesIsAcceptedOrRefusedByPlace) { expect_survives(with_broken_bytes); }
TEST(Mutation, OfValuesIsAcceptedOrRefusedByPlace) { expect_survives(with_broken_value); }

}  // namespace
}  // namespace trilemma::test
