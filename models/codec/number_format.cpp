#include "models/codec/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/ensure.h"
#include "models/codec/little_endian.h"

namespace trilemma {
namespace {

constexpr std::size_t block_reals = static_cast<std::size_t>(quantisation_block);
constexpr std::size_t scale_bytes = 4;

// Loops over reals have no call and no branch inside, so that compilers turn them into vector instructions.
/// Also compiled for processors with vectors of 32 bytes, chosen at run time. No fused products: results stay the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TRILEMMA_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TRILEMMA_WIDE
#endif

constexpr float fp16_step_at = 0.5F;  // fp32 numbers from here on are that far apart

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

constexpr int bits_of(NumberFormat format) {
  return format == NumberFormat::int8 ? 8 : format == NumberFormat::int4 ? 4 : 2;
}

void put_float(std::span<std::byte> out, float value) { put_little_endian(out, std::bit_cast<std::uint32_t>(value)); }

float get_float(std::span<const std::byte> bytes) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(get_little_endian(bytes)));
}

/// Adds half a unit of the last kept place, minus one for an even pattern, then drops `places` bits.
std::uint32_t round_to_even(std::uint32_t bits, int places) {
  const std::uint32_t half = (1U << (places - 1)) - 1;
  return (bits + half + (bits >> places & 1U)) >> places;
}

/// The nearest whole number, ties to even, of |value| <= 2^22: the sum has no room for a fraction.
float nearest_whole(float value) { return (value + 0x1.8p23F) - 0x1.8p23F; }

/// Levels are centred on zero: whole numbers -127 .. 127 and -7 .. 7, but -1.5, -0.5, 0.5, 1.5 among two bits, where a
/// zero would leave three of four.
constexpr float largest_level(NumberFormat format) {
  return format == NumberFormat::int8 ? 127.0F : format == NumberFormat::int4 ? 7.0F : 1.5F;
}

/// The pattern of the level nearest to `value`: two's complement, or 0 .. 3 of two bits.
std::uint32_t level_of(NumberFormat format, float value) {
  const float limit = largest_level(format);
  if (format == NumberFormat::int2)
    return static_cast<std::uint32_t>(std::clamp(std::floor(value), -2.0F, 1.0F) + 2.0F);
  const float raised = value < -limit ? -limit : value;
  const float clamped = raised > limit ? limit : raised;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(nearest_whole(clamped)));
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

/// Calls visit(format as a constant) for an integer format.
template <class Visit>
void with_constant(NumberFormat format, Visit visit) {
  if (format == NumberFormat::int8) return visit(std::integral_constant<NumberFormat, NumberFormat::int8>());
  if (format == NumberFormat::int4) return visit(std::integral_constant<NumberFormat, NumberFormat::int4>());
  return visit(std::integral_constant<NumberFormat, NumberFormat::int2>());
}

template <NumberFormat format>
void put_levels_of(std::span<const float> reals, float scale, std::span<std::byte> out) {
  constexpr std::size_t bits = bits_of(format);
  constexpr std::uint32_t mask = (1U << bits) - 1;
  const float divisor = scale > 0 ? scale : 1;  // of zeros
  if constexpr (bits == 8) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      out[i] = static_cast<std::byte>(level_of(format, reals[i] / divisor));
  } else {
    std::ranges::fill(out, std::byte{0});
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const std::uint32_t pattern = level_of(format, reals[i] / divisor) & mask;
      out[i * bits / 8] |= static_cast<std::byte>(pattern << (i * bits % 8));
    }
  }
}

template <NumberFormat format>
void get_levels_of(std::span<const std::byte> levels, float scale, std::span<float> reals) {
  constexpr std::size_t bits = bits_of(format);
  constexpr std::uint32_t mask = (1U << bits) - 1;
  if constexpr (bits == 8) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      reals[i] = scale * value_of(format, std::to_integer<std::uint32_t>(levels[i]));
  } else {
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const auto byte = std::to_integer<std::uint32_t>(levels[i * bits / 8]);
      reals[i] = scale * value_of(format, byte >> (i * bits % 8) & mask);
    }
  }
}

}  // namespace

