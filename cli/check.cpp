#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "analysis/table.h"
#include "cli/parse.h"
#include "core/config/writer.h"
#include "sim/experiment.h"
#include "sim/replicate.h"

namespace trilemma::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* details = R"(
Prints every value of the scenario with its origin (file:line:column, catalogue, --set or built-in), the zero-load floor
of a request by stage, the load forecast of each resource, and what the target leaves. Exit 2 lists every error.
)";

std::string floor_text(const Scenario& scenario, const Preview& preview) {
  const auto [lowest, highest] = std::minmax_element(preview.floors.begin(), preview.floors.end(),
                                                     [](const auto& a, const auto& b) { return total(a) < total(b); });
  Table table{.header = {"floor by stage", "ms"}, .rows = {}};
  std::string beyond;
  for (std::size_t i = 0; i < stage_count; ++i) {
    const Duration time = (*lowest)[i];
    if (time == Duration{0}) continue;
    table.rows.push_back({stage_label(stage_names[i]), human_ms(to_milliseconds(time))});
    if (scenario.has_one_target() && time > scenario.target->latency)
      beyond += (beyond.empty() ? "" : ", ") + stage_label(stage_names[i]);
  }
  table.rows.push_back({"total", human_ms(to_milliseconds(total(*lowest)))});
  if (total(*highest) != total(*lowest))
    table.rows.push_back({"total, worst client", human_ms(to_milliseconds(total(*highest)))});
  std::string text = table_to_text(table);
  if (scenario.has_one_target() && total(*lowest) > scenario.target->latency) {
    text += fmt::format("  the target of {} is below the floor{}\n",
                        config::Text<Duration>::format(scenario.target->latency),
                        beyond.empty() ? "; no stage exceeds it alone" : "; alone beyond it: " + beyond);
  }
  return text;
}

std::string load_text(const Preview& preview) {
  if (preview.forecast.empty()) return "  load forecast: none, the arrivals adapt to the answers or span no time\n";
  Table table{.header = {"load forecast", "share"}, .rows = {}};
  const Utilisation* binding = &preview.forecast.front();
  for (const Utilisation& load : preview.forecast) {
    table.rows.push_back({load.resource, human_share(load.share)});
    if (load.share > binding->share) binding = &load;
  }
  return table_to_text(table) + fmt::format("  {}: the busiest resource is {}\n",
                                            binding->share >= 1 ? "OVERLOADED" : "stable", binding->resource);
}

/// How far the two levels of detail were apart where both were run: docs/fidelity.md.
std::string fidelity_text(const Scenario& scenario) {
  if (scenario.stays_on_device()) return {};
  if (scenario.fidelity == Fidelity::packet) return "  fidelity: every packet over ns-3's Internet stack\n";
  if (const auto* nr = std::get_if<NrRadio>(&scenario.radio)) {
    if (std::holds_alternative<MeasuredTiming>(nr->timing)) {
      return "  fidelity: whole messages; measured gap to packets 1 % for p50 and p99 with measured delays (4 and 64 "
             "KiB, one client)\n";
    }
    return "  fidelity: whole messages; measured gap to packets 1 % at most for p50 and p99 over NR (4 and 64 KiB, 20 "
           "and 60 % load, 1 and 4 clients)\n";
  }
  return "  fidelity: whole messages; no measured gap to packets over a pipe (4 and 64 KiB, 20 and 60 % load)\n";
}

/// Cost of the run on a core that does five million events a second, or one million of ns-3's packets
/// (docs/user-guide.md), and memory by what is kept.
std::string estimate_text(const Scenario& scenario, const Preview& preview) {
  constexpr double events_per_second = 5e6;
  constexpr double packet_events_per_second = 1e6;
  const double packets = scenario.fidelity == Fidelity::packet && !scenario.stays_on_device()
                             ? std::ceil(preview.prefill.uplink / std::get<UdpTransport>(scenario.transport).mtu)
                             : 0;
  const double seconds_per_trip = 8 / events_per_second + 5 * packets / packet_events_per_second;
  constexpr double base_bytes = 12e6;
  constexpr double bytes_per_client = 1500;
  const double memory = base_bytes + bytes_per_client * static_cast<double>(scenario.workload.clients) +
                        sizeof(TraceRow) * static_cast<double>(scenario.trace.size());
  const std::string memory_text = human_size(Bytes(static_cast<std::int64_t>(memory)));
  if (!preview.requests)
    return fmt::format("  estimate: requests unknown in a closed loop; {} of memory\n", memory_text);
  const double trips = mean(scenario.workload.output);
  return fmt::format("  estimate: {:.3g} requests, {:.2g} s on one core, {} of memory\n", *preview.requests,
                     *preview.requests * trips * seconds_per_trip, memory_text);
}

std::string links_text(const Preview& preview) {
  if (preview.links.empty()) return {};
  const auto lost =
      std::count_if(preview.links.begin(), preview.links.end(), [](const auto& link) { return !link.in_coverage; });
  const auto [worst, best] =
      std::minmax_element(preview.links.begin(), preview.links.end(),
                          [](const auto& a, const auto& b) { return a.uplink_sinr_db < b.uplink_sinr_db; });
  std::string text = fmt::format("  uplink SINR {:.1f} to {:.1f} dB, MCS {} to {}", worst->uplink_sinr_db,
                                 best->uplink_sinr_db, worst->uplink_mcs, best->uplink_mcs);
  if (lost > 0) text += fmt::format("; {} of {} clients OUT OF COVERAGE", lost, preview.links.size());
  return text + "\n";
}

}  // namespace

int check(const Arguments& arguments) {
  Syntax syntax{.verb = "check",
                .synopsis = "check FILE [--set a.b=c]... [--catalogue DIR]",
                .description = "validate a scenario; run nothing",
                .positional = "file",
                .details = details};
  std::vector<std::string> sets;
  std::string catalogue_option;
  syntax.options.add_options()("set", po::value(&sets)->composing(),
                               "override one value, e.g. workload.clients=20; may be repeated")(
      "catalogue", po::value(&catalogue_option), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return exit_done;
  if (parsed.values.count("file") == 0)
    throw UsageError("trilemma check: no scenario file; write for example 'trilemma check scenarios/quickstart.yaml'");
  const std::filesystem::path file = parsed.values["file"].as<std::vector<std::string>>().front();
  const Experiment experiment = read_experiment(file, sets, find_catalogue(catalogue_option));
  const Preview seen = preview(experiment.scenario);
  std::cout << config::to_yaml(scenario_to_json(experiment.scenario), experiment.origins) << "\n"
            << fmt::format("  points: 1, replications: {}\n\n", experiment.scenario.replications)
            << floor_text(experiment.scenario, seen) << "\n"
            << load_text(seen) << "\n"
            << links_text(seen) << fidelity_text(experiment.scenario) << estimate_text(experiment.scenario, seen);
  return exit_done;
}

}  // namespace trilemma::cli
