#include "models/radio/nr_phy.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::half1;
using test::half2;
using test::symbol;

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

TEST(NrPhy, SendersPrepareForHalfOfTprocTwoAndReceiversDecodeForHalfOfTprocOne) {
  const NrPhy phy(radio_with("DDDSU", Access::configured_grant));
  EXPECT_EQ(phy.first_chance(Direction::downlink, 7us), 7us + half2);
  EXPECT_EQ(phy.first_chance(Direction::uplink, 7us), 7us + half2);
  EXPECT_EQ(phy.decoding(), half1);
}

TEST(NrPhy, ProcessingFollowsNumerologyAndCapability) {
  NrRadio radio = radio_with("DDDSU", Access::configured_grant);
  radio.numerology = 2;
  radio.bandwidth = Frequency(200e6);
  // A symbol with prefix takes 17,838.54 ns at 60 kHz. N = 17, 23: 303,256 and 410,287 ns, halves rounded up.
  EXPECT_EQ(NrPhy(radio).decoding(), 151'628ns);
  EXPECT_EQ(NrPhy(radio).first_chance(Direction::downlink, 0ns), 205'144ns);
  radio.capability = UeCapability::two;  // N = 9, 11: 160,547 and 196,224 ns
  EXPECT_EQ(NrPhy(radio).decoding(), 80'274ns);
  EXPECT_EQ(NrPhy(radio).first_chance(Direction::downlink, 0ns), 98'112ns);
  radio.capability = UeCapability::one;
  radio.numerology = 6;  // N = 160, 288: as long as at 120 kHz
  radio.bandwidth = Frequency(400e6);
  EXPECT_EQ(NrPhy(radio).decoding(), half1);
}

TEST(NrPhy, ADynamicGrantTakesRequestGrantAndPreparation) {
  const NrPhy phy(radio_with("DDDSU"));
  // Ready at 89,193. PUCCH: symbol 13 of slot 3, 491,072 to 500,000. Read and granted at 749,740. PDCCH: symbol 0 of
  // slot 6, to 758,929. Read and prepared in 2 x 160,547.
  const Instant eligible = symbol(6, 1) + 2 * half2;
  EXPECT_EQ(eligible, 1'080'023ns);
  EXPECT_EQ(phy.first_chance(Direction::uplink, 0ns), eligible);
  EXPECT_EQ(phy.first_chance(Direction::uplink, symbol(3, 13) - half1), eligible);
  // A nanosecond later the request has to take slot 4: to 625,000, granted at 874,740, PDCCH of slot 7.
  EXPECT_EQ(phy.first_chance(Direction::uplink, symbol(3, 13) - half1 + 1ns), symbol(7, 1) + 2 * half2);
}

TEST(NrPhy, ARetransmissionTakesFeedbackInTheOtherDirectionAndPreparation) {
  const NrPhy phy(radio_with("DDDSU"));
  // Up, ended with slot 4: decoded and answered at 625,000 + 178,386, PDCCH of slot 7.
  EXPECT_EQ(phy.next_chance(Direction::uplink, 625us), symbol(7, 1) + 2 * half2);
  // Down, ended at 276,786: answered at 455,172, PUCCH of slot 3.
  EXPECT_EQ(phy.next_chance(Direction::downlink, symbol(2, 3)), 500us + 2 * half2);
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
    EXPECT_LE(link.first_bler[14], 0.1) << sinr;
    NrLink bolder = link;
    for (bolder.mcs = link.mcs + 1; bolder.mcs < 29; ++bolder.mcs) {
      EXPECT_GT(phy.block_error_rate(bolder, 14, 1), 0.1) << sinr << " dB, MCS " << bolder.mcs;
    }
  }
  const NrLink hopeless = phy.link(Decibels(-20));
  EXPECT_EQ(hopeless.mcs, 0);
  EXPECT_FALSE(hopeless.meets_target);
}

TEST(NrPhy, CopiesOfABlockAddTheirSignalToNoiseRatios) {
  const NrPhy phy(narrow_radio());
  const NrLink link{.sinr = Decibels(-9), .mcs = 0};
  for (int transmission = 1; transmission <= 4; ++transmission) {
    const NrLink combined{.sinr = Decibels(-9 + 10 * std::log10(transmission)), .mcs = 0};
    EXPECT_DOUBLE_EQ(phy.block_error_rate(link, 4, transmission), phy.block_error_rate(combined, 4, 1));
  }
}

TEST(NrPhy, MeanTransmissionsCountsTheFailuresBeforeEach) {
  NrRadio radio = narrow_radio();
  const NrPhy phy(radio);
  NrLink link = phy.link(Decibels(-9));
  const double p1 = phy.block_error_rate(link, 14, 1);
  const double p2 = phy.block_error_rate(link, 14, 2);
  const double p3 = phy.block_error_rate(link, 14, 3);
  EXPECT_GT(p1 * p2, 1e-6) << "the second transmission has to matter";
  EXPECT_DOUBLE_EQ(phy.mean_transmissions(link, 14), 1 + p1 + p1 * p2 + p1 * p2 * p3);
  EXPECT_EQ(phy.mean_transmissions(phy.link(Decibels(80)), 14), 1);
  EXPECT_EQ(phy.mean_transmissions(phy.link(Decibels(-100)), 14), 4);
  radio.harq.max_transmissions = 1;
  EXPECT_EQ(NrPhy(radio).mean_transmissions(link, 14), 1);
}

TEST(NrPhy, TheFloorOfADownlinkMessageIsPreparationAirAndDecoding) {
  const NrPhy phy(radio_with("DDDSU"));
  // Ready just when symbol 1 of a slot starts; two symbols.
  const RadioFloor floor = phy.floor(Direction::downlink, 28, Bytes(100), 0, 1);
  EXPECT_EQ(floor.wait, half2);
  EXPECT_EQ(floor.air, symbol(0, 3) - symbol(0, 1) + half1);
}

TEST(NrPhy, TheFloorOfADynamicGrantIsTheBestOfItsRequests) {
  const NrPhy phy(radio_with("DDDSU"));
  // Requested in slot 3, eligible at 1,080,023, sent in the two uplink symbols of the special slot 8. A request in slot
  // 4 leads to 1,205,023, after slot 9, and waits for slot 13.
  const RadioFloor floor = phy.floor(Direction::uplink, 28, Bytes(100), 0, 1);
  EXPECT_EQ(floor.total(), symbol(8, 14) + half1 - (symbol(3, 13) - half1));
  EXPECT_EQ(floor.total(), 812'314ns);
  EXPECT_EQ(floor.air, symbol(8, 14) - symbol(8, 12) + half1);
}

TEST(NrPhy, TheFloorOfAConfiguredGrantIsOneWholeOccasion) {
  const NrPhy phy(radio_with(std::string(full_uplink), Access::configured_grant));
  const RadioFloor floor = phy.floor(Direction::uplink, 28, Bytes(100), 0, 1);
  EXPECT_EQ(floor.wait, half2);
  EXPECT_EQ(floor.air, 125us + half1);
  // Two blocks of one of three owners: two occasions of others between them.
  const RadioFloor two = phy.floor(Direction::uplink, 28, phy.payload(28, 14) + Bytes(1), 1, 3);
  EXPECT_EQ(two.total(), half2 + 4 * 125us + half1);
  EXPECT_EQ(two.air, 2 * 125us + half1);
}

}  // namespace
}  // namespace trilemma
