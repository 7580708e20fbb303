#include "analysis/codec_study.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "models/llm/weight_change.h"
#include "models/llm/work.h"

namespace trilemma {
namespace {

constexpr NumberFormat fp16 = NumberFormat::fp16;

std::vector<Sequence> part(const std::vector<Sequence>& rows, std::size_t first, std::size_t count) {
  const auto from = rows.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

Shape shape_of(const Activations& x) { return {.tokens = x.rows(), .hidden = x.cols()}; }

std::span<const float> values_of(const Activations& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Standard error of a share of tokens: windows are independent texts, tokens of one are not.
double standard_error(const PredictionScore& score) {
  const double mean = score.agreement();
  double squares = 0;
  double tokens = 0;
  for (const WindowScore& window : score.windows) {
    const double off = static_cast<double>(window.agreeing) - mean * static_cast<double>(window.tokens);
    squares += off * off;
    tokens += static_cast<double>(window.tokens);
  }
  const auto count = static_cast<double>(score.windows.size());
  return count > 1 ? std::sqrt(squares * count / (count - 1)) / tokens : 0;
}

/// The rows that are scored; the others behind them calibrate. Throws config::Error if there are too few, or too short.
std::vector<Sequence> scored_windows(const std::vector<Sequence>& rows, const std::filesystem::path& file,
                                     const StudyPlan& plan) {
  if (rows.size() < plan.windows + plan.calibration)
    throw config::Error(fmt::format("{}: has {} windows; the study scores {} and calibrates on {} more", file.string(),
                                    rows.size(), plan.windows, plan.calibration));
  if (std::cmp_less_equal(rows.front().size(), plan.tokens))
    throw config::Error(fmt::format("{}: has windows of {} tokens; the study scores {} and the one behind them",
                                    file.string(), rows.front().size(), plan.tokens));
  return part(rows, 0, plan.windows);
}

/// Time that the processor gave to this program.
double cpu_us() {
  constexpr double microseconds = 1e6;
  return microseconds * static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Sends activations through real messages and keeps account of what that costs.
class Channel {
 public:
  explicit Channel(Codec& codec) : codec_(codec) {}

  Activations operator()(const Activations& x) {
    const double start = cpu_us();
    const auto message = codec_.encode(values_of(x), shape_of(x));
    const double between = cpu_us();
    Activations restored(x.rows(), x.cols());
    codec_.decode_into(message, {restored.data(), static_cast<std::size_t>(restored.size())});
    const double end = cpu_us();
    encode_us.push_back(between - start);
    decode_us.push_back(end - between);
    lost += (restored - x).cast<double>().squaredNorm();
    energy += x.cast<double>().squaredNorm();
    return restored;
  }

  std::vector<double> encode_us;
  std::vector<double> decode_us;
  double lost = 0;
  double energy = 0;

 private:
  Codec& codec_;
};

template <class Config>
StudiedCodec with_ratio(const std::string& name, Config config) {
  config.reference = fp16;
  return {.name = name, .has_ratio = true, .make = [config](double ratio, const Basis&) {
            Config one = config;
            one.ratio = ratio;
            return make_codec(one);
          }};
}

template <class Config>
StudiedCodec without_ratio(const std::string& name, Config config) {
  return {.name = name, .has_ratio = false, .make = [config](double, const Basis&) { return make_codec(config); }};
}

StudiedCodec klt(const std::string& name, EntropyCoder coder) {
  return {.name = name, .has_ratio = true, .make = [coder](double ratio, const Basis& basis) {
            return make_transform({.ratio = ratio, .reference = fp16, .coder = coder}, basis);
          }};
}

}  // namespace

std::vector<StudiedCodec> studied_codecs() {
  std::vector<StudiedCodec> all;
  all.push_back(without_ratio("identity fp16", IdentityCodec{}));
  all.push_back(with_ratio("fourier-published fp16", FourierPublishedCodec{.coefficients = fp16}));
  all.push_back(with_ratio("fourier-text fp16", FourierTextCodec{.coefficients = fp16}));
  all.push_back(with_ratio("fourier fp16", FourierCodec{.coefficients = fp16}));
  all.push_back(with_ratio("fourier int8", FourierCodec{.coefficients = NumberFormat::int8}));
  all.push_back(with_ratio("fourier int4", FourierCodec{.coefficients = NumberFormat::int4}));
  all.push_back(with_ratio("token-fourier int4", TokenFourierCodec{.coefficients = NumberFormat::int4}));
  all.push_back(with_ratio("dct int4", DctCodec{.coefficients = NumberFormat::int4}));
  all.push_back(with_ratio("topk fp16", TopKCodec{}));
  all.push_back(with_ratio("topk int4", TopKCodec{.values = NumberFormat::int4}));
  all.push_back(with_ratio("svd fp16", SvdCodec{}));
  all.push_back(with_ratio("svd int8", SvdCodec{.factors = NumberFormat::int8}));
  all.push_back(with_ratio("svd randomised int8",
                           SvdCodec{.factors = NumberFormat::int8, .algorithm = SvdAlgorithm::randomised}));
  all.push_back(with_ratio("qr int8", QrCodec{.factors = NumberFormat::int8}));
  all.push_back(with_ratio("transform hadamard", TransformCodec{}));
  all.push_back(klt("transform klt, zstd", EntropyCoder::zstd));
  all.push_back(klt("transform klt", EntropyCoder::range));
  for (const auto& [name, format] : {std::pair{"int8", NumberFormat::int8}, std::pair{"int4", NumberFormat::int4},
                                     std::pair{"int2", NumberFormat::int2}}) {
    all.push_back(without_ratio(std::string("quantise per token ") + name, QuantiseCodec{.format = format}));
    all.push_back(without_ratio(std::string("quantise per channel ") + name,
                                QuantiseCodec{.format = format, .axis = QuantisedAxis::channel}));
    all.push_back(without_ratio(std::string("delta ") + name, DeltaCodec{.format = format}));
  }
  return all;
}

CodecStudy::CodecStudy(const std::filesystem::path& checkpoint, const std::filesystem::path& windows, StudyPlan plan)
    : weights_(read_checkpoint(checkpoint)),
      model_(weights_),
      plan_(plan),
      rows_(
          read_sequences(windows, static_cast<std::size_t>(weights_.llm.context.value()) + 1, weights_.llm.vocabulary)),
      evaluation_(model_, scored_windows(rows_, windows, plan), plan.tokens) {}

const CodecStudy::AtCut& CodecStudy::at_cut(std::int64_t cut) {
  if (const auto known = cuts_.find(cut); known != cuts_.end()) return known->second;
  std::vector<float> tokens;
  for (const Sequence& row : part(rows_, plan_.windows, plan_.calibration)) {
    KvCache cache(model_.llm());
    Activations x = model_.embed(std::span(row).first(row.size() - 1));
    model_.forward(x, {0, cut}, cache);
    tokens.insert(tokens.end(), x.data(), x.data() + x.size());
  }
  return cuts_.emplace(cut, AtCut{.basis = calibrated_basis(tokens, hidden()), .sent = evaluation_.at_cut(model_, cut)})
      .first->second;
}

StudyRow CodecStudy::row(const StudiedCodec& codec, std::int64_t cut, std::optional<double> ratio) {
  const AtCut& here = at_cut(cut);
  const auto made = codec.make(ratio.value_or(1), here.basis);
  const Shape shape = shape_of(here.sent.front());
  StudyRow row{.codec = codec.name, .cut = cut, .target = ratio, .refusal = made->problem(shape).value_or("")};
  if (!row.refusal.empty()) return row;
  row.bytes = made->encoded_size(shape);
  row.ratio = make_codec(IdentityCodec{})->encoded_size(shape) / row.bytes;
  Channel channel(*made);
  const PredictionScore score = evaluation_.accuracy(here.sent, {model_, model_, cut, [&](const Activations& x) {
                                                                   made->restart();
                                                                   return channel(x);
                                                                 }});
  row.error = std::sqrt(channel.lost / channel.energy);
  row.agreement = score.agreement();
  row.agreement_error = standard_error(score);
  row.lost_points = 100 * (reference().top1() - score.top1());
  row.perplexity_ratio = score.perplexity() / reference().perplexity();
  row.encode_us = median(channel.encode_us);
  row.decode_us = median(channel.decode_us);
  return row;
}

std::vector<WeightRow> CodecStudy::weight_rows() const {
  std::vector<WeightRow> rows;
  const auto count = [](const LlmConfig& llm) { return static_cast<double>(parameters(llm, whole_model(llm))); };
  const double whole = count(weights_.llm);
  const auto add = [&](std::string change, const TransformerWeights& changed, double bits) {
    const Transformer model(changed);
    const PredictionScore score =
        evaluation_.accuracy(SplitModel{model, model, 0, [](const Activations& x) { return x; }});
    rows.push_back({.change = std::move(change),
                    .size = count(changed.llm) / whole * bits / 16,
                    .agreement = score.agreement(),
                    .agreement_error = standard_error(score),
                    .lost_points = 100 * (reference().top1() - score.top1()),
                    .perplexity_ratio = score.perplexity() / reference().perplexity()});
  };
  constexpr std::int64_t group = 64;
  constexpr double scale_bits = 16.0 / group;
  for (const int bits : {8, 4, 2}) {
    const WeightRounding rounding{.bits = bits, .group = group};
    add("INT" + std::to_string(bits) + ", groups of 64", quantised(weights_, rounding, rounding), bits + scale_bits);
  }
  const auto prune = [&](const char* name, PruningConfig pruning) { add(name, pruned(weights_, pruning), 16); };
  prune("a quarter of the heads left out", {.heads = Fraction(0.25)});
  prune("a quarter of the feed-forward left out", {.feed_forward = Fraction(0.25)});
  prune("half of the feed-forward left out", {.feed_forward = Fraction(0.5)});
  prune("one of six blocks left out", {.layers = 1});
  return rows;
}

GenerationRow CodecStudy::generation(const StudiedCodec& codec, std::int64_t cut, double ratio) {
  constexpr std::size_t prompts = 24;
  constexpr std::size_t prompt_tokens = 64;
  constexpr std::int64_t new_tokens = 32;
  std::vector<Sequence> starts;
  for (std::size_t i = 0; i < std::min(prompts, plan_.windows); ++i)
    starts.emplace_back(rows_[i].begin(), rows_[i].begin() + prompt_tokens);
  const auto greedy = [&](const Crossing& crossing) {
    return continuations(SplitModel{model_, model_, cut, crossing}, starts, new_tokens);
  };
  if (continuations_.empty()) continuations_ = greedy([](const Activations& x) { return x; });
  const auto made = codec.make(ratio, at_cut(cut).basis);
  const Shape token{.tokens = 1, .hidden = hidden()};
  GenerationRow row{.codec = codec.name, .target = ratio, .refusal = made->problem(token).value_or("")};
  if (!row.refusal.empty()) return row;
  row.token_bytes = made->encoded_size(token);
  Channel channel(*made);
  row.exact = exact_match(greedy([&](const Activations& x) { return channel(x); }), continuations_);
  return row;
}

}  // namespace trilemma
