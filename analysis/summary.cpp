#include "analysis/summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/stability.h"
#include "core/ensure.h"
#include "models/processor/roofline.h"
#include "sim/accuracy.h"
#include "sim/classes.h"

namespace trilemma {
namespace {

const Utilisation* busiest(const std::vector<Utilisation>& loads) {
  const auto found =
      std::max_element(loads.begin(), loads.end(), [](const auto& a, const auto& b) { return a.share < b.share; });
  return found == loads.end() ? nullptr : &*found;
}

/// Largest offered load of each resource over the replications (links differ), mean carried load.
Stability stability_of(const Scenario& scenario, const std::vector<Replication>& replications) {
  Stability result{.offered = replications.front().forecast, .carried = replications.front().utilisation};
  for (std::size_t r = 1; r < replications.size(); ++r) {
    for (std::size_t i = 0; i < result.offered.size(); ++i) {
      result.offered[i].share = std::max(result.offered[i].share, replications[r].forecast[i].share);
    }
    for (std::size_t i = 0; i < std::min(result.carried.size(), replications[r].utilisation.size()); ++i) {
      result.carried[i].share += replications[r].utilisation[i].share;
    }
  }
  for (Utilisation& load : result.carried) load.share /= static_cast<double>(replications.size());
  for (const Replication& one : replications) {
    if (one.window <= Duration{0} || !backlog_grows(one.backlog, one.counts.offered)) continue;
    result.growth = std::max(result.growth, backlog_growth(one.backlog, one.window).value());
  }
  const Utilisation* offered = busiest(result.offered);
  // A trace ends and drains: its load says how hard it is, not that it never ends. And what batches can do is known
  // only roughly in advance: there the backlog speaks.
  const bool forecast = offered != nullptr && offered->share >= 1 && !offered->is_estimate && scenario.trace.empty();
  result.overloaded = forecast || result.growth > 0;
  // What the forecast did not foresee shows where the work went.
  const Utilisation* binding = forecast || !result.overloaded ? offered : nullptr;
  if (binding == nullptr) binding = busiest(result.carried);
  if (binding != nullptr) result.binding = binding->resource;
  return result;
}

std::optional<RadioSummary> radio_of(const std::vector<Replication>& replications) {
  RadioSummary result;
  std::vector<double> sinr;
  for (const Replication& one : replications) {
    result.uplink += one.uplink;
    result.downlink += one.downlink;
    for (const RadioLinkState& link : one.links) {
      if (sinr.empty()) result.mcs_min = result.mcs_max = link.uplink_mcs;
      sinr.push_back(link.uplink_sinr_db);
      result.mcs_min = std::min(result.mcs_min, link.uplink_mcs);
      result.mcs_max = std::max(result.mcs_max, link.uplink_mcs);
      if (link.line_of_sight) ++result.line_of_sight;
      if (!link.in_coverage) ++result.out_of_coverage;
    }
  }
  if (sinr.empty()) return std::nullopt;
  std::sort(sinr.begin(), sinr.end());
  result.clients = sinr.size();
  result.sinr_min = sinr.front();
  result.sinr_median = sinr[sinr.size() / 2];
  result.sinr_max = sinr.back();
  const auto sent = static_cast<double>(result.uplink.blocks + result.uplink.retransmissions);
  result.block_error_rate = sent > 0 ? static_cast<double>(result.uplink.errors) / sent : 0;
  return result;
}

SizeSummary size_of(const Scenario& scenario) {
  SizeSummary size{.device_capacity = capacity(scenario.device), .edge_capacity = capacity(scenario.edge)};
  for (const Scenario& one : class_scenarios(scenario)) {
    size.device_bytes = std::max(size.device_bytes, one.device_need().total());
    size.edge_bytes = std::max(size.edge_bytes, one.edge_need().total());
  }
  if (!scenario.workload.classes.empty()) return size;
  Costs costs(scenario);
  const RequestTokens usual = scenario.usual_request();
  const Pass pass = costs.prefill(usual.prompt, usual.output);
  size.payload = pass.payload;
  size.on_air = pass.uplink;
  size.raw_input = costs.with_headers(usual.prompt.value() * Costs::token_id);
  const Bytes uncompressed = costs.uncompressed(usual.prompt);
  if (uncompressed > Bytes(0)) size.ratio = costs.with_headers(uncompressed) / pass.uplink;
  return size;
}

std::optional<double> mean_ms(const LatencyHistogram& times) {
  if (times.completed() == 0) return std::nullopt;
  return times.mean_nanoseconds() * 1e-6;
}

std::vector<StageSummary> stages_of(const Collector& collector, const StageTimes& floor, bool has_cloud,
                                    const std::optional<std::string>& withheld) {
  std::vector<StageSummary> stages;
  for (std::size_t i = 0; i < stage_count; ++i) {
    if (is_of_cloud(static_cast<Stage>(i)) && !has_cloud) continue;
    StageSummary stage{.name = stage_names[i], .floor_ms = to_milliseconds(floor[i]), .reason = withheld.value_or("")};
    const LatencyHistogram& times = collector.stage(static_cast<Stage>(i));
    if (!withheld && times.completed() > 0) {
      stage.mean_ms = mean_ms(times);
      const QuantileEstimate p99 = estimate_quantile(times, Fraction(0.99));
      if (p99.value)
        stage.p99_ms = to_milliseconds(*p99.value);
      else
        stage.reason = p99.reason;
    }
    stages.push_back(stage);
  }
  return stages;
}

void add_latencies(Summary& summary, const Collector& collector) {
  for (const NamedQuantile& quantile : reported_quantiles) {
    summary.quantiles.push_back(summary.withheld ? QuantileEstimate{.reason = *summary.withheld}
                                                 : estimate_quantile(collector.latency(), quantile.q));
  }
  if (summary.withheld || collector.latency().completed() == 0) return;
  summary.mean_ms = mean_ms(collector.latency());
  summary.max_ms = to_milliseconds(collector.latency().max());
  summary.ttft_mean_ms = mean_ms(collector.first_token());
  summary.ttft_p99 = estimate_quantile(collector.first_token(), Fraction(0.99));
  if (collector.per_token().completed() == 0) return;
  summary.tpot_mean_ms = mean_ms(collector.per_token());
  summary.tpot_p99 = estimate_quantile(collector.per_token(), Fraction(0.99));
}

/// A target holds over uncertain parameters if it holds in each draw of them, and fails if it fails in each.
void judge_draws(Summary& summary, const Scenario& scenario, const std::vector<Replication>& replications) {
  if (!summary.target || scenario.uncertainty == Switch::off) return;
  summary.drawn = DrawnVerdicts{};
  for (const Replication& replication : replications) {
    const TargetVerdict one = judge(replication.late, replication.judged, scenario.target->reliability);
    ++(one.verdict == Verdict::holds   ? summary.drawn->holds
       : one.verdict == Verdict::fails ? summary.drawn->fails
                                       : summary.drawn->undecided);
  }
  const bool all_hold = summary.drawn->holds == replications.size();
  const bool all_fail = summary.drawn->fails == replications.size();
  const bool holds = summary.target->verdict == Verdict::holds && all_hold;
  const bool fails = summary.target->verdict == Verdict::fails && (all_fail || summary.stability.overloaded);
  if (holds || fails || summary.target->verdict == Verdict::undecided) return;
  summary.target->verdict = Verdict::undecided;
  summary.target->more_requests_needed.reset();  // other parameters decide, not more requests
}

/// Power of `machines` machines: idle over the whole run, and more while at work.
std::optional<double> energy_mj(const std::optional<PowerConfig>& power, Duration run, std::int64_t machines,
                                Duration busy, std::uint64_t requests) {
  if (!power || requests == 0) return std::nullopt;
  const Joules all = static_cast<double>(machines) * (power->idle * run) + (power->active - power->idle) * busy;
  return 1000 * all.value() / static_cast<double>(requests);
}

void add_energy(Summary& summary, const Scenario& scenario, const std::vector<Replication>& replications) {
  const std::uint64_t requests = summary.requests.completed;
  const WorkloadConfig& workload = scenario.workload;
  Duration device_busy{0};
  Duration edge_busy{0};
  Duration cloud_busy{0};
  RadioCounts up;
  RadioCounts down;
  for (const Replication& replication : replications) {
    device_busy += replication.device_busy;
    edge_busy += replication.edge.busy;
    cloud_busy += replication.cloud.busy;
    up += replication.uplink;
    down += replication.downlink;
  }
  summary.energy.device_mj =
      energy_mj(scenario.device.power, summary.simulated, workload.clients, device_busy, requests);
  summary.energy.edge_mj =
      energy_mj(scenario.edge.power, summary.simulated, scenario.edge.processors(), edge_busy, requests);
  if (scenario.stays_on_device()) summary.energy.edge_mj = 0;  // no edge is needed
  summary.energy.cloud_mj = scenario.cloud ? energy_mj(scenario.cloud->power, summary.simulated,
                                                       scenario.cloud->processors(), cloud_busy, requests)
                                           : std::optional(0.0);
  const auto& modem = scenario.device.modem;
  if (!modem && scenario.stays_on_device()) summary.energy.radio_mj = 0;  // nor a radio
  if (!modem || requests == 0) return;
  const Joules radio = static_cast<double>(workload.clients) * (modem->idle * summary.simulated) +
                       (modem->transmit - modem->idle) * up.on_air + (modem->receive - modem->idle) * down.on_air;
  summary.energy.radio_mj = 1000 * radio.value() / static_cast<double>(requests);
}

/// An overloaded queue grows without end, so its latency exceeds any target in the long run.
void add_target(Summary& summary, const Scenario& scenario, const Collector& collector, const StageTimes& floor) {
  if (!scenario.has_one_target()) return;
  const ViolationCounter& counter = *collector.violations();
  summary.target = judge(counter.violations(), counter.requests(), scenario.target->reliability);
  if (summary.stability.overloaded && scenario.trace.empty()) {
    summary.target->verdict = Verdict::fails;
    summary.target->more_requests_needed = 0;
  } else if (summary.requests.in_flight > 0 && summary.target->verdict == Verdict::holds) {
    // The requests that a limit left unfinished are the slowest ones.
    summary.target->verdict = Verdict::undecided;
    summary.target->more_requests_needed.reset();
  }
  for (std::size_t i = 0; i < stage_count; ++i) {
    if (floor[i] > scenario.target->latency) summary.beyond_target.emplace_back(stage_names[i]);
  }
  const Duration warmup = static_cast<std::int64_t>(summary.replications) * scenario.warmup;
  const double seconds = to_seconds(summary.window - warmup);
  if (seconds > 0 && !summary.stability.overloaded) {
    summary.goodput = static_cast<double>(counter.requests() - counter.violations()) / seconds;
  }
}

SiteSummary site_of(std::string_view tier, std::int64_t blocks, const std::vector<SiteCounts>& replications,
                    Duration simulated) {
  SiteSummary result{.tier = tier, .blocks = blocks};
  std::uint64_t steps = 0;
  std::uint64_t members = 0;
  std::uint64_t generated = 0;
  for (const SiteCounts& counts : replications) {
    steps += counts.steps;
    members += counts.members;
    generated += counts.generated;
    result.most_blocks = std::max(result.most_blocks, counts.most_blocks);
    result.preemptions += counts.preemptions;
    result.recomputed += counts.recomputed;
    result.too_large += counts.too_large;
    result.queue_full += counts.queue_full;
    result.late += counts.late;
  }
  if (steps > 0) result.batch = static_cast<double>(members) / static_cast<double>(steps);
  if (simulated > Duration{0}) result.tokens_per_s = static_cast<double>(generated) / to_seconds(simulated);
  return result;
}

/// Where a tier has more to tell than a queue with processors.
bool is_of_interest(const SiteConfig& config, const SiteSummary& summary) {
  return config.batching || summary.preemptions + summary.too_large + summary.queue_full + summary.late > 0 ||
         !std::holds_alternative<NeverDrop>(config.drop);
}

void add_sites(Summary& summary, const Scenario& scenario, const std::vector<Replication>& replications) {
  const std::vector<Scenario> classes = class_scenarios(scenario);
  const auto add = [&](std::string_view tier, const EdgeConfig& config, Station station, SiteCounts Replication::*of) {
    std::vector<SiteCounts> counts;
    counts.reserve(replications.size());
    for (const Replication& one : replications) counts.push_back(one.*of);
    SiteSummary site = site_of(tier, cache_blocks(classes, station), counts, summary.simulated);
    if (is_of_interest(config, site)) summary.sites.push_back(site);
  };
  add("edge", scenario.edge, Station::edge, &Replication::edge);
  if (scenario.cloud) add("cloud", *scenario.cloud, Station::cloud, &Replication::cloud);
}

void add_classes(Summary& summary, const Scenario& scenario, const Collector& collector) {
  const std::vector<Scenario> classes = class_scenarios(scenario);
  for (std::size_t kind = 0; kind < collector.classes().size(); ++kind) {
    const ClassStatistics& statistics = collector.classes()[kind];
    ClassSummary& one = summary.classes.emplace_back();
    one.name = scenario.workload.classes[kind].name;
    one.completed = statistics.completed;
    one.failed = statistics.failed;
    one.dropped = statistics.dropped;
    for (const NamedQuantile& quantile : reported_quantiles) {
      one.quantiles.push_back(summary.withheld ? QuantileEstimate{.reason = *summary.withheld}
                                               : estimate_quantile(statistics.latency, quantile.q));
    }
    if (!summary.withheld) {
      one.mean_ms = mean_ms(statistics.latency);
      one.ttft_mean_ms = mean_ms(statistics.first_token);
      one.tpot_mean_ms = mean_ms(statistics.per_token);
    }
    Costs costs(classes[kind]);
    const RequestTokens usual = classes[kind].usual_request();
    const Pass pass = costs.prefill(usual.prompt, usual.output);
    one.payload = pass.payload;
    one.on_air = pass.uplink;
    one.target = classes[kind].target;
    one.accuracy = accuracy_of(classes[kind]);
    if (!statistics.violations) continue;
    const ViolationCounter& late = *statistics.violations;
    one.verdict = judge(late.violations(), late.requests(), one.target->reliability);
    if (summary.stability.overloaded && scenario.trace.empty()) one.verdict->verdict = Verdict::fails;
  }
}

std::optional<std::string> why_withheld(const Scenario& scenario, const Summary& summary, const Collector& collector) {
  if (summary.stability.overloaded && scenario.trace.empty()) {
    return "overloaded: the latency grows with the length of the run";
  }
  if (summary.requests.in_flight > 0)
    return fmt::format("a limit ended the run with {} requests in flight, the slowest ones",
                       summary.requests.in_flight);
  if (summary.requests.offered == 0) return "no request was offered";
  if (collector.latency().count() == 0) return "no request arrived after the warm-up";
  if (collector.latency().completed() == 0)
    return summary.requests.dropped > 0 ? "every request failed or was dropped" : "every request failed";
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> Summary::verdict() const {
  if (target) return target->verdict;
  std::optional<Verdict> all;
  for (const ClassSummary& one : classes) {
    if (!one.verdict) continue;
    const Verdict its = one.verdict->verdict;
    if (!all || its == Verdict::fails || (its == Verdict::undecided && *all == Verdict::holds)) all = its;
  }
  return all;
}

Summary summarize(const Scenario& scenario, const Collector& collector, const std::vector<Replication>& replications) {
  TRILEMMA_ENSURE(!replications.empty(), "a summary is of at least one replication");
  Summary summary{.replications = replications.size()};
  for (const Replication& one : replications) {
    summary.requests.offered += one.counts.offered;
    summary.requests.completed += one.counts.completed;
    summary.requests.failed += one.counts.failed;
    summary.requests.dropped += one.counts.dropped;
    summary.requests.in_flight += one.counts.in_flight;
    summary.window += one.window;
    summary.simulated += one.finished;
    summary.events += one.events;
    if (summary.end == RunEnd::done) summary.end = one.end;
  }
  summary.measured = collector.latency().count();
  summary.stability = stability_of(scenario, replications);
  summary.withheld = why_withheld(scenario, summary, collector);
  // Replications place the clients anew, so each has its own best client.
  const StageTimes& floor =
      std::min_element(replications.begin(), replications.end(), [](const auto& a, const auto& b) {
        return total(a.floor_stages) < total(b.floor_stages);
      })->floor_stages;
  summary.floor_ms = to_milliseconds(total(floor));
  summary.stages = stages_of(collector, floor, scenario.cloud.has_value(), summary.withheld);
  add_latencies(summary, collector);
  add_target(summary, scenario, collector, floor);
  judge_draws(summary, scenario, replications);
  add_energy(summary, scenario, replications);
  summary.size = size_of(scenario);
  summary.radio = radio_of(replications);
  if (scenario.workload.classes.empty()) summary.accuracy = accuracy_of(scenario);
  add_sites(summary, scenario, replications);
  add_classes(summary, scenario, collector);
  if (summary.simulated > Duration{0})
    summary.throughput = static_cast<double>(summary.requests.completed) / to_seconds(summary.simulated);
  return summary;
}

}  // namespace trilemma
