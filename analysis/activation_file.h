#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "models/codec/shape.h"

namespace trilemma {

/// ActivationWindows of a model as a file holds them: windows of equal shape, each coded by itself.
struct ActivationWindows {
  Shape shape;  // of a window
  std::int64_t windows = 1;
  std::vector<float> values;  // windows x tokens x hidden values

  [[nodiscard]] std::span<const float> window(std::int64_t index) const {
    const auto count = static_cast<std::size_t>(elements(shape));
    return std::span(values).subspan(static_cast<std::size_t>(index) * count, count);
  }
};

/// Reads an .npy file of shape (W, S, D), (S, D) or (D). Throws NpyProblem for another one, for values that are not
/// finite as FP32, and for windows larger than any codec codes.
ActivationWindows read_activations(const std::filesystem::path& file);

}  // namespace trilemma
