#pragma once

#include <functional>
#include <optional>

#include "models/llm/work.h"
#include "models/processor/config.h"
#include "models/processor/network.h"

namespace trilemma {

/// What the processor reaches with weights of `precision` under its runtime (absent: the first with that precision);
/// null when it cannot run them.
const PrecisionRate* rate_for(const ProcessorConfig& processor, Precision precision);

/// How a processor stores a model of that precision.
WeightFormat weight_format(const ProcessorConfig& processor, Precision precision);

/// Time of one forward pass:
///     per_call + layers x (per_layer + roof(matrices) + roof(attention)) + roof(head)
///     roof(O, B) = max(c, m) + (1 - overlap) min(c, m),  c = O / (compute x efficiency),  m = B / (bandwidth x
///     efficiency)
/// with the efficiencies of the precision; attention has its own. Williams et al., Roofline,
/// CACM 2009, with partial overlap. Blocks are alike, so that the time of a part is the sum over its blocks, to the
/// nanosecond. No cache reuse between passes; docs/models.md says where the fits hold. Requires rate_for(processor,
/// precision).
Duration forward_time(const ProcessorConfig& processor, Precision precision, const Work& work);

/// Tokens that go through a part of a model.
struct Run {
  const LlmConfig& llm;
  ModelPart part;
  PassTokens tokens;
};
/// Calls `use` with each forward pass of a run: one, or as many chunks of a prompt as the runtime makes of it, with the
/// cache that it reads. Requires rate_for(processor, precision).
void for_each_pass(const ProcessorConfig& processor, Precision precision, const Run& run,
                   const std::function<void(const Work&)>& use);
/// Time of all of them.
Duration run_time(const ProcessorConfig& processor, Precision precision, const Run& run);

/// Time of one pass of unlike sequences at once over a part of a model, on `ways` processors that share the matrices
/// and the heads evenly: every load is divided by `ways`, fixed costs are not. Without what they tell each other.
/// Ignores chunks and caches of fixed size. Requires rate_for(processor, precision).
struct BatchRun {
  const LlmConfig& llm;
  ModelPart part;
  BatchTokens tokens;
  std::int64_t ways = 1;
};
Duration batch_time(const ProcessorConfig& processor, Precision precision, const BatchRun& run);

/// Time of another network, which runs in one pass: per_call + roof(fully connected) + roof(convolutions).
Duration network_time(const ProcessorConfig& processor, Precision precision, const NetworkConfig& network);
/// Its weights in memory.
Bytes network_bytes(const ProcessorConfig& processor, Precision precision, const NetworkConfig& network);

/// Time of a codec pass over `values` numbers. On a signal processor: per_call + max(operations / rate, bytes /
/// bandwidth); in a pipeline: fill + values / rate; without either, the roof at the efficiencies of `precision`, and no
/// call (fused into the forward pass).
Duration codec_time(const ProcessorConfig& processor, Precision precision, const Load& load, std::int64_t values);

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
