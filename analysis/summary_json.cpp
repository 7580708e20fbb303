#include "analysis/summary_json.h"

#include <cmath>

#include "sim/experiment.h"

namespace trilemma {
namespace {

using config::Json;

/// Nanosecond resolution and no more, so that numbers stay readable.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e9) / 1e9;
}
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }
Json milliseconds(const std::optional<Duration>& time) { return time ? number(to_milliseconds(*time)) : Json(nullptr); }

Json quantile_json(const QuantileEstimate& estimate) {
  Json json{{"value", milliseconds(estimate.value)},
            {"lower", milliseconds(estimate.lower)},
            {"upper", milliseconds(estimate.upper)}};
  if (!estimate.reason.empty()) json["reason"] = estimate.reason;
  if (!estimate.value && estimate.requests_needed > 0) json["requests_needed"] = estimate.requests_needed;
  return json;
}

Json latency_json(const Summary& summary) {
  Json json;
  json["mean"] = number(summary.mean_ms);
  for (std::size_t i = 0; i < reported_quantiles.size(); ++i) {
    json[std::string(reported_quantiles[i].name)] = quantile_json(summary.quantiles[i]);
  }
  json["max"] = number(summary.max_ms);
  json["bounds"] = "95 % order-statistic intervals, requests taken as independent";
  if (summary.withheld) json["reason"] = *summary.withheld;
  return json;
}

Json part_json(const std::optional<double>& mean, const std::optional<QuantileEstimate>& p99,
               const std::string& reason) {
  if (!mean) return {{"mean", nullptr}, {"p99", nullptr}, {"reason", reason}};
  return {{"mean", number(mean)}, {"p99", p99 ? quantile_json(*p99) : Json(nullptr)}};
}

Json loads_json(const std::vector<Utilisation>& loads) {
  Json json = Json::object();
  for (const Utilisation& load : loads) json[load.resource] = number(load.share);
  return json;
}

Json stability_json(const Summary& summary) {
  const Stability& stability = summary.stability;
  Json json{{"verdict", stability.overloaded ? "overloaded" : "stable"},
            {"utilization", loads_json(stability.carried)},
            {"offered_load", loads_json(stability.offered)},
            {"binding_resource", stability.binding.empty() ? Json(nullptr) : Json(stability.binding)}};
  if (stability.growth > 0) json["backlog_growth_per_s"] = number(stability.growth);
  return json;
}

Json verdict_json(const TargetConfig& target, const TargetVerdict& verdict) {
  return {{"latency_ms", number(to_milliseconds(target.latency))},
          {"reliability", target.reliability.value()},
          {"violations", verdict.violations},
          {"n", verdict.requests},
          {"lower_bound", number(verdict.lower)},
          {"upper_bound", number(verdict.upper)},
          {"confidence", 0.95},
          {"verdict", std::string(verdict_word(verdict.verdict))},
          {"more_requests_needed", verdict.more_requests_needed ? Json(*verdict.more_requests_needed) : Json(nullptr)}};
}

Json target_json(const Scenario& scenario, const Summary& summary) {
  if (!summary.target) return nullptr;
  Json json = verdict_json(*scenario.target, *summary.target);
  json["stages_beyond_target"] = summary.beyond_target;
  if (summary.drawn) {
    json["draws"] = {
        {"hold", summary.drawn->holds}, {"fail", summary.drawn->fails}, {"undecided", summary.drawn->undecided}};
  }
  json["goodput_per_s"] = number(summary.goodput);
  return json;
}

Json energy_json(const EnergySummary& energy) {
  Json json{{"device", number(energy.device_mj)},
            {"radio", number(energy.radio_mj)},
            {"edge", number(energy.edge_mj)},
            {"cloud", number(energy.cloud_mj)},
            {"total", number(energy.total_mj())}};
  if (!energy.total_mj()) json["reason"] = "needs device.power, device.modem and edge.power, and answered requests";
  return json;
}

Json counts_json(const RadioCounts& counts) {
  return {{"blocks", counts.blocks},
          {"retransmissions", counts.retransmissions},
          {"recovered_blocks", counts.recovered_blocks},
          {"lost_blocks", counts.lost_blocks},
          {"empty_blocks", counts.empty_blocks},
          {"bytes_offered", counts.bytes_offered},
          {"bytes_delivered", counts.bytes_delivered},
          {"bytes_lost", counts.bytes_lost},
          {"bytes_queued", counts.bytes_queued()}};
}

double share_of(const std::vector<Utilisation>& loads, std::string_view resource) {
  for (const Utilisation& load : loads) {
    if (load.resource == resource) return load.share;
  }
  return 0;
}

Json radio_json(const Summary& summary) {
  if (!summary.radio) return nullptr;
  const RadioSummary& radio = *summary.radio;
  return {{"sinr",
           {{"min_db", number(radio.sinr_min)},
            {"median_db", number(radio.sinr_median)},
            {"max_db", number(radio.sinr_max)}}},
          {"mcs", {{"min", radio.mcs_min}, {"max", radio.mcs_max}}},
          {"bler", number(radio.block_error_rate)},
          {"harq", {{"uplink", counts_json(radio.uplink)}, {"downlink", counts_json(radio.downlink)}}},
          {"utilisation",
           {{"uplink", number(share_of(summary.stability.carried, "uplink"))},
            {"downlink", number(share_of(summary.stability.carried, "downlink"))}}},
          {"links", radio.clients},
          {"links_in_line_of_sight", radio.line_of_sight},
          {"links_out_of_coverage", radio.out_of_coverage}};
}

