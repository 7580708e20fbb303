#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "models/codec/shape.h"

/// Activations and error measures for the codec tests.
namespace trilemma::test {

inline std::vector<float> random_activation(Shape shape, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(elements(shape)));
  for (float& value : values) value = normal(engine);
  return values;
}

inline double energy(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

inline std::vector<float> difference(std::span<const float> a, std::span<const float> b) {
  std::vector<float> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

/// ||restored - original|| / ||original||.
inline double relative_error(std::span<const float> original, std::span<const float> restored) {
  return std::sqrt(energy(difference(restored, original)) / energy(original));
}

}  // namespace trilemma::test
