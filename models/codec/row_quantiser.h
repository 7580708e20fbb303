#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "models/codec/little_endian.h"
#include "models/codec/number_format.h"

/// Rows of integers with one fp16 scale each.
namespace trilemma {

/// Bytes of a row of `count` values: its scale and its levels.
inline std::int64_t row_size(NumberFormat format, std::int64_t count) { return 2 + levels_size(format, count); }

/// The smallest fp16 number that is not below `value`. Throws std::invalid_argument if there is none.
inline std::uint16_t fp16_not_below(float value) {
  std::uint16_t bits = to_fp16(value);
  if (from_fp16(bits) < value) ++bits;
  if (!std::isfinite(from_fp16(bits)))
    throw std::invalid_argument("the activation has values too large for a scale in fp16, or that are not finite");
  return bits;
}

/// Writes a row. The scale is rounded up, so that no value leaves the range of its levels.
inline void write_row(NumberFormat format, std::span<const float> values, std::span<std::byte> out) {
  const std::uint16_t scale = fp16_not_below(scale_for(format, largest_magnitude(values)));
  put_little_endian(out.first(2), scale);
  put_levels(format, values, from_fp16(scale), out.subspan(2));
}

inline void read_row(NumberFormat format, std::span<const std::byte> row, std::span<float> values) {
  const auto scale = static_cast<std::uint16_t>(get_little_endian(row.first(2)));
  get_levels(format, row.subspan(2), from_fp16(scale), values);
}

}  // namespace trilemma
