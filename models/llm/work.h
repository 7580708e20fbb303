#pragma once

#include <cstdint>

#include "core/units.h"
#include "models/llm/config.h"
#include "models/processor/config.h"

namespace trilemma {

/// A contiguous part of a decoder-only transformer: blocks [first, last) and what hangs on its ends.
struct ModelPart {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool embedding = false;  // looks token ids up
  bool head = false;       // final norm and LM head

  [[nodiscard]] std::int64_t layers() const { return last - first; }
  [[nodiscard]] bool empty() const { return layers() == 0 && !head; }
};

/// The model on one machine, and the two sides of a cut after `cut` blocks (0 <= cut <= layers).
ModelPart whole_model(const LlmConfig& llm);
ModelPart device_part(const LlmConfig& llm, std::int64_t cut);
ModelPart edge_part(const LlmConfig& llm, std::int64_t cut);

/// How weights are stored: bits of the precision plus one 16-bit scale per block at 8 bits and below.
struct WeightFormat {
  Precision precision = Precision::fp16;
  std::int64_t block = 0;  // 0 = no scales
};
double bits_per_weight(WeightFormat format);

/// Parameters of one block: Q, K, V, O projections (biases on Q, K, V if any), feed-forward matrices, two norms.
std::int64_t layer_parameters(const LlmConfig& llm);
/// Parameters a part holds; embedding and LM head count once where they are tied and both in the part.
std::int64_t parameters(const LlmConfig& llm, const ModelPart& part);
/// Bytes of the weights of a part, rounded up.
Bytes weight_bytes(const LlmConfig& llm, const ModelPart& part, WeightFormat format);

/// Activations of `tokens` tokens at a cut, in values: tokens x hidden.
std::int64_t activation_values(const LlmConfig& llm, Tokens tokens);
/// KV cache of a part for `tokens` tokens: 2 x layers x KV heads x head size values of 16 bits each.
Bytes kv_bytes(const LlmConfig& llm, const ModelPart& part, Tokens tokens);
/// Peak working memory of a forward pass over `tokens` tokens: two residual streams and one feed-forward activation,
/// 16 bits each. Ignores attention scores (fused kernels keep none).
Bytes activation_bytes(const LlmConfig& llm, Tokens tokens);

/// What one forward pass costs a processor.
struct Work {
  Operations operations{0};
  Bytes bytes{0};  // read from memory: weights once, KV cache
  std::int64_t layers = 0;
  bool any = false;  // false: the part is empty and costs nothing, not even a call
};

/// A forward pass of `tokens` new tokens over a part after `context` tokens that are already in the KV cache.
/// Operations: 2 per parameter of the matrices and token, attention 4 x heads x head size per (query, key) pair with
/// the causal half only, LM head for the last token only (Kaplan et al. 2020, section 2.1; norms and softmax ignored).
/// Bytes: every weight once (the embedding only the looked-up rows), KV cache read once and written once.
/// prefill = work(..., prompt, 0); decode of one token = work(..., 1, context).
Work forward_work(const LlmConfig& llm, const ModelPart& part, WeightFormat format, Tokens tokens, Tokens context);

}  // namespace trilemma
