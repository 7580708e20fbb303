#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/codec/codec.h"

/// What codecs with a ratio share: how many bytes they may write, and what they say if those are too few.
namespace trilemma {

/// Bytes of the uncompressed message, header included.
std::int64_t reference_bytes(NumberFormat reference, Shape shape);

/// Bytes for the payload under `ratio`: floor(reference_bytes / ratio) less the header; may be negative.
std::int64_t payload_room(NumberFormat reference, double ratio, Shape shape);

/// That `smallest` bytes of payload, which `what` take, do not fit: with the largest ratio that they do.
Refusal too_few_bytes(NumberFormat reference, double ratio, Shape shape, std::int64_t smallest,
                      const std::string& what);

/// What is wrong with a ratio or a reference format.
std::optional<std::string> budget_problem(const char* kind, double ratio, NumberFormat reference);

/// Largest count of 1 .. `limit` whose size fits into `room`; `size` never falls. 0 if not even one fits.
template <class Size>
std::int64_t most_that_fit(std::int64_t room, std::int64_t limit, Size size) {
  std::int64_t fits = 0;
  std::int64_t too_many = limit + 1;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (size(middle) <= room ? fits : too_many) = middle;
  }
  return fits;
}

/// Power of two that brings the largest magnitude into 2^14 .. 2^15, where fp16 neither overflows nor loses bits early;
/// 1 for formats with a wider range. Not below 2^-126, so that it is a normal number itself.
float format_scale(NumberFormat format, std::span<const float> numbers);
float format_scale(NumberFormat format, float largest);

/// Coefficients of a transform, DC first. DC is far larger than its neighbours whenever the mean is not zero; among
/// integers it would take the whole range of its block, so there it travels as fp32 ahead of them.
std::int64_t coefficients_size(NumberFormat format, std::int64_t count);
void pack_coefficients(NumberFormat format, std::span<const float> numbers, std::span<std::byte> payload);
/// The same after dividing the numbers by the scale of their format, which destroys them.
void pack_scaled(NumberFormat format, std::span<float> numbers, float scale, std::span<std::byte> payload);
void unpack_coefficients(NumberFormat format, std::span<const std::byte> payload, std::span<float> numbers);
/// One piece of that, from number `begin` on, where 0 or the last call ended; returns where it ends.
std::size_t unpack_piece(NumberFormat format, std::span<const std::byte> payload, std::span<float> numbers,
                         std::size_t begin);

/// Throws std::invalid_argument unless all are finite; `what` completes "the activation has values that ...".
void require_finite(std::span<const float> numbers);

/// Refuses messages so short that no encoder made them for this shape: codecs use a quarter of their budget or more,
/// and a budget is at least the reference / max_compression_ratio with two bytes or more a value. So no short message
/// can ask for much memory.
void require_proportion(Shape shape, std::size_t payload);

}  // namespace trilemma
