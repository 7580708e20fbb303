#include "models/radio/effective_sinr.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"

namespace trilemma {
namespace {

TEST(EffectiveSinr, OfEqualPartsIsTheirs) {
  for (const float sinr : {0.0F, 0.01F, 1.0F, 30.0F, 1e6F}) {
    EXPECT_EQ(effective_sinr(std::vector<float>(16, sinr), 4.0), static_cast<double>(sinr));
  }
}

TEST(EffectiveSinr, OfTwoPartsFollowsTheFormula) {
  // -5 ln((e^(-1/5) + e^(-9/5)) / 2)
  EXPECT_NEAR(effective_sinr(std::vector<float>{9, 1}, 5), -5 * std::log((std::exp(-0.2) + std::exp(-1.8)) / 2), 1e-5);
}

TEST(EffectiveSinr, LiesBetweenTheSmallestAndTheMean) {
  Rng rng(1, 1, 0);
  for (int i = 0; i < 200; ++i) {
    std::vector<float> sinrs(16);
    for (float& sinr : sinrs) sinr = static_cast<float>(-10 * std::log(rng.uniform()));
    const double least = *std::min_element(sinrs.begin(), sinrs.end());
    const double mean = std::accumulate(sinrs.begin(), sinrs.end(), 0.0) / 16;
    double before = least;
    for (const double beta : {0.1, 1.6, 6.5, 34.0, 132.0}) {
      const double effective = effective_sinr(sinrs, beta);
      EXPECT_GT(effective, before) << beta;  // grows with beta
      EXPECT_LT(effective, mean) << beta;
      before = effective;
    }
    EXPECT_NEAR(effective_sinr(sinrs, 1e5), mean, mean * 1e-2);
    EXPECT_NEAR(effective_sinr(sinrs, 1e-3), least, 1e-3 * std::log(16) + 1e-6);
  }
}

TEST(EffectiveSinr, OfAStrongSignalDoesNotVanish) {
  // Two parts so far above beta that only the weaker one counts: -beta ln(e^(-1e5 / beta) / 2).
  EXPECT_NEAR(effective_sinr(std::vector<float>{1e5F, 2e5F}, 1.6), 1e5 + 1.6 * std::log(2), 1e-2);
}

TEST(EesmBetas, AreThoseOfSionnaWhereThereAreAny) {
  const std::vector<double> first = eesm_betas(McsTable::qam64);
  ASSERT_EQ(first.size(), 29U);
  EXPECT_EQ(first[0], 1.60);
  EXPECT_EQ(first[10], 3.97);
  EXPECT_EQ(first[28], 34.28);
  const std::vector<double> second = eesm_betas(McsTable::qam256);
  ASSERT_EQ(second.size(), 28U);
  EXPECT_EQ(second[0], 1.60);
  EXPECT_EQ(second[20], 56.48);
  EXPECT_EQ(second[27], 132.54);
}

TEST(EesmBetas, AreTheSameForTheSameModulationAndCodeInAllTables) {
  const std::span<const Mcs> known = mcs_table(McsTable::qam64);
  const std::vector<double> betas = eesm_betas(McsTable::qam64);
  for (const McsTable table : {McsTable::qam256, McsTable::qam64_low_se}) {
    const std::span<const Mcs> rows = mcs_table(table);
    const std::vector<double> others = eesm_betas(table);
    int shared = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < known.size(); ++k) {
        if (rows[i].modulation_order != known[k].modulation_order || rows[i].code_rate != known[k].code_rate) continue;
        EXPECT_EQ(others[i], betas[k]) << i;
        ++shared;
      }
    }
    EXPECT_EQ(shared, table == McsTable::qam256 ? 20 : 23);
  }
}

TEST(EesmBetas, OfRowsBelowTableOneAreThatOfItsFirstRow) {
  const std::vector<double> betas = eesm_betas(McsTable::qam64_low_se);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(betas[i], 1.60) << i;
}

}  // namespace
}  // namespace trilemma