std::uint16_t to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Neighbours of 1/2 are one step of the subnormal numbers apart, so that this sum rounds to it.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + fp16_step_at) -
                                  std::bit_cast<std::uint32_t>(fp16_step_at);
  const std::uint32_t normal = round_to_even(magnitude - (112U << 23), 13);
  // A NaN whose kept payload bits are all zero would turn into an infinity.
  const std::uint32_t payload = magnitude >> 13 & 0x3ffU;
  const std::uint32_t nan = 0x7c00U | (payload == 0 ? 0x200U : payload);
  std::uint32_t result = magnitude < 0x38800000U ? subnormal : normal;  // 2^-14, smallest normal
  result = magnitude >= 0x477ff000U ? 0x7c00U : result;                 // 65520, half-way from the largest to 65536
  result = magnitude > 0x7f800000U ? nan : result;
  return static_cast<std::uint16_t>(sign | result);
}

float from_fp16(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffU;
  const std::uint32_t sign = (bits ^ magnitude) << 16;
  const std::uint32_t widened = (magnitude << 13) + (112U << 23);
  const std::uint32_t normal = widened + (magnitude < 0x7c00U ? 0 : 112U << 23);  // infinities and NaN
  // The fraction of a subnormal number, as that of a number from 2^-14 on whose leading one is then taken away.
  const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(widened + (1U << 23)) - 0x1p-14F);
  return std::bit_cast<float>(sign | (magnitude < 0x400U ? subnormal : normal));
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

TRILEMMA_WIDE float largest_magnitude(std::span<const float> reals) {
  std::int32_t largest = 0;  // patterns of positive numbers are in the order of the numbers
  for (const float real : reals) largest = std::max(largest, std::bit_cast<std::int32_t>(std::abs(real)));
  return std::bit_cast<float>(largest);
}

float scale_for(NumberFormat format, float largest) { return largest / largest_level(format); }

std::int64_t levels_size(NumberFormat format, std::int64_t reals) { return rounded_up(reals * bits_of(format), 8); }

TRILEMMA_WIDE void put_levels(NumberFormat format, std::span<const float> reals, float scale,
                              std::span<std::byte> out) {
  TRILEMMA_ENSURE(std::ssize(out) == levels_size(format, std::ssize(reals)), "the buffer has the size of its levels");
  with_constant(format, [&](auto constant) { put_levels_of<constant()>(reals, scale, out); });
}

TRILEMMA_WIDE void get_levels(NumberFormat format, std::span<const std::byte> levels, float scale,
                              std::span<float> reals) {
  TRILEMMA_ENSURE(std::ssize(levels) == levels_size(format, std::ssize(reals)),
                  "the buffer has the size of its levels");
  with_constant(format, [&](auto constant) { get_levels_of<constant()>(levels, scale, reals); });
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

TRILEMMA_WIDE void pack(NumberFormat format, std::span<const float> reals, std::span<std::byte> out) {
  TRILEMMA_ENSURE(std::ssize(out) == packed_size(format, std::ssize(reals)), "the buffer has the packed size");
  if (is_integer(format)) {
    return for_each_block(format, reals, out, [&](auto block, auto bytes) { pack_block(format, block, bytes); });
  }
  const auto put_all = [&](auto pattern_of) {
    for (std::size_t i = 0; i < reals.size(); ++i) put_little_endian_at(out, i, pattern_of(reals[i]));
  };
  if (format == NumberFormat::fp16) return put_all([](float real) { return to_fp16(real); });
  if (format == NumberFormat::bf16) return put_all([](float real) { return to_bf16(real); });
  put_all([](float real) { return std::bit_cast<std::uint32_t>(real); });
}

TRILEMMA_WIDE void unpack(NumberFormat format, std::span<const std::byte> packed, std::span<float> reals) {
  TRILEMMA_ENSURE(std::ssize(packed) == packed_size(format, std::ssize(reals)), "the buffer has the packed size");
  if (is_integer(format)) {
    return for_each_block(format, reals, packed, [&](auto block, auto bytes) { unpack_block(format, bytes, block); });
  }
  const auto get_all = [&](auto pattern, auto real_of) {
    for (std::size_t i = 0; i < reals.size(); ++i)
      reals[i] = real_of(get_little_endian_at<decltype(pattern)>(packed, i));
  };
  if (format == NumberFormat::fp16) return get_all(std::uint16_t{}, [](auto bits) { return from_fp16(bits); });
  if (format == NumberFormat::bf16) return get_all(std::uint16_t{}, [](auto bits) { return from_bf16(bits); });
  get_all(std::uint32_t{}, [](auto bits) { return std::bit_cast<float>(bits); });
}

double operations_per_real(NumberFormat format) {
  if (format == NumberFormat::fp32) return 0;
  return is_integer(format) ? 4 : 1;
}

}  // namespace trilemma
