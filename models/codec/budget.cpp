#include "models/codec/budget.h"

#include <fmt/format.h>

#include "models/codec/number_format.h"

namespace trilemma {
namespace {

/// floor(reference / ratio), exact although the division is rounded: the fused product tells a quotient rounded up.
std::int64_t byte_budget(std::int64_t reference, double ratio) {
  const auto whole = static_cast<double>(reference);
  const double budget = std::floor(whole / ratio);
  return static_cast<std::int64_t>(std::fma(budget, ratio, -whole) > 0 ? budget - 1 : budget);
}

}  // namespace

std::int64_t reference_bytes(NumberFormat reference, Shape shape) {
  return wire::header_size + packed_size(reference, elements(shape));
}

std::int64_t payload_room(NumberFormat reference, double ratio, Shape shape) {
  return byte_budget(reference_bytes(reference, shape), ratio) - wire::header_size;
}

Refusal too_few_bytes(NumberFormat reference, double ratio, Shape shape, std::int64_t smallest,
                      const std::string& what) {
  const std::int64_t whole = reference_bytes(reference, shape);
  const std::int64_t least = wire::header_size + smallest;
  const double largest_ratio = static_cast<double>(whole) / static_cast<double>(least);
  const std::string advice = largest_ratio < 1
                                 ? std::string("send it with kind 'identity'")
                                 : fmt::format("choose a ratio of at most {:g}", std::floor(largest_ratio * 100) / 100);
  return {fmt::format("ratio {:g} leaves {} bytes for an activation of {} x {}, but a header and {} take {}; {}", ratio,
                      byte_budget(whole, ratio), shape.tokens, shape.hidden, what, least, advice)};
}

std::optional<std::string> budget_problem(const char* kind, double ratio, NumberFormat reference) {
  if (!(ratio >= 1 && ratio <= max_compression_ratio)) {
    return fmt::format("ratio: {} compresses by 1 to {:g}; write for example '8'", kind, max_compression_ratio);
  }
  if (is_integer(reference)) {
    return "reference: an uncompressed message is fp32, fp16 or bf16; write for example 'fp32'";
  }
  return std::nullopt;
}

float format_scale(NumberFormat format, std::span<const float> numbers) {
  return format == NumberFormat::fp16 ? format_scale(format, largest_magnitude(numbers)) : 1;
}

float format_scale(NumberFormat format, float largest) {
  if (format != NumberFormat::fp16 || largest == 0) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0F, std::max(exponent - 15, -126));
}

std::int64_t coefficients_size(NumberFormat format, std::int64_t count) {
  if (!is_integer(format)) return packed_size(format, count);
  return packed_size(NumberFormat::fp32, 1) + packed_size(format, count - 1);
}

void pack_coefficients(NumberFormat format, std::span<const float> numbers, std::span<std::byte> payload) {
  if (!is_integer(format)) return pack(format, numbers, payload);
  pack(NumberFormat::fp32, numbers.first(1), payload.first(4));
  pack(format, numbers.subspan(1), payload.subspan(4));
}

void pack_scaled(NumberFormat format, std::span<float> numbers, float scale, std::span<std::byte> payload) {
  if (scale == 1) return pack_coefficients(format, numbers, payload);
  constexpr std::size_t piece = 4096;  // 16 KiB stay in the fastest cache between the two loops
  const auto size = static_cast<std::size_t>(packed_size(format, 1));
  const float inverse = 1 / scale;  // exact, as are the products: a power of two
  for (std::size_t begin = 0; begin < numbers.size(); begin += piece) {
    const auto some = numbers.subspan(begin, std::min(piece, numbers.size() - begin));
    for (float& number : some) number *= inverse;
    pack(format, some, payload.subspan(begin * size, some.size() * size));
  }
}

void unpack_coefficients(NumberFormat format, std::span<const std::byte> payload, std::span<float> numbers) {
  for (std::size_t begin = 0; begin < numbers.size();) begin = unpack_piece(format, payload, numbers, begin);
}

std::size_t unpack_piece(NumberFormat format, std::span<const std::byte> payload, std::span<float> numbers,
                         std::size_t begin) {
  constexpr std::size_t piece = 4096;  // whole blocks that stay in the fastest cache
  static_assert(piece % quantisation_block == 0);
  const bool has_dc = is_integer(format);
  if (has_dc && begin == 0) {
    unpack(NumberFormat::fp32, payload.first(4), numbers.first(1));
    return 1;
  }
  const auto size = [&](std::size_t count) {
    return static_cast<std::size_t>(packed_size(format, static_cast<std::int64_t>(count)));
  };
  const std::size_t count = std::min(piece, numbers.size() - begin);
  const std::size_t offset = has_dc ? 4 + size(begin - 1) : size(begin);
  unpack(format, payload.subspan(offset, size(count)), numbers.subspan(begin, count));
  return begin + count;
}

void require_finite(std::span<const float> numbers) {
  if (std::isfinite(largest_magnitude(numbers))) return;
  throw std::invalid_argument("the activation has values that are not finite or too large for a transform in fp32");
}

void require_proportion(Shape shape, std::size_t payload) {
  const auto message = static_cast<double>(wire::header_size + static_cast<std::int64_t>(payload));
  if (static_cast<double>(elements(shape)) > 2 * max_compression_ratio * message) {
    throw MalformedMessage("the message is too short for the shape it claims");
  }
}

}  // namespace trilemma
