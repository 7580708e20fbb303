#include <fmt/format.h>

#include "analysis/summary_json.h"
#include "analysis/table.h"
#include "core/config/text.h"

namespace trilemma {

std::string summary_to_csv(const Scenario& scenario, const Summary& summary) {
  Table table{.header = {}, .rows = {{}}};
  const auto add = [&](const std::string& name, const std::string& value) {
    table.header.push_back(name);
    table.rows.front().push_back(value);
  };
  const auto add_ms = [&](const std::string& name, const std::optional<double>& value) {
    add(name, value ? fmt::format("{:.6f}", *value) : "");
  };
  const auto time = [](const std::optional<Duration>& value) {
    return value ? std::optional(to_milliseconds(*value)) : std::nullopt;
  };
  add("name", scenario.name);
  add("seed", std::to_string(scenario.seed));
  add("requests_offered", std::to_string(summary.requests.offered));
  add("requests_completed", std::to_string(summary.requests.completed));
  add("requests_failed", std::to_string(summary.requests.failed));
  add("requests_dropped", std::to_string(summary.requests.dropped));
  add("requests_in_flight", std::to_string(summary.requests.in_flight));
  add("requests_measured", std::to_string(summary.measured));
  add("stability", summary.stability.overloaded ? "overloaded" : "stable");
  add("binding_resource", summary.stability.binding);
  add_ms("latency_mean_ms", summary.mean_ms);
  for (std::size_t i = 0; i < reported_quantiles.size(); ++i) {
    const std::string name = fmt::format("latency_{}", reported_quantiles[i].name);
    add_ms(name + "_ms", time(summary.quantiles[i].value));
    add_ms(name + "_lower_ms", time(summary.quantiles[i].lower));
    add_ms(name + "_upper_ms", time(summary.quantiles[i].upper));
  }
  add_ms("latency_max_ms", summary.max_ms);
  for (const StageSummary& stage : summary.stages) add_ms(fmt::format("{}_mean_ms", stage.name), stage.mean_ms);
  add_ms("floor_ms", summary.floor_ms);
  add("device_bytes", std::to_string(summary.size.device_bytes.value()));
  add("payload_bytes", summary.classes.empty() ? std::to_string(summary.size.payload.value()) : "");
  add("ratio", summary.size.ratio ? config::format_number(*summary.size.ratio) : "");
  const auto* accuracy = summary.accuracy ? std::get_if<Accuracy>(&*summary.accuracy) : nullptr;
  add("accuracy", accuracy != nullptr ? config::format_number(accuracy->value.value()) : "");
  add("accuracy_baseline", accuracy != nullptr ? config::format_number(accuracy->baseline.value()) : "");
  add("target_verdict", summary.target ? std::string(verdict_word(summary.target->verdict)) : "");
  return table_to_csv(table);
}

}  // namespace trilemma
