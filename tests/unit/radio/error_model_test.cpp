#include "models/radio/error_model.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

constexpr Decibels no_gap{0};

std::vector<double> range(double from, double to, double step) {
  std::vector<double> values;
  for (int i = 0; from + i * step <= to; ++i) values.push_back(from + i * step);
  return values;
}

/// SINR at which a code block fails with probability `target`, by bisection.
double threshold(const ErrorModel& model, int mcs, std::int64_t bits, double target) {
  double low = -24;
  double high = 40;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (model.code_block_error_rate(mcs, Decibels(middle), bits) > target ? low : high) = middle;
  }
  return high;
}

McsTable table_of(const test::Row& row) {
  return std::array{McsTable::qam64, McsTable::qam256,
                    McsTable::qam64_low_se}[static_cast<std::size_t>(test::integer(row, "mcs_table") - 1)];
}

/// One model per MCS table.
class Models {
 public:
  explicit Models(Decibels gap)
      : qam64_(McsTable::qam64, gap), qam256_(McsTable::qam256, gap), low_se_(McsTable::qam64_low_se, gap) {}
  [[nodiscard]] const ErrorModel& of(McsTable table) const {
    return table == McsTable::qam64 ? qam64_ : table == McsTable::qam256 ? qam256_ : low_se_;
  }

 private:
  ErrorModel qam64_;
  ErrorModel qam256_;
  ErrorModel low_se_;
};

// The binary-input Gaussian channel has half a bit a dimension at Eb/N0 = 0.187 dB (the Shannon limit of rate-1/2
// BPSK), which for QPSK, with one information bit a symbol, is also Es/N0.
TEST(QamInformation, QpskCarriesHalfABitADimensionAtTheShannonLimit) {
  EXPECT_NEAR(qam_information(2, Decibels(0.187)).capacity, 1, 1e-4);
}

TEST(QamInformation, FillsTheConstellationAtHighSnr) {
  for (const int order : {2, 4, 6, 8}) {
    EXPECT_NEAR(qam_information(order, Decibels(45)).capacity, order, 1e-9);
    EXPECT_NEAR(qam_information(order, Decibels(45)).dispersion, 0, 1e-9);
  }
}

// At low SNR no constellation loses against Gaussian inputs: capacity log2(1 + g), dispersion 2 g log2(e)^2, to order
// g.
TEST(QamInformation, IsThatOfGaussianInputsAtLowSnr) {
  const double g = linear(Decibels(-25));
  for (const int order : {2, 4, 6, 8}) {
    EXPECT_NEAR(qam_information(order, Decibels(-25)).capacity / std::log2(1 + g), 1, 0.001);
    EXPECT_NEAR(qam_information(order, Decibels(-25)).dispersion / (2 * g * 1.4427 * 1.4427), 1, 0.01);
  }
}

/// The definition, point by point and pair by pair, with a noise step fine enough for any SNR of the grid.
QamInformation direct_quadrature(int order, double snr_db) {
  const int points = 1 << (order / 2);
  const double half_distance = std::sqrt(3 * std::pow(10, snr_db / 10) / (points * points - 1));
  double weights = 0;
  double mean = 0;
  double square = 0;
  for (const double noise : range(-9, 9, 0.02)) {
    const double weight = std::exp(-noise * noise / 2);
    for (int i = 0; i < points; ++i) {
      double sum = 0;
      for (int j = 0; j < points; ++j) {
        const double difference = 2 * half_distance * (i - j);
        sum += std::exp(-difference * difference / 2 - difference * noise);
      }
      const double density = order / 2.0 - std::log2(sum);
      weights += weight;
      mean += weight * density;
      square += weight * density * density;
    }
  }
  mean /= weights;
  return {2 * mean, 2 * (square / weights - mean * mean)};
}