Json size_json(const SizeSummary& size, bool is_mix) {
  if (is_mix)
    return {{"device_bytes", size.device_bytes.value()},
            {"device_capacity_bytes", size.device_capacity.value()},
            {"edge_bytes", size.edge_bytes.value()},
            {"edge_capacity_bytes", size.edge_capacity.value()}};
  return {{"device_bytes", size.device_bytes.value()}, {"device_capacity_bytes", size.device_capacity.value()},
          {"edge_bytes", size.edge_bytes.value()},     {"edge_capacity_bytes", size.edge_capacity.value()},
          {"payload_bytes", size.payload.value()},     {"uplink_bytes", size.on_air.value()},
          {"raw_input_bytes", size.raw_input.value()}, {"ratio", number(size.ratio)}};
}

Json accuracy_json(const std::optional<AccuracyAnswer>& answer) {
  const auto* accuracy = answer ? std::get_if<Accuracy>(&*answer) : nullptr;
  if (accuracy == nullptr) {
    return {{"value", nullptr},
            {"baseline", nullptr},
            {"source", nullptr},
            {"kind", nullptr},
            {"reason", answer ? "not published for " + std::get<NotPublished>(*answer).reason
                              : "the workload has no task to score answers on"}};
  }
  return {{"value", number(accuracy->value.value())},
          {"baseline", number(accuracy->baseline.value())},
          {"source", accuracy->source},
          {"kind", std::string(config::name_of(accuracy->kind))}};
}

Json sites_json(const std::vector<SiteSummary>& sites) {
  Json json = Json::object();
  for (const SiteSummary& site : sites) {
    json[std::string(site.tier)] = {
        {"batch_mean", number(site.batch)},
        {"answer_tokens_per_s", number(site.tokens_per_s)},
        {"kv_blocks", site.blocks},
        {"kv_blocks_used_max", site.most_blocks},
        {"preemptions", site.preemptions},
        {"recomputed_tokens", site.recomputed},
        {"dropped", {{"too_large", site.too_large}, {"queue_full", site.queue_full}, {"late", site.late}}}};
  }
  return json;
}

Json classes_json(const std::vector<ClassSummary>& classes) {
  Json json = Json::object();
  for (const ClassSummary& one : classes) {
    Json latency{{"mean", number(one.mean_ms)}};
    for (std::size_t i = 0; i < reported_quantiles.size(); ++i)
      latency[std::string(reported_quantiles[i].name)] = quantile_json(one.quantiles[i]);
    json[one.name] = {{"completed", one.completed},
                      {"failed", one.failed},
                      {"dropped", one.dropped},
                      {"payload_bytes", one.payload.value()},
                      {"uplink_bytes", one.on_air.value()},
                      {"latency_ms", std::move(latency)},
                      {"ttft_ms", number(one.ttft_mean_ms)},
                      {"tpot_ms", number(one.tpot_mean_ms)},
                      {"target", one.verdict ? verdict_json(*one.target, *one.verdict) : Json(nullptr)},
                      {"accuracy", accuracy_json(one.accuracy)}};
  }
  return json;
}

}  // namespace

std::string_view verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::fails:
      return "fails";
    case Verdict::undecided:
      break;
  }
  return "undecided";
}

std::string_view run_end_word(RunEnd end) {
  switch (end) {
    case RunEnd::wall_limit:
      return "wall limit";
    case RunEnd::memory_limit:
      return "memory limit";
    case RunEnd::event_limit:
      return "event limit";
    case RunEnd::done:
      break;
  }
  return "done";
}

std::string status_word(const Summary& summary) {
  return summary.all_failed() ? "failed" : std::string(run_end_word(summary.end));
}

Json summary_to_json(const Scenario& scenario, const Summary& summary) {
  Json json;
  json["scenario"] = scenario_to_json(scenario);
  json["status"] = status_word(summary);
  const RequestCounts& requests = summary.requests;
  json["requests"] = {{"offered", requests.offered},
                      {"completed", requests.completed},
                      {"failed", requests.failed},
                      {"in_flight", requests.in_flight},
                      {"dropped", requests.dropped},
                      {"measured", summary.measured},
                      {"throughput_per_s", number(summary.throughput)}};
  json["stability"] = stability_json(summary);
  json["latency_ms"] = latency_json(summary);
  json["ttft_ms"] =
      part_json(summary.ttft_mean_ms, summary.ttft_p99, summary.withheld.value_or("no completed request"));
  json["tpot_ms"] =
      part_json(summary.tpot_mean_ms, summary.tpot_p99,
                summary.withheld.value_or(scenario.raw_input() && longest(scenario.workload.output) > Tokens(1)
                                              ? "the edge sends the whole answer at once"
                                              : "requests with one output token have no time per further token"));
  Json stages = Json::object();
  for (const StageSummary& stage : summary.stages) {
    stages[std::string(stage.name)] = {
        {"mean", number(stage.mean_ms)}, {"p99", number(stage.p99_ms)}, {"floor", number(stage.floor_ms)}};
    if (!stage.reason.empty()) stages[std::string(stage.name)]["reason"] = stage.reason;
  }
  json["stages_ms"] = std::move(stages);
  json["target"] = target_json(scenario, summary);
  json["accuracy"] = accuracy_json(summary.accuracy);
  json["size"] = size_json(summary.size, !summary.classes.empty());
  json["energy_mj"] = energy_json(summary.energy);
  json["radio"] = radio_json(summary);
  if (!summary.sites.empty()) json["servers"] = sites_json(summary.sites);
  json["floor_ms"] = number(summary.floor_ms);
  if (summary.classes.empty()) return json;
  json["classes"] = classes_json(summary.classes);
  const auto verdict = summary.verdict();
  json["verdict"] = verdict ? Json(std::string(verdict_word(*verdict))) : Json(nullptr);
  return json;
}

}  // namespace trilemma
