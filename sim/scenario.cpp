#include "sim/scenario.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/codec/codec.h"
#include "models/processor/roofline.h"
#include "sim/classes.h"
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

/// Whether a codec takes the activations of a scenario's requests; the largest and the smallest decide.
std::string codec_problem(const Scenario& scenario, const CodecConfig& config) {
  if (const auto wrong = problem(config)) return *wrong;
  const auto codec = make_codec(config);
  const auto refusal = [&](Tokens tokens) {
    return codec->problem({.tokens = tokens.value(), .hidden = scenario.llm.hidden}).value_or("");
  };
  if (std::string wrong = refusal(scenario.largest_request().prompt); !wrong.empty()) return wrong;
  const bool has_small = !is_fixed(scenario.workload.prompt) || longest(scenario.workload.output) > Tokens(1);
  return has_small ? refusal(Tokens(1)) : "";
}

bool sends_activations(const Scenario& scenario) { return !scenario.on_device() && !scenario.raw_input(); }
bool sends_on(const Scenario& scenario) { return scenario.uses_cloud() && !scenario.part(Station::edge).empty(); }

std::string cut_problem(const Scenario& scenario) {
  const Cut cut = scenario.cut;
  const std::int64_t layers = scenario.model().layers;
  if (cut.layers.value_or(0) > layers || cut.cloud.value_or(0) > layers)
    return fmt::format("lies beyond the last layer; {} has {}, write 0 to {} or 'all'", scenario.llm.kind, layers,
                       layers);
  if (cut.cloud && !scenario.cloud)
    return "names the layer where the cloud begins, and there is no cloud; write for example 'cloud: {kind: h100-sxm, "
           "rtt: "
           "5 ms}', or one number";
  return {};
}

std::string speculation_problem(const Scenario& scenario) {
  if (!scenario.speculation) return {};
  if (!scenario.is_remote())
    return "needs the whole model in one place behind the device; write 'cut: 0', or 'cut: [0, 0]' for the cloud";
  if (longest(scenario.workload.output) == Tokens(1))
    return "drafts nothing for an answer of one token; write more output";
  if (scenario.speculation->draft.vocabulary != scenario.llm.vocabulary)
    return fmt::format("drafts with a vocabulary of {} for a model of {}; write a draft model of the same family",
                       scenario.speculation->draft.vocabulary, scenario.llm.vocabulary);
  return {};
}

/// What is wrong with one kind of request.
std::vector<FieldProblem> class_problems(const Scenario& scenario) {
  std::vector<FieldProblem> found;
  const auto add = [&](const char* key, const std::string& problem) {
    if (!problem.empty()) found.push_back({key, problem});
  };
  if (scenario.pruning.layers >= scenario.llm.layers) {
    add("pruning",
        fmt::format("leaves none of the {} blocks of {}; write fewer layers", scenario.llm.layers, scenario.llm.kind));
    return found;
  }
  add("cut", cut_problem(scenario));
  if (!found.empty()) return found;
  add("speculation", speculation_problem(scenario));
  const RequestTokens largest = scenario.largest_request();
  const Tokens all = largest.prompt + largest.output;
  if (all > scenario.llm.context)
    add("workload", fmt::format("prompt and output of {} tokens exceed the context of {}, {} tokens; write fewer",
                                all.value(), scenario.llm.kind, scenario.llm.context.value()));
  if (const auto wrong = problem(scenario.codec)) add("codec", *wrong);
  if (found.empty() && sends_activations(scenario)) add("codec", codec_problem(scenario, scenario.codec));
  if (scenario.cloud && scenario.cloud->codec) {
    if (const auto wrong = problem(*scenario.cloud->codec)) add("cloud", *wrong);
  }
  if (found.empty() && sends_on(scenario))
    add("cloud", codec_problem(scenario, scenario.cloud->codec.value_or(scenario.codec)));
  return found;
}

/// A site that looks at deadlines needs them of every request.
std::string drop_problem(const Scenario& scenario, const SiteConfig& site) {
  if (!std::holds_alternative<DropLate>(site.drop) && site.scheduling != Scheduling::edf) return {};
  for (const Scenario& one : class_scenarios(scenario)) {
    if (!one.target)
      return "goes by deadlines, and not every request has a target; write 'target: {latency: 10 ms, reliability: 99 "
             "%}'";
  }
  return {};
}

std::string end_problem(const Scenario& scenario) {
  if (scenario.duration && scenario.requests) return "stands beside 'requests'; write only one of the two";
  const bool trace = std::holds_alternative<TraceArrivals>(scenario.workload.arrivals);
  if (!scenario.duration && !scenario.requests && !trace)
    return "is missing; write for example 'duration: 10 s' or 'requests: 100000'";
  return {};
}

}  // namespace

