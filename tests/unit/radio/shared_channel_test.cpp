#include "models/radio/shared_channel.h"

#include <algorithm>

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
using test::symbol;
using test::Transfer;

// Decoding of a short downlink block takes (N1 + d1,1) / 2 symbols of 8919.27 ns, rounded up twice: d1,1 is 3 for two
// symbols (205,144 ns) and 7 - L for four to six (L = 6: 187,305 ns).
constexpr Duration decoding_of_2{102'572};
constexpr Duration decoding_of_6{93'653};

/// Paired carriers: every slot has the downlink symbols 1 to 13.
NrRadio paired_radio() {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  return radio;
}

/// Ready at symbol 1 of slot 2.
const Instant for_slot_2 = symbol(2, 1) - half2;

Offer down(Bytes size, ClientIndex client = 0, Instant time = for_slot_2) {
  return {time, size, client, Direction::downlink};
}

std::vector<Transfer> by_client(std::vector<Transfer> transfers) {
  std::stable_sort(transfers.begin(), transfers.end(),
                   [](const auto& a, const auto& b) { return a.client < b.client; });
  return transfers;
}

TEST(SharedChannel, ABlockStartsAtTheSymbolAfterItsPreparation) {
  // Offered at 0, ready at 160,547: symbol 4 of slot 1 begins at 160,715.
  EXPECT_EQ(run(paired_radio(), {down(Bytes(100), 0, 0ns)}).transfers.at(0).done, symbol(1, 6) + decoding_of_2);
  EXPECT_EQ(run(paired_radio(), {down(Bytes(100), 0, symbol(1, 4) - half2)}).transfers.at(0).done,
            symbol(1, 6) + decoding_of_2);
  EXPECT_EQ(run(paired_radio(), {down(Bytes(100), 0, symbol(1, 4) - half2 + 1ns)}).transfers.at(0).done,
            symbol(1, 7) + decoding_of_2);
}

TEST(SharedChannel, SmallMessagesOfSeveralClientsFollowEachOtherInASlot) {
  const auto result = run(paired_radio(), {down(Bytes(100), 0), down(Bytes(100), 1), down(Bytes(100), 2)}, 3);
  const auto transfers = by_client(result.transfers);
  for (int client = 0; client < 3; ++client) {
    EXPECT_EQ(transfers[static_cast<std::size_t>(client)].done, symbol(2, 3 + 2 * client) + decoding_of_2) << client;
  }
  EXPECT_EQ(transfers[2].result.times.air, symbol(2, 7) - symbol(2, 5));
  EXPECT_EQ(transfers[2].result.times.queueing, symbol(2, 5) - symbol(2, 1));
  EXPECT_EQ(result.downlink.symbols, 6);
}

TEST(SharedChannel, MessagesOfAClientShareABlock) {
  const auto result = run(paired_radio(), {down(Bytes(100)), down(Bytes(100))});
  for (const Transfer& transfer : result.transfers) EXPECT_EQ(transfer.done, symbol(2, 3) + decoding_of_2);
  EXPECT_EQ(result.downlink.blocks, 1);
}

TEST(SharedChannel, AMessageMoreCostsItsHeaders) {
  // Two symbols hold one message of their payload, or two that leave room for ten bytes of headers.
  const Bytes room = loud_payload(paired_radio(), 2);
  const auto fits = run(paired_radio(), {down(Bytes(100)), down(room - Bytes(110))});
  EXPECT_EQ(fits.transfers.back().done, symbol(2, 3) + decoding_of_2);
  // One byte more does not; what is left goes out behind it.
  const auto longer = run(paired_radio(), {down(Bytes(100)), down(room - Bytes(109))});
  EXPECT_EQ(longer.transfers.front().done, symbol(2, 3) + decoding_of_2);
  EXPECT_EQ(longer.transfers.back().done, symbol(2, 5) + decoding_of_2);
}

TEST(SharedChannel, TheLastBlockTakesOnlyTheSymbolsItNeeds) {
  const NrRadio radio = paired_radio();
  const auto whole = run(radio, {down(loud_payload(radio, 13))}).transfers.at(0);
  EXPECT_EQ(whole.done, symbol(2, 14) + half1);
  EXPECT_EQ(whole.result.blocks, 1);
  const auto longer = run(radio, {down(loud_payload(radio, 13) + Bytes(1))}).transfers.at(0);
  EXPECT_EQ(longer.done, symbol(3, 3) + decoding_of_2);
  EXPECT_EQ(longer.result.blocks, 2);
  EXPECT_EQ(longer.result.times.air, symbol(2, 14) - symbol(2, 1) + symbol(3, 3) - symbol(3, 1));
}

TEST(SharedChannel, LongMessagesOfThreeClientsAreServedInTurnAndFinishInterleaved) {
  const NrRadio radio = paired_radio();
  const Bytes six = 6 * loud_payload(radio, 13);
  const auto transfers = by_client(run(radio, {down(six, 0), down(six, 1), down(six, 2)}, 3).transfers);
  // Client c has slots 2 + c, 5 + c, ... 17 + c, one block of 13 symbols in each.
  for (int client = 0; client < 3; ++client) {
    EXPECT_EQ(transfers[static_cast<std::size_t>(client)].done, symbol(17 + client, 14) + half1) << client;
    EXPECT_EQ(transfers[static_cast<std::size_t>(client)].result.blocks, 6);
  }
}

TEST(SharedChannel, AShortMessageIsNotStuckBehindALongOne) {
  const NrRadio radio = paired_radio();
  // Slot 2: 13 symbols of the long one. Slot 3: the short one's turn, then 11 symbols of the long one. Slot 4: the
  // rest.
  const Bytes size = 2 * loud_payload(radio, 13) + loud_payload(radio, 11);
  const auto transfers = by_client(run(radio, {down(size, 0), down(Bytes(100), 1)}, 2).transfers);
  EXPECT_EQ(transfers[1].done, symbol(3, 3) + decoding_of_2);
  EXPECT_EQ(transfers[0].done, symbol(4, 14) + half1);
}

TEST(SharedChannel, AQuantumOfOneSymbolSharesASlotEvenly) {
  NrRadio radio = paired_radio();
  radio.quantum = 1;
  // 13 symbols dealt out one by one, two to begin with: seven and six.
  const auto transfers =
      by_client(run(radio, {down(loud_payload(radio, 7), 0), down(loud_payload(radio, 6), 1)}, 2).transfers);
  EXPECT_EQ(transfers[0].done, symbol(2, 8) + half1);
  EXPECT_EQ(transfers[1].done, symbol(2, 14) + decoding_of_6);
}

TEST(SharedChannel, EarliestDeadlineGoesFirst) {
  NrRadio radio = paired_radio();
  radio.scheduler = RadioScheduler::earliest_deadline_first;
  std::vector<Offer> offers{down(Bytes(100), 0), down(Bytes(100), 1), down(Bytes(100), 2)};
  offers[0].deadline = 30ms;
  offers[1].deadline = 10ms;
  offers[2].deadline = 20ms;
  const auto transfers = by_client(run(radio, offers, 3).transfers);
  EXPECT_EQ(transfers[1].done, symbol(2, 3) + decoding_of_2);
  EXPECT_EQ(transfers[2].done, symbol(2, 5) + decoding_of_2);
  EXPECT_EQ(transfers[0].done, symbol(2, 7) + decoding_of_2);
}

TEST(SharedChannel, ProportionalFairServesWhoHasHadLess) {
  NrRadio radio = paired_radio();
  radio.scheduler = RadioScheduler::proportional_fair;
  // Client 0 has had a whole slot by slot 3; client 1 goes first there although it came later.
  const Bytes size = 2 * loud_payload(radio, 13);
  const auto transfers = by_client(run(radio, {down(size, 0), down(Bytes(100), 1, symbol(3, 1) - half2)}, 2).transfers);
  EXPECT_EQ(transfers[1].done, symbol(3, 3) + decoding_of_2);
  EXPECT_GT(transfers[0].done, symbol(3, 14) + half1);
}

TEST(SharedChannel, StandingGrantsRepeatUntilTheyStayEmpty) {
  NrRadio radio = paired_radio();
  radio.scheduler = RadioScheduler::semi_persistent;
  radio.persistence = {.period = 1ms, .release = 3};
  const auto result = run(radio, {down(Bytes(100)), down(Bytes(100), 0, 20ms)});
  EXPECT_EQ(result.downlink.blocks, 2);
  EXPECT_EQ(result.downlink.empty_blocks, 3);
}

TEST(SharedChannel, StandingGrantsThatNobodyUsesDoNotKeepTheRunGoing) {
  NrRadio radio = paired_radio();
  radio.scheduler = RadioScheduler::semi_persistent;
  radio.persistence = {.period = 3600s, .release = 1'000'000};
  EXPECT_EQ(run(radio, {down(Bytes(100))}).downlink.empty_blocks, 0);
  // The second message rides on the standing grant of the first, an hour after it.
  const auto transfers = run(radio, {down(Bytes(100)), down(Bytes(100), 0, 3600s - 1ms)}).transfers;
  EXPECT_LT(transfers[1].latency(), 1ms);
}

TEST(SharedChannel, SubbandsCarryDifferentClientsAtTheSameTime) {
  NrRadio radio = paired_radio();
  radio.subbands = 2;
  const auto transfers = run(radio, {down(Bytes(100), 0), down(Bytes(100), 1)}, 2).transfers;
  for (const Transfer& transfer : transfers) EXPECT_EQ(transfer.done, symbol(2, 3) + decoding_of_2);
}

TEST(SharedChannel, RepetitionsGoBeforeNewData) {
  NrRadio radio = paired_radio();
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(0)};
  // Symbols 1 and 2 of slot 2, until 276,786. Decoded and answered 2 x 102,572 later, at 481,930: PUCCH of slot 3,
  // until 500,000; read and prepared at 821,094: symbol 8 of slot 6 (821,429).
  const Offer first = down(Bytes(50));
  // New data that are ready by then stand behind the repetition.
  const Offer second = down(Bytes(50), 1, symbol(6, 8) - half2);
  const auto transfers = by_client(run(radio, {first, second}, 2).transfers);
  EXPECT_EQ(transfers[0].done, symbol(6, 10) + decoding_of_2);
  EXPECT_EQ(transfers[0].result.retransmissions, 1);
  EXPECT_EQ(transfers[0].result.times.retransmission, symbol(6, 10) - symbol(2, 3));
  EXPECT_EQ(transfers[1].result.times.queueing, symbol(6, 10) - symbol(6, 8));
}

TEST(SharedChannel, ALostBlockTakesItsMessageAndNotTheNext) {
  NrRadio radio = paired_radio();
  radio.harq.max_transmissions = 1;
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(1)};
  // The first block of a long message is lost in slot 2, and with it the rest of the message; a message of another
  // client and the next one of the same have slot 3.
  const auto result = run(radio, {down(50 * loud_payload(radio, 13)), down(Bytes(1)), down(Bytes(1), 1)}, 2);
  ASSERT_EQ(result.transfers.size(), 3U);
  for (const Transfer& transfer : result.transfers) EXPECT_TRUE(transfer.result.lost);
  EXPECT_EQ(result.transfers[0].done, symbol(2, 14) + half1);
  EXPECT_EQ(result.transfers[0].result.blocks, 1);
  EXPECT_EQ(result.transfers[1].done, symbol(3, 3) + decoding_of_2);
  EXPECT_EQ(result.transfers[2].done, symbol(3, 5) + decoding_of_2);
  EXPECT_EQ(result.downlink.lost_blocks, 3);
}

