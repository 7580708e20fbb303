#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

/// NumPy's .npy files (format 1.0 and 2.0; NEP 1): arrays of floats in C order.
namespace trilemma {

/// The file is no array that can be used; what() is one line with its name.
class NpyProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// Reads '<f2', '<f4' or '<f8' (rounded to float). Throws NpyProblem.
NpyArray read_npy(const std::filesystem::path& file);

/// Writes '<f4'. Throws NpyProblem.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape, std::span<const float> values);

}  // namespace trilemma