std::vector<FieldProblem> DeviceConfig::problems() const { return rate_problems(*this, precision); }
std::vector<FieldProblem> EdgeConfig::problems() const {
  std::vector<FieldProblem> found = rate_problems(*this, precision);
  for (FieldProblem& problem : site_problems()) found.push_back(std::move(problem));
  return found;
}

ModelPart Scenario::part(Station station) const {
  const LlmConfig cut_model = model();
  const std::int64_t first = cut.layers.value_or(cut_model.layers);
  const std::int64_t second = cut.cloud.value_or(cut_model.layers);
  const bool ends_at_edge = !cut.cloud;
  switch (station) {
    case Station::device:
      return on_device() ? whole_model(cut_model) : device_part(cut_model, first);
    case Station::edge:
      if (on_device()) return {};
      return {.first = first, .last = second, .embedding = first == 0 && second > 0, .head = ends_at_edge};
    case Station::cloud:
      if (on_device() || ends_at_edge) return {};
      return {.first = second, .last = cut_model.layers, .embedding = second == 0, .head = true};
  }
  TRILEMMA_ENSURE(false, "a model runs at one of three places");
  return {};
}

bool Scenario::stays_on_device() const {
  const auto& classes = workload.classes;
  if (classes.empty()) return on_device();
  return std::all_of(classes.begin(), classes.end(),
                     [&](const ClassConfig& one) { return !one.cut.value_or(cut).layers.has_value(); });
}

bool Scenario::has_one_target() const {
  const auto& classes = workload.classes;
  return target &&
         std::none_of(classes.begin(), classes.end(), [](const ClassConfig& one) { return one.target.has_value(); });
}

RequestTokens Scenario::usual_request() const {
  const auto usual = [](const LengthConfig& length) { return std::max(Tokens(1), Tokens(std::llround(mean(length)))); };
  return {usual(workload.prompt), usual(workload.output)};
}
RequestTokens Scenario::largest_request() const { return {longest(workload.prompt), longest(workload.output)}; }

MemoryNeed Scenario::device_need() const {
  MemoryNeed need = memory_need(device, model(), part(Station::device), device.precision, largest_request());
  if (speculation) {
    const LlmConfig& draft = speculation->draft;
    const MemoryNeed drafting = memory_need(device, draft, whole_model(draft), device.precision, largest_request());
    need.weights += drafting.weights;
    need.kv += drafting.kv;
    need.activations = std::max(need.activations, drafting.activations);
    need.reserve = device.reserve;
  }
  if (!device.front_end) return need;
  need.weights += network_bytes(device, device.precision, *device.front_end);
  need.reserve = device.reserve;
  return need;
}
MemoryNeed Scenario::edge_need() const {
  return memory_need(edge, model(), part(Station::edge), edge.precision, largest_request());
}
MemoryNeed Scenario::cloud_need() const {
  if (!cloud) return {};
  return memory_need(*cloud, model(), part(Station::cloud), cloud->precision, largest_request());
}

std::vector<FieldProblem> Scenario::problems() const {
  std::vector<FieldProblem> found;
  const auto add = [&](const char* key, const std::string& problem) {
    if (!problem.empty()) found.push_back({key, problem});
  };
  add(duration ? "duration" : "requests", end_problem(*this));
  const std::vector<Scenario> classes = class_scenarios(*this);
  for (std::size_t i = 0; i < workload.classes.size(); ++i) {
    if (find_class(*this, workload.classes[i].name) != i)
      add("workload", fmt::format("has two classes '{}'; give each a name of its own", workload.classes[i].name));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (const FieldProblem& wrong : class_problems(classes[i])) {
      if (workload.classes.empty())
        found.push_back(wrong);
      else
        add("workload", fmt::format("class '{}': {}: {}", workload.classes[i].name, wrong.key, wrong.problem));
    }
  }
  if (!found.empty()) return found;
  if (cells > workload.clients)
    add("cells", fmt::format("is more than the {} clients; write at most one cell a client", workload.clients));
  if (const auto* nr = std::get_if<NrRadio>(&radio); nr != nullptr && nr->problems().empty()) {
    add("workload", clients_problem(*nr, (workload.clients + cells - 1) / cells));
  }
  if (duration && warmup >= *duration)
    add("warmup", "is not shorter than the duration, so nothing would be measured; write a shorter time");
  add("device", memory_problem(classes, Station::device));
  add("edge", memory_problem(classes, Station::edge));
  if (cloud) add("cloud", memory_problem(classes, Station::cloud));
  add("edge", drop_problem(*this, edge));
  if (cloud) add("cloud", drop_problem(*this, *cloud));
  for (const FieldProblem& wrong : packet_problems(*this)) add(wrong.key.c_str(), wrong.problem);
  return found;
}

}  // namespace trilemma
