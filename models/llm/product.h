#pragma once

#include <vector>

#include <Eigen/Core>

namespace trilemma {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<float, 1, Eigen::Dynamic, Eigen::RowMajor>;

/// A weight matrix W, [out][in], laid out for y = x W^T. Every value of y is summed in the order of the inputs, product
/// and sum rounded apart, whatever the number of rows and the width of the processor's vectors: results are the same
/// bits on every x86-64 machine, for prefill and decode. (Eigen's product is not: its order follows caches and vectors,
/// and without AVX, which a portable build must not assume, it runs at a third of the speed.)
class PackedMatrix {
 public:
  explicit PackedMatrix(const Matrix& weights);

  /// x W^T. Requires x.cols() == the inputs.
  [[nodiscard]] Matrix times(const Matrix& x) const;

 private:
  Eigen::Index inputs_;
  Eigen::Index outputs_;
  std::vector<float> panels_;  // [outputs / 16][input][16 outputs], the last panel filled up with zeros
};

}  // namespace trilemma
