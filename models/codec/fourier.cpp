#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/codec/kinds.h"
#include "models/codec/low_pass.h"
#include "models/codec/number_format.h"
#include "models/codec/real_transform.h"

namespace trilemma::codec_kinds {
namespace {

/// What a codec keeps prepared; beyond either it starts anew, so that a sweep over many shapes does not hoard memory.
constexpr std::size_t max_prepared_shapes = 32;
constexpr std::int64_t max_prepared_elements = std::int64_t{1} << 25;

/// DC is far larger than its neighbours whenever the mean is not zero; among integers it would take the whole range of
/// its block, so it travels as fp32 ahead of them.
std::int64_t payload_size(NumberFormat format, std::int64_t count) {
  if (!is_integer(format)) return packed_size(format, count);
  return packed_size(NumberFormat::fp32, 1) + packed_size(format, count - 1);
}

/// Largest count of reals, at most `limit`, whose payload fits into `size` bytes. Requires that one fits.
std::int64_t reals_that_fit(NumberFormat format, std::int64_t size, std::int64_t limit) {
  std::int64_t fits = 1;
  std::int64_t too_many = limit + 1;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (payload_size(format, middle) <= size ? fits : too_many) = middle;
  }
  return fits;
}

/// floor(reference / ratio), exact although the division is rounded: the fused product tells a quotient rounded up.
std::int64_t byte_budget(std::int64_t reference, double ratio) {
  const auto whole = static_cast<double>(reference);
  const double budget = std::floor(whole / ratio);
  return static_cast<std::int64_t>(std::fma(budget, ratio, -whole) > 0 ? budget - 1 : budget);
}

/// Power of two that brings the largest magnitude into 2^14 .. 2^15, where fp16 neither overflows nor loses bits early;
/// 1 for formats with a wider range. Not below 2^-126, so that it is a normal number itself.
float fp16_scale(NumberFormat format, std::span<const float> numbers) {
  if (format != NumberFormat::fp16) return 1;
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::abs(number));
  if (largest == 0) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0F, std::max(exponent - 15, -126));
}

/// Operations of the transform, 2.5 N log2 N (real-to-complex, half of Cooley and Tukey's 5 N log2 N), N = S D, plus
/// for each kept real one scaling and its conversion. Bytes: a row pass and a column pass, each reading and writing
/// 4 N, plus the gather (4 bytes a kept real) and the payload.
CodecWork compression_work(Shape shape, NumberFormat format, std::int64_t kept) {
  const auto count = static_cast<double>(elements(shape));
  const double transform = 2.5 * count * std::log2(count);
  return {.operations = Operations(transform + (1 + operations_per_real(format)) * static_cast<double>(kept)),
          .moved = Bytes(16 * elements(shape) + 4 * kept + payload_size(format, kept))};
}

/// The same, and 4 N bytes more to clear the spectrum.
CodecWork restoration_work(Shape shape, NumberFormat format, std::int64_t kept) {
  CodecWork work = compression_work(shape, format, kept);
  work.moved += Bytes(4 * elements(shape));
  return work;
}

/// 1 / sqrt(S D): with it in both directions the transform is orthonormal and keeps energy.
float normalisation(Shape shape) { return static_cast<float>(1 / std::sqrt(static_cast<double>(elements(shape)))); }

/// Everything that depends on the shape only, made once.
struct Prepared {
  Prepared(Shape shape, LowPass block)
      : transform(shape), order(wire_order(shape, block)), numbers(static_cast<std::size_t>(reals(block))) {}

  RealTransform transform;
  std::vector<Bin> order;
  std::vector<float> numbers;  // the kept reals in wire order
};

void gather(Prepared& prepared, float factor) {
  const auto spectrum = prepared.transform.spectrum();
  auto number = prepared.numbers.begin();
  for (const Bin bin : prepared.order) {
    *number++ = spectrum[bin.index].real() * factor;
    if (!bin.is_real) *number++ = spectrum[bin.index].imag() * factor;
  }
  TRILEMMA_ENSURE(number == prepared.numbers.end(), "a block holds K_S K_D reals");
}

