#include "models/codec/real_transform.h"

#include <new>

#include "core/ensure.h"

namespace trilemma {

RealTransform::RealTransform(Shape shape)
    : value_count_(static_cast<std::size_t>(elements(shape))),
      spectrum_count_(static_cast<std::size_t>(shape.tokens * (shape.hidden / 2 + 1))),
      values_(fftwf_alloc_real(value_count_)),
      spectrum_(fftwf_alloc_complex(spectrum_count_)) {
  if (!values_ || !spectrum_) throw std::bad_alloc();
  const auto rows = static_cast<int>(shape.tokens);
  const auto columns = static_cast<int>(shape.hidden);
  forward_.reset(fftwf_plan_dft_r2c_2d(rows, columns, values_.get(), spectrum_.get(), FFTW_ESTIMATE));
  inverse_.reset(fftwf_plan_dft_c2r_2d(rows, columns, spectrum_.get(), values_.get(), FFTW_ESTIMATE));
  TRILEMMA_ENSURE(forward_ && inverse_, "FFTW has a plan for every shape");
}

std::span<std::complex<float>> RealTransform::spectrum() {
  // FFTW documents that its complex type has the layout of std::complex.
  return {reinterpret_cast<std::complex<float>*>(spectrum_.get()), spectrum_count_};
}

void RealTransform::forward() { fftwf_execute(forward_.get()); }

void RealTransform::inverse() { fftwf_execute(inverse_.get()); }

}  // namespace trilemma
