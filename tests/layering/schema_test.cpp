// `trilemma schema` against the files that it describes, and its page against docs/scenario.md.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "core/config/reader.h"
#include "core/config/yaml.h"
#include "sim/experiment.h"
#include "tests/support/command.h"
#include "tests/support/golden.h"
#include "tests/support/json_schema.h"

namespace trilemma::test {
namespace {

namespace fs = std::filesystem;

const fs::path project = TRILEMMA_SOURCE_DIR;

const Json& schema() {
  static const Json parsed = Json::parse(run_program({"schema"}).text);
  return parsed;
}

std::vector<fs::path> yaml_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The experiments that come with the project.
std::vector<fs::path> shipped_scenarios() {
  std::vector<fs::path> files = yaml_files_below(project / "scenarios");
  for (const fs::path& file : yaml_files_below(project / "tests" / "golden")) files.push_back(file);
  return files;
}

std::vector<std::string> faults_of(const std::string& yaml) {
  return schema_faults(schema(), as_json(config::read_yaml_text(yaml, {.source = "test", .line = 1})));
}

const std::string smallest = R"(
duration: 1 s
llm: llama-3.2-1b
device: snapdragon-8-gen-3-npu
edge: rtx-4090
workload: {arrivals: {kind: poisson, rate: 2 /s}}
radio: none
backhaul: none
)";

TEST(Schema, SaysWhichDraftItFollows) {
  EXPECT_EQ(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema()["type"], "object");
}

TEST(Schema, AcceptsEveryScenarioThatShips) {
  ASSERT_GE(shipped_scenarios().size(), 5U);
  for (const fs::path& file : shipped_scenarios()) {
    const Json scenario = as_json(config::read_yaml_file(file, file.string()));
    EXPECT_EQ(schema_faults(schema(), scenario), std::vector<std::string>{}) << file;
  }
}

TEST(Schema, EveryScenarioThatShipsPassesCheck) {
  for (const fs::path& file : shipped_scenarios()) EXPECT_EQ(run_program({"check", file.string()}).code, 0) << file;
}

TEST(Schema, AcceptsTheSmallestFile) { EXPECT_EQ(faults_of(smallest), std::vector<std::string>{}); }

// What people write and what the reader takes: bare numbers where words are possible, names with overrides.
TEST(Schema, AcceptsWhatTheReaderAccepts) {
  for (const char* line :
       {"cut: 3", "cut: all", "cut: 0", "codec: fourier", "transport: none", "codec: {kind: fourier, ratio: 8}",
        "radio: {kind: nr-fr2, capability: 1}", "radio: {kind: nr-fr2, shadowing: off}",
        "radio: {kind: nr-fr2, placement: disc}", "backhaul: metro-fibre-10km",
        "backhaul: {kind: metro-fibre-10km, length: 20 km}", "target: 5qi-82", "target: {kind: 5qi-82, latency: 5 ms}",
        "edge: {kind: rtx-4090, count: 2}"}) {
    const std::string text(line);
    std::string yaml = smallest;
    const std::string key = text.substr(0, text.find(':'));
    if (const std::size_t old = yaml.find("\n" + key + ":"); old != std::string::npos)
      yaml.erase(old + 1, yaml.find('\n', old + 1) - old);
    EXPECT_EQ(faults_of(yaml + text + "\n"), std::vector<std::string>{}) << line;
  }
}

TEST(Schema, RefusesWhatTheReaderRefuses) {
  for (const char* line : {"sed: 1", "seed: 0", "seed: one", "warmup: 5", "warmup: 5 kg", "cut: some", "cut: -1.5",
                           "fidelity: flow", "codec: zip", "codec: {kind: fourier, ratio: 0.5}", "codec: {ratio: 2}",
                           "transport: {kind: udp, port: 80}", "target: 5qi-1", "replications: 1.5"}) {
    EXPECT_NE(faults_of(smallest + line + "\n"), std::vector<std::string>{}) << line;
  }
  std::string nothing = smallest;
  nothing.replace(nothing.find("llm: llama-3.2-1b"), 17, "");
  EXPECT_NE(faults_of(nothing), std::vector<std::string>{});
}

/// Checks each default in the schema against the schema that it stands in.
void check_defaults(const Json& part, const std::string& path) {
  if (part.is_object() && part.contains("default") && !part["default"].is_structured()) {
    EXPECT_EQ(schema_faults(part, part["default"]), std::vector<std::string>{}) << path;
  }
  if (!part.is_structured()) return;
  for (const auto& [key, child] : part.items()) check_defaults(child, path + "/" + key);
}

TEST(Schema, ItsDefaultsAreValid) { check_defaults(schema(), ""); }

// Rewritten by TRILEMMA_UPDATE_GOLDEN=1, like the results in tests/golden.
TEST(Schema, WritingTheDefaultsDownChangesNothing) {
  const config::Node file = config::read_yaml_text(smallest, {.source = "test", .line = 1});
  const std::string defaults = run_program({"schema", "--format", "defaults"}).text;
  const config::Node dump = config::read_yaml_text(defaults, {.source = "defaults", .line = 1});
  EXPECT_NE(dump.find("cut"), nullptr);
  const config::Catalogue catalogue(project / "configs");
  const auto resolved = [&](const config::Node& root) {
    config::Problems problems;
    config::Reader reader(catalogue, problems);
    const auto scenario = reader.read<Scenario>(root);
    problems.throw_if_any();
    return scenario_to_json(scenario);
  };
  EXPECT_EQ(resolved(config::overlay(dump, file)), resolved(file));
}

TEST(Schema, ItsPageIsTheOneInTheDocumentation) {
  const Output page = run_program({"schema", "--format", "md"});
  ASSERT_EQ(page.code, 0);
  EXPECT_EQ(page.text, golden_text(project / "docs" / "scenario.md", page.text));
}

}  // namespace
}  // namespace trilemma::test
