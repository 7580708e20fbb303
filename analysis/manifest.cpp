#include "analysis/manifest.h"

#include <array>
#include <ctime>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/random.h"
#include "models/codec/basis.h"
#include "sim/classes.h"
#include "sim/experiment.h"
#include "sim/measured_accuracy.h"
#include "trilemma_version.h"

namespace trilemma {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

/// Letters, digits and dashes of a name, so that it can be part of a folder's.
std::string folder_name(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, 60)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    text += plain ? c : '-';
  }
  return text.empty() || text.front() == '.' ? "point" + text : text;
}

}  // namespace

config::Json manifest(const Scenario& scenario, const Summary& summary) {
  return {{"program", "trilemma"},
          {"version", TRILEMMA_VERSION},
          {"commit", TRILEMMA_COMMIT},
          {"build_type", TRILEMMA_BUILD_TYPE},
          {"compiler", TRILEMMA_COMPILER},
          {"libraries", TRILEMMA_LIBRARIES},
          {"seed", scenario.seed},
          {"replications", scenario.replications},
          {"simulated_s", to_seconds(summary.simulated)},
          {"events", summary.events}};
}

config::Json manifest(const Scenario& scenario, const Summary& summary, const RunFacts& facts) {
  config::Json full = manifest(scenario, summary);
  full["command"] = facts.command;
  full["host"] = host_name();
  full["written"] = now_utc();
  full["wall_s"] = to_seconds(facts.wall);
  full["peak_memory_bytes"] = peak_memory_bytes();
  return full;
}

std::string point_id(const Scenario& scenario) {
  std::string identity = scenario_to_json(scenario).dump() + TRILEMMA_VERSION + TRILEMMA_COMMIT;
  for (const TraceRow& row : scenario.trace) {
    identity += fmt::format("{},{},{},{};", row.time.count(), row.client, row.prompt.value_or(Tokens(0)).value(),
                            row.output.value_or(Tokens(0)).value());
  }
  for (const PublishedPoint& point : scenario.accuracies.points) {
    identity += fmt::format("{},{},{},{},{},{},{};", point.llm, config::name_of(point.method), point.task, point.ratio,
                            config::name_of(point.ratio_is), point.accuracy.value(), point.source);
  }
  const auto add_basis = [&](const CodecConfig& codec) {
    const auto* transform = std::get_if<TransformCodec>(&codec);
    if (transform != nullptr && !transform->basis.empty())
      identity += fmt::format("{:08x};", read_basis(transform->basis).checksum);
  };
  add_basis(scenario.codec);
  if (scenario.cloud && scenario.cloud->codec) add_basis(*scenario.cloud->codec);
  for (const Scenario& one : class_scenarios(scenario)) {
    if (one.workload.task && one.workload.task->kind == measured_task)
      identity += fmt::format("{:08x};", checkpoint_checksum(one));
  }
  return fmt::format("{}-{:016x}", folder_name(scenario.name), stream_number(identity));
}

}  // namespace trilemma
