#include <gtest/gtest.h>

#include "program.h"

namespace trilemma::test {
namespace {

const std::string good = TRILEMMA_SOURCE_DIR "/tests/negative/good.yaml";

const std::string measurements = TRILEMMA_SOURCE_DIR "/configs/calibration/rtx-4090.csv";

struct Line {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> expected;
};

void PrintTo(const Line& line, std::ostream* stream) { *stream << testing::PrintToString(line.arguments); }

class NegativeCommandLine : public testing::TestWithParam<Line> {};

TEST_P(NegativeCommandLine, IsRefused) {
  const Folder home;
  expect_refused(run_program(GetParam().arguments, home.path()), GetParam().expected, "");
  EXPECT_TRUE(std::filesystem::is_empty(home.path())) << "a refused command leaves nothing behind";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, NegativeCommandLine,
    testing::Values(
        Line{"unknown_verb", {"simulate", good}, {"trilemma: 'simulate' is not a verb; see 'trilemma --help'"}},
        Line{"misspelt_verb", {"rnu", good}, {"trilemma: 'rnu' is not a verb; write 'run'; see 'trilemma --help'"}},
        Line{"misspelt_version",
             {"--verison"},
             {"trilemma: '--verison' is not a verb; write '--version'; see 'trilemma --help'"}},
        Line{"option_before_the_verb",
             {"--records", "run", good},
             {"trilemma: '--records' is not a verb; see 'trilemma --help'"}},
        Line{"calibrate_without_data",
             {"calibrate"},
             {"trilemma calibrate: needs a file of measurements; see 'trilemma calibrate --help'"}},
        Line{"calibrate_without_a_device",
             {"calibrate", measurements},
             {"trilemma calibrate: needs --device NAME or --device SHEET.yaml; see 'trilemma calibrate --help'"}},
        Line{"calibrate_a_misspelt_device",
             {"calibrate", measurements, "--device", "rtx-409"},
             {"trilemma calibrate: --device 'rtx-409' is neither a sheet in configs/calibration nor a file; write "
              "'rtx-4090'"}},
        Line{"calibrate_to_nowhere",
             {"calibrate", measurements, "--device", "rtx-4090", "--out", "no/such/folder.yaml"},
             {"trilemma calibrate: --out 'no/such/folder.yaml' cannot be written; write a path in a folder that "
              "exists and is yours"}},
        Line{"calibrate_from_nothing",
             {"calibrate", "nowhere.csv", "--device", "rtx-4090"},
             {"nowhere.csv: cannot be read; write the path of a CSV file"}},
        Line{"page_of_another_checkpoint",
             {"accuracy", "--page", "--checkpoint", "other.bin"},
             {"trilemma accuracy: --page is of the project's own model, with all cuts, ratios and codecs; leave "
              "--checkpoint out"}},
        Line{"unknown_option",
             {"run", good, "--frobnicate"},
             {"trilemma run: '--frobnicate' is not an option; see 'trilemma run --help'"}},
        Line{"abbreviated_option",
             {"run", good, "--form", "json"},
             {"trilemma run: '--form' is not an option; write '--format'; see 'trilemma run --help'"}},
        Line{"abbreviated_option_with_value",
             {"run", good, "--rec"},
             {"trilemma run: '--rec' is not an option; write '--records'; see 'trilemma run --help'"}},
        Line{"short_option", {"run", good, "-x"}, {"trilemma run: '-x' is not an option; see 'trilemma run --help'"}},
        Line{"option_of_another_verb",
             {"check", good, "--records"},
             {"trilemma check: '--records' is not an option; see 'trilemma check --help'"}},
        Line{"option_of_another_verb_with_value",
             {"check", good, "--out", "out"},
             {"trilemma check: '--out' is not an option; see 'trilemma check --help'"}},
        Line{"value_for_a_switch",
             {"run", good, "--records=yes"},
             {"trilemma run: option '--records' does not take any arguments; see 'trilemma run --help'"}},
        Line{"option_without_its_value",
             {"run", good, "--format"},
             {"trilemma run: the required argument for option '--format' is missing; see 'trilemma run --help'"}},
        Line{"set_without_its_value",
             {"check", good, "--set"},
             {"trilemma check: the required argument for option '--set' is missing; see 'trilemma check --help'"}},
        Line{"option_twice",
             {"run", good, "--out", "a", "--out", "b"},
             {"trilemma run: option '--out' cannot be specified more than once; see 'trilemma run --help'"}},
        Line{"no_file_to_run",
             {"run"},
             {"trilemma run: no scenario file; write for example 'trilemma run scenarios/quickstart.yaml'"}},
        Line{"no_file_to_check",
             {"check", "--set", "cut=0"},
             {"trilemma check: no scenario file; write for example 'trilemma check scenarios/quickstart.yaml'"}},
        Line{"two_files",
             {"run", good, good},
             {"trilemma run: takes at most 1 word without dashes; see 'trilemma run --help'"}},
        Line{"missing_file", {"run", "no-such.yaml"}, {"no-such.yaml: no such file; write the path of a YAML file"}},
        Line{"missing_file_to_check",
             {"check", "no/such.yaml"},
             {"no/such.yaml: no such file; write the path of a YAML file"}},
        Line{"file_below_a_file", {"check", good + "/x"}, {good + "/x: no such file; write the path of a YAML file"}},
        Line{"empty_file_name", {"check", ""}, {"'': no such file; write the path of a YAML file"}},
        Line{"folder_instead_of_a_file", {"check", "."}, {".: is a directory; name a YAML file in it"}},
        Line{"endless_file",
             {"check", "/dev/zero"},
             {"/dev/zero: is larger than 1 MiB; a scenario file is a few KB of YAML"}},
        Line{"unknown_format",
             {"run", good, "--format", "yaml"},
             {"trilemma run: --format 'yaml' is not known; write table, csv, json or md"}},
        Line{"unknown_progress",
             {"run", good, "--progress", "loud"},
             {"trilemma run: --progress 'loud' is not known; write auto, json or none"}},
        Line{"records_without_out",
             {"run", good, "--records"},
             {"trilemma run: --records has nowhere to write; add --out DIR"}},
        Line{"empty_out", {"run", good, "--out", ""}, {"trilemma run: --out is empty; name a folder"}},
        Line{"out_that_is_a_file",
             {"run", good, "--out", good},
             {good + ": cannot be written: Not a directory; choose another --out"}},
        Line{"out_below_a_file",
             {"run", good, "--out", good + "/out"},
             {good + "/out: cannot be written: Not a directory; choose another --out"}},
        Line{"out_where_nobody_may_write",  // root may write everywhere else
             {"run", good, "--out", "/proc/out"},
             {"/proc/out: cannot be written: ... choose another --out"}},
        Line{"check_without_a_target",
             {"run", good, "--check"},
             {good + ": target: is missing, so --check has nothing to judge; write 'target: {latency: 10 ms, "
                     "reliability: 99.9 %}'"}},
        Line{"check_without_a_target_and_out",
             {"run", good, "--check", "--out", "out"},
             {good + ": target: is missing, so --check has nothing to judge; ..."}},
        Line{"catalogue_that_is_none",
             {"check", good, "--catalogue", "."},
             {"--catalogue .: is not a catalogue; name a folder with 'devices', 'llms' and so on"}},
        Line{"set_that_is_not_utf8",
             {"check", good, "--set", "name=\xff"},
             {"--set name=\xff: byte 1 is 0xff, which is not UTF-8; save the text as UTF-8"}},
        Line{"set_with_a_line_break",
             {"check", good, "--set", "name=a\nb: c"},
             {"--set name=a\\x0ab: c: not valid YAML: illegal map value"}},
        Line{"show_of_nothing_known",
             {"show", "quantum-computer"},
             {"trilemma show: 'quantum-computer' is not in the catalogue; 'trilemma show' lists everything"}},
        Line{"show_of_a_near_name",
             {"show", "rtx-4091"},
             {"trilemma show: 'rtx-4091' is not in the catalogue; write 'rtx-4090'; 'trilemma show' lists everything"}},
        Line{"show_of_a_path",
             {"show", "../llms/llama-3.2-1b"},
             {"trilemma show: '../llms/llama-3.2-1b' is not in ..."}},
        Line{"show_of_two_names",
             {"show", "devices", "llms"},
             {"trilemma show: takes at most 1 word without dashes; see 'trilemma show --help'"}},
        Line{"schema_of_unknown_format",
             {"schema", "--format", "xml"},
             {"trilemma schema: --format 'xml' is not known; write json, md or defaults"}}),
    [](const auto& instance) { return instance.param.name; });

TEST(NegativeCommandLine, WithoutAnyWordPrintsTheUsageAsAnError) {
  const Folder home;
  const Ended ended = run_program({}, home.path());
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("SYNOPSIS"), std::string::npos);
}

TEST(NegativeCommandLine, HelpIsNoError) {
  const Folder home;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"run", "--help"}, {"check", "-h"}, {"show", "--help"}, {"schema", "--help"}, {"--version"}}) {
    const Ended ended = run_program(words, home.path());
    EXPECT_EQ(ended.exit_code, 0) << words.front();
    EXPECT_EQ(ended.err, "") << words.front();
    EXPECT_NE(ended.out, "") << words.front();
  }
}

}  // namespace
}  // namespace trilemma::test
