#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"
#include "models/codec/prepared_shapes.h"
#include "models/codec/quarter_block.h"
#include "models/codec/real_transform.h"

namespace trilemma::codec_kinds {
namespace {

enum class Mirror { absent, of_text };

/// Upper bit of the second parameter, above any side.
constexpr std::uint32_t windowed = 0x80000000U;

struct Prepared {
  Prepared(Shape shape, QuarterBlock block)
      : transform(shape),
        places(trilemma::places(shape, block)),
        numbers(2 * places.size()),
        full(static_cast<std::size_t>(elements(shape))) {}

  RealTransform transform;
  std::vector<SpectrumPlace> places;
  std::vector<float> numbers;  // real and imaginary parts in wire order
  std::vector<std::complex<float>> full;
};

/// sin^2(pi (i + 1/2) / n): Hann, half a sample off its zeros, so that it can be divided out.
float hann(std::int64_t i, std::int64_t side) {
  const double sine = std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(side));
  return static_cast<float>(sine * sine);
}

template <class Apply>
void for_each_weight(Window window, Shape shape, std::span<float> values, Apply apply) {
  if (window == Window::none) return;
  for (std::int64_t s = 0; s < shape.tokens; ++s) {
    for (std::int64_t d = 0; d < shape.hidden; ++d)
      apply(values[static_cast<std::size_t>(s * shape.hidden + d)], hann(s, shape.tokens) * hann(d, shape.hidden));
  }
}

/// Share of the energy of a spectrum outside what is sent and its mirror image.
double share_outside(const Prepared& prepared, std::span<const float> values) {
  double inside = 0;
  for (std::size_t i = 0; i < prepared.places.size(); ++i) {
    const SpectrumPlace place = prepared.places[i];
    const std::complex<double> sent(prepared.numbers[2 * i], prepared.numbers[2 * i + 1]);
    inside += (place.token > 0 && place.hidden > 0 ? 2 : 1) * std::norm(sent);
  }
  double all = 0;
  for (const float value : values) all += static_cast<double>(value) * static_cast<double>(value);
  return all > 0 ? std::max(0.0, 1 - inside / all) : 0;
}

/// FourierCompress as its paper describes it (Ma et al., arXiv 2510.16418v1, section III-C: the top-left K_S x K_D
/// block, zeros elsewhere, inverse transform; its real part, since nothing makes it real) and as the second text codes
/// it (the block and, for u >= 1 and v >= 1, its conjugate at [S - u, D - v]; real part). Kept for the audit: on a
/// generic signal both lose most of what a low-pass of the same size holds. Sends two numbers a coefficient. The ratio
/// fixes K_S / S = K_D / D, which the paper leaves open.
class FourierAudit final : public Codec {
 public:
  FourierAudit(wire::CodecId id, FourierTextCodec config, Mirror mirror)
      : Codec(id), config_(config), mirror_(mirror) {}

  [[nodiscard]] bool falls_back() const override { return config_.fallback.has_value(); }

 private:
  [[nodiscard]] std::int64_t size_of(std::int64_t count) const { return packed_size(config_.coefficients, 2 * count); }

  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const auto block = block_for(shape);
    if (const auto* refusal = std::get_if<Refusal>(&block)) return *refusal;
    const QuarterBlock kept = std::get<QuarterBlock>(block);
    const auto count = static_cast<double>(elements(shape));
    const std::int64_t size = size_of(coefficients(kept));
    const CodecWork work{
        .operations = Operations(2.5 * count * std::log2(count) + 2 * (1 + operations_per_real(config_.coefficients)) *
                                                                      static_cast<double>(coefficients(kept))),
        .moved = Bytes(16 * elements(shape) + 8 * coefficients(kept) + size)};
    CodecWork decode = work;
    decode.moved += Bytes(20 * elements(shape));  // the whole complex spectrum is filled and folded
    return Layout{
        .format = config_.coefficients,
        .parameters = {static_cast<std::uint32_t>(kept.tokens),
                       static_cast<std::uint32_t>(kept.hidden) | (config_.window == Window::hann ? windowed : 0)},
        .payload = Bytes(size),
        .reference = Bytes(reference_bytes(config_.reference, shape)),
        .encode = work,
        .decode = decode};
  }

