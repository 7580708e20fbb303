#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

/// Least latencies of frame patterns at 120 kHz, by hand: halves of Tproc,1 and Tproc,2 of 89,193 and 160,547 ns, and
/// symbols of 8928.57 ns.
namespace trilemma {
namespace {

using test::floor_of;
using test::half1;
using test::half2;
using test::symbol;

constexpr Duration two_symbols{17'857};      // at best, of boundaries that are rounded up
constexpr Duration short_decoding{102'572};  // of a downlink block of two symbols: d1,1 = 3
constexpr Bytes small{100};                  // two symbols of a loud link

/// Patterns with a special slot of 10 : 2 : 2, and a self-contained slot of 2 : 1 : 11.
NrRadio radio_with(const std::string& frame) {
  NrRadio radio = test::loud_radio();
  radio.frame = frame;
  if (frame == "S") {
    radio.special = {.downlink = 2, .guard = 1, .uplink = 11};
    radio.downlink_control = 0;
  }
  return radio;
}

Duration floor_ns(const NrRadio& radio, Direction direction) { return floor_of(radio, direction, small).total(); }

TEST(TddFloor, ADownlinkMessageTakesPreparationTwoSymbolsAndTheirDecoding) {
  for (const char* frame : {"full-uplink", "DDDSU", "DSUUU"}) {
    EXPECT_EQ(floor_ns(radio_with(frame), Direction::downlink), half2 + two_symbols + short_decoding) << frame;
  }
  // The only two downlink symbols are the first two of the slot: until 17,857.14, rounded up.
  EXPECT_EQ(floor_ns(radio_with("S"), Direction::downlink), half2 + 17'858ns + short_decoding);
}

TEST(TddFloor, AConfiguredGrantTakesPreparationItsSymbolsAndDecoding) {
  for (const char* frame : {"full-uplink", "DDDSU", "DSUUU", "S"}) {
    NrRadio radio = radio_with(frame);
    radio.access = Access::configured_grant;
    radio.symbols = 2;
    EXPECT_EQ(floor_ns(radio, Direction::uplink), half2 + two_symbols + half1) << frame;
    radio.multiplexing = Multiplexing::frequency;
    EXPECT_EQ(floor_ns(radio, Direction::uplink), half2 + two_symbols + half1) << frame;
  }
  for (const char* frame : {"full-uplink", "DDDSU", "DSUUU"}) {
    NrRadio radio = radio_with(frame);
    radio.access = Access::configured_grant;
    EXPECT_EQ(floor_ns(radio, Direction::uplink), half2 + 125us + half1) << frame;
  }
  NrRadio self_contained = radio_with("S");
  self_contained.access = Access::configured_grant;
  self_contained.symbols = 7;
  // Symbols 3 to 9.
  EXPECT_EQ(floor_ns(self_contained, Direction::uplink), half2 + (symbol(0, 10) - symbol(0, 3)) + half1);
}

TEST(TddFloor, ADynamicGrantTakesARequestAGrantAndTwoSymbolsWhereverUplinkFollowsThem) {
  // The request is sent in the last symbol of a slot, 8928 ns. 249,740 ns after the end of the slot it is read and
  // answered: PDCCH two slots after, until 258,929. 321,094 later, at 580,023, the block is prepared: symbol 9 of the
  // slot that is the fourth after. In DDDSU this is uplink after a request in the uplink slot itself (4 -> PDCCH 7 ->
  // 9), in DSUUU after one in slot 2 (PDCCH 5, data 7), and in the other two always.
  const Duration after_request = symbol(4, 11) + half1;
  for (const char* frame : {"full-uplink", "DDDSU", "DSUUU", "S"}) {
    EXPECT_EQ(floor_ns(radio_with(frame), Direction::uplink), half1 + 8'928ns + after_request) << frame;
  }
  EXPECT_EQ(half1 + 8'928ns + after_request, 785'529ns);
}

TEST(TddFloor, TheSplitOfADynamicGrantIsGrantAlignmentAirAndDecoding) {
  const RadioFloor floor = floor_of(radio_with("DDDSU"), Direction::uplink, small);
  EXPECT_EQ(floor.grant, half1 + 8'928ns + 580'023ns);
  EXPECT_EQ(floor.alignment, symbol(4, 9) - 580'023ns);
  EXPECT_EQ(floor.air, two_symbols);
  EXPECT_EQ(floor.decoding, half1);
  EXPECT_EQ(floor.queueing, 0ns);
}

TEST(TddFloor, AMessageThatFindsAGrantOnItsWayTakesNoRequest) {
  Scheduler scheduler;
  const auto cell = make_radio(scheduler, radio_with("DDDSU"), {.clients = 1}, Streams(1, 1));
  EXPECT_EQ(cell->bound(Direction::uplink, 0, small), half2 + two_symbols + half1);
}

}  // namespace
}  // namespace trilemma
