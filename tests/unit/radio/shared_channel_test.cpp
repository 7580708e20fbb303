#include "models/radio/shared_channel.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::half1;
using test::half2;
using test::symbol;

NrRadio paired_radio(std::int64_t max_transmissions = 4) {
  NrRadio radio;
  radio.frame = std::string(full_uplink);
  radio.harq.max_transmissions = max_transmissions;
  return radio;
}

constexpr Decibels loud{80};   // no block fails
constexpr Decibels deaf{-99};  // every block fails

/// A message, and when it arrived or was lost.
struct Parcel {
  Parcel(Scheduler& its_scheduler, ClientIndex client, Bytes size) : scheduler(its_scheduler) {
    message.client = client;
    message.size = size;
    message.done = Action::call<&Parcel::arrive>(*this);
  }
  void arrive() { done = scheduler.now(); }

  Scheduler& scheduler;
  RadioMessage message;
  Instant done{-1};
};

/// One direction of a cell, with one client for each SINR. All messages are offered at time 0, unless said.
class Channel {
 public:
  Channel(const NrRadio& radio, Direction direction, const std::vector<Decibels>& sinrs)
      : phy(radio), links_(links(sinrs)), channel_(scheduler, phy, direction, links_, Streams(1, 1).stream("errors")) {}

  Parcel& send(ClientIndex client, Bytes size) {
    parcels_.push_back(std::make_unique<Parcel>(scheduler, client, size));
    channel_.send(parcels_.back()->message);
    return *parcels_.back();
  }
  void send_another() { send(1, Bytes(100)); }
  [[nodiscard]] Bytes payload(int symbols) const { return phy.payload(28, symbols); }
  [[nodiscard]] const RadioCounts& counts() const { return channel_.counts(); }

  Scheduler scheduler;
  NrPhy phy;

 private:
  [[nodiscard]] std::vector<NrLink> links(const std::vector<Decibels>& sinrs) const {
    std::vector<NrLink> found;
    for (const Decibels sinr : sinrs) found.push_back(phy.link(sinr));
    return found;
  }

  std::vector<NrLink> links_;
  SharedChannel channel_;
  std::vector<std::unique_ptr<Parcel>> parcels_;
};

// On paired carriers every slot has the downlink symbols 1 to 13. What is offered at 0 is ready at 160,547: slot 2.

TEST(SharedChannel, SmallMessagesOfSeveralClientsShareAnOpportunity) {
  Channel channel(paired_radio(), Direction::downlink, {loud, loud, loud});
  std::vector<Parcel*> parcels;
  for (const ClientIndex client : {0U, 1U, 2U}) parcels.push_back(&channel.send(client, Bytes(100)));
  channel.scheduler.run();
  EXPECT_EQ(parcels[0]->done, symbol(2, 3) + half1);
  EXPECT_EQ(parcels[1]->done, symbol(2, 5) + half1);
  EXPECT_EQ(parcels[2]->done, symbol(2, 7) + half1);
  EXPECT_EQ(parcels[2]->message.air, symbol(2, 7) - symbol(2, 5) + half1);
  EXPECT_EQ(channel.counts().symbols, 6);
}

TEST(SharedChannel, AClientSendsItsMessagesBehindEachOtherWhileThereIsRoom) {
  Channel channel(paired_radio(), Direction::downlink, {loud});
  const Parcel& first = channel.send(0, Bytes(100));
  const Parcel& second = channel.send(0, Bytes(100));
  channel.scheduler.run();
  EXPECT_EQ(first.done, symbol(2, 3) + half1);
  // Symbols 1 and 2, then 3 and 4 of the same slot.
  EXPECT_EQ(second.done, symbol(2, 5) + half1);
}

TEST(SharedChannel, TheLastBlockTakesOnlyTheSymbolsItNeeds) {
  Channel channel(paired_radio(), Direction::downlink, {loud});
  const Parcel& whole = channel.send(0, channel.payload(13));
  const Parcel& longer = channel.send(0, channel.payload(13) + Bytes(1));
  channel.scheduler.run();
  EXPECT_EQ(whole.done, symbol(2, 14) + half1);
  EXPECT_EQ(whole.message.blocks, 1);
  EXPECT_EQ(longer.done, symbol(4, 3) + half1);
  EXPECT_EQ(longer.message.blocks, 2);
  EXPECT_EQ(longer.message.air, symbol(3, 14) - symbol(3, 1) + symbol(4, 3) - symbol(4, 1) + half1);
}

TEST(SharedChannel, LongMessagesOfThreeClientsAreServedInTurnAndFinishInterleaved) {
  Channel channel(paired_radio(), Direction::downlink, {loud, loud, loud});
  std::vector<Parcel*> parcels;
  for (const ClientIndex client : {0U, 1U, 2U}) parcels.push_back(&channel.send(client, 6 * channel.payload(13)));
  channel.scheduler.run();
  // Client c has slots 2 + c, 5 + c, ... 17 + c, one block of 13 symbols in each.
  for (const int client : {0, 1, 2}) {
    const Parcel& parcel = *parcels[static_cast<std::size_t>(client)];
    EXPECT_EQ(parcel.done, symbol(17 + client, 14) + half1) << client;
    EXPECT_EQ(parcel.message.blocks, 6);
  }
}

