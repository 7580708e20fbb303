#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/codec/config.h"

/// Real numbers as bytes: IEEE 754 binary32 and binary16, bfloat16, and block-quantised integers, all little-endian.
///
/// int8, int4 and int2 share one fp32 scale among `quantisation_block` reals: scale = max|x| / L with L = 127, 7
/// or 1.5, and each value is the nearest level times the scale, so that its error is at most scale / 2 (symmetric
/// quantisation, Jacob et al., CVPR 2018, without zero point). Levels are whole numbers in two's complement; those of
/// int2 are -1.5, -0.5, 0.5 and 1.5, written as 0 to 3. A block is its scale followed by its levels, the earlier one in
/// the lower bits of a byte. Only the last block may be shorter.
namespace trilemma {

/// Reals that share one fp32 scale in the integer formats.
inline constexpr std::int64_t quantisation_block = 64;

/// Rounds to the nearest binary16, ties to even. Magnitudes from 65520 on become infinite; a NaN stays a NaN and keeps
/// the upper bits of its payload. Subnormal numbers are exact.
std::uint16_t to_fp16(float value);
/// Exact for every pattern.
float from_fp16(std::uint16_t bits);

/// Rounds to the nearest bfloat16 (upper half of binary32), ties to even; a NaN stays a NaN.
std::uint16_t to_bf16(float value);
/// Exact for every pattern.
float from_bf16(std::uint16_t bits);

/// Whether the format is quantised in blocks rather than floating.
constexpr bool is_integer(NumberFormat format) {
  return format == NumberFormat::int8 || format == NumberFormat::int4 || format == NumberFormat::int2;
}

/// Exact number of bytes that `pack` writes for `reals` >= 0 numbers.
std::int64_t packed_size(NumberFormat format, std::int64_t reals);

/// Writes `reals` to `out`. Requires out.size() == packed_size(format, reals.size()) and, for integers, finite reals.
void pack(NumberFormat format, std::span<const float> reals, std::span<std::byte> out);

/// Reads what `pack` wrote. Requires packed.size() == packed_size(format, reals.size()).
void unpack(NumberFormat format, std::span<const std::byte> packed, std::span<float> reals);

/// Largest |x|, 0 of none; not finite unless all are.
float largest_magnitude(std::span<const float> reals);
/// The scale with which an integer format reaches `largest`.
float scale_for(NumberFormat format, float largest);
/// Bytes of the levels alone, without scales.
std::int64_t levels_size(NumberFormat format, std::int64_t reals);
/// Levels of an integer format with a scale of the caller's. Require buffers of levels_size(); a scale of 0 is for
/// zeros only.
void put_levels(NumberFormat format, std::span<const float> reals, float scale, std::span<std::byte> out);
void get_levels(NumberFormat format, std::span<const std::byte> levels, float scale, std::span<float> reals);

/// Arithmetic operations to pack or unpack one real, for the cost model: fp32 none (a copy), fp16 and bf16 one
/// conversion, integers four (maximum, scaling, rounding, packing).
double operations_per_real(NumberFormat format);

}  // namespace trilemma
