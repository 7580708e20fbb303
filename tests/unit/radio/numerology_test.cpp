#include "models/radio/numerology.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

constexpr Frequency millimetre_wave{28e9};
constexpr Frequency mid_band{3.5e9};

int mu_of(int kilohertz) { return static_cast<int>(std::lround(std::log2(kilohertz / 15))); }

TEST(Numerology, SlotsDivideAMillisecondExactly) {
  for (int mu = 0; mu <= numerology_max; ++mu) EXPECT_EQ(slot_duration(mu) * (1 << mu), 1ms) << mu;
}

TEST(Numerology, SubcarriersAreSpacedBy15kHzTimesAPowerOfTwo) {
  EXPECT_EQ(subcarrier_spacing(0), Frequency(15e3));
  EXPECT_EQ(subcarrier_spacing(3), Frequency(120e3));
  EXPECT_EQ(subcarrier_spacing(6), Frequency(960e3));
}

TEST(Numerology, SymbolBoundariesAreFourteenthsOfASlotRoundedUp) {
  EXPECT_EQ(symbol_start(3, 0), 0ns);
  EXPECT_EQ(symbol_start(3, 1), 8929ns);   // 125000 / 14 = 8928.57
  EXPECT_EQ(symbol_start(3, 7), 62500ns);  // half a slot
  EXPECT_EQ(symbol_start(3, 14), slot_duration(3));
}

// TS 38.211 clause 5.3.1: a symbol lasts (2048 + 144) kappa 2^-mu Tc, and 16 kappa Tc more for the first of every half
// millisecond; kappa Tc = 1 / 30.72 MHz.
TEST(Numerology, UniformSymbolsAreAtMost521NanosecondsFromTheStandardsOnes) {
  const double kappa_tc = 1e9 / 30.72e6;
  double worst = 0;
  for (int mu = 0; mu <= numerology_max; ++mu) {
    double boundary = 0;  // in front of the symbol, counted over one millisecond
    for (int symbol = 0; symbol < symbols_per_slot << mu; ++symbol) {
      const int in_slot = symbol % symbols_per_slot;
      const Duration uniform = slot_duration(mu) * (symbol / symbols_per_slot) + symbol_start(mu, in_slot);
      worst = std::max(worst, std::abs(boundary - static_cast<double>(uniform.count())));
      boundary += 2192 * kappa_tc / (1 << mu);
      if (symbol % (7 << mu) == 0) boundary += 16 * kappa_tc;
    }
    EXPECT_NEAR(boundary, 1e6, 1e-3) << mu;
  }
  EXPECT_LE(worst, 521);
  EXPECT_GT(worst, 500);
}

TEST(Numerology, ResourceBlocksAreThoseOfTheTable) {
  for (const test::Row& row : test::read_csv("nr_fr2_nrb.csv")) {
    const Frequency bandwidth(test::number(row, "bw_mhz") * 1e6);
    EXPECT_EQ(resource_blocks(bandwidth, mu_of(test::integer(row, "scs_khz")), millimetre_wave),
              test::integer(row, "n_rb"));
  }
}

TEST(Numerology, ABandwidthOutsideTheTableHasNoResourceBlocks) {
  EXPECT_EQ(resource_blocks(Frequency(300e6), 3, millimetre_wave), std::nullopt);
  EXPECT_EQ(resource_blocks(Frequency(400e6), 2, millimetre_wave), std::nullopt);
  EXPECT_EQ(resource_blocks(Frequency(100e6), 0, millimetre_wave), std::nullopt);
}

TEST(Numerology, EveryListedBandwidthHasResourceBlocks) {
  std::size_t listed = 0;
  for (int mu = 0; mu <= numerology_max; ++mu) {
    for (const Frequency bandwidth : channel_bandwidths(mu, millimetre_wave)) {
      EXPECT_TRUE(resource_blocks(bandwidth, mu, millimetre_wave).has_value());
      ++listed;
    }
  }
  EXPECT_EQ(listed, test::read_csv("nr_fr2_nrb.csv").size());
  EXPECT_EQ(channel_bandwidths(3, millimetre_wave).back(), Frequency(400e6));
}

// TS 38.101-1 table 5.3.2-1. Wider channels spend a smaller share on guard bands: 12 N SCS is 79 % of 10 MHz at 60 kHz
// and 98.3 % of 100 MHz at 30 kHz.
TEST(Numerology, BelowTheMillimetreWaveCarriersAreNarrower) {
  EXPECT_EQ(resource_blocks(Frequency(50e6), 0, mid_band), 270);
  EXPECT_EQ(resource_blocks(Frequency(100e6), 1, mid_band), 273);
  EXPECT_EQ(resource_blocks(Frequency(100e6), 2, mid_band), 135);
  EXPECT_EQ(resource_blocks(Frequency(100e6), 0, mid_band), std::nullopt);
  EXPECT_EQ(resource_blocks(Frequency(400e6), 3, mid_band), std::nullopt);
  EXPECT_TRUE(channel_bandwidths(3, mid_band).empty());
  for (const int mu : {0, 1, 2}) {
    int last = 0;
    for (const Frequency bandwidth : channel_bandwidths(mu, mid_band)) {
      const int blocks = *resource_blocks(bandwidth, mu, mid_band);
      EXPECT_GT(blocks, last);
      last = blocks;
      const double used = blocks * 12 * subcarrier_spacing(mu).value() / bandwidth.value();
      EXPECT_LT(used, 0.99) << mu << " " << bandwidth.value();
      EXPECT_GT(used, 0.75) << mu << " " << bandwidth.value();
    }
  }
}

TEST(Numerology, FrequencyRangeTwoStartsAt24250MHz) {
  EXPECT_FALSE(is_fr2(Frequency(24.2499e9)));
  EXPECT_TRUE(is_fr2(Frequency(24.25e9)));
}

TEST(Numerology, ProcessingTimesAreThoseOfTheTableRoundedUp) {
  for (const test::Row& row : test::read_csv("nr_processing_times.csv")) {
    const UeCapability capability = test::integer(row, "ue_capability") == 1 ? UeCapability::one : UeCapability::two;
    const auto times = processing_times(test::integer(row, "mu"), capability);
    ASSERT_TRUE(times.has_value());
    // The table gives hundredths of a microsecond, so half of one, and a nanosecond for rounding up.
    EXPECT_NEAR(to_seconds(times->pdsch) * 1e6, test::number(row, "Tproc1_us (d=0)"), 0.006);
    EXPECT_NEAR(to_seconds(times->pusch) * 1e6, test::number(row, "Tproc2_us (d=0)"), 0.006);
  }
}

// Tproc,1 = 20 x 2192 / 8 / 30.72 MHz = 178385.42 ns and Tproc,2 = 36 x 2192 / 8 / 30.72 MHz = 321093.75 ns.
TEST(Numerology, ProcessingTimesAt120kHzRoundUpToNanoseconds) {
  const auto times = processing_times(3, UeCapability::one);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->pdsch, 178386ns);
  EXPECT_EQ(times->pusch, 321094ns);
}

TEST(Numerology, CapabilityTwoIsNotDefinedForFr2) {
  EXPECT_FALSE(processing_times(3, UeCapability::two).has_value());
  EXPECT_FALSE(processing_times(6, UeCapability::two).has_value());
  EXPECT_FALSE(processing_times(4, UeCapability::one).has_value());
}

TEST(Numerology, RefusesWhatIsNoNumerology) {
  EXPECT_THROW((void)slot_duration(7), InvariantViolation);
  EXPECT_THROW((void)slot_duration(-1), InvariantViolation);
  EXPECT_THROW((void)symbol_start(3, 15), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
