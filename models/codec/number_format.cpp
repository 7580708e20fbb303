#include "models/codec/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/ensure.h"
#include "models/codec/little_endian.h"

namespace trilemma {
namespace {

constexpr std::size_t block_reals = static_cast<std::size_t>(quantisation_block);
constexpr std::size_t scale_bytes = 4;
constexpr float fp16_subnormal_step = 0x1p-24F;

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

constexpr int bits_of(NumberFormat format) {
  return format == NumberFormat::int8 ? 8 : format == NumberFormat::int4 ? 4 : 2;
}

void put_float(std::span<std::byte> out, float value) { put_little_endian(out, std::bit_cast<std::uint32_t>(value)); }

float get_float(std::span<const std::byte> bytes) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(get_little_endian(bytes)));
}

std::uint16_t get_half(std::span<const std::byte> bytes) {
  return static_cast<std::uint16_t>(get_little_endian(bytes));
}

/// Adds half a unit of the last kept place, minus one for an even pattern, then drops `places` bits.
std::uint32_t round_to_even(std::uint32_t bits, int places) {
  const std::uint32_t half = (1U << (places - 1)) - 1;
  return (bits + half + (bits >> places & 1U)) >> places;
}

/// Levels are centred on zero: whole numbers -127 .. 127 and -7 .. 7, but -1.5, -0.5, 0.5, 1.5 among two bits, where a
/// zero would leave three of four.
float largest_level(NumberFormat format) {
  return format == NumberFormat::int8 ? 127.0F : format == NumberFormat::int4 ? 7.0F : 1.5F;
}

/// The pattern of the level nearest to `value`: two's complement, or 0 .. 3 of two bits.
std::uint32_t level_of(NumberFormat format, float value) {
  const float limit = largest_level(format);
  if (format == NumberFormat::int2)
    return static_cast<std::uint32_t>(std::clamp(std::floor(value), -2.0F, 1.0F) + 2.0F);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::clamp(std::nearbyint(value), -limit, limit)));
}

float value_of(NumberFormat format, std::uint32_t pattern) {
  if (format == NumberFormat::int2) return static_cast<float>(pattern) - 1.5F;
  const std::uint32_t sign = 1U << (bits_of(format) - 1);
  return static_cast<float>(static_cast<std::int32_t>(pattern ^ sign) - static_cast<std::int32_t>(sign));
}

void pack_block(NumberFormat format, std::span<const float> reals, std::span<std::byte> out) {
  const float scale = scale_for(format, largest_magnitude(reals));
  put_float(out.first(scale_bytes), scale);
  put_levels(format, reals, scale, out.subspan(scale_bytes));
}

void unpack_block(NumberFormat format, std::span<const std::byte> packed, std::span<float> reals) {
  get_levels(format, packed.subspan(scale_bytes), get_float(packed.first(scale_bytes)), reals);
}

/// Calls visit(reals of one block, bytes of that block) for every block of the integer formats.
template <class Real, class Byte, class Visit>
void for_each_block(NumberFormat format, std::span<Real> reals, std::span<Byte> bytes, Visit visit) {
  while (!reals.empty()) {
    const std::size_t count = std::min(block_reals, reals.size());
    const auto size = static_cast<std::size_t>(packed_size(format, static_cast<std::int64_t>(count)));
    visit(reals.first(count), bytes.first(size));
    reals = reals.subspan(count);
    bytes = bytes.subspan(size);
  }
}

void put_real(NumberFormat format, float real, std::span<std::byte> out) {
  if (format == NumberFormat::fp32) return put_float(out, real);
  put_little_endian(out, format == NumberFormat::fp16 ? to_fp16(real) : to_bf16(real));
}

float get_real(NumberFormat format, std::span<const std::byte> bytes) {
  if (format == NumberFormat::fp32) return get_float(bytes);
  return format == NumberFormat::fp16 ? from_fp16(get_half(bytes)) : from_bf16(get_half(bytes));
}

}  // namespace

