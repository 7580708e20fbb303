#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/ensure.h"
#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/low_pass.h"
#include "models/codec/number_format.h"
#include "models/codec/prepared_shapes.h"
#include "models/codec/real_transform.h"

namespace trilemma::codec_kinds {
namespace {

/// Operations of the transform: 2.5 N log2 D along hidden (real-to-complex, half of Cooley and Tukey's 5 N log2 D),
/// N = S D, and along tokens 2.5 S K_D log2 S, for the kept columns only; plus for each kept real one scaling and its
/// conversion. Bytes: both passes read and write what they transform, plus the gather (4 bytes a kept real) and the
/// payload.
CodecWork compression_work(Shape shape, NumberFormat format, LowPass block) {
  const auto tokens = static_cast<double>(shape.tokens);
  const auto hidden = static_cast<double>(shape.hidden);
  const double along_tokens = 2.5 * tokens * static_cast<double>(block.hidden) * std::log2(tokens);
  const double transform = 2.5 * tokens * hidden * std::log2(hidden) + along_tokens;
  const std::int64_t kept = reals(block);
  return {.operations = Operations(transform + (1 + operations_per_real(format)) * static_cast<double>(kept)),
          .moved = Bytes(8 * elements(shape) + 8 * shape.tokens * block.hidden + 4 * kept +
                         coefficients_size(format, kept))};
}

/// The same, and 4 N bytes more to clear the spectrum.
CodecWork restoration_work(Shape shape, NumberFormat format, LowPass block) {
  CodecWork work = compression_work(shape, format, block);
  work.moved += Bytes(4 * elements(shape));
  return work;
}

/// 1 / sqrt(S D): with it in both directions the transform is orthonormal and keeps energy.
float normalisation(Shape shape) { return static_cast<float>(1 / std::sqrt(static_cast<double>(elements(shape)))); }

/// Everything that depends on the shape only, made once.
struct Prepared {
  Prepared(Shape shape, LowPass block)
      : transform(shape, block.hidden / 2 + 1),
        order(wire_order(shape, block)),
        numbers(static_cast<std::size_t>(reals(block))) {}

  RealTransform transform;
  std::vector<Bin> order;
  std::vector<float> numbers;  // the kept reals in wire order
};

/// Memory is asked for bins ahead of time: those of neighbouring frequencies are in rows far apart.
constexpr std::size_t look_ahead = 160;

/// Fills `numbers` and returns the largest magnitude. Throws std::invalid_argument if one is not finite. Works in
/// pieces that stay in the fastest cache until they are checked.
float gather(Prepared& prepared, float factor) {
  constexpr std::size_t piece = 2048;
  const auto spectrum = prepared.transform.spectrum();
  const std::span<const Bin> order = prepared.order;
  float largest = 0;
  float* number = prepared.numbers.data();
  for (std::size_t begin = 0; begin < order.size(); begin += piece) {
    float* const first = number;
    for (std::size_t i = begin; i < std::min(begin + piece, order.size()); ++i) {
      __builtin_prefetch(&spectrum[order[std::min(i + look_ahead, order.size() - 1)].index]);
      const Bin bin = order[i];
      *number++ = spectrum[bin.index].real() * factor;
      if (!bin.is_real) *number++ = spectrum[bin.index].imag() * factor;
    }
    const float here = largest_magnitude({first, number});
    require_finite({&here, 1});
    largest = std::max(largest, here);
  }
  TRILEMMA_ENSURE(number == prepared.numbers.data() + prepared.numbers.size(), "a block holds K_S K_D reals");
  return largest;
}

/// Sets the bins that are not kept to zero.
void clear_others(std::span<std::complex<float>> spectrum, Shape shape, LowPass block) {
  const auto width = static_cast<std::size_t>(shape.hidden / 2 + 1);
  for (std::int64_t row = 0; row < shape.tokens; ++row) {
    const bool is_kept = std::min(row, shape.tokens - row) <= block.tokens / 2;
    const auto kept = is_kept ? static_cast<std::size_t>(block.hidden / 2 + 1) : 0;
    std::ranges::fill(spectrum.subspan(static_cast<std::size_t>(row) * width + kept, width - kept),
                      std::complex<float>());
  }
}

/// Writes the sent bins, whose numbers count in units of `scale`.
void scatter(Prepared& prepared, NumberFormat format, std::span<const std::byte> payload, float scale, float factor) {
  const auto spectrum = prepared.transform.spectrum();
  const std::span<const Bin> order = prepared.order;
  const float* number = prepared.numbers.data();
  const float* const end = number + prepared.numbers.size();
  const float* unpacked = number;
  for (std::size_t i = 0; i < order.size(); ++i) {
    __builtin_prefetch(&spectrum[order[std::min(i + look_ahead, order.size() - 1)].index], 1);
    while (unpacked - number < 2 && unpacked != end) {
      const auto begin = static_cast<std::size_t>(unpacked - prepared.numbers.data());
      unpacked = prepared.numbers.data() + unpack_piece(format, payload, prepared.numbers, begin);
    }
    const Bin bin = order[i];
    const float real = *number++ * scale * factor;
    spectrum[bin.index] = {real, bin.is_real ? 0 : *number++ * scale * factor};
  }
}

/// Fills the rows u > S/2 of the columns that mirror onto themselves; they were not sent.
void restore_mirrored_rows(std::span<std::complex<float>> spectrum, Shape shape) {
  const std::int64_t width = shape.hidden / 2 + 1;
  const auto at = [&](std::int64_t row, std::int64_t column) -> std::complex<float>& {
    return spectrum[static_cast<std::size_t>(row * width + column)];
  };
  for (std::int64_t row = 1; 2 * row < shape.tokens; ++row) {
    at(shape.tokens - row, 0) = std::conj(at(row, 0));
    if (shape.hidden % 2 == 0) at(shape.tokens - row, width - 1) = std::conj(at(row, width - 1));
  }
}

LowPass block_of(const std::array<std::uint32_t, 2>& parameters) { return {parameters[0], parameters[1]}; }

/// Refuses headers that no encoder writes. A block uses at least 5/16 of a budget.
void require_plausible(const wire::Header& header, std::span<const std::byte> payload) {
  const LowPass block = block_of(header.parameters);
  if (!valid(block, header.shape)) throw MalformedMessage("the kept block of the message does not fit its shape");
  if (std::ssize(payload) != coefficients_size(header.format, reals(block))) {
    throw MalformedMessage("the payload of the message does not have the length of its kept block");
  }
  require_proportion(header.shape, payload.size());
}

/// Truncated 2-D Fourier transform with a symmetric low-pass, after FourierCompress (Ma et al., arXiv 2510.16418,
/// section III-C), with what the paper leaves open settled: all four corners are kept, redundant coefficients are never
/// sent, and the ratio counts bytes on the wire. The block is the one that choose_low_pass() takes for
/// floor(reference size / ratio) bytes. Lossless (to fp32 rounding) at ratio 1 with fp32; elsewhere good only if the
/// energy of the activation lies at low frequencies along tokens and hidden units, which the caller has to measure.
class Fourier final : public Codec {
 public:
  explicit Fourier(const FourierCodec& config) : Codec(wire::CodecId::fourier), config_(config) {}

