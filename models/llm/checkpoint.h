#pragma once

#include <filesystem>
#include <vector>

#include "models/llm/config.h"
#include "models/llm/product.h"

namespace trilemma {

/// One transformer block; matrices are [out][in].
struct BlockWeights {
  RowVector attention_norm;
  Matrix query, key, value, output;
  RowVector feed_forward_norm;
  Matrix gate, down, up;  // w1, w2, w3 of llama2.c
};

/// A decoder-only transformer of the Llama family: RMS norms, rotary positions, gated feed-forward, tied LM head.
struct TransformerWeights {
  LlmConfig llm;     // the shape, as read or as changed since
  Matrix embedding;  // [vocabulary][hidden], also the LM head
  std::vector<BlockWeights> blocks;
  RowVector final_norm;
};

/// Reads a checkpoint of github.com/karpathy/llama2.c: version 0 (no magic, float32) or version 2 (Q8_0: int8 with a
/// float32 scale for every group). Throws config::Error, naming the file and what is wrong with it, for anything that
/// is not exactly such a file: sizes that do not fit together, a byte too few or too many, weights that are not finite,
/// an LM head of its own.
TransformerWeights read_checkpoint(const std::filesystem::path& path);

}  // namespace trilemma
