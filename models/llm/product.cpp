#include "models/llm/product.h"

#include <algorithm>
#include <cstring>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::Index;

constexpr Index panel = 16;  // outputs side by side

template <int lanes>
struct Simd {
  using Vector __attribute__((vector_size(lanes * sizeof(float)))) = float;
};

/// One panel for `rows` rows: x is [rows][inputs], weights [inputs][panel], y [rows][stride].
template <int lanes, int rows>
[[gnu::always_inline]] inline void multiply_rows(const float* x, const float* weights, Index inputs, float* y,
                                                 Index stride) {
  using Vector = typename Simd<lanes>::Vector;
  constexpr int parts = panel / lanes;
  Vector sums[rows][parts] = {};
  for (Index k = 0; k < inputs; ++k) {
    Vector weight[parts];
#pragma GCC unroll 4
    for (Index p = 0; p < parts; ++p) std::memcpy(&weight[p], weights + k * panel + p * lanes, sizeof(Vector));
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int p = 0; p < parts; ++p) sums[r][p] += x[r * inputs + k] * weight[p];
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (Index p = 0; p < parts; ++p) std::memcpy(y + r * stride + p * lanes, &sums[r][p], sizeof(Vector));
  }
}

struct Product {
  const float* x;
  const float* panels;
  float* y;
  Index rows, inputs, padded_outputs;
};

template <int lanes>
[[gnu::always_inline]] inline void multiply(const Product& product) {
  for (Index n = 0; n < product.padded_outputs; n += panel) {
    const float* weights = product.panels + n * product.inputs;
    Index row = 0;
    const auto x = [&] { return product.x + row * product.inputs; };
    const auto y = [&] { return product.y + row * product.padded_outputs + n; };
    for (; row + 4 <= product.rows; row += 4)
      multiply_rows<lanes, 4>(x(), weights, product.inputs, y(), product.padded_outputs);
    for (; row < product.rows; ++row)
      multiply_rows<lanes, 1>(x(), weights, product.inputs, y(), product.padded_outputs);
  }
}

#if defined(__x86_64__)
/// No fused multiply-add: it would round otherwise than the portable version.
[[gnu::target("avx2")]] void multiply_wide(const Product& product) { multiply<8>(product); }
#endif
void multiply_portable(const Product& product) { multiply<4>(product); }

void run(const Product& product) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return multiply_wide(product);
#endif
  multiply_portable(product);
}

}  // namespace

PackedMatrix::PackedMatrix(const Matrix& weights) : inputs_(weights.cols()), outputs_(weights.rows()) {
  const Index panels = (outputs_ + panel - 1) / panel;
  panels_.assign(static_cast<std::size_t>(panels * panel * inputs_), 0);
  for (Index out = 0; out < outputs_; ++out) {
    for (Index in = 0; in < inputs_; ++in) {
      const Index place = (out / panel * inputs_ + in) * panel + out % panel;
      panels_[static_cast<std::size_t>(place)] = weights(out, in);
    }
  }
}

Matrix PackedMatrix::times(const Matrix& x) const {
  TRILEMMA_ENSURE(x.cols() == inputs_, "a row has a value for each input of the matrix");
  const Index padded = (outputs_ + panel - 1) / panel * panel;
  Matrix y(x.rows(), padded);
  run({x.data(), panels_.data(), y.data(), x.rows(), inputs_, padded});
  if (padded != outputs_) y = y.leftCols(outputs_).eval();
  return y;
}

}  // namespace trilemma
