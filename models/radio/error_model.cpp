#include "models/radio/error_model.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr double grid_start = -25;  // dB
constexpr double grid_end = 45;     // dB
constexpr double grid_step = 0.25;  // dB
constexpr int grid_points = static_cast<int>((grid_end - grid_start) / grid_step) + 1;

/// The trapezoidal rule over the noise: as exact as Gauss-Hermite for an analytic integrand that decays like a
/// Gaussian, and without a table of nodes. Only z >= 0, because the constellation is symmetric.
constexpr double noise_step = 0.4;
constexpr std::size_t noise_nodes = 19;
constexpr std::size_t pam_points_max = 16;

struct NoiseNode {
  double value;
  double weight;
};

std::array<NoiseNode, noise_nodes> noise_rule() {
  std::array<NoiseNode, noise_nodes> rule{};
  double total = 0;
  for (std::size_t i = 0; i < noise_nodes; ++i) {
    const double z = noise_step * static_cast<double>(i);
    rule[i] = {z, (i == 0 ? 1 : 2) * std::exp(-z * z / 2)};
    total += rule[i].weight;
  }
  for (NoiseNode& node : rule) node.weight /= total;
  return rule;
}

/// Sums over the 2 `points` - 1 differences m of two PAM indices of the likelihood ratio exp(-(s m)^2 / 2 - s m z),
/// where s is the distance of neighbours in standard deviations of the noise: element i holds the sum over all
/// m < i - (points - 1), so that the sum of any point over its rivals is a difference of two elements.
using PrefixSums = std::array<double, 2 * pam_points_max>;

PrefixSums likelihood_sums(int points, double spacing, double noise) {
  constexpr double negligible = -45;
  PrefixSums sums{};
  for (int m = 1 - points; m < points; ++m) {
    const double exponent = -spacing * m * (spacing * m / 2 + noise);
    const auto index = static_cast<std::size_t>(m + points - 1);
    sums[index + 1] = sums[index] + (exponent > negligible ? std::exp(exponent) : 0);
  }
  return sums;
}

/// Mean and second moment of the loss log2 sum_m: how far the information density stays below log2 M.
struct LossMoments {
  double mean = 0;
  double square = 0;
};

LossMoments pam_loss(int points, double spacing) {
  static const auto rule = noise_rule();
  LossMoments moments;
  for (const NoiseNode& node : rule) {
    const PrefixSums sums = likelihood_sums(points, spacing, node.value);
    for (int i = 0; i < points; ++i) {
      const auto first = static_cast<std::size_t>(i);
      const double loss = std::log2(sums[first + static_cast<std::size_t>(points)] - sums[first]);
      moments.mean += node.weight / points * loss;
      moments.square += node.weight / points * loss * loss;
    }
  }
  return moments;
}

double q_function(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

/// At `snr` >= grid_start, linear between the points of the grid; the last point stands for all above it.
QamInformation interpolate(std::span<const QamInformation> curve, double snr) {
  const double position = (snr - grid_start) / grid_step;
  if (position >= grid_points - 1) return curve.back();
  const auto below = static_cast<std::size_t>(position);
  const double share = position - static_cast<double>(below);
  return {std::lerp(curve[below].capacity, curve[below + 1].capacity, share),
          std::lerp(curve[below].dispersion, curve[below + 1].dispersion, share)};
}

}  // namespace

QamInformation qam_information(int modulation_order, Decibels snr) {
  TRILEMMA_ENSURE(modulation_order == 2 || modulation_order == 4 || modulation_order == 6 || modulation_order == 8,
                  "a modulation order is 2, 4, 6 or 8");
  const int points = 1 << (modulation_order / 2);
  // Neighbours of unit-energy PAM are 2 sqrt(3 / (M^2 - 1)) apart; noise has the standard deviation 1 / sqrt(snr).
  const double spacing = 2 * std::sqrt(3 * linear(snr) / (points * points - 1));
  const LossMoments loss = pam_loss(points, spacing);
  return {modulation_order - 2 * loss.mean, 2 * (loss.square - loss.mean * loss.mean)};
}

namespace {

using Curve = std::vector<QamInformation>;  // by SNR, on a regular grid in dB

Curve make_curve(int modulation_order) {
  Curve curve;
  for (int i = 0; i < grid_points; ++i) {
    curve.push_back(qam_information(modulation_order, Decibels(grid_start + i * grid_step)));
  }
  return curve;
}

/// A constant that takes milliseconds to compute: once a process, not once a cell.
const Curve& curve_of(int modulation_order) {
  static const std::array<Curve, 4> curves{make_curve(2), make_curve(4), make_curve(6), make_curve(8)};
  return curves[static_cast<std::size_t>(modulation_order / 2 - 1)];
}

}  // namespace

ErrorModel::ErrorModel(McsTable table, Decibels gap) : table_(mcs_table(table)), gap_(gap) {}

const Mcs& ErrorModel::row(int mcs) const {
  TRILEMMA_ENSURE(mcs >= 0 && static_cast<std::size_t>(mcs) < table_.size(), "an MCS is a row of its table");
  return table_[static_cast<std::size_t>(mcs)];
}

double ErrorModel::code_block_error_rate(int mcs, Decibels sinr, std::int64_t bits) const {
  return code_block_error_rate(row(mcs), sinr, bits);
}

double ErrorModel::code_block_error_rate(const Mcs& row, Decibels sinr, std::int64_t bits) const {
  TRILEMMA_ENSURE(bits > 0, "an error rate belongs to a block of bits");
  const double snr = (sinr - gap_).value();
  if (snr < grid_start) return 1;
  const auto k = static_cast<double>(bits);
  const double n = k / row.spectral_efficiency();
  const QamInformation channel = interpolate(curve_of(row.modulation_order), snr);
  return q_function((n * channel.capacity - k + std::log2(n) / 2) / std::sqrt(n * channel.dispersion));
}

double ErrorModel::block_error_rate(int mcs, Decibels sinr, std::int64_t transport_block_bits) const {
  return block_error_rate(row(mcs), sinr, transport_block_bits);
}

double ErrorModel::block_error_rate(const Mcs& row, Decibels sinr, std::int64_t transport_block_bits) const {
  const CodeBlocks blocks = code_blocks(transport_block_bits, row.code_rate);
  const double error = code_block_error_rate(row, sinr, blocks.bits);
  if (blocks.count == 1) return error;
  return -std::expm1(static_cast<double>(blocks.count) * std::log1p(-error));  // keeps small errors exact
}

McsChoice ErrorModel::select_mcs(Decibels sinr, double target, const TransportBlockShape& allocation) const {
  for (int mcs = static_cast<int>(table_.size()) - 1; mcs >= 0; --mcs) {
    const std::int64_t bits = transport_block_bits(allocation, table_[static_cast<std::size_t>(mcs)]);
    if (block_error_rate(mcs, sinr, bits) <= target) return {.mcs = mcs, .meets_target = true};
  }
  return {.mcs = 0, .meets_target = false};
}

}  // namespace trilemma