 private:
  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const NumberFormat format = config_.coefficients;
    const std::int64_t fit = most_that_fit(payload_room(config_.reference, config_.ratio, shape), elements(shape),
                                           [&](std::int64_t count) { return coefficients_size(format, count); });
    if (fit == 0)
      return too_few_bytes(config_.reference, config_.ratio, shape, coefficients_size(format, 1), "one coefficient");
    const LowPass block = choose_low_pass(shape, fit);
    const std::int64_t kept = reals(block);
    return Layout{.format = format,
                  .parameters = {static_cast<std::uint32_t>(block.tokens), static_cast<std::uint32_t>(block.hidden)},
                  .payload = Bytes(coefficients_size(format, kept)),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = compression_work(shape, format, block),
                  .decode = restoration_work(shape, format, block)};
  }

  /// Throws std::invalid_argument if a value is not finite or the sum of all overflows fp32 (|x| S D > 3e38).
  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    Prepared& prepared = prepare(shape, block_of(layout.parameters));
    prepared.transform.forward(values);
    const float scale = format_scale(layout.format, gather(prepared, normalisation(shape)));
    pack_scaled(layout.format, prepared.numbers, scale, payload);
    return scale;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    require_plausible(header, payload);
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    Prepared& prepared = prepare(header.shape, block_of(header.parameters));
    clear_others(prepared.transform.spectrum(), header.shape, block_of(header.parameters));
    scatter(prepared, header.format, payload, header.scale, normalisation(header.shape));
    restore_mirrored_rows(prepared.transform.spectrum(), header.shape);
    prepared.transform.inverse(values);
  }

  Prepared& prepare(Shape shape, LowPass block) {
    return prepared_.get(std::pair{shape, block}, shape, [&] { return std::make_unique<Prepared>(shape, block); });
  }

  FourierCodec config_;
  PreparedShapes<std::pair<Shape, LowPass>, Prepared> prepared_;
};

}  // namespace

std::optional<std::string> problem(const FourierCodec& config) {
  return budget_problem("fourier", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const FourierCodec& config) { return std::make_unique<Fourier>(config); }

}  // namespace trilemma::codec_kinds
