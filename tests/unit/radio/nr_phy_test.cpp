#include "models/radio/nr_phy.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

NrRadio radio_with(const std::string& frame, Access access = Access::dynamic) {
  NrRadio radio;
  radio.frame = frame;
  radio.access = access;
  return radio;
}

/// 32 resource blocks of MCS 0, 2 x 120 / 1024 bit a resource element.
NrRadio narrow_radio() {
  NrRadio radio = radio_with("DDDSU");
  radio.bandwidth = Frequency(50e6);
  return radio;
}

TEST(NrPhy, PayloadIsTheTransportBlockWithoutItsHeaders) {
  const NrPhy phy(narrow_radio());
  // 14 symbols: 32 x 156 elements, 1170 bits, quantised to 16 x 73 = 1168, next in the table 1192: 149 B.
  EXPECT_EQ(phy.payload(0, 14), Bytes(149 - 10));
  // 2 symbols, one of them DM-RS: 32 x 12 elements, 90 bits, 88 in the table: 11 B.
  EXPECT_EQ(phy.payload(0, 2), Bytes(11 - 10));
  // 3 symbols: 180 bits, 176: 22 B.
  EXPECT_EQ(phy.payload(0, 3), Bytes(22 - 10));
}

TEST(NrPhy, ABlockThatItsHeadersFillCarriesNothing) {
  NrRadio radio = narrow_radio();
  radio.mcs_table = McsTable::qam64_low_se;
  // 384 elements x 60 / 1024: 22 bits, the smallest block of 24 bits is 3 B.
  EXPECT_EQ(NrPhy(radio).payload(0, 2), Bytes(0));
  EXPECT_EQ(NrPhy(radio).symbols_for(0, Bytes(1), 2), 0);
}

TEST(NrPhy, TakesTheFewestSymbolsThatCarryTheMessage) {
  const NrPhy phy(narrow_radio());
  EXPECT_EQ(phy.symbols_for(0, Bytes(1), 14), 2);
  EXPECT_EQ(phy.symbols_for(0, Bytes(2), 14), 3);
  EXPECT_EQ(phy.symbols_for(0, Bytes(12), 14), 3);
  EXPECT_EQ(phy.symbols_for(0, Bytes(13), 14), 4);
  EXPECT_EQ(phy.symbols_for(0, Bytes(1'000'000), 9), 9);
  EXPECT_EQ(phy.symbols_for(0, Bytes(1), 1), 0);
  EXPECT_EQ(phy.symbols_for(0, Bytes(1), 0), 0);
}

TEST(NrPhy, PayloadGrowsWithSymbolsAndEfficiency) {
  const NrPhy phy(narrow_radio());
  const auto table = mcs_table(McsTable::qam64);
  for (int mcs = 0; mcs < static_cast<int>(table.size()); ++mcs) {
    for (int symbols = 3; symbols <= 14; ++symbols) {
      EXPECT_GE(phy.payload(mcs, symbols), phy.payload(mcs, symbols - 1));
    }
    EXPECT_LE(phy.payload(0, 14), phy.payload(mcs, 14));
  }
}

TEST(NrPhy, LinkAdaptationTakesTheHighestMcsThatMeetsTheTarget) {
  const NrPhy phy(radio_with("DDDSU"));
  for (double sinr = -5; sinr < 25; sinr += 1.7) {
    const NrLink link = phy.link(Decibels(sinr));
    ASSERT_TRUE(link.meets_target) << sinr;
    EXPECT_LE(phy.block_error_rate(link.mcs, link.sinr, 14, 1), 0.1) << sinr;
    // Thresholds are known to a thousandth of a decibel.
    for (int bolder = link.mcs + 1; bolder < 29; ++bolder) {
      EXPECT_GT(phy.block_error_rate(bolder, link.sinr - Decibels(0.001), 14, 1), 0.1) << sinr << " dB, MCS " << bolder;
    }
  }
  const NrLink hopeless = phy.link(Decibels(-20));
  EXPECT_EQ(hopeless.mcs, 0);
  EXPECT_FALSE(hopeless.meets_target);
}

