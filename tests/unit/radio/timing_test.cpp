#include "models/radio/timing.h"

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::half1;
using test::half2;
using test::symbol;

NrRadio radio_with(const std::string& frame) {
  NrRadio radio;
  radio.frame = frame;
  return radio;
}

struct Timed {
  explicit Timed(const NrRadio& config) : grid(config), timing(config, grid) {}
  FrameGrid grid;
  RadioTiming timing;
};

Instant requested(RadioTiming& timing, Instant offered, std::int64_t client) {
  return timing.requested_start(timing.request_known(offered, client));
}

TEST(RadioTiming, SendersPrepareForHalfOfTprocTwo) {
  const Timed timed(radio_with("DDDSU"));
  EXPECT_EQ(timed.timing.granted_start(Direction::downlink, 7us), 7us + half2);
  EXPECT_EQ(timed.timing.granted_start(Direction::uplink, 7us), 7us + half2);
  EXPECT_EQ(timed.timing.assembly(Direction::uplink, 500us, 4), 500us - half2);
}

TEST(RadioTiming, ReceiversDecodeForHalfOfTprocOneAndTheExtraSymbolsOfShortDownlinkBlocks) {
  Timed timed(radio_with("DDDSU"));
  const auto decoding = [&](Direction direction, int length) {
    const OnAir block{.start = symbol(0, 1), .end = symbol(0, 1 + length), .symbol = 1, .symbols = length};
    return timed.timing.decoded(direction, block) - block.end;
  };
  EXPECT_EQ(decoding(Direction::uplink, 2), half1);
  EXPECT_EQ(decoding(Direction::downlink, 13), half1);
  EXPECT_EQ(decoding(Direction::downlink, 7), half1);
  // (20 + d1,1) 8919.27 ns, rounded up, halved and rounded up: d1,1 = 7 - L for four to six symbols, 3 below.
  EXPECT_EQ(decoding(Direction::downlink, 6), 93'653ns);
  EXPECT_EQ(decoding(Direction::downlink, 4), 102'572ns);
  EXPECT_EQ(decoding(Direction::downlink, 2), 102'572ns);
}

TEST(RadioTiming, MappingTypeAAddsWhatItsLastSymbolLacksOfTheEighth) {
  NrRadio radio = radio_with("full-uplink");
  radio.mapping = Mapping::a;
  radio.downlink_control = 0;
  Timed timed(radio);
  // Symbols 0 to 3: the last one is symbol 3, d1,1 = 4: 24 symbols, 214,062.5 ns.
  const OnAir block{.start = 0ns, .end = symbol(0, 4), .symbol = 0, .symbols = 4};
  EXPECT_EQ(timed.timing.decoded(Direction::downlink, block) - block.end, 107'032ns);
}

TEST(RadioTiming, ProcessingFollowsNumerologyAndCapability) {
  NrRadio radio = radio_with("DDDSU");
  radio.numerology = 2;
  radio.bandwidth = Frequency(200e6);
  // A symbol with prefix takes 17,838.54 ns at 60 kHz. N2 = 23 and 11: 410,287 and 196,224 ns, halves rounded up.
  EXPECT_EQ(Timed(radio).timing.granted_start(Direction::downlink, 0ns), 205'144ns);
  radio.capability = UeCapability::two;
  EXPECT_EQ(Timed(radio).timing.granted_start(Direction::downlink, 0ns), 98'112ns);
}

TEST(RadioTiming, ADynamicGrantTakesRequestGrantAndPreparation) {
  Timed timed(radio_with("DDDSU"));
  // Ready at 89,193. PUCCH: symbol 13 of slot 3, 491,072 to 500,000. Read and granted at 749,740. PDCCH: symbol 0 of
  // slot 6, to 758,929. Read and prepared in 2 x 160,547.
  const Instant eligible = symbol(6, 1) + 2 * half2;
  EXPECT_EQ(eligible, 1'080'023ns);
  EXPECT_EQ(requested(timed.timing, 0ns, 0), eligible);
  EXPECT_EQ(requested(timed.timing, symbol(3, 13) - half1, 0), eligible);
  // A nanosecond later the request has to take slot 4: to 625,000, granted at 874,740, PDCCH of slot 7.
  EXPECT_EQ(requested(timed.timing, symbol(3, 13) - half1 + 1ns, 0), symbol(7, 1) + 2 * half2);
}

TEST(RadioTiming, RequestsWaitForTheOccasionsOfTheirClient) {
  NrRadio radio = radio_with("DDDSU");
  radio.request.period = Duration(10ms);
  Timed timed(radio);
  // Client 2 may ask from 2 slots after each multiple of 10 ms on: at 250 us, and again at 10.25 ms, in slot 83.
  EXPECT_EQ(requested(timed.timing, 0ns, 2), symbol(6, 1) + 2 * half2);
  EXPECT_EQ(requested(timed.timing, 1ms, 2), symbol(86, 1) + 2 * half2);
}

TEST(RadioTiming, ARepetitionTakesFeedbackInTheOtherDirectionAndPreparation) {
  Timed timed(radio_with("DDDSU"));
  const auto again = [&](Direction direction, const OnAir& block) {
    return timed.timing.repeat_from(direction, block, timed.timing.decoded(direction, block), 0);
  };
  // Up, ended with slot 4: decoded and answered at 625,000 + 178,386, PDCCH of slot 7.
  EXPECT_EQ(again(Direction::uplink, {.start = 500us, .end = 625us, .symbol = 0, .symbols = 14}),
            symbol(7, 1) + 2 * half2);
  // Down, symbols 1 and 2 of slot 2, ended at 276,786: answered at 481,930, PUCCH of slot 3.
  EXPECT_EQ(again(Direction::downlink, {.start = symbol(2, 1), .end = symbol(2, 3), .symbol = 1, .symbols = 2}),
            500us + 2 * half2);
}

TEST(RadioTiming, SlottedDecisionsCountWholeSlots) {
  NrRadio radio = radio_with("F");
  radio.uplink_control = 1;
  radio.timing =
      SlottedTiming{.request = 2, .grant = 4, .assembly = 2, .downlink = 2, .feedback = 2, .decoding = 100us};
  Timed timed(radio);
  // Offered in slot 0: made in slot 1, on the air in slot 3, known in slot 4, granted for slot 8.
  EXPECT_EQ(requested(timed.timing, 1ns, 0), symbol(8, 0));
  EXPECT_EQ(requested(timed.timing, 125us, 0), symbol(8, 0));
  EXPECT_EQ(requested(timed.timing, 125us + 1ns, 0), symbol(9, 0));
  // What is there when the control symbol of slot 6 has been heard gets into the block of slot 8.
  EXPECT_EQ(timed.timing.assembly(Direction::uplink, symbol(8, 1), 8), symbol(6, 1));
  EXPECT_EQ(timed.timing.granted_start(Direction::uplink, symbol(6, 1)), symbol(8, 0));
  EXPECT_EQ(timed.timing.granted_start(Direction::uplink, symbol(6, 1) + 1ns), symbol(9, 0));
  EXPECT_EQ(timed.timing.granted_start(Direction::downlink, 125us), symbol(3, 0));
  EXPECT_EQ(timed.timing.decoded(Direction::uplink, {.start = 0ns, .end = 125us, .symbol = 0, .symbols = 14}), 225us);
}

TEST(RadioTiming, SlottedRequestsWaitForTheirOccasionsToo) {
  NrRadio radio = radio_with("DDDSU");
  radio.timing = SlottedTiming{.request = 2, .grant = 4};
  Timed often(radio);
  const Instant always = requested(often.timing, 0ns, 2);
  radio.request.period = Duration(10ms);
  Timed timed(radio);
  // Client 2 may ask from 250 us on, which is when its request is ready; else from 10.25 ms on: 16 patterns later.
  EXPECT_EQ(requested(timed.timing, 0ns, 2), always);
  EXPECT_EQ(requested(timed.timing, 1ms, 2), always + 16 * 625us);
}

TEST(RadioTiming, FeedbackOnDownlinkWaitsForASlotInWhichTheClientDoesNotSound) {
  NrRadio radio = radio_with(std::string(full_uplink));
  radio.sounding = 2;
  Timed timed(radio);
  const OnAir block{.start = symbol(2, 1), .end = symbol(2, 3), .symbol = 1, .symbols = 2};
  const Instant decoded = timed.timing.decoded(Direction::downlink, block);
  // Answered at 481,930, in slot 3, in which client 1 sounds.
  EXPECT_EQ(timed.timing.repeat_from(Direction::downlink, block, decoded, 0), 500us + 2 * half2);
  EXPECT_EQ(timed.timing.repeat_from(Direction::downlink, block, decoded, 1), 625us + 2 * half2);
}

TEST(RadioTiming, AClientSoundsInOneOfSoManyUplinkSlotsAndSendsNoRequestThen) {
  NrRadio radio = radio_with("DDDSU");
  radio.sounding = 3;
  Timed timed(radio);
  // Slots with uplink data: 3, 4, 8, 9, 13, 14. Client 0 in the first of each three, client 1 in the second.
  for (const std::int64_t slot : {3, 9, 18}) EXPECT_TRUE(timed.timing.sounds(0, slot)) << slot;
  for (const std::int64_t slot : {4, 13, 19}) EXPECT_TRUE(timed.timing.sounds(1, slot)) << slot;
  for (const std::int64_t slot : {0, 4, 8, 13, 14}) EXPECT_FALSE(timed.timing.sounds(0, slot)) << slot;
  EXPECT_TRUE(timed.timing.sounds(3, 3)) << "with client 0";
  // Its request waits for slot 4: to 625,000, granted at 874,740, PDCCH of slot 7.
  EXPECT_EQ(requested(timed.timing, 0ns, 0), symbol(7, 1) + 2 * half2);
}

}  // namespace
}  // namespace trilemma
