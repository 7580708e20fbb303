#pragma once

#include <complex>
#include <memory>
#include <span>
#include <type_traits>

#include <fftw3.h>

#include "models/codec/shape.h"

namespace trilemma {

struct FftwRelease {
  void operator()(void* buffer) const { fftwf_free(buffer); }
  void operator()(fftwf_plan plan) const { fftwf_destroy_plan(plan); }
};
using FftwPlan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, FftwRelease>;
using FftwReals = std::unique_ptr<float[], FftwRelease>;

/// What a transform of a matrix runs along.
enum class Along {
  both,    // tokens and hidden values: X[u, v] = sum over s, d of x[s, d] exp(-2 pi i (u s / S + v d / D))
  hidden,  // each token by itself:     X[s, v] = sum over d of x[s, d] exp(-2 pi i v d / D)
};

/// Unnormalised Fourier transform of a real S x D matrix and its inverse, by FFTW in single precision;
/// inverse(forward(x)) = S D x along both, D x along hidden.
/// Owns its plans (FFTW_ESTIMATE, so that plans do not depend on timing) and buffers. Requires S D <= 2^28.
class RealTransform {
 public:
  explicit RealTransform(Shape shape, Along along = Along::both);
  /// Along both where only the columns v < `columns` count: forward() leaves the others transformed along hidden alone,
  /// inverse() takes them as zero along tokens, which they have to be. Saves their share of the second pass. Requires
  /// 1 <= columns <= D/2 + 1.
  RealTransform(Shape shape, std::int64_t columns);

  /// x, row-major S x D.
  std::span<float> values() { return {values_.get(), value_count_}; }
  /// X for v = 0 .. D/2, row-major S x (D/2 + 1).
  std::span<std::complex<float>> spectrum();

  /// Computes the spectrum from the values.
  void forward();
  /// Computes the values from the spectrum and destroys the spectrum. Along both, columns that mirror onto themselves
  /// (v = 0, D/2) must hold all S rows.
  void inverse();

  /// The same for values of the caller's, without a copy if they are aligned like FFTW's own, as large vectors are.
  /// values() are undefined afterwards.
  void forward(std::span<const float> values);
  void inverse(std::span<float> values);

 private:
  std::size_t value_count_;
  std::size_t spectrum_count_;
  FftwReals values_;
  std::unique_ptr<fftwf_complex[], FftwRelease> spectrum_;
  FftwPlan forward_;
  FftwPlan inverse_;
  FftwPlan columns_forward_;  // in place; absent: the others do all
  FftwPlan columns_inverse_;
};

/// Unnormalised 2-D cosine transform (DCT-II) in place, and its inverse (DCT-III): inverse(forward(x)) = 4 S D x.
class CosineTransform {
 public:
  explicit CosineTransform(Shape shape);

  /// x or X, row-major S x D.
  std::span<float> values() { return {values_.get(), value_count_}; }
  void forward() { fftwf_execute(forward_.get()); }
  void inverse() { fftwf_execute(inverse_.get()); }

 private:
  std::size_t value_count_;
  FftwReals values_;
  FftwPlan forward_;
  FftwPlan inverse_;
};

}  // namespace trilemma
