#include "models/llm/work.h"

#include <cmath>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr double bytes_per_activation = 2;
constexpr double scale_bits = 16;

double precision_bits(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return 32;
    case Precision::bf16:
    case Precision::fp16:
      return 16;
    case Precision::int8:
      return 8;
    case Precision::int4:
      return 4;
    case Precision::int2:
      return 2;
    case Precision::int1:
      return 1;
  }
  TRILEMMA_ENSURE(false, "every precision has a width");
  return 0;
}

/// Weights that take part in matrix products, per block (norms and biases do not).
double matrix_parameters(const LlmConfig& llm) {
  const auto hidden = static_cast<double>(llm.hidden);
  const auto attention = static_cast<double>(2 * llm.heads + 2 * llm.kv_heads) * static_cast<double>(llm.head_size);
  return hidden * (attention + static_cast<double>(llm.feed_forward_matrices * llm.feed_forward));
}

std::int64_t embedding_parameters(const LlmConfig& llm) { return llm.vocabulary * llm.hidden; }

/// Sizes of absurd models are caught here, before an integer overflows.
Bytes round_up(double bytes) {
  constexpr double largest = 9e18;
  if (!(bytes < largest)) throw OutOfRange("the model would need more than 9e18 bytes; check its shape and the prompt");
  return Bytes(static_cast<std::int64_t>(std::ceil(bytes)));
}

}  // namespace

std::vector<config::FieldProblem> LlmConfig::problems() const {
  if (heads % kv_heads == 0) return {};
  return {{"kv_heads", "does not divide the number of query heads; each key/value head serves as many of them"}};
}

LlmConfig pruned(const LlmConfig& llm, const PruningConfig& pruning) {
  const auto kept = [](std::int64_t count, Fraction taken) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * (1 - taken.value())));
  };
  LlmConfig left = llm;
  left.kv_heads = kept(llm.kv_heads, pruning.heads);
  left.heads = left.kv_heads * (llm.heads / llm.kv_heads);
  left.feed_forward = kept(llm.feed_forward, pruning.feed_forward);
  left.layers -= pruning.layers;
  TRILEMMA_ENSURE(left.layers > 0, "a pruned model has a block left");
  return left;
}

ModelPart whole_model(const LlmConfig& llm) {
  return {.first = 0, .last = llm.layers, .embedding = true, .head = true};
}

ModelPart device_part(const LlmConfig& llm, std::int64_t cut) {
  TRILEMMA_ENSURE(cut >= 0 && cut <= llm.layers, "a cut lies inside the model");
  return {.first = 0, .last = cut, .embedding = cut > 0, .head = false};
}

ModelPart edge_part(const LlmConfig& llm, std::int64_t cut) {
  TRILEMMA_ENSURE(cut >= 0 && cut <= llm.layers, "a cut lies inside the model");
  return {.first = cut, .last = llm.layers, .embedding = cut == 0, .head = true};
}

double bits_per_weight(WeightFormat format) {
  const double bits = precision_bits(format.precision);
  return bits <= 8 && format.block > 0 ? bits + scale_bits / static_cast<double>(format.block) : bits;
}

std::int64_t layer_parameters(const LlmConfig& llm) {
  const std::int64_t attention = llm.hidden * llm.head_size * (2 * llm.heads + 2 * llm.kv_heads);
  const std::int64_t biases = llm.attention_bias ? llm.head_size * (llm.heads + 2 * llm.kv_heads) : 0;
  const std::int64_t norms = 2 * llm.hidden;
  return attention + biases + llm.feed_forward_matrices * llm.hidden * llm.feed_forward + norms;
}

std::int64_t parameters(const LlmConfig& llm, const ModelPart& part) {
  std::int64_t count = part.layers() * layer_parameters(llm);
  if (part.embedding) count += embedding_parameters(llm);
  if (part.head) {
    count += llm.hidden;  // final norm
    if (!(llm.tied_embeddings && part.embedding)) count += embedding_parameters(llm);
  }
  return count;
}

Bytes weight_bytes(const LlmConfig& llm, const ModelPart& part, WeightFormat format) {
  const ModelPart blocks{.first = part.first, .last = part.last};
  const std::int64_t in_blocks = parameters(llm, blocks) + (part.head ? llm.hidden : 0);  // with the final norm
  const double bits = bits_per_weight(format);
  return round_up((static_cast<double>(in_blocks) * bits +
                   static_cast<double>(parameters(llm, part) - in_blocks) * format.head_bits.value_or(bits)) /
                  8);
}

std::int64_t activation_values(const LlmConfig& llm, Tokens tokens) { return tokens.value() * llm.hidden; }

Bytes kv_bytes(const LlmConfig& llm, const ModelPart& part, Tokens tokens, double cache_bits) {
  const auto values = static_cast<double>(2 * part.layers() * llm.kv_heads * llm.head_size);
  return round_up(static_cast<double>(tokens.value()) * values * cache_bits / 8);
}

Bytes activation_bytes(const LlmConfig& llm, Tokens tokens) {
  const std::int64_t values = 2 * llm.hidden + llm.feed_forward;
  return Bytes(tokens.value() * values * static_cast<std::int64_t>(bytes_per_activation));
}

Operations Work::operations() const {
  return static_cast<double>(layers) * (matrices.operations + attention.operations) + head.operations;
}

Bytes Work::bytes() const { return layers * (matrices.bytes + attention.bytes) + head.bytes; }

Work forward_work(const LlmConfig& llm, const ModelPart& part, WeightFormat format, const PassTokens& tokens) {
  BatchTokens one;
  one.add(tokens.fresh, tokens.cached, 1);
  return forward_work(llm, part, format,
                      BatchTokens{.fresh = tokens.batch * one.fresh,
                                  .pairs = static_cast<double>(tokens.batch) * one.pairs,
                                  .kept = tokens.batch * one.kept,
                                  .heads = tokens.batch});
}

Work forward_work(const LlmConfig& llm, const ModelPart& part, WeightFormat format, const BatchTokens& tokens) {
  if (part.empty() || tokens.empty()) return {};
  const double weight_size = bits_per_weight(format) / 8;
  const double head_size = format.head_bits ? *format.head_bits / 8 : weight_size;
  const ModelPart block{.first = 0, .last = 1};
  Work work{.layers = part.layers(), .any = true};
  work.matrices = {Operations(2 * matrix_parameters(llm) * static_cast<double>(tokens.fresh)),
                   round_up(static_cast<double>(layer_parameters(llm)) * weight_size)};
  work.attention = {Operations(4 * static_cast<double>(llm.heads * llm.head_size) * tokens.pairs),
                    kv_bytes(llm, block, Tokens(tokens.kept), format.cache_bits)};
  if (part.head && tokens.heads > 0) {
    const auto weights = static_cast<double>(embedding_parameters(llm));
    work.head = {Operations(2 * weights * static_cast<double>(tokens.heads)), round_up(weights * head_size)};
  }
  return work;
}

}  // namespace trilemma