std::uint16_t to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto result = [&]() -> std::uint32_t {
    if (magnitude > 0x7f800000U) {  // A NaN whose kept payload bits are all zero would turn into an infinity.
      const std::uint32_t payload = magnitude >> 13 & 0x3ffU;
      return 0x7c00U | (payload == 0 ? 0x200U : payload);
    }
    if (magnitude >= 0x477ff000U) return 0x7c00U;  // 65520, half-way between the largest number and 65536.
    if (magnitude >= 0x38800000U) return round_to_even(magnitude - (112U << 23), 13);  // 2^-14, smallest normal.
    // Scaling by a power of two is exact; the one rounding happens in nearbyint.
    return static_cast<std::uint32_t>(std::nearbyint(std::bit_cast<float>(magnitude) / fp16_subnormal_step));
  }();
  return static_cast<std::uint16_t>(sign | result);
}

float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const auto magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * fp16_subnormal_step);
    return std::bit_cast<float>(sign | magnitude);
  }
  const std::uint32_t widened = exponent == 0x1fU ? 0xffU : exponent + 112;
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    const std::uint32_t upper = bits >> 16;
    return static_cast<std::uint16_t>((upper & 0x7fU) == 0 ? upper | 0x40U : upper);
  }
  return static_cast<std::uint16_t>(round_to_even(bits, 16));
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

float largest_magnitude(std::span<const float> reals) {
  float largest = 0;
  for (const float real : reals) largest = std::max(largest, std::abs(real));
  return largest;
}

float scale_for(NumberFormat format, float largest) { return largest / largest_level(format); }

std::int64_t levels_size(NumberFormat format, std::int64_t reals) { return rounded_up(reals * bits_of(format), 8); }

void put_levels(NumberFormat format, std::span<const float> reals, float scale, std::span<std::byte> out) {
  TRILEMMA_ENSURE(std::ssize(out) == levels_size(format, std::ssize(reals)), "the buffer has the size of its levels");
  const auto bits = static_cast<std::size_t>(bits_of(format));
  const std::uint32_t mask = (1U << bits) - 1;
  std::ranges::fill(out, std::byte{0});
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const std::uint32_t pattern = level_of(format, scale > 0 ? reals[i] / scale : 0.0F) & mask;
    out[i * bits / 8] |= static_cast<std::byte>(pattern << (i * bits % 8));
  }
}

void get_levels(NumberFormat format, std::span<const std::byte> levels, float scale, std::span<float> reals) {
  TRILEMMA_ENSURE(std::ssize(levels) == levels_size(format, std::ssize(reals)),
                  "the buffer has the size of its levels");
  const auto bits = static_cast<std::size_t>(bits_of(format));
  const std::uint32_t mask = (1U << bits) - 1;
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const std::uint32_t byte = std::to_integer<std::uint32_t>(levels[i * bits / 8]);
    reals[i] = scale * value_of(format, byte >> (i * bits % 8) & mask);
  }
}

std::int64_t packed_size(NumberFormat format, std::int64_t reals) {
  switch (format) {
    case NumberFormat::fp32:
      return 4 * reals;
    case NumberFormat::fp16:
    case NumberFormat::bf16:
      return 2 * reals;
    case NumberFormat::int8:
    case NumberFormat::int4:
    case NumberFormat::int2:
      return 4 * rounded_up(reals, quantisation_block) + levels_size(format, reals);
  }
  TRILEMMA_ENSURE(false, "the number format is one of the enumeration");
  return 0;
}

void pack(NumberFormat format, std::span<const float> reals, std::span<std::byte> out) {
  TRILEMMA_ENSURE(std::ssize(out) == packed_size(format, std::ssize(reals)), "the buffer has the packed size");
  if (is_integer(format)) {
    return for_each_block(format, reals, out, [&](auto block, auto bytes) { pack_block(format, block, bytes); });
  }
  const auto size = static_cast<std::size_t>(packed_size(format, 1));
  for (std::size_t i = 0; i < reals.size(); ++i) put_real(format, reals[i], out.subspan(i * size, size));
}

void unpack(NumberFormat format, std::span<const std::byte> packed, std::span<float> reals) {
  TRILEMMA_ENSURE(std::ssize(packed) == packed_size(format, std::ssize(reals)), "the buffer has the packed size");
  if (is_integer(format)) {
    return for_each_block(format, reals, packed, [&](auto block, auto bytes) { unpack_block(format, bytes, block); });
  }
  const auto size = static_cast<std::size_t>(packed_size(format, 1));
  for (std::size_t i = 0; i < reals.size(); ++i) reals[i] = get_real(format, packed.subspan(i * size, size));
}

double operations_per_real(NumberFormat format) {
  if (format == NumberFormat::fp32) return 0;
  return is_integer(format) ? 4 : 1;
}

}  // namespace trilemma