TEST(NrPhy, CopiesOfABlockAddTheirSignalToNoiseRatios) {
  const NrPhy phy(narrow_radio());
  for (int transmission = 1; transmission <= 4; ++transmission) {
    const Decibels combined(-9 + 10 * std::log10(transmission));
    EXPECT_DOUBLE_EQ(phy.block_error_rate(0, Decibels(-9), 4, transmission), phy.block_error_rate(0, combined, 4, 1));
  }
}

TEST(NrPhy, MeanTransmissionsCountsTheFailuresBeforeEach) {
  NrRadio radio = narrow_radio();
  const NrPhy phy(radio);
  const NrLink link = phy.link(Decibels(-9));
  const double p1 = phy.block_error_rate(link.mcs, link.sinr, 14, 1);
  const double p2 = phy.block_error_rate(link.mcs, link.sinr, 14, 2);
  const double p3 = phy.block_error_rate(link.mcs, link.sinr, 14, 3);
  EXPECT_GT(p1 * p2, 1e-6) << "the second transmission has to matter";
  EXPECT_DOUBLE_EQ(phy.mean_transmissions(link, 14), 1 + p1 + p1 * p2 + p1 * p2 * p3);
  EXPECT_EQ(phy.mean_transmissions(phy.link(Decibels(80)), 14), 1);
  EXPECT_EQ(phy.mean_transmissions(phy.link(Decibels(-100)), 14), 4);
  radio.harq.max_transmissions = 1;
  EXPECT_EQ(NrPhy(radio).mean_transmissions(link, 14), 1);
}

TEST(NrPhy, AReportedCqiIsAnsweredWithTheHighestMcsOfNoMoreEfficiency) {
  NrRadio radio = radio_with("DDDSU");
  const NrPhy direct(radio);
  radio.feedback = LinkFeedback::cqi;
  const NrPhy reported(radio);
  // CQI 15 and MCS 28 are both 948/1024 at 64QAM; CQI 2 and MCS 0 both 120/1024 at QPSK.
  EXPECT_EQ(reported.link(Decibels(60)).mcs, 28);
  for (double sinr = -5; sinr < 30; sinr += 0.7) {
    EXPECT_LE(reported.link(Decibels(sinr)).mcs, direct.link(Decibels(sinr)).mcs) << sinr;
  }
  // CQI 10 (466/1024) is MCS 18, CQI 11 (567/1024) MCS 20: MCS 19 is never chosen.
  for (double sinr = 5; sinr < 25; sinr += 0.01) EXPECT_NE(reported.link(Decibels(sinr)).mcs, 19);
}

TEST(NrPhy, TheLowEfficiencyTableAimsAtOneErrorIn100000) {
  NrRadio radio = radio_with("DDDSU");
  radio.mcs_table = McsTable::qam64_low_se;
  const NrPhy phy(radio);
  for (double sinr = 0; sinr < 20; sinr += 1.3) {
    const NrLink link = phy.link(Decibels(sinr));
    EXPECT_LE(phy.block_error_rate(link.mcs, link.sinr, 14, 1), 1e-5);
  }
}

TEST(NrPhy, FixedErrorsDoNotAskForTheLink) {
  NrRadio radio = radio_with("DDDSU");
  radio.errors = FixedErrors{.first = Fraction(0.1), .later = Fraction(0.2)};
  const NrPhy phy(radio);
  for (const double sinr : {-50.0, 50.0}) {
    EXPECT_EQ(phy.block_error_rate(0, Decibels(sinr), 14, 1), 0.1);
    EXPECT_EQ(phy.block_error_rate(0, Decibels(sinr), 14, 3), 0.2);
  }
}

}  // namespace
}  // namespace trilemma
