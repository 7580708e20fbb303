#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::run;

const FixedRadio fixed{.rate = BitRate(8e6), .delay = 50us};  // a microsecond a byte

TEST(FixedRadio, SerialisesThenDelays) {
  const auto transfer = run(fixed, {{10us, Bytes(100)}}).transfers.at(0);
  EXPECT_EQ(transfer.done, 10us + 100us + 50us);
  EXPECT_EQ(transfer.result.times.queueing, 0us);
  EXPECT_EQ(transfer.result.times.air, 150us);
  EXPECT_EQ(transfer.result.blocks, 1);
  EXPECT_EQ(transfer.result.retransmissions, 0);
  EXPECT_FALSE(transfer.result.lost);
}

TEST(FixedRadio, ClientsShareThePipeInOrderOfArrival) {
  const auto transfers = run(fixed, {{0us, Bytes(100), 0}, {20us, Bytes(100), 1}, {20us, Bytes(10), 2}}, 3).transfers;
  ASSERT_EQ(transfers.size(), 3U);
  EXPECT_EQ(transfers[0].done, 150us);
  EXPECT_EQ(transfers[1].client, 1U);
  EXPECT_EQ(transfers[1].done, 250us);
  EXPECT_EQ(transfers[1].result.times.queueing, 80us);
  EXPECT_EQ(transfers[2].client, 2U);
  EXPECT_EQ(transfers[2].done, 260us);
  EXPECT_EQ(transfers[2].result.times.queueing, 180us);
}

TEST(FixedRadio, UplinkAndDownlinkDoNotDisturbEachOther) {
  const auto result = run(fixed, {{0us, Bytes(100)}, {0us, Bytes(100), 0, Direction::downlink}});
  EXPECT_EQ(result.transfers.at(0).done, 150us);
  EXPECT_EQ(result.transfers.at(1).done, 150us);
  EXPECT_EQ(result.uplink.blocks, 1);
  EXPECT_EQ(result.downlink.blocks, 1);
}

TEST(FixedRadio, TheFloorIsAnIdlePipe) {
  const RadioFloor floor = test::floor_of(fixed, Direction::uplink, Bytes(100));
  EXPECT_EQ(floor.queueing, 0us);
  EXPECT_EQ(floor.air, 150us);
}

TEST(FixedRadio, UtilisationIsTheTimeOfSerialisation) {
  Scheduler scheduler;
  const auto radio = make_radio(scheduler, fixed, {.clients = 2}, Streams(1, 1));
  std::vector<test::Transfer> transfers;
  test::offer(scheduler, *radio, {0us, Bytes(100)}, transfers);
  test::offer(scheduler, *radio, {500us, Bytes(150)}, transfers);
  scheduler.run();
  EXPECT_DOUBLE_EQ(radio->utilisation(Direction::uplink, 1ms), 0.25);
  EXPECT_EQ(radio->utilisation(Direction::downlink, 1ms), 0);
  EXPECT_EQ(radio->utilisation(Direction::uplink, 0ms), 0);
  // 1000 messages of 100 us and 500 of 800 us a second.
  const std::vector<RadioDemand> demand{{0, Bytes(100), 1000}, {1, Bytes(800), 500}};
  EXPECT_DOUBLE_EQ(radio->forecast(Direction::uplink, demand), 0.5);
}

TEST(NoRadio, TakesNoTime) {
  const auto transfer = run(NoRadio{}, {{3us, Bytes(1'000'000)}}).transfers.at(0);
  EXPECT_EQ(transfer.done, 3us);
  EXPECT_EQ(transfer.result.times.air, 0us);
  EXPECT_EQ(test::floor_of(NoRadio{}, Direction::downlink, Bytes(1'000'000)).total(), 0us);
}

}  // namespace
}  // namespace trilemma
