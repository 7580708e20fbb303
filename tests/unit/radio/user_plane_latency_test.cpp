#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "models/radio/numerology.h"
#include "tests/unit/radio/cell_rig.h"
#include "tests/unit/radio/csv.h"

/// User-plane latency of one client on paired carriers, without errors, over a uniform phase of arrival: the procedure
/// of TR 37.910 clause 5.7.1. The table was recomputed from that procedure; it has four decimals of a millisecond.
namespace trilemma {
namespace {

// Half a unit of the last decimal; 4 ns for the steps of the phase, and 6 ns for the times that the model rounds up.
constexpr double tolerance_ms = 0.00005 + 0.00001;

test::Row table_row(const std::string& mode, int capability, int spacing_khz, const std::string& mapping, int symbols) {
  for (const test::Row& row : test::read_csv("nr_up_latency_tr37910.csv")) {
    const bool direction = mode == "DL" ? row.at("dir") == "DL" : row.at("dir") == "UL" && row.at("ul_mode") == mode;
    if (direction && row.at("duplex") == "NR FDD" && test::integer(row, "ue_cap") == capability &&
        test::integer(row, "scs_khz") == spacing_khz && row.at("mapping") == mapping &&
        test::integer(row, "n_symbols") == symbols && test::number(row, "p_init_err") == 0)
      return row;
  }
  throw std::runtime_error("the table has no such row");
}

NrRadio paired_radio(int mu, UeCapability capability, Access access, int symbols = 14) {
  NrRadio radio = test::loud_radio();
  radio.frame = std::string(full_uplink);
  radio.numerology = mu;
  radio.bandwidth = Frequency(200e6);
  radio.capability = capability;
  radio.access = access;
  radio.symbols = symbols;
  return radio;
}

struct Latencies {
  double mean_ms = 0;
  double min_ms = 1e9;
  double max_ms = 0;
};

/// Over arrivals in steps of 8 ns through a slot.
Latencies latencies(const NrRadio& radio, Direction direction, int filled_symbols) {
  const Duration slot = slot_duration(static_cast<int>(radio.numerology));
  const Bytes size = test::loud_payload(radio, filled_symbols);
  std::vector<test::Offer> offers;
  for (std::int64_t i = 0; i * 8ns < slot; ++i) offers.push_back({i * 40 * slot + i * 8ns, size, 0, direction});
  Latencies found;
  for (const test::Transfer& transfer : test::run(radio, offers).transfers) {
    const double latency = to_milliseconds(transfer.latency());
    found.mean_ms += latency / static_cast<double>(offers.size());
    found.min_ms = std::min(found.min_ms, latency);
    found.max_ms = std::max(found.max_ms, latency);
  }
  return found;
}

double symbol_ms(int mu) { return to_milliseconds(slot_duration(mu)) / 14; }

struct Case {
  int mu;
  int capability;
};
constexpr Case cases[] = {{3, 1}, {2, 1}, {2, 2}};
UeCapability capability_of(const Case& c) { return c.capability == 1 ? UeCapability::one : UeCapability::two; }

TEST(UserPlaneLatency, GrantFreeUplinkOfAWholeSlotIsThatOfTr37910) {
  for (const Case& c : cases) {
    const auto row = table_row("grant-free", c.capability, 15 << c.mu, "A", 14);
    const auto found = latencies(paired_radio(c.mu, capability_of(c), Access::configured_grant), Direction::uplink, 14);
    EXPECT_NEAR(found.mean_ms, test::number(row, "T_total_ms_recomputed"), tolerance_ms) << c.mu;
  }
}

TEST(UserPlaneLatency, DownlinkOfASlotIsThatOfTr37910WithoutTheControlSymbol) {
  // The table sends 14 symbols from the start of the slot; here symbol 0 is the PDCCH and data starts after it. The
  // mean wait for the start is half a slot either way, so that only the time on the air is a symbol shorter.
  for (const Case& c : cases) {
    const auto row = table_row("DL", c.capability, 15 << c.mu, "A", 14);
    const auto found = latencies(paired_radio(c.mu, capability_of(c), Access::dynamic), Direction::downlink, 13);
    EXPECT_NEAR(found.mean_ms, test::number(row, "T_total_ms_recomputed") - symbol_ms(c.mu), tolerance_ms) << c.mu;
  }
}

TEST(UserPlaneLatency, GrantBasedUplinkOfAWholeSlotIsThatOfTheTable) {
  for (const Case& c : cases) {
    const auto row = table_row("grant-based SR", c.capability, 15 << c.mu, "A", 14);
    const auto found = latencies(paired_radio(c.mu, capability_of(c), Access::dynamic), Direction::uplink, 14);
    EXPECT_NEAR(found.mean_ms, test::number(row, "T_total_ms_recomputed"), tolerance_ms) << c.mu;
    // The wait for the request is a saw-tooth of a slot. The extremes of the table lie inside mean +- half a slot by up
    // to 0.1 us, as those of a sampled phase do.
    const double half_slot = 7 * symbol_ms(c.mu);
    EXPECT_NEAR(found.min_ms, found.mean_ms - half_slot, 0.00001) << c.mu;
    EXPECT_NEAR(found.max_ms, found.mean_ms + half_slot, 0.00001) << c.mu;
    EXPECT_NEAR(found.min_ms, test::number(row, "min_ms"), tolerance_ms + 0.0001) << c.mu;
    EXPECT_NEAR(found.max_ms, test::number(row, "max_ms"), tolerance_ms + 0.0001) << c.mu;
  }
}

TEST(UserPlaneLatency, GrantBasedUplinkOfHalfASlotIsThatOfTheTable) {
  // The grant leads to a start at a half slot with either rule, the table's any symbol and ours multiples of 7.
  for (const Case& c : cases) {
    const auto row = table_row("grant-based SR", c.capability, 15 << c.mu, "B", 7);
    const auto found = latencies(paired_radio(c.mu, capability_of(c), Access::dynamic, 7), Direction::uplink, 7);
    EXPECT_NEAR(found.mean_ms, test::number(row, "T_total_ms_recomputed"), tolerance_ms) << c.mu;
  }
}

TEST(UserPlaneLatency, AMiniSlotWaitsForHalfItsLengthOnAverage) {
  // 14 symbols are a whole number of transmissions of M = 2 or 7, one right after the other: mean wait M / 2 symbols.
  // The table lets them start at any symbol and waits .571 and 2 symbols.
  for (const int symbols : {2, 7}) {
    const NrRadio radio = paired_radio(3, UeCapability::one, Access::configured_grant, symbols);
    const auto found = latencies(radio, Direction::uplink, symbols);
    const double expected = to_milliseconds(test::half2 + test::half1) + 1.5 * symbols * symbol_ms(3);
    EXPECT_NEAR(found.mean_ms, expected, 0.00001) << symbols;
  }
}

TEST(UserPlaneLatency, ARetransmissionAddsARoundTripOfFeedbackAndAlignment) {
  // One failure of a granted block of a whole slot, by hand: slot 2, repeated in slot 8 (see nr_cell_test.cpp): the
  // round trip is 6 slots. TR 37.910 says T1 + T2 with a mean alignment, which a grid of whole slots never meets: the
  // second start is aligned to the first. T2 + the preparation, air and decoding of the second transmission are below
  // it.
  NrRadio radio = test::deaf_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.harq.max_transmissions = 2;
  const auto transfer = test::run(radio, {{0ns, Bytes(1)}}).transfers.at(0);
  EXPECT_EQ(transfer.latency(), 9 * test::slot + test::half1);
  const auto row = table_row("grant-free", 1, 120, "A", 14);
  const double round_trip = test::number(row, "T1_ms") + test::number(row, "T2_ms");
  EXPECT_GE(to_milliseconds(6 * test::slot), round_trip - tolerance_ms);
  EXPECT_LT(to_milliseconds(6 * test::slot), round_trip + to_milliseconds(test::slot));
}

}  // namespace
}  // namespace trilemma
