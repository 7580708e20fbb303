#include "sim/measured_accuracy.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "models/codec/codec.h"
#include "models/codec/wire.h"
#include "models/llm/evaluation.h"
#include "models/llm/weight_change.h"

namespace trilemma {
namespace {

namespace fs = std::filesystem;

constexpr const char* windows_name = "held_out_257_u16.bin";

/// The checkpoint of a folder: its one file of weights.
std::optional<fs::path> weights_file(const fs::path& folder) {
  if (!fs::is_directory(folder)) return std::nullopt;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with("_q80.bin")) return entry.path();
  }
  return std::nullopt;
}

bool same_shape(const LlmConfig& a, const LlmConfig& b) {
  return a.layers == b.layers && a.hidden == b.hidden && a.heads == b.heads && a.kv_heads == b.kv_heads &&
         a.feed_forward == b.feed_forward && a.vocabulary == b.vocabulary && a.head_size == b.head_size &&
         a.tied_embeddings == b.tied_embeddings && a.feed_forward_matrices == b.feed_forward_matrices &&
         a.attention_bias == b.attention_bias;
}

/// Bits of weights that are rounded; none where they stay as they are.
std::optional<int> bits_of(Precision precision) {
  switch (precision) {
    case Precision::int8:
      return 8;
    case Precision::int4:
      return 4;
    case Precision::int2:
      return 2;
    case Precision::fp32:
    case Precision::bf16:
    case Precision::fp16:
    case Precision::int1:
      break;
  }
  return std::nullopt;
}

TransformerWeights on_machine(const TransformerWeights& weights, Precision precision) {
  constexpr std::int64_t group = 64;
  const auto bits = bits_of(precision);
  if (!bits) return weights;
  const WeightRounding rounding{.bits = *bits, .group = group};
  return quantised(weights, rounding, rounding);
}

/// Of the one tier behind the device that has any of the model.
Precision precision_behind(const Scenario& scenario) {
  return scenario.uses_cloud() ? scenario.cloud->precision : scenario.edge.precision;
}

std::optional<NotPublished> obstacle(const Scenario& scenario, const TransformerWeights& weights) {
  if (!same_shape(weights.llm, scenario.llm))
    return NotPublished{fmt::format("{} with other sides than its checkpoint", scenario.llm.kind)};
  if (weights.llm.context < Tokens(measured_tokens))
    return NotPublished{fmt::format("a checkpoint with a context of {} tokens; measured over {}",
                                    weights.llm.context.value(), measured_tokens)};
  if (scenario.device.precision == Precision::int1 || precision_behind(scenario) == Precision::int1)
    return NotPublished{"weights of 1 bit; a checkpoint is rounded to 8, 4 or 2"};
  if (scenario.on_device() || scenario.raw_input()) return std::nullopt;
  const Shape shape{.tokens = measured_tokens, .hidden = weights.llm.hidden};
  if (longest(scenario.workload.output) > Tokens(1))
    return NotPublished{"generated tokens, which are sent one by one; measured for prompts, with 'output: 1'"};
  const auto* text = std::get_if<FourierTextCodec>(&scenario.codec);
  if (text != nullptr && text->fallback)
    return NotPublished{"a codec that falls back, whose sizes then are not those of this result"};
  if (const auto problem = make_codec(scenario.codec)->problem(shape))
    return NotPublished{fmt::format("texts of {} tokens through this codec: {}", measured_tokens, *problem)};
  return std::nullopt;
}

Crossing crossing_of(const Scenario& scenario, Codec& codec) {
  if (scenario.on_device() || scenario.raw_input()) return [](const Activations& x) { return x; };
  return [&codec](const Activations& x) {
    const Shape shape{.tokens = x.rows(), .hidden = x.cols()};
    codec.restart();
    const auto message = codec.encode({x.data(), static_cast<std::size_t>(x.size())}, shape);
    Activations restored(x.rows(), x.cols());
    codec.decode_into(message, {restored.data(), static_cast<std::size_t>(restored.size())});
    return restored;
  };
}

}  // namespace

std::uint32_t checkpoint_checksum(const Scenario& scenario) {
  const auto weights = weights_file(scenario.checkpoint);
  if (!weights) return 0;
  std::uint32_t sum = 0;
  for (const fs::path& file : {*weights, scenario.checkpoint / windows_name}) {
    std::ifstream in(file, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    sum = wire::crc32(std::as_bytes(std::span(all)), sum);
  }
  return sum;
}

AccuracyAnswer measured_accuracy(const Scenario& scenario) {
  const auto file = weights_file(scenario.checkpoint);
  if (!file) return NotPublished{fmt::format("{}; measured for models in configs/checkpoints", scenario.llm.kind)};
  const TransformerWeights weights = read_checkpoint(*file);
  if (const auto problem = obstacle(scenario, weights)) return *problem;
  auto windows = read_sequences(scenario.checkpoint / windows_name,
                                static_cast<std::size_t>(weights.llm.context.value()) + 1, weights.llm.vocabulary);
  windows.resize(std::min(windows.size(), measured_windows));
  const std::size_t windows_count = windows.size();
  const TransformerWeights kept = pruned(weights, scenario.pruning);
  const Transformer device(on_machine(kept, scenario.device.precision));
  const Transformer edge(on_machine(kept, precision_behind(scenario)));
  const Evaluation evaluation(Transformer(weights), windows, measured_tokens);
  const std::int64_t cut = scenario.cut.layers.value_or(kept.llm.layers);
  // A whole model on one machine is that machine's at both sides.
  const Transformer& ahead = scenario.raw_input() ? edge : device;
  const Transformer& behind = scenario.on_device() ? device : edge;
  const auto codec = make_codec(scenario.codec);
  const PredictionScore score = evaluation.accuracy(SplitModel{ahead, behind, cut, crossing_of(scenario, *codec)});
  const PredictionScore& reference = evaluation.reference();
  return Accuracy{
      .value = Fraction(score.top1()),
      .baseline = Fraction(reference.top1()),
      .kind = AccuracyKind::measured,
      .source = fmt::format(
          "{} on {} held-out texts of {} tokens, whatever the workload's prompt; agreement {:.1f} %, perplexity {:.2f} "
          "(baseline {:.2f})",
          scenario.llm.kind, windows_count, measured_tokens, 100 * score.agreement(), score.perplexity(),
          reference.perplexity())};
}

}  // namespace trilemma
