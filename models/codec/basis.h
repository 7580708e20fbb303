#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "models/codec/codec.h"

namespace trilemma {

/// An orthonormal basis of the hidden values of a token, with what is known of an activation in it.
struct Basis {
  std::int64_t hidden = 0;
  std::vector<float> mean;       // D
  std::vector<float> variances;  // D, of the components, falling
  std::vector<float> vectors;    // D x D, row-major, one component a row
  std::uint32_t checksum = 0;    // of all of it; both ends must have the same
};

/// The Karhunen-Loeve basis of tokens (rows of D values): mean, eigenvalues and eigenvectors of their covariance. With
/// fewer tokens than hidden values the rest of the space gets the smallest eigenvalue that was found. Requires at least
/// two tokens and finite values (std::invalid_argument).
Basis calibrated_basis(std::span<const float> tokens, std::int64_t hidden);

/// A basis as an .npy array of D + 2 rows: mean, variances, vectors. Throw NpyProblem, also for rows that are no
/// orthonormal basis.
Basis read_basis(const std::filesystem::path& file);
void write_basis(const std::filesystem::path& file, const Basis& basis);

/// A transform codec with a basis that is in memory; `config.basis` is not read.
std::unique_ptr<Codec> make_transform(const TransformCodec& config, Basis basis);

/// The natural basis turned by Hadamard matrices of the largest power of two that divides D: in place on one token, its
/// own inverse. Spreads outliers over the components; knows nothing of the activation.
void hadamard(std::span<float> token);

}  // namespace trilemma
