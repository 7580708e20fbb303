#include <algorithm>
#include <iomanip>
#include <sstream>

#include <gtest/gtest.h>

#include "program.h"

/// Every file of tests/negative/cases is a scenario that the program has to refuse. Its first lines say how:
///     # expect: :7:12: workload.clients: '010' starts with a zero, ...
///     # args: --set "a=b c"
/// One `expect` a problem, in order; see line_holds() for its form. Files are read at program start, so a new file
/// needs no change here.
namespace trilemma::test {
namespace {

struct Case {
  std::filesystem::path file;
  std::vector<std::string> expected;
  std::vector<std::string> arguments;
};

Case read_case(const std::filesystem::path& file) {
  Case found{.file = file, .expected = {}, .arguments = {}};
  const std::string expect = "# expect: ";
  const std::string args = "# args: ";
  for (const std::string& line : lines(file_text(file))) {
    if (line.starts_with(expect)) found.expected.push_back(line.substr(expect.size()));
    if (!line.starts_with(args)) continue;
    std::istringstream words(line.substr(args.size()));
    for (std::string word; words >> std::quoted(word);) found.arguments.push_back(word);
  }
  return found;
}

std::vector<Case> all_cases() {
  std::vector<Case> found;
  for (const auto& entry : std::filesystem::directory_iterator(TRILEMMA_SOURCE_DIR "/tests/negative/cases")) {
    if (entry.path().extension() == ".yaml") found.push_back(read_case(entry.path()));
  }
  std::sort(found.begin(), found.end(), [](const Case& a, const Case& b) { return a.file < b.file; });
  return found;
}

void PrintTo(const Case& refused, std::ostream* stream) { *stream << refused.file.filename(); }

class NegativeScenario : public testing::TestWithParam<Case> {};

TEST_P(NegativeScenario, IsRefusedByCheckAndByRun) {
  const Case& refused = GetParam();
  ASSERT_FALSE(refused.expected.empty()) << "a case says what it expects";
  const Folder home;
  for (const std::string verb : {"check", "run"}) {
    SCOPED_TRACE(verb);
    std::vector<std::string> arguments{verb, refused.file.string()};
    arguments.insert(arguments.end(), refused.arguments.begin(), refused.arguments.end());
    if (verb == "run") arguments.insert(arguments.end(), {"--records", "--out", "out"});
    expect_refused(run_program(arguments, home.path()), refused.expected, refused.file.string());
    EXPECT_TRUE(std::filesystem::is_empty(home.path())) << "a refused scenario leaves nothing behind";
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NegativeScenario, testing::ValuesIn(all_cases()), [](const auto& instance) {
  std::string name = instance.param.file.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(NegativeScenarios, AreManyAndTheGoodOneIsAccepted) {
  EXPECT_GE(all_cases().size(), 75U);
  const Folder home;
  const Ended ended = run_program({"check", TRILEMMA_SOURCE_DIR "/tests/negative/good.yaml"}, home.path());
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

}  // namespace
}  // namespace trilemma::test
