#include "models/llm/transformer.h"

#include <algorithm>
#include <cmath>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::Index;

Matrix rms_norm(const Activations& x, const RowVector& weight) {
  constexpr float epsilon = 1e-5F;
  Matrix y = x;
  for (Index row = 0; row < y.rows(); ++row) {
    const float mean_square = y.row(row).squaredNorm() / static_cast<float>(y.cols());
    y.row(row) = y.row(row).cwiseProduct(weight) / std::sqrt(mean_square + epsilon);
  }
  return y;
}

/// Softmax over the keys that a row may see: the first `past + row + 1`.
void causal_softmax(Matrix& scores, Index past) {
  for (Index row = 0; row < scores.rows(); ++row) {
    const Index seen = past + row + 1;
    auto visible = scores.row(row).head(seen).array();
    visible = (visible - visible.maxCoeff()).exp();
    visible /= visible.sum();
    scores.row(row).tail(scores.cols() - seen).setZero();
  }
}

}  // namespace

void KvCache::Layer::append(const Matrix& new_keys, const Matrix& new_values) {
  const Index needed = tokens + new_keys.rows();
  if (needed > keys.rows()) {
    const Index room = std::max(needed, 2 * keys.rows());
    keys.conservativeResize(room, new_keys.cols());
    values.conservativeResize(room, new_values.cols());
  }
  keys.middleRows(tokens, new_keys.rows()) = new_keys;
  values.middleRows(tokens, new_values.rows()) = new_values;
  tokens = needed;
}

Transformer::Transformer(const TransformerWeights& weights)
    : llm_(weights.llm), embedding_(weights.embedding), head_(weights.embedding), final_norm_(weights.final_norm) {
  for (const BlockWeights& block : weights.blocks) {
    blocks_.push_back({block.attention_norm, block.feed_forward_norm, PackedMatrix(block.query),
                       PackedMatrix(block.key), PackedMatrix(block.value), PackedMatrix(block.output),
                       PackedMatrix(block.gate), PackedMatrix(block.down), PackedMatrix(block.up)});
  }
  TRILEMMA_ENSURE(static_cast<std::int64_t>(blocks_.size()) == llm_.layers, "the shape counts the blocks");
  constexpr double base = 10'000;
  cosines_.resize(llm_.context.value(), llm_.head_size / 2);
  sines_.resize(cosines_.rows(), cosines_.cols());
  for (Index position = 0; position < cosines_.rows(); ++position) {
    for (Index pair = 0; pair < cosines_.cols(); ++pair) {
      const double exponent = -static_cast<double>(2 * pair) / static_cast<double>(llm_.head_size);
      const double angle = static_cast<double>(position) * std::pow(base, exponent);
      cosines_(position, pair) = static_cast<float>(std::cos(angle));
      sines_(position, pair) = static_cast<float>(std::sin(angle));
    }
  }
}

Activations Transformer::embed(std::span<const int> tokens) const {
  Activations x(static_cast<Index>(tokens.size()), embedding_.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const int token = tokens[static_cast<std::size_t>(row)];
    TRILEMMA_ENSURE(token >= 0 && token < embedding_.rows(), "a token id is below the vocabulary");
    x.row(row) = embedding_.row(token);
  }
  return x;
}

void Transformer::rotate(Eigen::Ref<Matrix> rows, Index first_position) const {
  const Index pairs = cosines_.cols();
  for (Index row = 0; row < rows.rows(); ++row) {
    const float* cosine = cosines_.row(first_position + row).data();
    const float* sine = sines_.row(first_position + row).data();
    float* value = rows.row(row).data();
    for (Index head = 0; head < rows.cols() / (2 * pairs); ++head) {
      for (Index pair = 0; pair < pairs; ++pair, value += 2) {
        const float even = value[0];
        const float odd = value[1];
        value[0] = even * cosine[pair] - odd * sine[pair];
        value[1] = even * sine[pair] + odd * cosine[pair];
      }
    }
  }
}

void Transformer::attend(Activations& x, const Block& block, std::int64_t layer, std::span<KvCache> sequences) const {
  const Matrix n = rms_norm(x, block.attention_norm);
  Matrix queries = block.query.times(n);
  Matrix keys = block.key.times(n);
  const Matrix values = block.value.times(n);
  Matrix attended(x.rows(), queries.cols());
  const Index rows = x.rows() / static_cast<Index>(sequences.size());
  const Index size = llm_.head_size;
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  Index first = 0;
  for (KvCache& sequence : sequences) {
    KvCache::Layer& cache = sequence.layers_[static_cast<std::size_t>(layer)];
    const Index past = cache.tokens;
    TRILEMMA_ENSURE(past + rows <= llm_.context.value(), "a sequence fits in the context of the model");
    rotate(queries.middleRows(first, rows), past);
    rotate(keys.middleRows(first, rows), past);
    cache.append(keys.middleRows(first, rows), values.middleRows(first, rows));
    for (Index head = 0; head < llm_.heads; ++head) {
      const Index kv = head / (llm_.heads / llm_.kv_heads);
      Matrix scores = queries.block(first, head * size, rows, size) *
                      cache.keys.block(0, kv * size, cache.tokens, size).transpose() * scale;
      causal_softmax(scores, past);
      attended.block(first, head * size, rows, size).noalias() =
          scores * cache.values.block(0, kv * size, cache.tokens, size);
    }
    first += rows;
  }
  x += block.output.times(attended);
}

void Transformer::forward(Activations& x, LayerRange layers, std::span<KvCache> sequences) const {
  TRILEMMA_ENSURE(0 <= layers.first && layers.first <= layers.last && layers.last <= llm_.layers,
                  "the layers are layers of the model");
  TRILEMMA_ENSURE(!sequences.empty() && x.rows() % static_cast<Index>(sequences.size()) == 0,
                  "every sequence has as many rows");
  for (std::int64_t layer = layers.first; layer < layers.last; ++layer) {
    const Block& block = blocks_[static_cast<std::size_t>(layer)];
    attend(x, block, layer, sequences);
    const Matrix n = rms_norm(x, block.feed_forward_norm);
    const Matrix gate = block.gate.times(n);
    const Matrix inner = gate.array() / (1 + (-gate.array()).exp()) * block.up.times(n).array();
    x += block.down.times(inner);
  }
}

Matrix Transformer::logits(const Activations& x) const { return head_.times(rms_norm(x, final_norm_)); }

std::vector<int> argmax_rows(const Matrix& logits) {
  std::vector<int> best(static_cast<std::size_t>(logits.rows()));
  for (Index row = 0; row < logits.rows(); ++row) {
    Index column = 0;
    logits.row(row).maxCoeff(&column);
    best[static_cast<std::size_t>(row)] = static_cast<int>(column);
  }
  return best;
}

}  // namespace trilemma
