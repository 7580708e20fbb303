#pragma once

#include <optional>

#include "models/llm/checkpoint.h"

namespace trilemma {

/// Symmetric rounding of weights: a group of `group` neighbours in a row (0: the row; a rest of a row is a group too)
/// shares scale = max |w| / (2^(bits-1) - 1), and w becomes scale x the nearest integer to w / scale. No value moves by
/// more than scale / 2. At 2 bits the integers are -1, 0 and 1. No calibration data, no error feedback: real quantisers
/// (GPTQ, AWQ) do better at 4 bits and below.
struct WeightRounding {
  int bits = 8;  // 2 .. 16
  std::int64_t group = 0;
};
Matrix rounded(const Matrix& weights, WeightRounding rounding);

/// The model with the matrices of every block rounded, and the embedding (which is also the LM head) if asked; norms
/// stay. Kept as floats: what changes is the answer, not the speed.
TransformerWeights quantised(TransformerWeights weights, WeightRounding blocks,
                             std::optional<WeightRounding> embedding = {});

/// Structured pruning to the shape pruned(weights.llm, pruning), by magnitude, without retraining: of every block the
/// key/value heads (with their query heads) and the feed-forward channels whose weights have the smallest sum of
/// squares go, and `layers` blocks in front of the last one are left out (the deepest but one matter least: Gromov et
/// al., arXiv 2403.17887). What stays keeps its order.
TransformerWeights pruned(TransformerWeights weights, const PruningConfig& pruning);

}  // namespace trilemma
