#include "models/codec/real_transform.h"

#include <algorithm>
#include <new>

#include "core/ensure.h"

namespace trilemma {

RealTransform::RealTransform(Shape shape, Along along)
    : value_count_(static_cast<std::size_t>(elements(shape))),
      spectrum_count_(static_cast<std::size_t>(shape.tokens * (shape.hidden / 2 + 1))),
      values_(fftwf_alloc_real(value_count_)),
      spectrum_(fftwf_alloc_complex(spectrum_count_)) {
  if (!values_ || !spectrum_) throw std::bad_alloc();
  const auto rows = static_cast<int>(shape.tokens);
  const auto columns = static_cast<int>(shape.hidden);
  const auto bins = columns / 2 + 1;
  if (along == Along::both) {
    forward_.reset(fftwf_plan_dft_r2c_2d(rows, columns, values_.get(), spectrum_.get(), FFTW_ESTIMATE));
    inverse_.reset(fftwf_plan_dft_c2r_2d(rows, columns, spectrum_.get(), values_.get(), FFTW_ESTIMATE));
  } else {
    forward_.reset(fftwf_plan_many_dft_r2c(1, &columns, rows, values_.get(), nullptr, 1, columns, spectrum_.get(),
                                           nullptr, 1, bins, FFTW_ESTIMATE));
    inverse_.reset(fftwf_plan_many_dft_c2r(1, &columns, rows, spectrum_.get(), nullptr, 1, bins, values_.get(), nullptr,
                                           1, columns, FFTW_ESTIMATE));
  }
  TRILEMMA_ENSURE(forward_ && inverse_, "FFTW has a plan for every shape");
}

RealTransform::RealTransform(Shape shape, std::int64_t columns)
    : RealTransform(shape, columns == shape.hidden / 2 + 1 ? Along::both : Along::hidden) {
  const auto bins = static_cast<int>(shape.hidden / 2 + 1);
  TRILEMMA_ENSURE(columns >= 1 && columns <= bins, "a transform keeps columns that it has");
  if (columns == bins) return;
  const auto plan = [&](int sign) {
    const auto rows = static_cast<int>(shape.tokens);
    return fftwf_plan_many_dft(1, &rows, static_cast<int>(columns), spectrum_.get(), nullptr, bins, 1, spectrum_.get(),
                               nullptr, bins, 1, sign, FFTW_ESTIMATE);
  };
  columns_forward_.reset(plan(FFTW_FORWARD));
  columns_inverse_.reset(plan(FFTW_BACKWARD));
  TRILEMMA_ENSURE(columns_forward_ && columns_inverse_, "FFTW has a plan for every shape");
}

std::span<std::complex<float>> RealTransform::spectrum() {
  // FFTW documents that its complex type has the layout of std::complex.
  return {reinterpret_cast<std::complex<float>*>(spectrum_.get()), spectrum_count_};
}

void RealTransform::forward() { forward({values_.get(), value_count_}); }

void RealTransform::inverse() { inverse({values_.get(), value_count_}); }

void RealTransform::forward(std::span<const float> values) {
  TRILEMMA_ENSURE(values.size() == value_count_, "a transform is of its shape");
  // FFTW's interface has no const; plans of this direction preserve their input unless asked to destroy it.
  auto* input = const_cast<float*>(values.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  if (fftwf_alignment_of(input) != fftwf_alignment_of(values_.get())) {
    std::ranges::copy(values, values_.get());
    input = values_.get();
  }
  fftwf_execute_dft_r2c(forward_.get(), input, spectrum_.get());
  if (columns_forward_) fftwf_execute(columns_forward_.get());
}

void RealTransform::inverse(std::span<float> values) {
  TRILEMMA_ENSURE(values.size() == value_count_, "a transform is of its shape");
  if (columns_inverse_) fftwf_execute(columns_inverse_.get());
  const bool in_place = fftwf_alignment_of(values.data()) == fftwf_alignment_of(values_.get());
  fftwf_execute_dft_c2r(inverse_.get(), spectrum_.get(), in_place ? values.data() : values_.get());
  if (!in_place) std::ranges::copy(this->values(), values.begin());
}

CosineTransform::CosineTransform(Shape shape)
    : value_count_(static_cast<std::size_t>(elements(shape))), values_(fftwf_alloc_real(value_count_)) {
  if (!values_) throw std::bad_alloc();
  const auto rows = static_cast<int>(shape.tokens);
  const auto columns = static_cast<int>(shape.hidden);
  float* data = values_.get();
  forward_.reset(fftwf_plan_r2r_2d(rows, columns, data, data, FFTW_REDFT10, FFTW_REDFT10, FFTW_ESTIMATE));
  inverse_.reset(fftwf_plan_r2r_2d(rows, columns, data, data, FFTW_REDFT01, FFTW_REDFT01, FFTW_ESTIMATE));
  TRILEMMA_ENSURE(forward_ && inverse_, "FFTW has a plan for every shape");
}

}  // namespace trilemma
