#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/activation_file.h"

/// What an activation is like before any codec: where its energy lies, how alike neighbours are, how many bits a value
/// takes.
namespace trilemma {

/// A quantity of each window: its mean and, with two windows or more, the standard error of that mean.
struct WindowMean {
  double mean = 0;
  std::optional<double> error;
};

/// One row of the table of frequencies; windows without energy, or with more than FP32 holds, are left out.
struct EnergyShare {
  std::string name;
  double coefficients = 0;  // share of all coefficients: what white noise would have
  std::optional<WindowMean> energy;
};

/// Energy of the two-dimensional Fourier transform of each window, mean included: in the tenth of all coefficients with
/// the lowest sqrt((u/S)^2 + (v/D)^2), equal frequencies at the edge taken in part; in the symmetric block
/// |u| <= S sqrt(0.1) / 2, |v| <= D sqrt(0.1) / 2; in the narrowest symmetric band of at least a tenth of the rows, and
/// of the columns; in row u = 0 and in column v = 0.
std::vector<EnergyShare> energy_shares(const ActivationWindows& activations);

/// Pearson correlation of values with their neighbours one token, and one hidden value, further, over each window;
/// nothing where there are no neighbours or they never change.
struct NeighbourCorrelation {
  std::optional<WindowMean> tokens;
  std::optional<WindowMean> hidden;
};
NeighbourCorrelation neighbour_correlation(const ActivationWindows& activations);

/// Zeroth-order entropy in bits of the frequencies in `counts`: -sum p log2 p. Of n samples of a source with m symbols
/// it is about (m - 1) / (2 n ln 2) too low (Miller 1955).
double entropy(std::span<const std::int64_t> counts);

/// Bits a value at each stage, all windows together.
struct StageEntropies {
  std::int64_t samples = 0;
  double values = 0;        // H(X), patterns of the values as FP16
  double coefficients = 0;  // H(Z), patterns of the independent reals of the orthonormal 2-D Fourier transform as FP16
  double levels = 0;        // H(V), INT8 levels of the values, one scale a token
  /// H(V) <= H(Z) <= H(X) among these estimates.
  [[nodiscard]] bool ordered() const { return levels <= coefficients && coefficients <= values; }
};
StageEntropies stage_entropies(const ActivationWindows& activations);

}  // namespace trilemma
