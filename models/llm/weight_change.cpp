#include "models/llm/weight_change.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::Index;

/// The `kept` indices of the largest scores, in rising order; of equal scores the first.
std::vector<Index> strongest(const Eigen::VectorXf& scores, Index kept) {
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return scores(a) > scores(b); });
  order.resize(static_cast<std::size_t>(kept));
  std::sort(order.begin(), order.end());
  return order;
}

/// The rows or columns of groups of `width` neighbours.
std::vector<Index> members(const std::vector<Index>& groups, Index width) {
  std::vector<Index> indices;
  for (const Index group : groups) {
    for (Index i = 0; i < width; ++i) indices.push_back(group * width + i);
  }
  return indices;
}

Matrix rows_of(const Matrix& matrix, const std::vector<Index>& rows) { return matrix(rows, Eigen::all); }
Matrix columns_of(const Matrix& matrix, const std::vector<Index>& columns) { return matrix(Eigen::all, columns); }

void prune_heads(BlockWeights& block, const LlmConfig& from, Index kept) {
  const Index kv_width = from.head_size;
  const Index query_width = from.head_size * (from.heads / from.kv_heads);
  Eigen::VectorXf scores(from.kv_heads);
  for (Index head = 0; head < scores.size(); ++head) {
    scores(head) = block.query.middleRows(head * query_width, query_width).squaredNorm() +
                   block.key.middleRows(head * kv_width, kv_width).squaredNorm() +
                   block.value.middleRows(head * kv_width, kv_width).squaredNorm() +
                   block.output.middleCols(head * query_width, query_width).squaredNorm();
  }
  const std::vector<Index> heads = strongest(scores, kept);
  block.query = rows_of(block.query, members(heads, query_width));
  block.key = rows_of(block.key, members(heads, kv_width));
  block.value = rows_of(block.value, members(heads, kv_width));
  block.output = columns_of(block.output, members(heads, query_width));
}

void prune_channels(BlockWeights& block, Index kept) {
  const Eigen::VectorXf scores = block.gate.rowwise().squaredNorm() + block.up.rowwise().squaredNorm() +
                                 block.down.colwise().squaredNorm().transpose();
  const std::vector<Index> channels = strongest(scores, kept);
  block.gate = rows_of(block.gate, channels);
  block.up = rows_of(block.up, channels);
  block.down = columns_of(block.down, channels);
}

}  // namespace

Matrix rounded(const Matrix& weights, WeightRounding rounding) {
  TRILEMMA_ENSURE(rounding.bits >= 2 && rounding.bits <= 16, "weights are rounded to 2 to 16 bits");
  TRILEMMA_ENSURE(rounding.group >= 0, "a group has weights");
  const auto levels = static_cast<float>((1 << (rounding.bits - 1)) - 1);
  const Index width = rounding.group == 0 ? weights.cols() : rounding.group;
  Matrix result = weights;
  for (Index row = 0; row < result.rows(); ++row) {
    for (Index first = 0; first < result.cols(); first += width) {
      auto group = result.row(row).segment(first, std::min(width, result.cols() - first)).array();
      const float scale = group.abs().maxCoeff() / levels;
      if (scale > 0) group = (group / scale).round() * scale;
    }
  }
  return result;
}

TransformerWeights quantised(TransformerWeights weights, WeightRounding blocks,
                             std::optional<WeightRounding> embedding) {
  for (BlockWeights& block : weights.blocks) {
    for (Matrix* matrix : {&block.query, &block.key, &block.value, &block.output, &block.gate, &block.down, &block.up})
      *matrix = rounded(*matrix, blocks);
  }
  if (embedding) weights.embedding = rounded(weights.embedding, *embedding);
  return weights;
}

TransformerWeights pruned(TransformerWeights weights, const PruningConfig& pruning) {
  TRILEMMA_ENSURE(pruning.layers < weights.llm.layers, "a block is left");
  const LlmConfig left = pruned(weights.llm, pruning);
  const auto last = weights.blocks.end() - 1;
  weights.blocks.erase(std::max(last - pruning.layers, weights.blocks.begin()), last);
  for (BlockWeights& block : weights.blocks) {
    prune_heads(block, weights.llm, left.kv_heads);
    prune_channels(block, left.feed_forward);
  }
  weights.llm = left;
  return weights;
}

}  // namespace trilemma
