#include <set>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::half1;
using test::half2;
using test::loud_payload;
using test::loud_radio;
using test::Offer;
using test::run;
using test::slot;
using test::symbol;
using test::Transfer;

NrRadio granted_radio(const std::string& frame = std::string(full_uplink)) {
  NrRadio radio = loud_radio();
  radio.frame = frame;
  radio.access = Access::configured_grant;
  return radio;
}

// ---- Dynamic grant -------------------------------------------------------------------------------------------------

TEST(DynamicGrant, TakesRequestGrantAndDataInTurn) {
  const Transfer transfer = run(loud_radio(), {{0ns, Bytes(100)}}).transfers.at(0);
  //    89,193  the request is prepared;   491,072  PUCCH of special slot 3, until 500,000
  //   749,740  read and granted;          750,000  PDCCH of slot 6, until 758,929
  // 1,080,023  read and prepared;       1,107,143  symbols 12 and 13 of special slot 8, until 1,125,000
  EXPECT_EQ(transfer.done, 1'125'000ns + half1);
  EXPECT_EQ(transfer.result.times.grant, 1'080'023ns);
  EXPECT_EQ(transfer.result.times.alignment, 1'107'143ns - 1'080'023ns);
  EXPECT_EQ(transfer.result.times.queueing, 0ns);
  EXPECT_EQ(transfer.result.times.air, 17'857ns);
  EXPECT_EQ(transfer.result.times.retransmission, 0ns);
  EXPECT_EQ(transfer.result.times.decoding, half1);
  EXPECT_EQ(transfer.result.blocks, 1);
}

TEST(DynamicGrant, TheRequestOfALaterArrivalTakesTheNextSlot) {
  const Instant last = symbol(3, 13) - half1;  // to be in time for the PUCCH of slot 3
  const auto transfers = run(loud_radio(), {{last, Bytes(100)}}).transfers;
  EXPECT_EQ(transfers.at(0).done, 1'125'000ns + half1);
  // One nanosecond late: PUCCH of slot 4, PDCCH of slot 7, eligible at 1,205,023: symbol 9 of slot 9 (1,205,358).
  const auto late = run(loud_radio(), {{last + 1ns, Bytes(100)}}).transfers;
  EXPECT_EQ(late.at(0).done, symbol(9, 11) + half1);
}

TEST(DynamicGrant, OneRequestCoversAllBlocksOfAMessage) {
  const NrRadio radio = loud_radio();
  const Bytes size = loud_payload(radio, 2) + loud_payload(radio, 14) + loud_payload(radio, 2);
  const Transfer transfer = run(radio, {{0ns, size}}).transfers.at(0);
  // Special slot 8, slot 9, special slot 13.
  EXPECT_EQ(transfer.done, symbol(13, 14) + half1);
  EXPECT_EQ(transfer.result.blocks, 3);
  EXPECT_EQ(transfer.result.times.air, 17'857ns + 125'000ns + 17'857ns);
}

TEST(DynamicGrant, ClientsShareTheSymbolsInOrderOfArrival) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  const auto transfers = run(radio, {{0ns, Bytes(100), 2}, {1ns, Bytes(100), 0}, {2ns, Bytes(100), 1}}, 3).transfers;
  // Ready at 89,193; PUCCH of slot 0 to 125,000; PDCCH of slot 3 (374,740), to 383,929; eligible at 705,023: symbol 9
  // of slot 5. Two have room there.
  ASSERT_EQ(transfers.size(), 3U);
  EXPECT_EQ(transfers[0].client, 2U);
  EXPECT_EQ(transfers[0].done, symbol(5, 11) + half1);
  EXPECT_EQ(transfers[1].client, 0U);
  EXPECT_EQ(transfers[1].done, symbol(5, 13) + half1);
  EXPECT_EQ(transfers[2].client, 1U);
  EXPECT_EQ(transfers[2].done, symbol(6, 2) + half1);
}

// ---- Downlink ------------------------------------------------------------------------------------------------------

TEST(Downlink, TakesTheNextDownlinkSymbolsOfTheFrame) {
  // Prepared at 160,547: symbols 4 and 5 of slot 1. Decoding two symbols takes (20 + 3) / 2 symbols of 8919.27 ns.
  constexpr Duration decoding{102'572};
  const Transfer transfer = run(loud_radio(), {{0ns, Bytes(100), 0, Direction::downlink}}).transfers.at(0);
  EXPECT_EQ(transfer.done, symbol(1, 6) + decoding);
  EXPECT_EQ(transfer.result.times.grant, half2);
  EXPECT_EQ(transfer.result.times.alignment, symbol(1, 4) - half2);
  // The downlink of special slot 3 ends before symbol 10, and slot 4 is uplink.
  const Transfer late =
      run(loud_radio(), {{symbol(3, 8) - half2 + 1ns, Bytes(100), 0, Direction::downlink}}).transfers.at(0);
  EXPECT_EQ(late.done, symbol(5, 3) + decoding);
}

TEST(Downlink, DoesNotDisturbTheUplink) {
  const auto result = run(loud_radio(), {{0ns, Bytes(100)}, {0ns, Bytes(1'000'000), 0, Direction::downlink}});
  EXPECT_EQ(result.uplink.blocks, 1);
  for (const Transfer& transfer : result.transfers) {
    if (transfer.result.blocks == 1) {
      EXPECT_EQ(transfer.done, 1'125'000ns + half1);
    }
  }
}

// ---- Configured grant ----------------------------------------------------------------------------------------------

TEST(ConfiguredGrant, OneClientOwnsEveryOccasionAndFillsItWhole) {
  // Prepared at 160,547: slot 2.
  const Transfer transfer = run(granted_radio(), {{0ns, Bytes(1)}}).transfers.at(0);
  EXPECT_EQ(transfer.done, 3 * slot + half1);
  EXPECT_EQ(transfer.result.times.grant, half2);
  EXPECT_EQ(transfer.result.times.alignment, 2 * slot - half2);
  EXPECT_EQ(transfer.result.times.air, slot);
}

TEST(ConfiguredGrant, AnOccasionIsMissedByANanosecond) {
  EXPECT_EQ(run(granted_radio(), {{2 * slot - half2, Bytes(1)}}).transfers.at(0).done, 3 * slot + half1);
  EXPECT_EQ(run(granted_radio(), {{2 * slot - half2 + 1ns, Bytes(1)}}).transfers.at(0).done, 4 * slot + half1);
}

TEST(ConfiguredGrant, ALongMessageTakesOneOccasionAfterTheOther) {
  const NrRadio radio = granted_radio();
  const Transfer transfer = run(radio, {{0ns, 2 * loud_payload(radio, 14) + Bytes(1)}}).transfers.at(0);
  EXPECT_EQ(transfer.done, 5 * slot + half1);
  EXPECT_EQ(transfer.result.blocks, 3);
  EXPECT_EQ(transfer.result.times.air, 3 * slot);
}

TEST(ConfiguredGrant, OccasionsOfThreeClientsTakeTurns) {
  // Occasion k is slot k and belongs to client k mod 3. From slot 2 on: 2 has slot 2, 0 slot 3, 1 slot 4.
  const auto transfers =
      run(granted_radio(), {{0ns, Bytes(1), 0}, {0ns, Bytes(1), 1}, {0ns, Bytes(1), 2}}, 3).transfers;
  ASSERT_EQ(transfers.size(), 3U);
  EXPECT_EQ(transfers[0].client, 2U);
  EXPECT_EQ(transfers[0].done, 3 * slot + half1);
  EXPECT_EQ(transfers[1].client, 0U);
  EXPECT_EQ(transfers[1].done, 4 * slot + half1);
  EXPECT_EQ(transfers[2].client, 1U);
  EXPECT_EQ(transfers[2].done, 5 * slot + half1);
}

TEST(ConfiguredGrant, NobodyUsesTheOccasionsOfASilentClient) {
  // Client 1 alone, two messages of an occasion each: slots 4 and 7.
  const Bytes full = loud_payload(granted_radio(), 14);
  const auto transfers = run(granted_radio(), {{0ns, full, 1}, {0ns, full, 1}}, 3).transfers;
  EXPECT_EQ(transfers.at(0).done, 5 * slot + half1);
  EXPECT_EQ(transfers.at(1).done, 8 * slot + half1);
}

TEST(ConfiguredGrant, InDddsuTheOccasionIsTheUplinkSlot) {
  // Prepared at 160,547: slot 4 for one client; of two clients, the second owns slots 9, 19, ...
  EXPECT_EQ(run(granted_radio("DDDSU"), {{0ns, Bytes(1)}}).transfers.at(0).done, 5 * slot + half1);
  EXPECT_EQ(run(granted_radio("DDDSU"), {{0ns, Bytes(1), 1}}, 2).transfers.at(0).done, 10 * slot + half1);
}

TEST(ConfiguredGrant, ClientsDoNotDisturbEachOther) {
  std::vector<Offer> alone;
  std::vector<Offer> crowd;
  for (int i = 0; i < 50; ++i) {
    alone.push_back({i * 333us, Bytes(30'000), 0});
    crowd.push_back(alone.back());
    for (const ClientIndex client : {1U, 2U}) crowd.push_back({i * 200us, Bytes(60'000), client});
  }
  const auto of_first = [](const std::vector<Transfer>& transfers) {
    std::vector<Instant> done;
    for (const Transfer& transfer : transfers) {
      if (transfer.client == 0) done.push_back(transfer.done);
    }
    return done;
  };
  EXPECT_EQ(of_first(run(granted_radio(), alone, 3).transfers), of_first(run(granted_radio(), crowd, 3).transfers));
}

// ---- Loss: every block fails ---------------------------------------------------------------------------------------

TEST(Harq, AGrantedBlockIsSentFourTimesAndLost) {
  NrRadio radio = test::deaf_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  const auto result = run(radio, {{0ns, Bytes(1)}});
  const Transfer& transfer = result.transfers.at(0);
  // Slot 2, until 375,000. Decoded and answered at 553,386: PDCCH of slot 5, to 633,929; read and prepared at 955,023:
  // slot 8, six slots after the first. So again slots 14 and 20.
  EXPECT_TRUE(transfer.result.lost);
  EXPECT_EQ(transfer.done, 21 * slot + half1);
  EXPECT_EQ(transfer.result.blocks, 1);
  EXPECT_EQ(transfer.result.retransmissions, 3);
  EXPECT_EQ(transfer.result.times.air, slot);
  EXPECT_EQ(transfer.result.times.retransmission, 18 * slot);
  EXPECT_EQ(result.uplink.blocks, 1);
  EXPECT_EQ(result.uplink.retransmissions, 3);
  EXPECT_EQ(result.uplink.lost_blocks, 1);
}

TEST(Harq, ADownlinkBlockIsSentFourTimesAndLost) {
  const auto result = run(test::deaf_radio(), {{0ns, Bytes(1), 0, Direction::downlink}});
  const Transfer& transfer = result.transfers.at(0);
  // Symbols 4 and 5 of slot 1; the answer is ready 2 x 102,572 after them, in the next PUCCH, and the block again
  // 321,094 after that: PUCCH 3, 821,094 -> symbol 8 of slot 6 -> 1,044,430, PUCCH 8, 1,446,094 -> symbol 8 of slot 11
  // -> 1,669,430, PUCCH 13, 2,071,094 -> symbol 8 of slot 16.
  EXPECT_TRUE(transfer.result.lost);
  EXPECT_EQ(transfer.done, symbol(16, 10) + Duration(102'572));
  EXPECT_EQ(transfer.result.retransmissions, 3);
  EXPECT_EQ(result.downlink.lost_blocks, 1);
}

TEST(Harq, MaxTransmissionsIsTheNumberOfTransmissions) {
  for (const std::int64_t transmissions : {1, 2, 7}) {
    for (const Access access : {Access::dynamic, Access::configured_grant}) {
      NrRadio radio = test::deaf_radio();
      radio.access = access;
      radio.harq.max_transmissions = transmissions;
      const auto result = run(radio, {{0ns, Bytes(1)}, {100ms, Bytes(1)}});
      for (const Transfer& transfer : result.transfers) {
        EXPECT_TRUE(transfer.result.lost);
        EXPECT_EQ(transfer.result.retransmissions, transmissions - 1);
      }
      EXPECT_EQ(result.uplink.lost_blocks, 2);
    }
  }
}

TEST(Harq, AGoodLinkNeverRetransmits) {
  std::vector<Offer> offers;
  for (int i = 0; i < 500; ++i) {
    offers.push_back({i * 1ms, Bytes(50'000)});
    offers.push_back({i * 1ms, Bytes(50'000), 0, Direction::downlink});
  }
  for (const Access access : {Access::dynamic, Access::configured_grant}) {
    NrRadio radio = loud_radio();
    radio.access = access;
    const auto result = run(radio, offers);
    EXPECT_EQ(result.transfers.size(), 1000U);
    EXPECT_EQ(result.uplink.retransmissions + result.downlink.retransmissions, 0);
    EXPECT_EQ(result.uplink.lost_blocks + result.downlink.lost_blocks, 0);
  }
}

TEST(Harq, OccasionsThatWaitForARepetitionServeTheNextMessages) {
  NrRadio radio = test::deaf_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.harq.max_transmissions = 2;
  const std::vector<Offer> offers(7, Offer{0ns, NrPhy(radio).payload(0, 14)});  // an occasion each
  const auto transfers = run(radio, offers).transfers;
  ASSERT_EQ(transfers.size(), 7U);
  // A block of slot k is repeated in slot k + 6. Messages 0 to 5 take slots 2 to 7 and are repeated in 8 to 13; the
  // seventh finds those taken and has slot 14, repeated in 20.
  for (int i = 0; i < 6; ++i) EXPECT_EQ(transfers[static_cast<std::size_t>(i)].done, (9 + i) * slot + half1) << i;
  EXPECT_EQ(transfers[6].done, 21 * slot + half1);
}

TEST(Harq, OccasionsLeftEmptyInThePastAreNotUsed) {
  NrRadio radio = test::deaf_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.harq.max_transmissions = 2;
  // Slots 2 and 8. Offered after slot 5 has begun, the next message is prepared for slot 7 and repeated in slot 13; the
  // last one comes long after.
  const auto transfers = run(radio, {{0ns, Bytes(1)}, {5 * slot + 1ns, Bytes(1)}, {100 * slot, Bytes(1)}}).transfers;
  EXPECT_EQ(transfers.at(0).done, 9 * slot + half1);
  EXPECT_EQ(transfers.at(1).done, 14 * slot + half1);
  EXPECT_EQ(transfers.at(2).done, 109 * slot + half1);
}

TEST(Harq, ALostMessageLeavesTheNextOneItsOccasions) {
  NrRadio radio = test::deaf_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.harq.max_transmissions = 1;
  const Bytes full = NrPhy(radio).payload(0, 14);
  const auto transfers = run(radio, {{0ns, full}, {0ns, full}}).transfers;
  EXPECT_EQ(transfers.at(0).done, 3 * slot + half1);
  EXPECT_EQ(transfers.at(1).done, 4 * slot + half1);
}

// ---- Scheduling requests, buffer reports
// -----------------------------------------------------------------------------

/// The slots of the packet-level simulator 5G-LENA at 120 kHz, as its runs were traced: configs/radios/5g-lena.yaml.
NrRadio slotted_radio(const std::string& frame) {
  NrRadio radio = loud_radio();
  radio.frame = frame;
  radio.uplink_control = 1;
  radio.shortest = 1;
  radio.reference = ReferenceSignals::comb;
  radio.special = {.downlink = 12, .guard = 1, .uplink = 1};
  radio.timing = SlottedTiming{};
  radio.request = {.first_grant = Bytes(12), .table = BufferTable::short5, .in_flight = GrantsInFlight::ignored};
  return radio;
}

TEST(BufferReport, FollowsTheTimelineOfAPacketLevelSimulator) {
  const NrRadio radio = slotted_radio("F");
  // Offered in slot 0, the request is made in slot n = 1, on the air in slot 3, known in slot 4; the first block fills
  // the last data symbol, 12, of slot n + 7 and is decoded 100 us later.
  const Bytes first = loud_payload(radio, 1);
  EXPECT_EQ(run(radio, {{1ns, first}}).transfers.at(0).done, symbol(8, 13) + 100us);
  // A byte more is in its buffer report, decoded in slot 9, and has a block in slot n + 13.
  EXPECT_EQ(run(radio, {{1ns, first + Bytes(1)}}).transfers.at(0).done, symbol(14, 13) + 100us);
  // In DDDSU, symbol 12 of uplink slot n + 8 (n = 1 here: the request is on the air in special slot 3), and n + 18.
  const NrRadio tdd = slotted_radio("DDDSU");
  EXPECT_EQ(run(tdd, {{1ns, first}}).transfers.at(0).done, symbol(9, 13) + 100us);
  EXPECT_EQ(run(tdd, {{1ns, first + Bytes(1)}}).transfers.at(0).done, symbol(19, 13) + 100us);
}

TEST(BufferReport, GrantsOnTheirWayAreDeductedOrGrantedTwice) {
  NrRadio radio = slotted_radio("F");
  const Bytes size = loud_payload(radio, 1) + 3 * loud_payload(radio, 12);
  EXPECT_GT(run(radio, {{1ns, size}}).uplink.empty_blocks, 0);
  radio.request.in_flight = GrantsInFlight::deducted;
  radio.request.table = BufferTable::exact;
  const auto result = run(radio, {{1ns, size}});
  EXPECT_EQ(result.uplink.empty_blocks, 0);
  EXPECT_EQ(result.uplink.blocks, 4);
  EXPECT_EQ(result.transfers.at(0).done, symbol(16, 13) + 100us);
}

TEST(BufferReport, IsSentAnewWhenItIsLostWithItsBlock) {
  NrRadio radio = slotted_radio("F");
  radio.harq.max_transmissions = 1;
  radio.errors = FixedErrors{.first = Fraction(0.3), .later = Fraction(0.3)};
  std::vector<Offer> offers;
  for (int i = 0; i < 300; ++i) offers.push_back({i * 400us, 2 * loud_payload(radio, 12)});
  const auto result = run(radio, offers);
  EXPECT_EQ(result.transfers.size(), 300U) << "nobody waits for ever";
  EXPECT_GT(result.uplink.lost_blocks, 50);
  EXPECT_EQ(result.uplink.bytes_queued(), 0);
}

TEST(FlexibleSlots, AreNeverBookedTwice) {
  NrRadio radio = slotted_radio("F");
  radio.request.in_flight = GrantsInFlight::deducted;
  radio.special.guard = 1;
  std::vector<Offer> offers;
  for (int i = 0; i < 400; ++i) {
    offers.push_back({i * 150us, Bytes(9'000)});
    offers.push_back({i * 150us, Bytes(9'000), 0, Direction::downlink});
  }
  const auto result = run(radio, offers);
  Instant end{0};
  for (const Transfer& transfer : result.transfers) end = std::max(end, transfer.done);
  EXPECT_LE(result.uplink.symbols + result.downlink.symbols, 12.0 * static_cast<double>(end / slot + 1));
  EXPECT_GT(result.uplink.symbols + result.downlink.symbols, 6.0 * static_cast<double>(end / slot + 1)) << "it is busy";
}

}  // namespace
}  // namespace trilemma
