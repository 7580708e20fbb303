#include "sim/experiment.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/config/schema.h"
#include "core/config/yaml.h"
#include "models/processor/sheet.h"
#include "sim/accuracy.h"

namespace trilemma {
namespace {

/// Reads the trace of a scenario, if it has one. A row may ask for a request of its own size, which has to fit as well.
void read_rows(Scenario& scenario, const config::Origins& origins, const std::filesystem::path& file) {
  const auto* arrivals = std::get_if<TraceArrivals>(&scenario.workload.arrivals);
  if (arrivals == nullptr) return;
  const std::filesystem::path path = file.parent_path() / arrivals->file;
  if (!std::filesystem::is_regular_file(path)) {
    config::Problems problems;
    problems.add_value(origins.at("workload.arrivals.file"), "workload.arrivals.file", arrivals->file,
                       "is no trace file; write a path relative to the scenario file");
    problems.throw_if_any();
  }
  Scenario sized = scenario;
  scenario.trace = read_trace(path, path.string(), *arrivals, scenario.workload.clients);
  const RequestTokens largest = scenario.largest_request();
  std::set<std::pair<Tokens, Tokens>> sizes;
  for (const TraceRow& row : scenario.trace) {
    sizes.emplace(row.prompt.value_or(largest.prompt), row.output.value_or(largest.output));
  }
  for (const auto& [prompt, output] : sizes) {
    sized.workload.prompt = FixedLength{prompt};
    sized.workload.output = FixedLength{output};
    for (const config::FieldProblem& problem : sized.problems()) {
      throw config::Error(fmt::format("{}: a row asks for a prompt of {} and an output of {} tokens: {}: {}",
                                      path.string(), prompt.value(), output.value(), problem.key, problem.problem));
    }
  }
}

template <class T>
config::Json read_entry(const config::Catalogue& catalogue, const std::string& family, const std::string& name) {
  return config::to_json(read_part<T>(catalogue, family, name));
}

}  // namespace

Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& sets,
                           const config::Catalogue& catalogue) {
  config::Node root = config::read_yaml_file(file, file.string());
  for (const std::string& set : sets) config::apply_set(root, set);
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  Experiment experiment{.scenario = reader.read<Scenario>(root), .origins = reader.origins()};
  problems.throw_if_any();
  read_rows(experiment.scenario, experiment.origins, file);
  const auto& classes = experiment.scenario.workload.classes;
  const bool has_task =
      experiment.scenario.workload.task ||
      std::any_of(classes.begin(), classes.end(), [](const auto& one) { return one.task.has_value(); });
  if (has_task) experiment.scenario.accuracies = read_accuracies(catalogue);
  experiment.scenario.checkpoint = catalogue.root() / "checkpoints" / experiment.scenario.llm.kind;
  return experiment;
}

config::Json scenario_to_json(const Scenario& scenario) { return config::to_json(scenario); }

config::Json scenario_defaults() { return config::defaults_to_json<Scenario>(); }

config::Json scenario_schema(const config::Catalogue& catalogue) {
  config::Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "trilemma scenario"}};
  schema.update(config::schema_of<Scenario>(catalogue));
  return schema;
}

config::Json read_catalogue_entry(const config::Catalogue& catalogue, const std::string& family,
                                  const std::string& name) {
  if (family == "accuracy") return read_entry<AccuracySource>(catalogue, family, name);
  if (family == "llms") return read_entry<LlmConfig>(catalogue, family, name);
  if (family == "networks") return read_entry<NetworkConfig>(catalogue, family, name);
  if (family == "calibration") return read_entry<HardwareSheet>(catalogue, family, name);
  if (family == "devices") return read_entry<ProcessorConfig>(catalogue, family, name);
  if (family == "tasks") return read_entry<TaskConfig>(catalogue, family, name);
  if (family == "targets") return read_entry<TargetConfig>(catalogue, family, name);
  if (family == "links") return read_entry<LinkConfig>(catalogue, family, name);
  if (family == "radios") return read_entry<RadioConfig>(catalogue, family, name);
  throw config::Error(
      fmt::format("configs/{}: is not a family of the catalogue; use accuracy, calibration, devices, links, llms, "
                  "networks, radios, targets or tasks",
                  family));
}

}  // namespace trilemma
