#include "models/processor/roofline.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {
namespace {

Duration roof(const ProcessorConfig& processor, Precision precision, Operations operations, Bytes bytes) {
  const auto rate = rate_for(processor, precision);
  TRILEMMA_ENSURE(rate.has_value(), "a processor runs only precisions that it has a rate for");
  const Duration compute = operations / (rate->compute * rate->compute_efficiency.value());
  const Duration memory = bytes / (processor.bandwidth * rate->memory_efficiency.value());
  return std::max(compute, memory);
}

}  // namespace

std::optional<PrecisionRate> rate_for(const ProcessorConfig& processor, Precision precision) {
  for (const PrecisionRate& rate : processor.rates) {
    if (rate.precision == precision) return rate;
  }
  return std::nullopt;
}

Duration forward_time(const ProcessorConfig& processor, Precision precision, const Work& work) {
  if (!work.any) return Duration{0};
  return processor.per_call + work.layers * processor.per_layer +
         roof(processor, precision, work.operations, work.bytes);
}

Duration codec_time(const ProcessorConfig& processor, Precision precision, Operations operations, Bytes bytes) {
  return roof(processor, precision, operations, bytes);
}

MemoryNeed memory_need(const ProcessorConfig& processor, const LlmConfig& llm, const ModelPart& part,
                       Precision precision, RequestTokens tokens) {
  if (part.empty()) return {};
  return {.weights = weight_bytes(llm, part, {.precision = precision, .block = processor.quantisation_block}),
          .kv = kv_bytes(llm, part, tokens.prompt + tokens.output),
          .activations = activation_bytes(llm, tokens.prompt),
          .reserve = processor.reserve};
}

bool fits(const ProcessorConfig& processor, const MemoryNeed& need) {
  if (!processor.storage) return need.total() <= processor.memory;
  return need.weights <= *processor.storage && need.working() <= processor.memory;
}

Bytes capacity(const ProcessorConfig& processor) { return processor.memory + processor.storage.value_or(Bytes(0)); }

}  // namespace trilemma