void scatter(Prepared& prepared, float factor) {
  const auto spectrum = prepared.transform.spectrum();
  std::ranges::fill(spectrum, std::complex<float>());
  auto number = prepared.numbers.cbegin();
  for (const Bin bin : prepared.order) {
    const float real = *number++ * factor;
    spectrum[bin.index] = {real, bin.is_real ? 0 : *number++ * factor};
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

void write_numbers(NumberFormat format, std::span<const float> numbers, std::span<std::byte> payload) {
  if (!is_integer(format)) return pack(format, numbers, payload);
  pack(NumberFormat::fp32, numbers.first(1), payload.first(4));
  pack(format, numbers.subspan(1), payload.subspan(4));
}

void read_numbers(NumberFormat format, std::span<const std::byte> payload, std::span<float> numbers) {
  if (!is_integer(format)) return unpack(format, payload, numbers);
  unpack(NumberFormat::fp32, payload.first(4), numbers.first(1));
  unpack(format, payload.subspan(4), numbers.subspan(1));
}

LowPass block_of(const std::array<std::uint32_t, 2>& parameters) { return {parameters[0], parameters[1]}; }

/// Refuses headers that no encoder writes. A block uses at least 5/16 of a budget, so a message is at least a quarter
/// of it, and a budget is at least reference / max_compression_ratio with two bytes or more a value: so a value needs
/// at least 1 / (2 max_compression_ratio) bytes of message, and no short message can ask for much memory.
void require_plausible(const wire::Header& header, std::span<const std::byte> payload) {
  const LowPass block = block_of(header.parameters);
  if (!valid(block, header.shape)) throw MalformedMessage("the kept block of the message does not fit its shape");
  if (std::ssize(payload) != payload_size(header.format, reals(block))) {
    throw MalformedMessage("the payload of the message does not have the length of its kept block");
  }
  const auto message_size = static_cast<double>(wire::header_size + std::ssize(payload));
  if (static_cast<double>(elements(header.shape)) > 2 * max_compression_ratio * message_size) {
    throw MalformedMessage("the message is too short for the shape it claims");
  }
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
    const std::int64_t reference = wire::header_size + packed_size(config_.reference, elements(shape));
    const std::int64_t room = byte_budget(reference, config_.ratio) - wire::header_size;
    if (room < payload_size(format, 1)) return refusal(shape, reference);
    const LowPass block = choose_low_pass(shape, reals_that_fit(format, room, elements(shape)));
    const std::int64_t kept = reals(block);
    return Layout{.format = format,
                  .parameters = {static_cast<std::uint32_t>(block.tokens), static_cast<std::uint32_t>(block.hidden)},
                  .payload = Bytes(payload_size(format, kept)),
                  .reference = Bytes(reference),
                  .encode = compression_work(shape, format, kept),
                  .decode = restoration_work(shape, format, kept)};
  }

  /// Throws std::invalid_argument if a value is not finite or the sum of all overflows fp32 (|x| S D > 3e38).
  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    Prepared& prepared = prepare(shape, block_of(layout.parameters));
    std::ranges::copy(values, prepared.transform.values().begin());
    prepared.transform.forward();
    gather(prepared, normalisation(shape));
    if (!std::ranges::all_of(prepared.numbers, [](float number) { return std::isfinite(number); })) {
      throw std::invalid_argument("the activation has values that are not finite or too large for a transform in fp32");
    }
    const float scale = fp16_scale(layout.format, prepared.numbers);
    for (float& number : prepared.numbers) number /= scale;
    write_numbers(layout.format, prepared.numbers, payload);
    return scale;
  }

  std::vector<float> decode_payload(const wire::Header& header, std::span<const std::byte> payload) override {
    require_plausible(header, payload);
    Prepared& prepared = prepare(header.shape, block_of(header.parameters));
    read_numbers(header.format, payload, prepared.numbers);
    for (float& number : prepared.numbers) number *= header.scale;
    scatter(prepared, normalisation(header.shape));
    restore_mirrored_rows(prepared.transform.spectrum(), header.shape);
    prepared.transform.inverse();
    const auto values = prepared.transform.values();
    return {values.begin(), values.end()};
  }

  [[nodiscard]] Refusal refusal(Shape shape, std::int64_t reference) const {
    const std::int64_t smallest = wire::header_size + payload_size(config_.coefficients, 1);
    const double largest_ratio = static_cast<double>(reference) / static_cast<double>(smallest);
    const std::string advice =
        largest_ratio < 1 ? std::string("send it with kind 'identity'")
                          : fmt::format("choose a ratio of at most {:g}", std::floor(largest_ratio * 100) / 100);
    return {fmt::format(
        "ratio {:g} leaves {} bytes for an activation of {} x {}, but a header and one coefficient take "
        "{}; {}",
        config_.ratio, byte_budget(reference, config_.ratio), shape.tokens, shape.hidden, smallest, advice)};
  }

  Prepared& prepare(Shape shape, LowPass block) {
    const auto key = std::pair{shape, block};
    if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;
    if (prepared_.size() == max_prepared_shapes || prepared_elements_ + elements(shape) > max_prepared_elements) {
      prepared_.clear();
      prepared_elements_ = 0;
    }
    prepared_elements_ += elements(shape);
    return prepared_.try_emplace(key, shape, block).first->second;
  }

  FourierCodec config_;
  std::map<std::pair<Shape, LowPass>, Prepared> prepared_;
  std::int64_t prepared_elements_ = 0;
};

}  // namespace

std::optional<std::string> problem(const FourierCodec& config) {
  if (!(config.ratio >= 1 && config.ratio <= max_compression_ratio)) {
    return fmt::format("ratio: fourier compresses by 1 to {:g}; write for example '8'", max_compression_ratio);
  }
  if (is_integer(config.reference)) {
    return "reference: an uncompressed message is fp32, fp16 or bf16; write for example 'fp32'";
  }
  return std::nullopt;
}

std::unique_ptr<Codec> make(const FourierCodec& config) { return std::make_unique<Fourier>(config); }

}  // namespace trilemma::codec_kinds