TEST(SharedChannel, AShortMessageIsNotStuckBehindALongOne) {
  Channel channel(paired_radio(), Direction::downlink, {loud, loud});
  // Slot 2: 13 symbols of the long one. Slot 3: the short one's turn, then 11 symbols of the long one. Slot 4: the
  // rest.
  const Parcel& longer = channel.send(0, channel.payload(13) + channel.payload(11) + channel.payload(13));
  const Parcel& shorter = channel.send(1, Bytes(100));
  channel.scheduler.run();
  EXPECT_EQ(shorter.done, symbol(3, 3) + half1);
  EXPECT_EQ(longer.done, symbol(4, 14) + half1);
}

TEST(SharedChannel, RetransmissionsGoBeforeNewData) {
  Channel channel(paired_radio(2), Direction::downlink, {deaf, loud});
  // Slot 2: client 0 in symbols 1 and 2, in vain; client 1 has the other 11. Feedback in slot 3 (ready at 276,786 +
  // 178,386), read and prepared at 821,094: slot 7 repeats first and leaves 11 symbols again.
  const Parcel& repeated = channel.send(0, Bytes(50));
  const Parcel& other = channel.send(1, 4 * channel.payload(13) + 2 * channel.payload(11));
  channel.scheduler.run();
  EXPECT_TRUE(repeated.message.lost);
  EXPECT_EQ(repeated.message.retransmissions, 1);
  EXPECT_EQ(repeated.done, symbol(7, 3) + half1);
  EXPECT_FALSE(other.message.lost);
  EXPECT_EQ(other.done, symbol(7, 14) + half1);
}

TEST(SharedChannel, ALongMessageIsGivenUpWithItsFirstLostBlock) {
  Channel channel(paired_radio(1), Direction::downlink, {deaf, loud});
  const Parcel& lost = channel.send(0, 50 * channel.phy.payload(0, 13));
  const Parcel& next = channel.send(0, Bytes(1));
  const Parcel& other = channel.send(1, Bytes(1));
  channel.scheduler.run();
  EXPECT_TRUE(lost.message.lost);
  EXPECT_EQ(lost.message.blocks, 1);
  EXPECT_EQ(lost.done, symbol(2, 14) + half1);
  EXPECT_EQ(other.done, symbol(3, 3) + half1);
  EXPECT_TRUE(next.message.lost);
  EXPECT_EQ(next.done, symbol(3, 5) + half1);
  EXPECT_EQ(channel.counts().lost_blocks, 2);
}

TEST(SharedChannel, GivingUpForgetsTheOtherBlocksOfTheMessage) {
  // Blocks in slots 2, 3, 4, ... all fail. Feedback on slot 2 is ready at 553,386 and sent in slot 4, until 625,000;
  // 321,094 later the block is repeated first, in slot 8, and lost. The others wait for their repetition in vain.
  Channel channel(paired_radio(2), Direction::downlink, {deaf});
  const Parcel& lost = channel.send(0, 50 * channel.phy.payload(0, 13));
  channel.scheduler.run();
  EXPECT_TRUE(lost.message.lost);
  EXPECT_EQ(lost.message.blocks, 6);  // of slots 2 to 7
  EXPECT_EQ(lost.message.retransmissions, 1);
  EXPECT_EQ(lost.done, symbol(8, 14) + half1);
  EXPECT_EQ(channel.counts().retransmissions, 1);
  EXPECT_EQ(channel.counts().lost_blocks, 1);
}

TEST(SharedChannel, ABlockOfAWholeSlotWaitsForAWholeSlotAndHoldsUpTheOthers) {
  NrRadio radio = paired_radio(3);
  radio.frame = "DDDSU";
  Channel channel(radio, Direction::uplink, {deaf});
  // Eligible at 1,080,023: block A takes the 2 symbols of special slot 8, block B the 14 of slot 9. A is answered in
  // slot 11, eligible at 1,705,023 and repeated in special slot 13; answered in slot 16, eligible at 2,330,023. B is
  // answered in slot 12 and eligible at 1,830,023, before A, but does not fit into special slot 18: both wait. Slot 19
  // repeats B and has no room for A, which is lost in special slot 23.
  const Parcel& lost = channel.send(0, channel.phy.payload(0, 2) + channel.phy.payload(0, 14));
  channel.scheduler.run();
  EXPECT_TRUE(lost.message.lost);
  EXPECT_EQ(lost.message.blocks, 2);
  EXPECT_EQ(lost.message.retransmissions, 3);
  EXPECT_EQ(lost.done, symbol(23, 14) + half1);
}

TEST(SharedChannel, AnIdleCellSchedulesNoEvents) {
  const auto events = [](Duration pause) {
    Channel channel(paired_radio(), Direction::downlink, {loud, loud});
    channel.send(0, Bytes(100));
    channel.scheduler.run();
    channel.scheduler.after(pause, Action::call<&Channel::send_another>(channel));
    channel.scheduler.run();
    return channel.scheduler.events();
  };
  EXPECT_EQ(events(1ms), events(3600s));
}

TEST(SharedChannel, AMessageOfOneBlockTakesTwoEvents) {
  Channel channel(paired_radio(), Direction::downlink, {loud});
  channel.send(0, Bytes(100));
  channel.scheduler.run();
  EXPECT_EQ(channel.scheduler.events(), 2U);  // its opportunity, its arrival
}

}  // namespace
}  // namespace trilemma
