#pragma once

#include <cstdint>
#include <vector>

#include "models/codec/shape.h"

/// Which Fourier coefficients of a real S x D matrix are sent, and in which order.
///
/// A symmetric low-pass keeps the token frequencies |u| <= a and the hidden frequencies |v| <= b, all four corners of
/// the S x D spectrum; that is K_S = min(2a + 1, S) rows and K_D = min(2b + 1, D) columns. Since X[-u, -v] is the
/// conjugate of X[u, v], exactly K_S K_D real numbers are independent: columns v = 1 .. b of the half spectrum hold
/// 2 K_S reals each; the columns that mirror onto themselves (v = 0, and v = D/2 for even D) hold K_S, because their
/// rows u > S/2 repeat the others and their bins u = 0 and u = S/2 are real. At full retention that is S D.
namespace trilemma {

/// A kept block. Each width is odd, or the whole side.
struct LowPass {
  std::int64_t tokens = 1;  // K_S, 1 .. S
  std::int64_t hidden = 1;  // K_D, 1 .. D

  auto operator<=>(const LowPass&) const = default;
};

/// Independent real numbers in the block, K_S K_D.
constexpr std::int64_t reals(LowPass block) { return block.tokens * block.hidden; }

/// Whether both widths are possible for the shape.
bool valid(LowPass block, Shape shape);

/// The block for a budget of `budget` >= 1 reals. For each possible K_S the largest K_D that fits is a candidate (at
/// most S/2 + 1 of them). Among the candidates that hold at least 15/16 of the reals that the fullest one holds, the
/// rule takes the one whose proportions are closest to those of the matrix (the larger of K_S D / (K_D S) and its
/// inverse is smallest); ties go to more reals, then to the smaller K_S. The allowance of 1/16 is there because the
/// fullest block alone would be long and thin as often as not. Always keeps DC; keeps all of S x D if that fits.
/// At least 5/16 of the budget (or all of S x D) is used: the fullest candidate uses a third or more.
LowPass choose_low_pass(Shape shape, std::int64_t budget);

/// One sent coefficient: its place in the half spectrum, row-major S x (D/2 + 1).
struct Bin {
  std::uint32_t index : 31 = 0;
  std::uint32_t is_real : 1 = 0;  // the imaginary part is zero by symmetry and not sent
};

/// The sent bins in wire order: DC, the rest of row u = 0 (what all tokens share, where activations have their
/// outliers), the rest of column v = 0, then all others; each group by rising frequency (u/S)^2 + (v/D)^2, ties by
/// index. Neighbours in this order have similar magnitudes, so they can share a scale. Requires S D <= 2^28.
std::vector<Bin> wire_order(Shape shape, LowPass block);

}  // namespace trilemma
