#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/llm/checkpoint.h"

namespace trilemma {

/// The residual stream, one row a token: what crosses the cut.
using Activations = Matrix;

/// Blocks [first, last).
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Keys and values of one sequence, per block. A machine that runs some of the blocks fills only theirs.
class KvCache {
 public:
  explicit KvCache(const LlmConfig& llm) : layers_(static_cast<std::size_t>(llm.layers)) {}

  /// Tokens that block `layer` has seen.
  [[nodiscard]] std::int64_t tokens(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer)].tokens;
  }

 private:
  friend class Transformer;
  struct Layer {
    Matrix keys, values;  // rows behind `tokens` are room to grow
    Eigen::Index tokens = 0;
    void append(const Matrix& new_keys, const Matrix& new_values);
  };
  std::vector<Layer> layers_;
};

/// A decoder-only transformer that really computes, on one thread in float32 (equations of Llama, Touvron et al. 2023):
///
///     x += Wo attention(rope(Wq n), rope(Wk n), Wv n),  n = rmsnorm(x, eps 1e-5)
///     x += W2 (silu(W1 n) * W3 n),                      n = rmsnorm(x)
///     logits = E rmsnorm(x)
///
/// rope rotates the pairs (2i, 2i + 1) of a head by position x 10000^(-2i / head size). A cut after `l` blocks sends x
/// behind block l - 1 (0: the embedding); whoever continues runs the blocks from l on with caches of its own.
class Transformer {
 public:
  explicit Transformer(const TransformerWeights& weights);

  [[nodiscard]] const LlmConfig& llm() const { return llm_; }
  /// Requires token ids below the vocabulary.
  [[nodiscard]] Activations embed(std::span<const int> tokens) const;
  /// Runs blocks over x. Its rows are, one sequence after the other, equally many consecutive tokens behind what each
  /// cache holds; their keys and values are appended. Requires that no sequence outgrows the context.
  void forward(Activations& x, LayerRange layers, std::span<KvCache> sequences) const;
  void forward(Activations& x, LayerRange layers, KvCache& sequence) const { forward(x, layers, {&sequence, 1}); }
  [[nodiscard]] Matrix logits(const Activations& x) const;
  [[nodiscard]] LayerRange all_layers() const { return {0, llm_.layers}; }

 private:
  struct Block {
    RowVector attention_norm, feed_forward_norm;
    PackedMatrix query, key, value, output, gate, down, up;
  };
  void attend(Activations& x, const Block& block, std::int64_t layer, std::span<KvCache> sequences) const;
  void rotate(Eigen::Ref<Matrix> rows, Eigen::Index first_position) const;

  LlmConfig llm_;
  Matrix embedding_;
  PackedMatrix head_;
  std::vector<Block> blocks_;
  RowVector final_norm_;
  Matrix cosines_, sines_;  // [position][pair of a head]
};

/// Index of the largest value of each row, the first of equals.
std::vector<int> argmax_rows(const Matrix& logits);

}  // namespace trilemma
