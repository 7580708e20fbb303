#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

/// What once went wrong in the channel engine, by name.
namespace trilemma {
namespace {

using test::floor_of;
using test::half1;
using test::loud_payload;
using test::loud_radio;
using test::Offer;
using test::run;
using test::slot;
using test::symbol;
using test::Transfer;

// A decision made while blocks were being sent, here the next standing grant 50 us on, was planned into symbols that
// these very blocks had taken.
TEST(RadioRegressions, SymbolsOfBlocksOnTheAirAreNotGivenAgain) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  radio.downlink_control = 0;
  radio.scheduler = RadioScheduler::semi_persistent;
  radio.persistence = {.period = 50us, .release = 3};
  const auto result = run(radio, {{0ns, 40 * loud_payload(radio, 14), 0, Direction::downlink}});
  const Transfer& transfer = result.transfers.at(0);
  // On one carrier, blocks of one client follow each other: no more time on the air than between first and last.
  const RadioTimes& times = transfer.result.times;
  EXPECT_LE(times.air, transfer.latency() - times.grant - times.alignment - times.decoding);
  EXPECT_GE(transfer.latency(), 40 * slot);
}

// The floor was sought in one period of the frame, and client 0 sounded in just that one.
TEST(RadioRegressions, SoundingDoesNotRaiseTheFloor) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  const Duration usual = floor_of(radio, Direction::uplink, Bytes(100)).total();
  for (const std::int64_t sounding : {2, 3, 67}) {
    radio.sounding = sounding;
    EXPECT_EQ(floor_of(radio, Direction::uplink, Bytes(100)).total(), usual) << sounding;
  }
  // A request just in time for the PUCCH of a slot in which nobody sounds.
  radio.sounding = 3;
  Duration fastest = Duration::max();
  for (std::int64_t at = 6; at < 12; ++at) {
    const Instant offered = symbol(at, 13) - half1;
    fastest = std::min(fastest, run(radio, {{offered, Bytes(100)}}).transfers.at(0).latency());
  }
  EXPECT_EQ(fastest, usual);
}