TEST(SharedChannel, AcknowledgedRlcStartsALostBlockAgain) {
  NrRadio radio = paired_radio();
  radio.harq.max_transmissions = 1;
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(0)};
  radio.rlc = AcknowledgedRlc{.max_retransmissions = 2, .delay = 5ms};
  // Given up 102,572 after 276,786; 5 ms later the sender knows and prepares: 5,539,905, symbol 5 of slot 44
  // (5,544,643). Every start is a first transmission, which fails: two fresh starts, then lost.
  const auto result = run(radio, {down(Bytes(50))});
  EXPECT_EQ(result.downlink.recovered_blocks, 2);
  EXPECT_EQ(result.downlink.lost_blocks, 1);
  radio.errors = FixedErrors{.first = Fraction(0.5), .later = Fraction(0)};
  std::vector<Offer> offers;
  for (int i = 0; i < 200; ++i) offers.push_back(down(Bytes(50), 0, i * Duration(50ms)));
  radio.rlc = AcknowledgedRlc{.max_retransmissions = 32, .delay = 5ms};
  const auto recovered = run(radio, offers);
  EXPECT_EQ(recovered.downlink.lost_blocks, 0);
  // Half of the starts fail: 200 fresh starts are expected, with a standard deviation of sqrt(200 x 2) = 20.
  EXPECT_NEAR(static_cast<double>(recovered.downlink.recovered_blocks), 200, 4 * 20);
}

TEST(SharedChannel, AnIdleCellSchedulesNoEvents) {
  const auto events = [](Duration pause) {
    return run(paired_radio(), {down(Bytes(100)), down(Bytes(100), 0, for_slot_2 + pause)}).events;
  };
  EXPECT_EQ(events(10ms), events(3600s));
}

}  // namespace
}  // namespace trilemma
