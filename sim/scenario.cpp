#include "sim/scenario.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/codec/codec.h"
#include "models/processor/roofline.h"
#include "sim/network.h"

namespace trilemma {
namespace {

using config::FieldProblem;

std::vector<FieldProblem> rate_problems(const ProcessorConfig& processor, Precision precision) {
  std::vector<std::string> precisions;
  std::vector<std::string> runtimes;
  for (std::size_t i = 0; i < processor.rates.size(); ++i) {
    const PrecisionRate& rate = processor.rates[i];
    const std::string name(config::name_of(rate.precision));
    for (std::size_t j = 0; j < i; ++j) {
      if (processor.rates[j].precision != rate.precision || processor.rates[j].runtime != rate.runtime) continue;
      return {{"rates", fmt::format("has {} with runtime '{}' twice; write each pair once", name, rate.runtime)}};
    }
    if (std::find(precisions.begin(), precisions.end(), name) == precisions.end()) precisions.push_back(name);
    if (rate.precision == precision) runtimes.push_back(fmt::format("'{}'", rate.runtime));
  }
  if (rate_for(processor, precision) != nullptr) return {};
  if (runtimes.empty())
    return {
        {"precision", fmt::format("has no rate on {}; write one of {}", processor.kind, fmt::join(precisions, ", "))}};
  return {{"runtime", fmt::format("was not measured on {} with {}; write one of {}", processor.kind,
                                  config::name_of(precision), fmt::join(runtimes, ", "))}};
}

/// Sizes in messages are for people: three digits of the unit they would use.
std::string short_size(Bytes size) {
  const auto value = static_cast<double>(size.value());
  if (value >= 0x1p30) return fmt::format("{:.3g} GiB", value / 0x1p30);
  if (value >= 0x1p20) return fmt::format("{:.3g} MiB", value / 0x1p20);
  if (value >= 0x1p10) return fmt::format("{:.3g} KiB", value / 0x1p10);
  return fmt::format("{} B", size.value());
}

std::string memory_problem(const Scenario& scenario, const ProcessorConfig& processor, Precision precision,
                           const MemoryNeed& need) {
  if (fits(processor, need)) return {};
  const std::string has = processor.storage ? fmt::format("{} of storage for weights and {} of memory for the rest",
                                                          short_size(*processor.storage), short_size(processor.memory))
                                            : fmt::format("{} of memory", short_size(processor.memory));
  return fmt::format(
      "cannot hold its part of {}: it needs {} (weights {} at {}, KV cache {}, activations {}, runtime {}) and {} has "
      "{}; "
      "choose another cut, precision, prompt or machine",
      scenario.llm.kind, short_size(need.total()), short_size(need.weights), config::name_of(precision),
      short_size(need.kv), short_size(need.activations), short_size(need.reserve), processor.kind, has);
}

std::string codec_problem(const Scenario& scenario) {
  if (const auto wrong = problem(scenario.codec)) return *wrong;
  if (scenario.on_device() || scenario.raw_input()) return {};
  const auto codec = make_codec(scenario.codec);
  const auto wrong = codec->problem({.tokens = scenario.workload.prompt.value(), .hidden = scenario.llm.hidden});
  if (wrong) return *wrong;
  if (scenario.workload.output == Tokens(1)) return {};
  return codec->problem({.tokens = 1, .hidden = scenario.llm.hidden}).value_or("");
}

std::string end_problem(const Scenario& scenario) {
  if (scenario.duration && scenario.requests) return "stands beside 'requests'; write only one of the two";
  const bool trace = std::holds_alternative<TraceArrivals>(scenario.workload.arrivals);
  if (!scenario.duration && !scenario.requests && !trace)
    return "is missing; write for example 'duration: 10 s' or 'requests: 100000'";
  return {};
}

}  // namespace

namespace config {

Parsed<Cut> Text<Cut>::parse(std::string_view text) {
  if (text == "all") return Cut{std::nullopt};
  auto number = Text<std::int64_t>::parse(text);
  if (std::holds_alternative<std::string>(number))
    return "is not a cut; write a number of layers such as '1', or 'all'";
  const std::int64_t layers = std::get<std::int64_t>(number);
  if (layers < 0) return "is below 0; write a number of layers such as '1', or 'all'";
  return Cut{layers};
}
std::string Text<Cut>::format(Cut cut) { return cut.layers ? std::to_string(*cut.layers) : "all"; }
std::string Text<Cut>::pattern() { return "^(all|0|[1-9][0-9]*)$"; }

}  // namespace config

std::vector<FieldProblem> DeviceConfig::problems() const { return rate_problems(*this, precision); }
std::vector<FieldProblem> EdgeConfig::problems() const { return rate_problems(*this, precision); }

MemoryNeed Scenario::device_need() const {
  MemoryNeed need = memory_need(device, model(), head(), device.precision, {workload.prompt, workload.output});
  if (!device.front_end) return need;
  need.weights += network_bytes(device, device.precision, *device.front_end);
  need.reserve = device.reserve;
  return need;
}
MemoryNeed Scenario::edge_need() const {
  return memory_need(edge, model(), tail(), edge.precision, {workload.prompt, workload.output});
}

std::vector<FieldProblem> Scenario::problems() const {
  std::vector<FieldProblem> found;
  const auto add = [&](const char* key, const std::string& problem) {
    if (!problem.empty()) found.push_back({key, problem});
  };
  add(duration ? "duration" : "requests", end_problem(*this));
  if (pruning.layers >= llm.layers) {
    add("pruning", fmt::format("leaves none of the {} blocks of {}; write fewer layers", llm.layers, llm.kind));
    return found;
  }
  const std::int64_t layers = llm.layers - pruning.layers;
  if (cut.layers && *cut.layers > layers) {
    add("cut", fmt::format("lies beyond the last layer; {} has {}, write 0 to {} or 'all'", llm.kind, layers, layers));
    return found;
  }
  if (workload.prompt + workload.output > llm.context) {
    add("workload", fmt::format("prompt and output of {} tokens exceed the context of {}, {} tokens; write fewer",
                                (workload.prompt + workload.output).value(), llm.kind, llm.context.value()));
  }
  if (cells > workload.clients)
    add("cells", fmt::format("is more than the {} clients; write at most one cell a client", workload.clients));
  if (const auto* nr = std::get_if<NrRadio>(&radio); nr != nullptr && nr->problems().empty()) {
    add("workload", clients_problem(*nr, (workload.clients + cells - 1) / cells));
  }
  if (duration && warmup >= *duration)
    add("warmup", "is not shorter than the duration, so nothing would be measured; write a shorter time");
  add("device", memory_problem(*this, device, device.precision, device_need()));
  add("edge", memory_problem(*this, edge, edge.precision, edge_need()));
  add("codec", codec_problem(*this));
  for (const FieldProblem& wrong : packet_problems(*this)) add(wrong.key.c_str(), wrong.problem);
  return found;
}

}  // namespace trilemma
