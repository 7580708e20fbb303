#include "analysis/activation_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/codec/codec.h"
#include "models/codec/npy.h"

namespace trilemma {

ActivationWindows read_activations(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& problem) {
    throw NpyProblem(fmt::format("{}: {}", file.string(), problem));
  };
  NpyArray array = read_npy(file);
  const std::size_t sides = array.shape.size();
  if (sides < 1 || sides > 3)
    fail(fmt::format("has {} sides; write windows x tokens x hidden values, tokens x hidden values, or one token",
                     sides));
  ActivationWindows activations;
  activations.shape = {.tokens = sides < 2 ? 1 : array.shape[sides - 2], .hidden = array.shape[sides - 1]};
  activations.windows = sides < 3 ? 1 : array.shape[0];
  activations.values = std::move(array.values);
  if (elements(activations.shape) > max_coded_elements)
    fail(fmt::format("has windows of {} x {} values; at most 2^28 are coded at once, write shorter windows",
                     activations.shape.tokens, activations.shape.hidden));
  const auto wrong = std::ranges::find_if_not(activations.values, [](float x) { return std::isfinite(x); });
  if (wrong != activations.values.end())
    fail(fmt::format("value {} (counted from 0 in C order) is {} as FP32; write finite values",
                     wrong - activations.values.begin(), *wrong));
  return activations;
}

}  // namespace trilemma
