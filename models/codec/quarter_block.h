#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "models/codec/shape.h"

/// The block of low frequencies as two texts on FourierCompress keep it: the top-left corner of the S x D spectrum.
/// A real signal spreads each low frequency over four corners; of those this holds one, and its mirror image at best.
namespace trilemma {

/// A place in the S x D spectrum.
struct SpectrumPlace {
  std::int64_t token = 0;   // u
  std::int64_t hidden = 0;  // v
};

struct QuarterBlock {
  std::int64_t tokens = 1;  // K_S
  std::int64_t hidden = 1;  // K_D
  std::int64_t extra = 0;   // coefficients next to the block (mid-band)

  auto operator<=>(const QuarterBlock&) const = default;
};

constexpr std::int64_t coefficients(QuarterBlock block) { return block.tokens * block.hidden + block.extra; }

/// K_S = S sqrt(keep) and K_D = D sqrt(keep), cut to whole numbers as in the second text; may be 0.
QuarterBlock block_of_share(Shape shape, double keep);

/// The largest block with the proportions of the matrix, at least 1 x 1, that has at most `most` coefficients.
QuarterBlock block_within(Shape shape, std::int64_t most);

/// The places that are sent, in wire order: the block by rows, then the nearest others with u < S/2 and v < D/2 by
/// rising frequency (u/S)^2 + (v/D)^2, ties by place.
std::vector<SpectrumPlace> places(Shape shape, QuarterBlock block);

/// X[u, v] of a half spectrum (columns 0 .. D/2), for any u and v.
std::complex<float> coefficient(std::span<const std::complex<float>> half, Shape shape, SpectrumPlace place);

/// Half spectrum whose inverse transform is the real part of the inverse of `full` (S x D, row-major): the part of it
/// that is symmetric, (Z[u, v] + conj Z[-u, -v]) / 2.
void take_real_part(std::span<const std::complex<float>> full, Shape shape, std::span<std::complex<float>> half);

}  // namespace trilemma
