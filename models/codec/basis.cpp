#include "models/codec/basis.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "models/codec/npy.h"
#include "models/codec/wire.h"

namespace trilemma {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void add_checksum(Basis& basis) {
  std::uint32_t sum = wire::crc32(std::as_bytes(std::span(basis.mean)));
  sum = wire::crc32(std::as_bytes(std::span(basis.variances)), sum);
  basis.checksum = wire::crc32(std::as_bytes(std::span(basis.vectors)), sum);
}

}  // namespace

Basis calibrated_basis(std::span<const float> tokens, std::int64_t hidden) {
  const std::int64_t count = hidden > 0 ? std::ssize(tokens) / hidden : 0;
  if (count < 2 || count * hidden != std::ssize(tokens))
    throw std::invalid_argument("a basis needs at least two whole tokens to be calibrated on");
  if (!std::ranges::all_of(tokens, [](float x) { return std::isfinite(x); }))
    throw std::invalid_argument("a basis needs finite values to be calibrated on");
  const Eigen::MatrixXd rows = Eigen::Map<const Matrix>(tokens.data(), count, hidden).cast<double>();
  const Eigen::RowVectorXd mean = rows.colwise().mean();
  const Eigen::MatrixXd centred = rows.rowwise() - mean;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(centred.transpose() * centred /
                                                              static_cast<double>(count - 1));
  Basis basis{.hidden = hidden};
  const auto width = static_cast<std::size_t>(hidden);
  basis.mean.resize(width);
  basis.variances.resize(width);
  basis.vectors.resize(width * width);
  Eigen::Map<Eigen::RowVectorXf>(basis.mean.data(), hidden) = mean.cast<float>();
  const Eigen::Index known = std::min(hidden, count - 1);
  const double least = std::max(solver.eigenvalues()[hidden - known], 0.0);
  for (Eigen::Index k = 0; k < hidden; ++k) {
    const Eigen::Index from = hidden - 1 - k;  // eigenvalues rise
    basis.variances[static_cast<std::size_t>(k)] = static_cast<float>(std::max(solver.eigenvalues()[from], least));
    Eigen::Map<Eigen::VectorXf>(basis.vectors.data() + k * hidden, hidden) =
        solver.eigenvectors().col(from).cast<float>();
  }
  const auto finite = [](const std::vector<float>& numbers) {
    return std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
  };
  if (!finite(basis.mean) || !finite(basis.variances) || !finite(basis.vectors))
    throw std::invalid_argument("a basis has variances in FP32, and these values are too large for them");
  add_checksum(basis);
  return basis;
}

Basis read_basis(const std::filesystem::path& file) {
  NpyArray array = read_npy(file);
  const auto fail = [&](const char* problem) { throw NpyProblem(fmt::format("{}: {}", file.string(), problem)); };
  if (array.shape.size() != 2 || array.shape[0] != array.shape[1] + 2)
    fail("is no basis: it has two rows more than columns; write one with trilemma codec --calibrate");
  const std::int64_t hidden = array.shape[1];
  Basis basis{.hidden = hidden};
  basis.mean.assign(array.values.begin(), array.values.begin() + hidden);
  basis.variances.assign(array.values.begin() + hidden, array.values.begin() + 2 * hidden);
  basis.vectors.assign(array.values.begin() + 2 * hidden, array.values.end());
  const Eigen::Map<const Matrix> vectors(basis.vectors.data(), hidden, hidden);
  constexpr float rounding = 1e-3F;
  const bool sound = std::ranges::all_of(basis.mean, [](float x) { return std::isfinite(x); }) &&
                     std::ranges::all_of(basis.variances, [](float x) { return std::isfinite(x) && x >= 0; });
  // The largest of numbers with a NaN among them may be any of the others.
  const Matrix off = vectors * vectors.transpose() - Matrix::Identity(hidden, hidden);
  if (!sound || !off.allFinite() || off.cwiseAbs().maxCoeff() >= rounding)
    fail("is no basis: its rows are a mean, variances of 0 or more, and orthonormal vectors");
  add_checksum(basis);
  return basis;
}

void write_basis(const std::filesystem::path& file, const Basis& basis) {
  std::vector<float> rows = basis.mean;
  rows.insert(rows.end(), basis.variances.begin(), basis.variances.end());
  rows.insert(rows.end(), basis.vectors.begin(), basis.vectors.end());
  write_npy(file, std::vector<std::int64_t>{basis.hidden + 2, basis.hidden}, rows);
}

void hadamard(std::span<float> token) {
  const std::size_t block = token.size() & (~token.size() + 1);  // largest power of two that divides it
  const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(block)));
  for (std::size_t start = 0; start < token.size(); start += block) {
    for (std::size_t half = 1; half < block; half *= 2) {
      for (std::size_t i = start; i < start + block; i += 2 * half) {
        for (std::size_t j = i; j < i + half; ++j) {
          const float a = token[j];
          const float b = token[j + half];
          token[j] = a + b;
          token[j + half] = a - b;
        }
      }
    }
  }
  for (float& value : token) value *= factor;
}

}  // namespace trilemma