TEST(QamInformation, AgreesWithDirectQuadrature) {
  for (const int order : {2, 4, 6, 8}) {
    for (const double snr : range(-25, 45, 3.7)) {
      const QamInformation exact = direct_quadrature(order, snr);
      EXPECT_NEAR(qam_information(order, Decibels(snr)).capacity, exact.capacity, 1e-5) << order << " at " << snr;
      EXPECT_NEAR(qam_information(order, Decibels(snr)).dispersion, exact.dispersion, 1e-4) << order << " at " << snr;
    }
  }
}

// bler_thresholds.csv holds the normal approximation computed independently with Gauss-Hermite quadrature.
TEST(ErrorModel, IsTheNormalApproximationWithQamInputs) {
  const Models models(no_gap);
  const std::array columns = {std::pair{"NA_qam_snr10pct_dB", 1e-1}, std::pair{"NA_qam_snr1pct_dB", 1e-2},
                              std::pair{"NA_qam_snr1e-3_dB", 1e-3}, std::pair{"NA_qam_snr1e-5_dB", 1e-5}};
  int compared = 0;
  for (const test::Row& row : test::read_csv("bler_thresholds.csv")) {
    for (const auto& [column, target] : columns) {
      if (row.at(column).empty()) continue;
      const double ours =
          threshold(models.of(table_of(row)), test::integer(row, "mcs"), test::integer(row, "cbs_bits"), target);
      EXPECT_NEAR(ours, test::number(row, column), 0.02) << column << ", MCS " << row.at("mcs");
      ++compared;
    }
  }
  EXPECT_GE(compared, 4 * 300);
}

// Sionna's simulated LDPC curves (Apache-2.0) for code blocks of 100, 500 and 2000 bits.
TEST(ErrorModel, IsWithinHalfADecibelOfSimulatedLdpcCodes) {
  const Models models(ErrorModel::implementation_gap);
  double squares = 0;
  int compared = 0;
  for (const test::Row& row : test::read_csv("bler_thresholds.csv")) {
    if (row.at("sionna_snr10pct_dB").empty()) continue;
    const double ours =
        threshold(models.of(table_of(row)), test::integer(row, "mcs"), test::integer(row, "cbs_bits"), 0.1);
    squares += std::pow(ours - test::number(row, "sionna_snr10pct_dB"), 2);
    ++compared;
  }
  ASSERT_GE(compared, 142);
  EXPECT_LT(std::sqrt(squares / compared), 0.3);
}