// The repetition of a block brought its buffer report after a newer one had arrived, and what the newer one had added
// was forgotten: a client that believed it had reported waited for ever.
TEST(RadioRegressions, AnOldBufferReportDoesNotReplaceANewerOne) {
  NrRadio radio = loud_radio();
  radio.bandwidth = Frequency(50e6);
  radio.request = {.first_grant = Bytes(100), .table = BufferTable::exact};
  radio.errors = FixedErrors{.first = Fraction(0.5), .later = Fraction(0.3)};
  const auto arrived = [&](const std::vector<Offer>& offers, std::uint64_t replication) {
    return run(radio, offers, 3, replication).transfers.size();
  };
  EXPECT_EQ(arrived({{500us, Bytes(2'500), 0}, {900us, Bytes(3'000), 1}, {1500us, Bytes(2'000), 0}}, 2), 3U);
  // The same with other times and chances: a few in a hundred waited for ever.
  Rng rng = Streams(1, 1).stream("offers");
  for (std::uint64_t replication = 1; replication <= 300; ++replication) {
    std::vector<Offer> offers;
    Instant time{0};
    for (ClientIndex i = 0; i < 20; ++i) {
      time += rng.uniform(800us);
      offers.push_back({time, Bytes(1 + rng.uniform(6'000ns).count()), i % 3});
    }
    EXPECT_EQ(arrived(offers, replication), offers.size()) << replication;
  }
}

// Uplink blocks of a flexible slot lie at its end, one before the other: a client before others is done sooner than one
// alone.
TEST(RadioRegressions, ClientsThatShareASlotDoNotBeatTheBound) {
  NrRadio radio = loud_radio();
  radio.frame = "F";
  radio.uplink_control = 1;
  for (const TimingConfig& timing : {TimingConfig(StandardTiming{}), TimingConfig(SlottedTiming{})}) {
    radio.timing = timing;
    Scheduler scheduler;
    const auto cell = make_radio(scheduler, radio, {.clients = 5}, Streams(1, 1));
    Rng rng = Streams(1, 1).stream("offers");
    std::vector<Transfer> transfers;
    for (ClientIndex i = 0; i < 10'000; ++i) {
      test::offer(scheduler, *cell, {rng.uniform(500ms), Bytes(12), i % 5}, transfers);
    }
    scheduler.run();
    ASSERT_EQ(transfers.size(), 10'000U);
    Duration least = Duration::max();
    for (const Transfer& transfer : transfers) least = std::min(least, transfer.latency());
    EXPECT_GE(least, cell->bound(Direction::uplink, 0, Bytes(12))) << timing.index();
  }
}

// Repetitions went out in slots in which their client sends sounding signals and nothing else.
TEST(RadioRegressions, RepetitionsWaitForASlotInWhichTheirClientDoesNotSound) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  radio.sounding = 2;  // client 0 in every even slot
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(0)};
  for (Duration time{0}; time < 4 * slot; time += 3us) {
    const Transfer transfer = run(radio, {{time, Bytes(100)}}).transfers.at(0);
    EXPECT_EQ(transfer.result.retransmissions, 1);
    EXPECT_EQ((transfer.done - half1 - 1ns) / slot % 2, 1) << time.count();
  }
}

// With mapping type A the second block of a slot began where the first one ended.
TEST(RadioRegressions, MappingTypeAHasOneBlockASlot) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  radio.mapping = Mapping::a;
  radio.shortest = 4;
  ASSERT_TRUE(radio.problems().empty());
  for (const RadioScheduler scheduler : {RadioScheduler::round_robin, RadioScheduler::earliest_deadline_first}) {
    radio.scheduler = scheduler;
    for (const Direction direction : {Direction::uplink, Direction::downlink}) {
      const auto transfers =
          run(radio, {{0ns, Bytes(100), 0, direction}, {0ns, Bytes(100), 1, direction}}, 2).transfers;
      EXPECT_EQ(transfers.at(1).done - transfers.at(0).done, slot);
    }
  }
}

// The parts of the band of a flexible slot took each other's symbols.
TEST(RadioRegressions, SubbandsOfFlexibleSlotsDoNotTakeEachOthersSymbols) {
  NrRadio radio = loud_radio();
  radio.frame = "F";
  radio.subbands = 2;
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    const Offer one{0ns, Bytes(100'000), 0, direction};
    const Instant alone = run(radio, {one}, 2).transfers.at(0).done;
    const auto both = run(radio, {one, {0ns, Bytes(100'000), 1, direction}}, 2).transfers;
    EXPECT_EQ(both.at(0).done, alone);
    EXPECT_EQ(both.at(1).done, alone);
  }
}

// A client gets one block of a region that is decided as a whole; the forecast gave it all symbols.
TEST(RadioRegressions, TheForecastKnowsThatAClientHasOneBlockARegion) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  radio.symbols = 7;
  radio.timing = SlottedTiming{};
  Scheduler scheduler;
  const auto cell = make_radio(scheduler, radio, {.clients = 2}, Streams(1, 1));
  const Bytes size = loud_payload(radio, 7);
  const double rate = 1 / to_seconds(slot);
  const double alone = cell->forecast(Direction::uplink, std::vector<RadioDemand>{{0, size, rate}});
  const double shared =
      cell->forecast(Direction::uplink, std::vector<RadioDemand>{{0, size, rate / 2}, {1, size, rate / 2}});
  EXPECT_GE(alone, 1);
  EXPECT_DOUBLE_EQ(shared, alone / 2);
}

// Repetitions that keep their own time were counted as symbols of the frame, whose utilisation rose above 100 %.
TEST(RadioRegressions, RepetitionsOutsideTheFrameTakeNoneOfItsSymbols) {
  NrRadio radio = loud_radio();
  radio.timing = Tr37910Timing{};
  radio.errors = FixedErrors{.first = Fraction(1), .later = Fraction(0)};
  const auto result = run(radio, {{0ns, Bytes(100)}});
  EXPECT_EQ(result.uplink.retransmissions, 1);
  EXPECT_EQ(result.uplink.symbols, radio.shortest);
}

// Ran for ever: every occasion of a client lay in a slot in which it sounds.
TEST(RadioRegressions, AClientWhoseGrantsAllFallIntoItsSoundingIsRefused) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.sounding = 2;
  EXPECT_NE(clients_problem(radio, 2), "");
  EXPECT_EQ(clients_problem(radio, 3), "");
  EXPECT_NE(clients_problem(radio, 4), "");
  radio.symbols = 7;  // two occasions a slot
  EXPECT_EQ(clients_problem(radio, 1), "");
  radio.sounding = 0;
  EXPECT_EQ(clients_problem(radio, 2), "");
}

// A block was sized at the MCS of its slice and sent at that of its first symbol, which a fading link may have lowered
// in between: it had no room for data.
TEST(RadioRegressions, ABlockIsSentAsItWasSized) {
  NrRadio radio;
  radio.bandwidth = Frequency(50e6);
  radio.frame = "FU";
  radio.subbands = 2;
  radio.mcs_table = McsTable::qam64_low_se;
  radio.environment = Environment::umi;
  radio.placement = RingPlacement{.distance = Metres(150)};
  radio.fading = Tr38901Fading{.speed = kilometres_per_hour(100)};
  radio.report_period = Duration{0};
  radio.base_station.array = ArrayConfig{.rows = 8, .columns = 8};
  radio.device.array = ArrayConfig{.rows = 4, .columns = 4};
  ASSERT_TRUE(radio.problems().empty());
  std::vector<Offer> offers;
  Rng rng = Streams(1, 1).stream("offers");
  for (ClientIndex i = 0; i < 2'000; ++i) offers.push_back({rng.uniform(20s), Bytes(150), i % 8});
  for (std::uint64_t replication = 1; replication <= 3; ++replication) {
    EXPECT_EQ(run(radio, offers, 8, replication).transfers.size(), offers.size());
  }
}

// The window was divided by the period of the frame, of which it may hold a part.
TEST(RadioRegressions, UtilisationOfAShortWindowIsThatOfItsSymbols) {
  NrRadio radio = loud_radio();
  radio.frame = "UDDDDDDDDS";
  radio.access = Access::configured_grant;
  Scheduler scheduler;
  const auto cell = make_radio(scheduler, radio, {.clients = 1}, Streams(1, 1));
  std::vector<Transfer> transfers;
  test::offer(scheduler, *cell, {slot, loud_payload(radio, 14)}, transfers);
  scheduler.run();
  // Sent in the next period's first slot: all 14 symbols of two slots with 14 and the 2 of the special slot in between.
  EXPECT_DOUBLE_EQ(cell->utilisation(Direction::uplink, scheduler.now()), 14.0 / (14 + 2 + 14));
}

}  // namespace
}  // namespace trilemma