  [[nodiscard]] std::variant<QuarterBlock, Refusal> block_for(Shape shape) const {
    const std::int64_t corner = ((shape.tokens + 1) / 2) * ((shape.hidden + 1) / 2);
    const auto wanted = static_cast<std::int64_t>(config_.mid_band.value() * static_cast<double>(elements(shape)));
    const auto with_extra = [&](QuarterBlock block) {
      const std::int64_t taken =
          std::min(block.tokens, (shape.tokens + 1) / 2) * std::min(block.hidden, (shape.hidden + 1) / 2);
      block.extra = std::min(wanted, corner - taken);
      // Two coefficients of int2 share a byte: an even number of them can be told from the length of the payload.
      if (block.extra > 0 && coefficients(block) % 2 != 0) --block.extra;
      return block;
    };
    if (const auto keep = share()) {
      const QuarterBlock block = block_of_share(shape, *keep);
      if (block.tokens >= 1 && block.hidden >= 1) return with_extra(block);
      return Refusal{
          fmt::format("keeping {:g} % of {} x {} values leaves a block of {} x {}; send it with kind 'identity'",
                      100 * *keep, shape.tokens, shape.hidden, block.tokens, block.hidden)};
    }
    const std::int64_t room = payload_room(config_.reference, config_.ratio, shape);
    const std::int64_t most = most_that_fit(room, elements(shape), [&](std::int64_t count) { return size_of(count); });
    if (most < wanted + 1)
      return too_few_bytes(config_.reference, config_.ratio, shape, size_of(wanted + 1),
                           fmt::format("{} coefficients", wanted + 1));
    return with_extra(block_within(shape, most - wanted));
  }

  /// The text's keep_ratio: its own, or that of a task (section 3.1 of the text).
  [[nodiscard]] std::optional<double> share() const {
    if (config_.keep) return config_.keep->value();
    if (!config_.task) return std::nullopt;
    return *config_.task == TextTask::qa ? 0.12 : *config_.task == TextTask::reasoning ? 0.18 : 0.25;
  }

  Prepared& prepare(Shape shape, QuarterBlock block) {
    return prepared_.get(std::pair{shape, block}, shape, [&] { return std::make_unique<Prepared>(shape, block); });
  }

  Prepared& transformed(std::span<const float> values, Shape shape, QuarterBlock block) {
    Prepared& prepared = prepare(shape, block);
    std::ranges::copy(values, prepared.transform.values().begin());
    for_each_weight(config_.window, shape, prepared.transform.values(), [](float& x, float weight) { x *= weight; });
    prepared.transform.forward();
    for (std::size_t i = 0; i < prepared.places.size(); ++i) {
      const auto number = coefficient(prepared.transform.spectrum(), shape, prepared.places[i]);
      prepared.numbers[2 * i] = number.real() / normalisation(shape);
      prepared.numbers[2 * i + 1] = number.imag() / normalisation(shape);
    }
    require_finite(prepared.numbers);
    return prepared;
  }

  static float normalisation(Shape shape) {
    return static_cast<float>(std::sqrt(static_cast<double>(elements(shape))));
  }