TEST(ErrorModel, FallsWithTheSinr) {
  const Models models(ErrorModel::implementation_gap);
  for (const McsTable table : {McsTable::qam64, McsTable::qam256, McsTable::qam64_low_se}) {
    const ErrorModel& model = models.of(table);
    for (int mcs = 0; std::cmp_less(mcs, model.table().size()); ++mcs) {
      for (const std::int64_t bits : {24, 1000, 8424, 200'000}) {
        double previous = 1;
        for (const double sinr : range(-30, 50, 0.1)) {
          const double error = model.block_error_rate(mcs, Decibels(sinr), bits);
          EXPECT_LE(error, previous) << "MCS " << mcs << ", " << bits << " bits at " << sinr << " dB";
          EXPECT_GE(error, 0);
          previous = error;
        }
      }
    }
  }
}

// Where the modulation changes, the higher order at the same efficiency is the better one: NR's tables overlap there.
TEST(ErrorModel, RisesWithTheMcsWithinAModulation) {
  const ErrorModel model(McsTable::qam64);
  for (int mcs = 1; std::cmp_less(mcs, model.table().size()); ++mcs) {
    const auto row = static_cast<std::size_t>(mcs);
    if (model.table()[row].modulation_order != model.table()[row - 1].modulation_order) continue;
    for (const double sinr : range(-10, 30, 0.5)) {
      EXPECT_GE(model.code_block_error_rate(mcs, Decibels(sinr), 1000),
                model.code_block_error_rate(mcs - 1, Decibels(sinr), 1000))
          << "MCS " << mcs << " at " << sinr << " dB";
    }
  }
}

TEST(ErrorModel, TheGapShiftsTheSinr) {
  const ErrorModel ideal(McsTable::qam64, no_gap);
  const ErrorModel real(McsTable::qam64);
  EXPECT_NEAR(real.code_block_error_rate(10, Decibels(3.5 + 1.2), 500),
              ideal.code_block_error_rate(10, Decibels(3.5), 500), 1e-12);
}

// A transport block arrives when all of its code blocks do: 20000 bits at rate 0.33 (graph 1) are
// ceil(20024 / 8424) = 3 blocks of ceil(20096 / 3) = 6699 bits.
TEST(ErrorModel, ATransportBlockFailsWhenAnyOfItsCodeBlocksFails) {
  const ErrorModel model(McsTable::qam64);
  const Decibels sinr(3.2);
  const double piece = model.code_block_error_rate(10, sinr, 6699);
  ASSERT_GT(piece, 0.001);
  ASSERT_LT(piece, 0.999);
  EXPECT_NEAR(model.block_error_rate(10, sinr, 20'000), 1 - std::pow(1 - piece, 3), 1e-12);
}

TEST(ErrorModel, KeepsErrorsBelowTheRoundingOfOne) {
  const ErrorModel model(McsTable::qam64);
  const double piece = model.code_block_error_rate(10, Decibels(4.7), 6699);
  ASSERT_LT(piece, 1e-17);
  ASSERT_GT(piece, 0);
  EXPECT_NEAR(model.block_error_rate(10, Decibels(4.7), 20'000) / piece, 3, 1e-9);
}

TEST(ErrorModel, IsCertainFarFromTheThreshold) {
  const ErrorModel model(McsTable::qam64);
  EXPECT_EQ(model.block_error_rate(0, Decibels(-100), 1000), 1);
  EXPECT_EQ(model.block_error_rate(28, Decibels(100), 1000), 0);
}

TEST(SelectMcs, TakesTheHighestMcsThatMeetsTheTarget) {
  const ErrorModel model(McsTable::qam64);
  const TransportBlockShape allocation{.resource_blocks = 264};
  const auto error_at = [&](int mcs, Decibels sinr) {
    const Mcs& row = model.table()[static_cast<std::size_t>(mcs)];
    return model.block_error_rate(mcs, sinr, transport_block_bits(allocation, row));
  };
  for (const double sinr : range(-3, 25, 0.25)) {
    const McsChoice choice = model.select_mcs(Decibels(sinr), 0.1, allocation);
    ASSERT_TRUE(choice.meets_target) << sinr;
    EXPECT_LE(error_at(choice.mcs, Decibels(sinr)), 0.1);
    for (int mcs = choice.mcs + 1; mcs < 29; ++mcs) EXPECT_GT(error_at(mcs, Decibels(sinr)), 0.1) << sinr;
  }
}

TEST(SelectMcs, SaysWhenEvenMcs0MissesTheTarget) {
  const ErrorModel model(McsTable::qam64);
  const McsChoice choice = model.select_mcs(Decibels(-20), 0.1, {.resource_blocks = 264});
  EXPECT_EQ(choice.mcs, 0);
  EXPECT_FALSE(choice.meets_target);
}

TEST(SelectMcs, ReachesTheTopOfTheTable) {
  const ErrorModel model(McsTable::qam256);
  EXPECT_EQ(model.select_mcs(Decibels(45), 1e-5, {.resource_blocks = 264}).mcs, 27);
}

TEST(ErrorModel, RefusesAnMcsOutsideItsTable) {
  const ErrorModel model(McsTable::qam256);
  EXPECT_THROW((void)model.block_error_rate(28, Decibels(10), 1000), InvariantViolation);
  EXPECT_THROW((void)model.block_error_rate(-1, Decibels(10), 1000), InvariantViolation);
  EXPECT_THROW((void)qam_information(10, Decibels(10)), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
