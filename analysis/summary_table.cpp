#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/summary_json.h"
#include "analysis/table.h"
#include "core/config/text.h"
#include "models/processor/roofline.h"
#include "sim/classes.h"

namespace trilemma {
namespace {

using config::Text;

std::string ms_or_dash(const std::optional<double>& value) { return value ? human_ms(*value) : "-"; }
std::string ms_or_dash(const std::optional<Duration>& value) { return value ? human_ms(to_milliseconds(*value)) : "-"; }

/// "p99_9" as people write it: "p99.9".
std::string quantile_label(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '.');
  return text;
}

Table stage_table(const Summary& summary) {
  Table table{.header = {"stage", "mean ms", "p99 ms", "share", "floor ms"}, .rows = {}};
  for (const StageSummary& stage : summary.stages) {
    const bool nothing = stage.mean_ms.value_or(0) == 0 && stage.floor_ms == 0;
    const std::string share = stage.mean_ms && summary.mean_ms ? human_share(*stage.mean_ms / *summary.mean_ms) : "-";
    table.rows.push_back({stage_label(stage.name), ms_or_dash(stage.mean_ms), ms_or_dash(stage.p99_ms),
                          nothing ? "-" : share, human_ms(stage.floor_ms)});
  }
  const auto p99 =
      std::find_if(reported_quantiles.begin(), reported_quantiles.end(), [](const auto& q) { return q.name == "p99"; });
  const QuantileEstimate& estimate = summary.quantiles[static_cast<std::size_t>(p99 - reported_quantiles.begin())];
  table.rows.push_back({"total", ms_or_dash(summary.mean_ms), ms_or_dash(estimate.value),
                        summary.mean_ms ? "100.0 %" : "-", human_ms(summary.floor_ms)});
  return table;
}

Table latency_table(const Summary& summary) {
  Table table{.header = {"latency", "ms", "lower", "upper", ""}, .rows = {}};
  table.rows.push_back({"mean", ms_or_dash(summary.mean_ms), "", "", ""});
  for (std::size_t i = 0; i < reported_quantiles.size(); ++i) {
    const QuantileEstimate& estimate = summary.quantiles[i];
    table.rows.push_back({quantile_label(reported_quantiles[i].name), ms_or_dash(estimate.value),
                          ms_or_dash(estimate.lower), ms_or_dash(estimate.upper),
                          estimate.value ? "" : estimate.reason});
  }
  table.rows.push_back({"max", ms_or_dash(summary.max_ms), "", "", ""});
  if (summary.tpot_mean_ms) {
    table.rows.push_back({"first token, mean", ms_or_dash(summary.ttft_mean_ms), "", "", ""});
    table.rows.push_back({"per further token, mean", ms_or_dash(summary.tpot_mean_ms), "", "", ""});
  }
  return table;
}

std::string loads_text(const std::vector<Utilisation>& loads) {
  std::vector<std::string> parts;
  parts.reserve(loads.size());
  for (const Utilisation& load : loads) parts.push_back(fmt::format("{} {}", load.resource, human_share(load.share)));
  // Cells come by the hundred: the busiest say it all.
  constexpr std::size_t most = 8;
  if (parts.size() > most) {
    parts.resize(most);
    parts.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string stability_text(const Summary& summary) {
  const Stability& stability = summary.stability;
  std::string text = stability.overloaded ? fmt::format("OVERLOADED at {}", stability.binding) : "stable";
  if (!stability.overloaded && !stability.binding.empty())
    text += fmt::format(", busiest resource: {}", stability.binding);
  if (stability.growth > 0) text += fmt::format("; the backlog grows by {:.3g} requests/s", stability.growth);
  return text;
}

std::string target_text(const Scenario& scenario, const Summary& summary) {
  const TargetConfig& target = *scenario.target;
  const TargetVerdict& verdict = *summary.target;
  std::string word(verdict_word(verdict.verdict));
  std::transform(word.begin(), word.end(), word.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format("{} for {}: {}", Text<Duration>::format(target.latency),
                                 Text<Fraction>::format(target.reliability), word);
  if (summary.withheld && summary.stability.overloaded)
    return text + ", an overloaded system misses every target in the long run";
  text += fmt::format("; {} of {} requests late, {:.3g} to {:.3g} % with 95 % confidence each side, allowed {:.3g} %",
                      verdict.violations, verdict.requests, 100 * verdict.lower, 100 * verdict.upper,
                      100 * (1 - target.reliability.value()));
  if (verdict.verdict == Verdict::undecided && verdict.more_requests_needed)
    text += fmt::format("; about {} more requests would decide", *verdict.more_requests_needed);
  if (summary.drawn) {
    text += fmt::format("; of {} draws of the device parameters it holds in {}, fails in {}, is undecided in {}",
                        summary.replications, summary.drawn->holds, summary.drawn->fails, summary.drawn->undecided);
  }
  return text;
}

std::string energy_text(const EnergySummary& energy) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<double>& millijoules) {
    if (millijoules) text += fmt::format("{}{} {:.4g} mJ", text.empty() ? "" : ", ", name, *millijoules);
  };
  add("device", energy.device_mj);
  add("radio", energy.radio_mj);
  add("edge", energy.edge_mj);
  if (energy.cloud_mj.value_or(0) > 0) add("cloud", energy.cloud_mj);
  return text.empty() ? text : text + " a request";
}

std::string accuracy_text(const TaskConfig& task, const AccuracyAnswer& answer) {
  if (const auto* nothing = std::get_if<NotPublished>(&answer)) return "not published for " + nothing->reason;
  const auto& accuracy = std::get<Accuracy>(answer);
  return fmt::format("{:.4g} % of {} (baseline {:.4g} %), {}: {}", 100 * accuracy.value.value(), task.kind,
                     100 * accuracy.baseline.value(), config::name_of(accuracy.kind), accuracy.source);
}

/// How far to trust a compute model: its quality and what it was off by on models that it had not seen.
std::string model_text(const ProcessorConfig& processor, Precision precision, bool convolutions) {
  const auto rate = rate_for(processor, precision);
  std::string text(config::name_of(rate && rate->quality ? *rate->quality : processor.quality));
  const auto add = [&](std::string_view phase, const std::optional<Fraction>& error) {
    if (error) text += fmt::format(", {} error {:.2g} %", phase, 100 * error->value());
  };
  if (rate != nullptr) {
    add("decode", rate->decode_error);
    add("prefill", rate->prefill_error);
    if (convolutions) add("convolution", rate->convolution_error);
    if (rate->quality == Quality::fitted && !rate->decode_error && !rate->prefill_error)
      text += fmt::format(", spread {:.2g} % about its own rows, error on other models unknown",
                          100 * rate->spread.value());
    else if (rate->quality == Quality::fitted && !(rate->decode_error && rate->prefill_error))
      text += rate->decode_error ? ", prefill error unknown" : ", decode error unknown";
  }
  return fmt::format("{} ({})", processor.kind, text);
}

/// Both machines, but for one that computes nothing.
std::string models_text(const Scenario& scenario) {
  const bool front_end = scenario.device.front_end.has_value();
  std::string text;
  const std::vector<Scenario> classes = class_scenarios(scenario);
  const bool all_raw = std::all_of(classes.begin(), classes.end(), [](const Scenario& one) { return one.raw_input(); });
  if (!all_raw || front_end) text = "device " + model_text(scenario.device, scenario.device.precision, front_end);
  if (!scenario.stays_on_device())
    text += (text.empty() ? "edge " : ", edge ") + model_text(scenario.edge, scenario.edge.precision, false);
  if (scenario.cloud) text += ", cloud " + model_text(*scenario.cloud, scenario.cloud->precision, false);
  return text;
}

/// What is drawn of the compute models.
std::string chance_text(const Scenario& scenario) {
  std::string text;
  if (scenario.jitter == Switch::on) text = "jitter on: computations vary by the spread of their rates";
  if (scenario.uncertainty == Switch::on)
    text +=
        fmt::format("{}uncertainty on: each replication draws the fitted parameters; the floor is that of the fastest",
                    text.empty() ? "" : "; ");
  return text;
}

std::string beyond_text(const Scenario& scenario, const Summary& summary) {
  std::vector<std::string> parts;
  for (const StageSummary& stage : summary.stages) {
    if (stage.floor_ms > to_milliseconds(scenario.target->latency))
      parts.push_back(fmt::format("{} ({} ms)", stage_label(stage.name), human_ms(stage.floor_ms)));
  }
  const std::string floor = fmt::format("the floor is {} ms", human_ms(summary.floor_ms));
  if (parts.empty()) return floor + "; no stage exceeds the target alone, their sum does";
  return fmt::format("{}; beyond the target alone, without any load: {}", floor, fmt::join(parts, ", "));
}

std::string size_text(const SizeSummary& size, bool is_mix) {
  std::string text =
      fmt::format("device {} of {}, edge {} of {}", human_size(size.device_bytes), human_size(size.device_capacity),
                  human_size(size.edge_bytes), human_size(size.edge_capacity));
  if (is_mix) return text;  // messages differ from class to class
  if (size.on_air == Bytes(0)) return text + "; nothing is sent";
  text += fmt::format("; uplink message {} ({} B), on the air {}", human_size(size.payload), size.payload.value(),
                      human_size(size.on_air));
  if (size.ratio) text += fmt::format(", ratio {:.2f}", *size.ratio);
  // Without a split the edge would get the token ids: the yardstick for every codec.
  if (size.ratio) text += fmt::format("; the raw input would be {}", human_size(size.raw_input));
  return text;
}

std::string radio_text(const Scenario& scenario, const RadioSummary& radio) {
  const auto* nr = std::get_if<NrRadio>(&scenario.radio);
  const bool changes = nr != nullptr && links_change(*nr);
  std::string text = fmt::format(
      "uplink SINR {:.1f} / {:.1f} / {:.1f} dB (min/median/max{}), MCS {} to {}, block errors {}, {} blocks, {} "
      "retransmissions, {} lost",
      radio.sinr_min, radio.sinr_median, radio.sinr_max, changes ? " at the start, without fading and blockers" : "",
      radio.mcs_min, radio.mcs_max, human_share(radio.block_error_rate), radio.uplink.blocks,
      radio.uplink.retransmissions, radio.uplink.lost_blocks);
  if (radio.uplink.recovered_blocks > 0) text += fmt::format(" ({} recovered by RLC)", radio.uplink.recovered_blocks);
  if (radio.uplink.empty_blocks > 0) text += fmt::format(", {} granted and empty", radio.uplink.empty_blocks);
  text += fmt::format("; {} of {} links in line of sight", radio.line_of_sight, radio.clients);
  if (radio.out_of_coverage > 0)
    text += fmt::format("; OUT OF COVERAGE: {} (MCS 0 misses the block error target)", radio.out_of_coverage);
  return text;
}

/// Block errors of a radio are modelled down to a rate that measured tables check; a stricter target rests on less.
std::string extrapolation_text(const Scenario& scenario) {
  const auto* radio = std::get_if<NrRadio>(&scenario.radio);
  const bool modelled = radio != nullptr && std::holds_alternative<ModelledErrors>(radio->errors);
  if (!modelled || !scenario.target || 1 - scenario.target->reliability.value() >= 1e-3) return {};
  return "the target allows fewer late requests than 1 in 1000: it rests on block error rates below 1e-3, where no "
         "measured table checks the error model (extrapolated)";
}

/// What the bounds take for granted: requests queue behind each other, and a static link is drawn once.
std::string bounds_text(const Scenario& scenario, const Summary& summary) {
  std::string text = "95 %, requests taken as independent";
  if (!summary.radio || scenario.stays_on_device()) return text;
  const auto* radio = std::get_if<NrRadio>(&scenario.radio);
  const bool moves = radio != nullptr && !std::holds_alternative<StaticMotion>(radio->motion);
  return text + fmt::format("; they share {} link{} {}, so rarer places are not in the figures", summary.radio->clients,
                            summary.radio->clients == 1 ? "" : "s", moves ? "that move" : "drawn once");
}

std::string site_text(const SiteSummary& site) {
  std::string text = fmt::format("{:.3g} sequences a step, {:.4g} tokens/s; {} of {} KV blocks used at most",
                                 site.batch, site.tokens_per_s, site.most_blocks, site.blocks);
  if (site.preemptions > 0)
    text += fmt::format("; {} preemptions, {} tokens recomputed", site.preemptions, site.recomputed);
  const auto dropped = [&](std::uint64_t count, std::string_view why) {
    if (count > 0) text += fmt::format("; {} dropped: {}", count, why);
  };
  dropped(site.too_large, "larger than the KV cache");
  dropped(site.queue_full, "queue full");
  dropped(site.late, "deadline over");
  return text;
}

Table class_table(const Summary& summary) {
  Table table{.header = {"class", "completed", "failed", "dropped", "mean ms", "p99 ms", "first token ms",
                         "further token ms", "target"},
              .rows = {}};
  const auto p99 =
      std::find_if(reported_quantiles.begin(), reported_quantiles.end(), [](const auto& q) { return q.name == "p99"; });
  const auto at = static_cast<std::size_t>(p99 - reported_quantiles.begin());
  for (const ClassSummary& one : summary.classes) {
    table.rows.push_back({one.name, std::to_string(one.completed), std::to_string(one.failed),
                          std::to_string(one.dropped), ms_or_dash(one.mean_ms), ms_or_dash(one.quantiles[at].value),
                          ms_or_dash(one.ttft_mean_ms), ms_or_dash(one.tpot_mean_ms),
                          one.verdict ? std::string(verdict_word(one.verdict->verdict)) : "-"});
  }
  return table;
}

using Fact = std::pair<std::string, std::string>;

std::vector<Fact> facts(const Scenario& scenario, const Summary& summary) {
  const RequestCounts& requests = summary.requests;
  std::vector<Fact> list;
  list.emplace_back(
      "requests",
      fmt::format("offered {} = completed {} + failed {} + dropped {} + in flight {}; {} measured, {:.4g} completed/s",
                  requests.offered, requests.completed, requests.failed, requests.dropped, requests.in_flight,
                  summary.measured, summary.throughput));
  if (summary.end != RunEnd::done)
    list.emplace_back("limit", fmt::format("the {} ended the run", run_end_word(summary.end)));
  list.emplace_back("stability", stability_text(summary));
  if (!summary.stability.offered.empty()) list.emplace_back("offered load", loads_text(summary.stability.offered));
  if (!summary.stability.carried.empty()) list.emplace_back("utilisation", loads_text(summary.stability.carried));
  for (const SiteSummary& site : summary.sites) list.emplace_back(std::string(site.tier), site_text(site));
  list.emplace_back("size", size_text(summary.size, !summary.classes.empty()));
  if (summary.radio && !scenario.stays_on_device()) list.emplace_back("radio", radio_text(scenario, *summary.radio));
  if (summary.target) list.emplace_back("target", target_text(scenario, summary));
  if (summary.target && summary.floor_ms > to_milliseconds(scenario.target->latency))
    list.emplace_back("", beyond_text(scenario, summary));
  if (const std::string text = extrapolation_text(scenario); summary.target && !text.empty()) {
    list.emplace_back("errors", text);
  }
  if (summary.accuracy) list.emplace_back("accuracy", accuracy_text(*scenario.workload.task, *summary.accuracy));
  if (const std::string text = energy_text(summary.energy); !text.empty()) list.emplace_back("energy", text);
  if (const std::string text = chance_text(scenario); !text.empty()) list.emplace_back("chance", text);
  list.emplace_back("models", models_text(scenario));
  list.emplace_back("bounds", bounds_text(scenario, summary));
  return list;
}

std::string first_line(const Scenario& scenario, const Summary& summary) {
  const std::string replications =
      summary.replications == 1 ? "replication 0" : fmt::format("replications 0 to {}", summary.replications - 1);
  if (!scenario.workload.classes.empty())
    return fmt::format("seed {}, {}, a mix of {} classes", scenario.seed, replications,
                       scenario.workload.classes.size());
  return fmt::format("seed {}, {}, cut {} of {} layers of {}", scenario.seed, replications,
                     Text<Cut>::format(scenario.cut), scenario.model().layers, scenario.llm.kind);
}

/// Where the next space is that a line may end at: a number stays with its unit and with the sign before it.
std::size_t next_break(const std::string& text, std::size_t from) {
  for (std::size_t space = text.find(' ', from); space != std::string::npos; space = text.find(' ', space + 1)) {
    const bool after_sign = space > 0 && text[space - 1] == '<';
    const bool before_unit = text.compare(space + 1, 1, "%") == 0 || text.compare(space + 1, 2, "ms") == 0;
    if (!after_sign && !before_unit) return space;
  }
  return text.size();
}

/// Folds a long fact so that it stays readable beside its label.
std::string folded(const std::string& text, std::size_t indent) {
  constexpr std::size_t line_width = 112;
  std::string result;
  std::size_t column = indent;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = next_break(text, start);
    const std::size_t length = end - start;
    if (column > indent && column + 1 + length > line_width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(start, length);
    column += length;
    start = end + 1;
  }
  return result;
}

}  // namespace

std::string summary_to_text(const Scenario& scenario, const Summary& summary) {
  std::string text = scenario.name + (scenario.question.empty() ? "" : ": " + scenario.question) + "\n" +
                     first_line(scenario, summary) + "\n\n";
  text += table_to_text(stage_table(summary)) + "\n";
  text += summary.withheld ? fmt::format("  latency withheld, {}\n\n", *summary.withheld)
                           : table_to_text(latency_table(summary)) + "\n";
  if (!summary.classes.empty()) text += table_to_text(class_table(summary)) + "\n";
  constexpr std::size_t label_width = 16;
  for (const auto& [name, fact] : facts(scenario, summary)) {
    text += fmt::format("  {:<{}}{}\n", name, label_width - 2, folded(fact, label_width));
  }
  return text;
}

std::string summary_to_markdown(const Scenario& scenario, const Summary& summary) {
  std::string text = "## " + scenario.name + "\n\n" + (scenario.question.empty() ? "" : scenario.question + "\n\n") +
                     first_line(scenario, summary) + "\n\n";
  text += table_to_markdown(stage_table(summary)) + "\n";
  text += summary.withheld ? fmt::format("Latency withheld, {}.\n\n", *summary.withheld)
                           : table_to_markdown(latency_table(summary)) + "\n";
  if (!summary.classes.empty()) text += table_to_markdown(class_table(summary)) + "\n";
  for (const auto& [name, fact] : facts(scenario, summary))
    text += fmt::format("- {}{}{}\n", name, name.empty() ? "" : ": ", fact);
  return text;
}

}  // namespace trilemma
