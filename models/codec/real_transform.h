#pragma once

#include <complex>
#include <memory>
#include <span>
#include <type_traits>

#include <fftw3.h>

#include "models/codec/shape.h"

namespace trilemma {

/// Unnormalised 2-D Fourier transform of a real S x D matrix and its inverse, by FFTW in single precision:
/// X[u, v] = sum over s, d of x[s, d] exp(-2 pi i (u s / S + v d / D)); inverse(forward(x)) = S D x.
/// Owns its plans (FFTW_ESTIMATE, so that plans do not depend on timing) and buffers. Requires S D <= 2^28.
class RealTransform {
 public:
  explicit RealTransform(Shape shape);

  /// x, row-major S x D.
  std::span<float> values() { return {values_.get(), value_count_}; }
  /// X[u, v] for v = 0 .. D/2, row-major S x (D/2 + 1).
  std::span<std::complex<float>> spectrum();

  /// Computes the spectrum from the values.
  void forward();
  /// Computes the values from the spectrum and destroys the spectrum. Columns that mirror onto themselves (v = 0, D/2)
  /// must hold all S rows.
  void inverse();

 private:
  struct Release {
    void operator()(void* buffer) const { fftwf_free(buffer); }
    void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
  };
  using Plan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, Release>;

  std::size_t value_count_;
  std::size_t spectrum_count_;
  std::unique_ptr<float[], Release> values_;
  std::unique_ptr<fftwf_complex[], Release> spectrum_;
  Plan forward_;
  Plan inverse_;
};

}  // namespace trilemma
