#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "models/radio/buffer_report.h"
#include "tests/unit/radio/cell_rig.h"

/// Uplink of a base station that knows only what requests and buffer reports tell it, and what RLC makes of losses.
namespace trilemma {
namespace {

using test::half1;
using test::loud_payload;
using test::loud_radio;
using test::Offer;
using test::run;
using test::symbol;
using test::Transfer;

NrRadio reporting_radio(const std::string& frame = std::string(full_uplink)) {
  NrRadio radio = loud_radio();
  radio.frame = frame;
  radio.request = {.first_grant = Bytes(100), .table = BufferTable::exact};
  return radio;
}

// ---- Timelines -----------------------------------------------------------------------------------------------------

TEST(Requests, AreGrantedReportedAndGrantedAgainInStandardTime) {
  const NrRadio radio = reporting_radio();
  ASSERT_GE(loud_payload(radio, 2), Bytes(100));
  const Bytes size = loud_payload(radio, 2) + loud_payload(radio, 3);
  const Transfer transfer = run(radio, {{0ns, size}}).transfers.at(0);
  //    89,193  the request is prepared;   116,072  PUCCH of slot 0, until 125,000
  //   374,740  read, granted, written;    375,000  PDCCH of slot 3, until 383,929
  //   705,023  read and prepared;         705,358  symbols 9 and 10 of slot 5, until 723,215: the first grant
  //   812,408  decoded, with the report of what is left
  //   901,601  the grant is written;    1,000,000  PDCCH of slot 8, until 1,008,929
  // 1,330,023  read and prepared;       1,330,358  symbols 9 to 11 of slot 10, until 1,357,143
  EXPECT_EQ(transfer.done, 1'357'143ns + half1);
  EXPECT_EQ(transfer.result.blocks, 2);
  const RadioTimes& times = transfer.result.times;
  EXPECT_EQ(times.grant, 705'023ns);
  EXPECT_EQ(times.alignment, 335ns);
  EXPECT_EQ(times.air, (723'215ns - 705'358ns) + (1'357'143ns - 1'330'358ns));
  EXPECT_EQ(times.queueing, 1'330'358ns - 723'215ns);
  EXPECT_EQ(times.retransmission, 0ns);
  EXPECT_EQ(times.decoding, half1);
}

/// A base station that schedules once a slot, with the delays of 5G-LENA; requests in the last symbol of S and U slots.
NrRadio slotted_radio(const std::string& frame) {
  NrRadio radio = reporting_radio(frame);
  radio.special = {.downlink = 13, .guard = 0, .uplink = 1};
  radio.uplink_control = 1;
  radio.shortest = 1;
  radio.reference = ReferenceSignals::comb;
  radio.timing =
      SlottedTiming{.request = 2, .grant = 4, .assembly = 2, .downlink = 2, .feedback = 2, .decoding = 100us};
  radio.request.first_grant = Bytes(12);
  return radio;
}

TEST(Requests, OfDddsuLeadToTheUplinkSlotsEightAndEighteenSlotsAfterTheirs) {
  const NrRadio radio = slotted_radio("DDDSU");
  // Made in slot 1 = n, on the air in the special slot 3, granted in slot 4 for slot 8 or later: uplink slot 9 = n + 8.
  // Its block ends with symbol 12 and is decoded 100 us later, in slot 10, known in slot 11, granted for slot 15 or
  // later: uplink slot 19 = n + 18.
  const Bytes little = loud_payload(radio, 1);
  const auto transfers = run(radio, {{125us, little}}).transfers;
  EXPECT_EQ(transfers.at(0).done, symbol(9, 13) + 100us);
  EXPECT_EQ(transfers.at(0).result.blocks, 1);
  const auto longer = run(radio, {{125us, little + Bytes(1)}}).transfers;
  EXPECT_EQ(longer.at(0).done, symbol(19, 13) + 100us);
  EXPECT_EQ(longer.at(0).result.blocks, 2);
  // A nanosecond later it is made in slot 2, on the air in slot 4, known in slot 5: the same uplink slot.
  EXPECT_EQ(run(radio, {{125us + 1ns, little}}).transfers.at(0).done, symbol(9, 13) + 100us);
  // Made in slot 3, on the air in slot 8 only, granted in slot 9 for slot 13 or later.
  EXPECT_EQ(run(radio, {{250us + 1ns, little}}).transfers.at(0).done, symbol(14, 13) + 100us);
}

TEST(Requests, OfFlexibleSlotsLeadToTheSlotsSevenAndThirteenSlotsAfterTheirs) {
  const NrRadio radio = slotted_radio("F");
  const auto transfers = run(radio, {{125us, loud_payload(radio, 1) + loud_payload(radio, 3)}}).transfers;
  // n = 1. First block: symbol 12 of slot 8. Rest: symbols 10 to 12 of slot 14.
  EXPECT_EQ(transfers.at(0).done, symbol(14, 13) + 100us);
  EXPECT_EQ(transfers.at(0).result.times.air, symbol(8, 13) - symbol(8, 12) + symbol(14, 13) - symbol(14, 10));
}

// ---- Reports -------------------------------------------------------------------------------------------------------

TEST(Requests, ARoundedReportIsGrantedItsUpperBound) {
  // What is left after the first block lies between two levels of each table: five bits have levels 39 % apart, eight
  // bits 6.5 %. The one block that follows is as long as one of the reported size.
  NrRadio radio = reporting_radio();
  radio.bandwidth = Frequency(50e6);
  const auto symbols = [&](BufferTable table, Bytes left) {
    radio.request.table = table;
    return run(radio, {{0ns, loud_payload(radio, 2) + left}}).uplink.symbols;
  };
  int longer = 0;
  for (std::int64_t left = 200; left <= 1'400; left += 100) {
    const double exact = symbols(BufferTable::exact, Bytes(left));
    const double fine = symbols(BufferTable::long8, Bytes(left));
    const double coarse = symbols(BufferTable::short5, Bytes(left));
    EXPECT_EQ(fine, symbols(BufferTable::exact, reported(BufferTable::long8, Bytes(left)))) << left;
    EXPECT_EQ(coarse, symbols(BufferTable::exact, reported(BufferTable::short5, Bytes(left)))) << left;
    longer += coarse > exact ? 1 : 0;
  }
  EXPECT_GE(longer, 3);
}

TEST(Requests, ABufferBeyondTheLastLevelIsReportedInPieces) {
  // 400,000 B: the first block of two symbols reports 150,000 B of what is left, and later blocks the rest. Nothing
  // stays behind.
  NrRadio radio = reporting_radio();
  radio.request.table = BufferTable::short5;
  const auto result = run(radio, {{0ns, Bytes(400'000)}});
  ASSERT_EQ(result.transfers.size(), 1U);
  EXPECT_EQ(result.uplink.bytes_delivered, 400'000);
}

TEST(Requests, EveryMessageArrivesWhereverItFallsAmongTheReports) {
  // The second message is offered at any time of the first one's exchange.
  for (const GrantsInFlight in_flight : {GrantsInFlight::deducted, GrantsInFlight::ignored}) {
    NrRadio radio = reporting_radio("DDDSU");
    radio.request.in_flight = in_flight;
    for (Instant second{0}; second < 3ms; second += 7'919ns) {
      const auto result = run(radio, {{0ns, Bytes(5'000)}, {second, Bytes(5'000)}});
      ASSERT_EQ(result.transfers.size(), 2U) << second.count();
      ASSERT_EQ(result.uplink.bytes_delivered, 10'000);
    }
  }
}

TEST(Requests, ALostReportDoesNotSilenceItsClient) {
  // Every block fails once and is lost: the client asks again, for each message anew.
  NrRadio radio = reporting_radio();
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(1)};
  radio.harq.max_transmissions = 1;
  const std::vector<Offer> offers(5, Offer{0ns, Bytes(5'000)});
  const auto result = run(radio, offers);
  ASSERT_EQ(result.transfers.size(), 5U);
  EXPECT_EQ(result.uplink.bytes_lost, 25'000);
  for (const Transfer& transfer : result.transfers) EXPECT_TRUE(transfer.result.lost);
}

// ---- RLC -----------------------------------------------------------------------------------------------------------

/// Transmissions fail half of the time; HARQ gives up after two.
NrRadio failing_radio() {
  NrRadio radio = loud_radio();
  radio.errors = FixedErrors{.first = Fraction(0.5), .later = Fraction(0.5)};
  radio.harq.max_transmissions = 2;
  return radio;
}

constexpr int messages = 2000;

/// Messages of one block each, far apart.
std::vector<Offer> spaced(Direction direction) {
  std::vector<Offer> offers;
  offers.reserve(messages);
  for (int i = 0; i < messages; ++i) offers.push_back({i * 400ms, Bytes(100), 0, direction});
  return offers;
}

TEST(Rlc, UnacknowledgedLosesWhatHarqGivesUp) {
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    const NrRadio radio = failing_radio();
    const auto result = run(radio, spaced(direction));
    const RadioCounts& counts = direction == Direction::uplink ? result.uplink : result.downlink;
    ASSERT_EQ(result.transfers.size(), static_cast<std::size_t>(messages));
    // A quarter of the blocks fails twice.
    const auto lost = static_cast<double>(counts.lost_blocks);
    EXPECT_NEAR(lost / messages, 0.25, 4 * std::sqrt(0.25 * 0.75 / messages));
    EXPECT_EQ(counts.bytes_lost, counts.lost_blocks * 100);
    EXPECT_EQ(counts.bytes_delivered, (messages - counts.lost_blocks) * 100);
    EXPECT_EQ(counts.recovered_blocks, 0);
    // Half of the blocks are repeated, once.
    EXPECT_EQ(counts.errors, counts.retransmissions + counts.lost_blocks);
  }
}

TEST(Rlc, AcknowledgedDeliversEveryMessage) {
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    NrRadio radio = failing_radio();
    radio.rlc = AcknowledgedRlc{.max_retransmissions = 32, .delay = 5ms};
    const auto result = run(radio, spaced(direction));
    const RadioCounts& counts = direction == Direction::uplink ? result.uplink : result.downlink;
    ASSERT_EQ(result.transfers.size(), static_cast<std::size_t>(messages));
    EXPECT_EQ(counts.bytes_delivered, messages * 100);
    EXPECT_EQ(counts.lost_blocks, 0);
    // A block is given up a geometric number of times, q = 1/4: mean q / (1 - q) = 1/3, variance q / (1 - q)^2 = 4/9.
    EXPECT_NEAR(static_cast<double>(counts.recovered_blocks) / messages, 1.0 / 3, 4 * std::sqrt(4.0 / 9 / messages));
    // Every transmission but the last of a block fails.
    EXPECT_EQ(counts.errors, counts.retransmissions);
    std::int64_t repeated = 0;
    for (const Transfer& transfer : result.transfers) {
      EXPECT_FALSE(transfer.result.lost);
      repeated += transfer.result.retransmissions;
      // Each fresh start costs at least its delay: after two transmissions, four, and so on.
      EXPECT_GE(transfer.result.times.retransmission, transfer.result.retransmissions / 2 * 5ms);
    }
    EXPECT_EQ(repeated, counts.retransmissions);
  }
}

TEST(Rlc, AcknowledgedGivesUpAfterItsOwnRetransmissions) {
  for (const std::int64_t restarts : {1, 3}) {
    NrRadio radio = loud_radio();
    radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(1)};
    radio.harq.max_transmissions = 2;
    radio.rlc = AcknowledgedRlc{.max_retransmissions = restarts, .delay = 1ms};
    const auto result = run(radio, {{0ns, Bytes(100), 0, Direction::downlink}});
    ASSERT_EQ(result.transfers.size(), 1U);
    EXPECT_TRUE(result.transfers[0].result.lost);
    EXPECT_EQ(result.downlink.recovered_blocks, restarts);
    EXPECT_EQ(result.downlink.lost_blocks, 1);
    EXPECT_EQ(result.downlink.errors, 2 * (1 + restarts));
  }
}

}  // namespace
}  // namespace trilemma
