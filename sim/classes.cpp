#include "sim/classes.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// Sizes in messages are for people: three digits of the unit they would use.
std::string short_size(Bytes size) {
  const auto value = static_cast<double>(size.value());
  if (value >= 0x1p30) return fmt::format("{:.3g} GiB", value / 0x1p30);
  if (value >= 0x1p20) return fmt::format("{:.3g} MiB", value / 0x1p20);
  if (value >= 0x1p10) return fmt::format("{:.3g} KiB", value / 0x1p10);
  return fmt::format("{} B", size.value());
}

const EdgeConfig& tier_of(const Scenario& scenario, Station station) {
  return station == Station::cloud ? *scenario.cloud : scenario.edge;
}

/// Longest prompt that a step of the tier may hold, summed over a batch.
Tokens largest_step(const std::vector<Scenario>& classes, Station station) {
  Tokens prompt{1};
  for (const Scenario& one : classes) prompt = std::max(prompt, one.largest_request().prompt);
  const BatchRule rule = tier_of(classes.front(), station).rule();
  return Tokens(std::min(rule.tokens, prompt.value() * rule.most));
}

/// Each language model once, with all of its blocks that some class wants there.
std::vector<ServedModel> held_models(const std::vector<Scenario>& classes, Station station) {
  std::vector<ServedModel> held;
  for (const Scenario& one : classes) {
    const ServedModel wanted{one.model(), one.part(station)};
    if (wanted.part.empty()) continue;
    const auto known =
        std::find_if(held.begin(), held.end(), [&](const ServedModel& model) { return model.llm == wanted.llm; });
    if (known == held.end()) {
      held.push_back(wanted);
      continue;
    }
    known->part.first = std::min(known->part.first, wanted.part.first);
    known->part.last = std::max(known->part.last, wanted.part.last);
    known->part.embedding = known->part.embedding || wanted.part.embedding;
    known->part.head = known->part.head || wanted.part.head;
  }
  return held;
}

std::int64_t fitting_blocks(const std::vector<Scenario>& classes, Station station) {
  const EdgeConfig& tier = tier_of(classes.front(), station);
  return blocks_that_fit(tier, tier.precision, tier, held_models(classes, station), largest_step(classes, station));
}

std::string capacity_text(const ProcessorConfig& processor, std::int64_t ways) {
  const std::string many = ways > 1 ? fmt::format("{} {} share ", ways, processor.kind) : processor.kind + " has ";
  if (!processor.storage) return many + short_size(ways * processor.memory) + " of memory";
  return fmt::format("{}{} of storage for weights and {} of memory for the rest", many,
                     short_size(ways * *processor.storage), short_size(ways * processor.memory));
}

std::string need_text(const Scenario& scenario, const MemoryNeed& need, Precision precision) {
  return fmt::format(
      "cannot hold its part of {}: it needs {} (weights {} at {}, KV cache {}, activations {}, runtime {}) and ",
      scenario.llm.kind, short_size(need.total()), short_size(need.weights), config::name_of(precision),
      short_size(need.kv), short_size(need.activations), short_size(need.reserve));
}

std::string device_memory_problem(const std::vector<Scenario>& classes) {
  for (const Scenario& one : classes) {
    const MemoryNeed need = one.device_need();
    if (fits(one.device, need)) continue;
    return need_text(one, need, one.device.precision) + capacity_text(one.device, 1) +
           "; choose another cut, precision, prompt or machine";
  }
  return {};
}

}  // namespace

std::vector<Scenario> class_scenarios(const Scenario& scenario) {
  Scenario shared = scenario;
  shared.workload.classes.clear();
  shared.trace.clear();
  std::vector<Scenario> all;
  for (const ClassConfig& config : scenario.workload.classes) {
    Scenario& one = all.emplace_back(shared);
    if (config.llm) one.llm = *config.llm;
    if (config.llm) one.checkpoint = shared.checkpoint.parent_path() / one.llm.kind;
    if (config.cut) one.cut = *config.cut;
    if (config.prompt) one.workload.prompt = *config.prompt;
    if (config.output) one.workload.output = *config.output;
    if (config.task) one.workload.task = config.task;
    if (config.target) one.target = config.target;
  }
  if (all.empty()) all.push_back(std::move(shared));
  return all;
}

std::optional<std::size_t> find_class(const Scenario& scenario, const std::string& name) {
  const auto& classes = scenario.workload.classes;
  const auto found =
      std::find_if(classes.begin(), classes.end(), [&](const ClassConfig& one) { return one.name == name; });
  if (found == classes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - classes.begin());
}

ServedModels served_models(const std::vector<Scenario>& classes, Station station) {
  ServedModels served;
  for (const Scenario& one : classes) {
    const ServedModel wanted{one.model(), one.part(station)};
    const auto known = std::find(served.models.begin(), served.models.end(), wanted);
    served.of_class.push_back(static_cast<std::size_t>(known - served.models.begin()));
    if (known == served.models.end()) served.models.push_back(wanted);
  }
  return served;
}

std::int64_t cache_blocks(const std::vector<Scenario>& classes, Station station) {
  return tier_of(classes.front(), station).kv_cache.blocks.value_or(fitting_blocks(classes, station));
}

std::string memory_problem(const std::vector<Scenario>& classes, Station station) {
  if (station == Station::device) return device_memory_problem(classes);
  const EdgeConfig& tier = tier_of(classes.front(), station);
  const std::int64_t fit = fitting_blocks(classes, station);
  for (const Scenario& one : classes) {
    if (one.part(station).empty()) continue;
    MemoryNeed need = station == Station::cloud ? one.cloud_need() : one.edge_need();
    // A larger one of a mix is turned away when it comes.
    const RequestTokens usual = one.usual_request();
    const std::int64_t blocks = ((usual.prompt + usual.output).value() + tier.kv_cache.block - 1) / tier.kv_cache.block;
    if (blocks > fit) {
      need.activations = activation_bytes(one.llm, largest_step(classes, station));
      return need_text(one, need, tier.precision) + capacity_text(tier, tier.tensor_parallel) +
             "; choose another cut, precision, prompt or machine";
    }
    if (tier.kv_cache.blocks && blocks > *tier.kv_cache.blocks)
      return fmt::format("has {} blocks of KV cache, but a request needs {}; write more blocks", *tier.kv_cache.blocks,
                         blocks);
  }
  if (tier.kv_cache.blocks && *tier.kv_cache.blocks > fit)
    return fmt::format("has memory for {} blocks of KV cache beside the models, not for {}; write fewer", fit,
                       *tier.kv_cache.blocks);
  return {};
}

}  // namespace trilemma
