#pragma once

#include <compare>
#include <cstdint>

namespace trilemma {

/// Size of an activation: a row-major matrix with one row per token.
struct Shape {
  std::int64_t tokens = 0;  // S, rows, at least 1
  std::int64_t hidden = 0;  // D, columns, at least 1

  auto operator<=>(const Shape&) const = default;
};

/// S D, the number of activation values. Requires both sides below 2^31, so that the product cannot overflow.
constexpr std::int64_t elements(Shape shape) { return shape.tokens * shape.hidden; }

}  // namespace trilemma
