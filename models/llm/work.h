#pragma once

#include <cstdint>
#include <optional>

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
  bool operator==(const ModelPart&) const = default;
};

/// The model on one machine, and the two sides of a cut after `cut` blocks (0 <= cut <= layers).
ModelPart whole_model(const LlmConfig& llm);
ModelPart device_part(const LlmConfig& llm, std::int64_t cut);
ModelPart edge_part(const LlmConfig& llm, std::int64_t cut);

/// How a model's numbers are stored: weights in the bits of the precision plus one 16-bit scale per block at 8 bits and
/// below, embedding and LM head perhaps in another format, the KV cache in `cache_bits`.
struct WeightFormat {
  Precision precision = Precision::fp16;
  std::int64_t block = 0;           // 0 = no scales
  std::optional<double> head_bits;  // per weight, scales included
  double cache_bits = 16;
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
/// KV cache of a part for `tokens` tokens: 2 x layers x KV heads x head size values.
Bytes kv_bytes(const LlmConfig& llm, const ModelPart& part, Tokens tokens, double cache_bits = 16);
/// Peak working memory of a forward pass over `tokens` tokens: two residual streams and one feed-forward activation,
/// 16 bits each. Ignores attention scores (fused kernels keep none).
Bytes activation_bytes(const LlmConfig& llm, Tokens tokens);

/// Arithmetic and memory traffic of one kind of kernel.
struct Load {
  Operations operations{0};
  Bytes bytes{0};
};

/// What one forward pass costs a processor: `layers` blocks that are all alike, and what hangs on the ends.
struct Work {
  std::int64_t layers = 0;
  Load matrices;     // of one block: its weights, read once
  Load attention;    // of one block: queries against the KV cache, which is read and written once
  Load head;         // LM head of the last token of each sequence
  bool any = false;  // false: the part is empty and costs nothing, not even a call

  [[nodiscard]] Operations operations() const;
  [[nodiscard]] Bytes bytes() const;
};

/// What goes through a pass: `batch` sequences of `fresh` new tokens each, after `cached` tokens that are in the KV
/// cache already. Prefill: {prompt}; decoding of one token: {1, context}.
struct PassTokens {
  Tokens fresh{1};
  Tokens cached{0};
  std::int64_t batch = 1;
};

/// What goes through a pass of unlike sequences at once, added up over them.
struct BatchTokens {
  std::int64_t fresh = 0;  // new tokens
  double pairs = 0;        // of a new token and one that it attends to
  std::int64_t kept = 0;   // tokens whose keys and values are read or written
  std::int64_t heads = 0;  // tokens that the LM head is for

  /// One sequence more: `fresh` new tokens after `cached` ones, of which the last `heads` go through the LM head.
  void add(Tokens fresh_tokens, Tokens cached, std::int64_t head_tokens) {
    const auto count = static_cast<double>(fresh_tokens.value());
    fresh += fresh_tokens.value();
    // Query i of the new tokens attends to the cached tokens, to those before it and to itself.
    pairs += count * static_cast<double>(cached.value()) + count * (count + 1) / 2;
    kept += (fresh_tokens + cached).value();
    heads += head_tokens;
  }
  [[nodiscard]] bool empty() const { return fresh == 0; }
};

/// A forward pass over a part. Operations: 2 per parameter of the matrices and token, attention 4 x heads x head size
/// per (query, key) pair with the causal half only, LM head for the last token only (Kaplan et al. 2020, section 2.1;
/// norms, softmax and the rows of the embedding ignored). Bytes: every weight once, the KV cache of each sequence once.
Work forward_work(const LlmConfig& llm, const ModelPart& part, WeightFormat format, const PassTokens& tokens);
Work forward_work(const LlmConfig& llm, const ModelPart& part, WeightFormat format, const BatchTokens& tokens);

}  // namespace trilemma
