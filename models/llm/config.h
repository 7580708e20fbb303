#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// Published shape of a decoder-only transformer; a catalogue entry of configs/llms.
struct LlmConfig {
  static constexpr std::string_view catalogue = "llms";

  std::string kind = "custom";  // name of the catalogue entry this started from
  std::string title;
  std::int64_t layers = 0;                 // transformer blocks
  std::int64_t hidden = 0;                 // width of the residual stream
  std::int64_t heads = 0;                  // query heads
  std::int64_t kv_heads = 0;               // key/value heads (grouped-query attention)
  std::int64_t head_size = 0;              // width of one head
  std::int64_t feed_forward = 0;           // width of the feed-forward layer
  std::int64_t feed_forward_matrices = 3;  // 3 = gated (SwiGLU), 2 = plain
  std::int64_t vocabulary = 0;
  bool tied_embeddings = false;  // the LM head is the embedding matrix
  bool attention_bias = false;   // biases on the Q, K and V projections
  Tokens context{0};             // longest sequence the model accepts
  std::string source;

  static constexpr auto fields() {
    using config::at_least, config::between, config::field, config::required;
    return std::tuple{
        field("kind", &LlmConfig::kind, "catalogue entry in configs/llms, or 'custom'"),
        field("title", &LlmConfig::title, "full name"),
        required("layers", &LlmConfig::layers, "transformer blocks", between(1, 1000)),
        required("hidden", &LlmConfig::hidden, "width of the residual stream", between(1, 1e5)),
        required("heads", &LlmConfig::heads, "query heads", between(1, 1e4)),
        required("kv_heads", &LlmConfig::kv_heads, "key/value heads", between(1, 1e4)),
        required("head_size", &LlmConfig::head_size, "width of one head", between(1, 1e4)),
        required("feed_forward", &LlmConfig::feed_forward, "width of the feed-forward layer", between(1, 1e6)),
        field("feed_forward_matrices", &LlmConfig::feed_forward_matrices,
              "matrices per feed-forward layer: 3 gated, 2 plain", between(2, 3)),
        required("vocabulary", &LlmConfig::vocabulary, "token ids", between(1, 1e7)),
        field("tied_embeddings", &LlmConfig::tied_embeddings, "the LM head shares the embedding matrix"),
        field("attention_bias", &LlmConfig::attention_bias, "the Q, K and V projections have biases"),
        required("context", &LlmConfig::context, "longest sequence, tokens", between(1, 1e9)),
        field("source", &LlmConfig::source, "where the numbers come from"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
  bool operator==(const LlmConfig&) const = default;
};

/// Structured pruning: what is taken out of every block, and blocks that are left out. Embedding, LM head and the width
/// of the residual stream stay.
struct PruningConfig {
  Fraction heads{0};
  Fraction feed_forward{0};
  std::int64_t layers = 0;

  static constexpr auto fields() {
    using config::field;
    constexpr config::Bounds share{.min = 0, .max = 1, .max_allowed = false};
    return std::tuple{
        field("heads", &PruningConfig::heads,
              "share of the attention heads taken out, whole groups with their keys and values", share),
        field("feed_forward", &PruningConfig::feed_forward, "share of the feed-forward width taken out", share),
        field("layers", &PruningConfig::layers, "blocks left out", config::between(0, 999))};
  }
  bool operator==(const PruningConfig&) const = default;
};

/// The model that is left: key/value heads and feed-forward width rounded to the nearest, at least one of each.
/// Requires pruning.layers < llm.layers.
LlmConfig pruned(const LlmConfig& llm, const PruningConfig& pruning);

}  // namespace trilemma
