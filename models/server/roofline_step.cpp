#include "models/server/roofline_step.h"

#include <algorithm>

#include "core/ensure.h"
#include "models/processor/roofline.h"

namespace trilemma {

RooflineStep::RooflineStep(const ProcessorConfig& processor, Precision precision, const SiteConfig& site,
                           std::vector<ServedModel> models)
    : processor_(processor), precision_(precision), site_(site), models_(std::move(models)) {
  const PrecisionRate* rate = rate_for(processor, precision);
  TRILEMMA_ENSURE(rate != nullptr, "a site runs precisions that its processors have a rate for");
  has_fixed_passes_ = rate->chunk || rate->cache_tokens;
}

Duration RooflineStep::time(std::span<const StepPart> parts) const {
  if (has_fixed_passes_) return in_turn(parts);
  Duration time{0};
  for (std::size_t m = 0; m < models_.size(); ++m) {
    BatchTokens tokens;
    for (const StepPart& part : parts) {
      if (part.model == m) tokens.add(part.fresh, part.cached, part.heads);
    }
    if (!tokens.empty()) time += this->time(m, tokens);
  }
  return time;
}

Duration RooflineStep::time(std::size_t model, const BatchTokens& tokens) const {
  const ServedModel& served = models_[model];
  const Duration time = batch_time(processor_, precision_, {served.llm, served.part, tokens, site_.tensor_parallel});
  return site_.tensor_parallel > 1 ? time + exchange(served, tokens.fresh) : time;
}

Duration RooflineStep::in_turn(std::span<const StepPart> parts) const {
  Duration time{0};
  for (const StepPart& part : parts) {
    const ServedModel& model = models_[part.model];
    time += run_time(processor_, precision_, {model.llm, model.part, {part.fresh, part.cached}});
  }
  return time;
}

Duration RooflineStep::exchange(const ServedModel& model, std::int64_t tokens) const {
  constexpr std::int64_t bytes_per_value = 2;
  const std::int64_t ways = site_.tensor_parallel;
  const std::int64_t bytes = bytes_per_value * activation_values(model.llm, Tokens(tokens));
  const Bytes sent(2 * (ways - 1) * bytes / ways);  // by each processor in one all-reduce
  return 2 * model.part.layers() * (sent / site_.interconnect->rate + 2 * (ways - 1) * site_.interconnect->latency);
}

std::int64_t blocks_that_fit(const ProcessorConfig& processor, Precision precision, const SiteConfig& site,
                             const std::vector<ServedModel>& models, Tokens step) {
  const WeightFormat format = weight_format(processor, precision);
  Bytes weights{0};
  Bytes activations{0};
  Bytes block{1};
  for (const ServedModel& model : models) {
    if (model.part.empty()) continue;
    weights += weight_bytes(model.llm, model.part, format);
    activations = std::max(activations, activation_bytes(model.llm, step));
    block = std::max(block, kv_bytes(model.llm, model.part, Tokens(site.kv_cache.block), format.cache_bits));
  }
  if (processor.storage && weights > site.tensor_parallel * *processor.storage) return 0;
  Bytes left = site.tensor_parallel * (processor.memory - processor.reserve) - activations;
  if (!processor.storage) left -= weights;
  if (left < Bytes(0)) return 0;
  return left.value() / block.value();
}

}  // namespace trilemma