  [[nodiscard]] std::optional<NumberFormat> fallback(std::span<const float> values, Shape shape) override {
    const auto block = block_for(shape);
    Prepared& prepared = transformed(values, shape, std::get<QuarterBlock>(block));
    if (share_outside(prepared, prepared.transform.values()) <= config_.fallback->value()) return std::nullopt;
    return config_.reference;
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& /*layout*/,
                       std::span<std::byte> payload) override {
    Prepared& prepared = transformed(values, shape, std::get<QuarterBlock>(block_for(shape)));
    const float scale = format_scale(config_.coefficients, prepared.numbers);
    for (float& number : prepared.numbers) number /= scale;
    pack(config_.coefficients, prepared.numbers, payload);
    return scale;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    require_proportion(header.shape, payload.size());
    const QuarterBlock block = block_of(header, payload.size());
    if (block.tokens < 1 || block.tokens > header.shape.tokens || block.hidden < 1 ||
        block.hidden > header.shape.hidden || block.extra < 0 || block.extra > elements(header.shape))
      throw MalformedMessage("the kept block of the message does not fit its shape");
    if (std::ssize(payload) != packed_size(header.format, 2 * coefficients(block)))
      throw MalformedMessage("the payload of the message does not have the length of its kept block");
  }

  /// The block of the header; what the payload has beyond it is the mid-band.
  static QuarterBlock block_of(const wire::Header& header, std::size_t payload) {
    QuarterBlock block{.tokens = header.parameters[0], .hidden = header.parameters[1] & ~windowed};
    if (std::cmp_equal(payload, packed_size(header.format, 2 * coefficients(block)))) return block;
    const std::int64_t sent = most_that_fit(static_cast<std::int64_t>(payload), elements(header.shape),
                                            [&](std::int64_t count) { return packed_size(header.format, 2 * count); });
    block.extra = sent - block.tokens * block.hidden;
    return block;
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const Shape shape = header.shape;
    const QuarterBlock block = block_of(header, payload.size());
    Prepared& prepared = prepare(shape, block);
    if (std::ssize(prepared.places) != coefficients(block))
      throw MalformedMessage("the message has more coefficients than its shape");
    unpack(header.format, payload, prepared.numbers);
    std::ranges::fill(prepared.full, std::complex<float>());
    const float factor = header.scale / normalisation(shape);
    for (std::size_t i = 0; i < prepared.places.size(); ++i) {
      const auto [u, v] = prepared.places[i];
      const std::complex<float> number(prepared.numbers[2 * i] * factor, prepared.numbers[2 * i + 1] * factor);
      prepared.full[static_cast<std::size_t>(u * shape.hidden + v)] = number;
      if (mirror_ == Mirror::of_text && u >= 1 && v >= 1)
        prepared.full[static_cast<std::size_t>((shape.tokens - u) * shape.hidden + shape.hidden - v)] =
            std::conj(number);
    }
    take_real_part(prepared.full, shape, prepared.transform.spectrum());
    prepared.transform.inverse();
    std::ranges::copy(prepared.transform.values(), values.begin());
    const Window window = (header.parameters[1] & windowed) != 0 ? Window::hann : Window::none;
    for_each_weight(window, shape, values, [](float& x, float weight) { x /= weight; });
  }

  FourierTextCodec config_;
  Mirror mirror_;
  PreparedShapes<std::pair<Shape, QuarterBlock>, Prepared> prepared_;
};

}  // namespace

std::optional<std::string> problem(const FourierPublishedCodec& config) {
  return budget_problem("fourier-published", config.ratio, config.reference);
}

std::optional<std::string> problem(const FourierTextCodec& config) {
  if (static_cast<int>(config.keep.has_value()) + static_cast<int>(config.task.has_value()) +
          static_cast<int>(config.ratio > 1) >
      1)
    return "keep: stands beside another of ratio, keep and task; write one of them";
  if (config.keep && *config.keep <= Fraction(0)) return "keep: nothing is kept; write for example '15 %'";
  return budget_problem("fourier-text", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const FourierPublishedCodec& config) {
  FourierTextCodec same;
  same.ratio = config.ratio;
  same.coefficients = config.coefficients;
  same.reference = config.reference;
  return std::make_unique<FourierAudit>(wire::CodecId::fourier_published, same, Mirror::absent);
}

std::unique_ptr<Codec> make(const FourierTextCodec& config) {
  return std::make_unique<FourierAudit>(wire::CodecId::fourier_text, config, Mirror::of_text);
}

}  // namespace trilemma::codec_kinds
