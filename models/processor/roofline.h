#pragma once

#include <optional>

#include "models/llm/work.h"
#include "models/processor/config.h"

namespace trilemma {

/// What the processor reaches with weights of `precision`, or nothing when it cannot run them.
std::optional<PrecisionRate> rate_for(const ProcessorConfig& processor, Precision precision);

/// Time of one forward pass: call + layers x per-layer overhead + max(operations / compute, bytes / bandwidth), with
/// the efficiencies of the precision. Williams et al., Roofline, CACM 2009. No overlap of passes, no cache reuse
/// between them; docs/models.md says where the fit holds. Requires rate_for(processor, precision).
Duration forward_time(const ProcessorConfig& processor, Precision precision, const Work& work);

/// Time of a codec pass on the same processor: max(operations / vector rate, bytes / bandwidth) at the efficiencies of
/// `precision`; no call overhead (fused into the forward pass).
Duration codec_time(const ProcessorConfig& processor, Precision precision, Operations operations, Bytes bytes);

/// Memory that a part needs on a machine, item by item.
struct MemoryNeed {
  Bytes weights{0};
  Bytes kv{0};
  Bytes activations{0};
  Bytes reserve{0};
  [[nodiscard]] Bytes working() const { return kv + activations + reserve; }
  [[nodiscard]] Bytes total() const { return weights + working(); }
};
/// Size of a request.
struct RequestTokens {
  Tokens prompt{1};
  Tokens output{1};
};
MemoryNeed memory_need(const ProcessorConfig& processor, const LlmConfig& llm, const ModelPart& part,
                       Precision precision, RequestTokens tokens);
/// Whether the part fits: weights in `storage` where the machine has one, everything in `memory` otherwise.
bool fits(const ProcessorConfig& processor, const MemoryNeed& need);
/// Bytes the machine has for the model: memory, plus storage for the weights where it has one.
Bytes capacity(const ProcessorConfig& processor);

}  // namespace trilemma
