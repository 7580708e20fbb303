#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "models/llm/evaluation.h"
#include "models/llm/tokenizer.h"

/// The small models that the tests really run.
namespace trilemma::test {

inline const std::filesystem::path kjv_folder = TRILEMMA_SOURCE_DIR "/configs/checkpoints/kjv-4m";

inline const TransformerWeights& kjv_weights() {
  static const TransformerWeights weights = read_checkpoint(kjv_folder / "kjv256_q80.bin");
  return weights;
}

inline const Transformer& kjv() {
  static const Transformer model(kjv_weights());
  return model;
}

/// The first `count` held-out windows.
inline std::vector<Sequence> kjv_windows(std::size_t count) {
  std::vector<Sequence> windows = read_sequences(kjv_folder / "held_out_257_u16.bin", 257, kjv().llm().vocabulary);
  windows.resize(count);
  return windows;
}

inline Activations identity(const Activations& x) { return x; }

/// Third-party weights that the project does not ship; empty where they are not.
inline std::filesystem::path reference_weights() {
  const char* root = std::getenv("TRILEMMA_REFERENCE");
  const std::filesystem::path folder =
      (root != nullptr ? std::filesystem::path(root) : TRILEMMA_SOURCE_DIR "/../shared/reference") / "weights";
  return std::filesystem::exists(folder / "stories260K.bin") ? folder : "";
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Random weights of a shape with grouped queries and widths that are no multiples of any vector.
inline TransformerWeights random_weights(std::uint32_t seed) {
  std::mt19937 engine(seed);
  const auto random = [&](Eigen::Index rows, Eigen::Index columns) {
    std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(columns)));
    return Matrix(Matrix::NullaryExpr(rows, columns, [&] { return normal(engine); }));
  };
  TransformerWeights weights;
  weights.llm = {.layers = 3, .hidden = 24, .heads = 4, .kv_heads = 2, .head_size = 6, .feed_forward = 20};
  weights.llm.vocabulary = 37;
  weights.llm.tied_embeddings = true;
  weights.llm.context = Tokens(40);
  weights.embedding = random(37, 24);
  const RowVector ones = RowVector::Ones(24);
  for (int i = 0; i < 3; ++i) {
    weights.blocks.push_back({ones, random(24, 24), random(12, 24), random(12, 24), random(24, 24), ones,
                              random(20, 24), random(24, 20), random(20, 24)});
  }
  weights.final_norm = ones;
  return weights;
}

}  // namespace trilemma::test
