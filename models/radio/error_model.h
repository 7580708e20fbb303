#pragma once

#include <cstdint>
#include <span>

#include "core/units.h"
#include "models/radio/mcs.h"
#include "models/radio/tbs.h"

namespace trilemma {

/// What one complex symbol of uniform square QAM carries over the Gaussian channel: mean and variance of the
/// information density, in bits and bits^2.
struct QamInformation {
  double capacity;
  double dispersion;
};

/// Of QPSK, 16QAM, 64QAM or 256QAM (`modulation_order` 2, 4, 6 or 8) at a signal-to-noise ratio per symbol, by
/// numerical integration: 2 x mean and variance of the information density of the PAM on each axis,
/// log2 M - log2 sum_j exp(-g ((x_i - x_j)^2 / 2) - sqrt(g) (x_i - x_j) z), over points i and noise z ~ N(0, 1).
/// Accurate to 1e-5 bit and 1e-4 bit^2 from -25 to 45 dB.
QamInformation qam_information(int modulation_order, Decibels snr);

/// A choice of MCS, and whether it keeps the promise that it was asked for: when it does not, even MCS 0 fails.
struct McsChoice {
  int mcs;
  bool meets_target;
};

/// Block error rate of the NR LDPC code over the Gaussian channel: the normal approximation of Polyanskiy, Poor and
/// Verdu (IEEE Trans. Inf. Theory 56(5), 2010) with QAM inputs,
///
///     error = Q((n C(g) - k + log2(n) / 2) / sqrt(n V(g))),   n = k / (Qm R),   g = SINR / implementation gap,
///
/// for code blocks of k bits (CRCs included), and 1 - (1 - error)^count for the transport block that is cut into them.
/// A gap of 1.2 dB puts the SINR at 10 % error 0.25 dB (root mean square) from the Sionna tables for 100 to 2000 bits;
/// 5G-LENA's tables ask for 2 to 5 dB more. Weak: below an error of about 1e-3 no table checks the slope, and the CRCs
/// are counted as if they did not raise the code rate (0.3 dB too good at 256 bits). One SINR for the whole block:
/// frequency selectivity and HARQ combining (add linear SINRs) are the caller's.
class ErrorModel {
 public:
  static constexpr Decibels implementation_gap{1.2};

  explicit ErrorModel(McsTable table, Decibels gap = implementation_gap);

  /// Of one code block of `bits` >= 1, CRCs included, at a table row `mcs`. Falls with the SINR; below -25 dB it is 1
  /// and above 45 dB as at 45 dB, gap deducted: there the exact values differ from these by less than 1e-12 for every
  /// block of 24 bits or more.
  [[nodiscard]] double code_block_error_rate(int mcs, Decibels sinr, std::int64_t bits) const;
  /// The same for any modulation and code rate.
  [[nodiscard]] double code_block_error_rate(const Mcs& row, Decibels sinr, std::int64_t bits) const;

  /// Of a transport block of `transport_block_bits` >= 1, CRC not included.
  [[nodiscard]] double block_error_rate(int mcs, Decibels sinr, std::int64_t transport_block_bits) const;
  [[nodiscard]] double block_error_rate(const Mcs& row, Decibels sinr, std::int64_t transport_block_bits) const;

  /// The highest MCS at which the transport block that fills `allocation` fails with probability `target` at most;
  /// MCS 0 with meets_target false if none does. The search goes down from the top, because the error rate is not
  /// monotone in the MCS where the modulation changes.
  [[nodiscard]] McsChoice select_mcs(Decibels sinr, double target, const TransportBlockShape& allocation) const;

  [[nodiscard]] std::span<const Mcs> table() const { return table_; }

 private:
  [[nodiscard]] const Mcs& row(int mcs) const;

  std::span<const Mcs> table_;
  Decibels gap_;
};

}  // namespace trilemma
