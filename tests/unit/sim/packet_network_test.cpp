#include <algorithm>
#include <numeric>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/network.h"
#include "sim/replicate.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

using test::Records;
using test::records_of;
using test::stage;

/// The toy scenario with packets: 360 B up and 4 B down, and 28 B of headers a packet.
Scenario packets(Bytes mtu = Bytes(1500)) {
  Scenario scenario = test::toy_scenario();
  scenario.fidelity = Fidelity::packet;
  scenario.transport = UdpTransport{.mtu = mtu};
  return scenario;
}

Scenario as_messages(Scenario scenario) {
  scenario.fidelity = Fidelity::message;
  return scenario;
}

RequestRecord only_record_of(const Scenario& scenario) {
  const auto records = records_of(scenario);
  EXPECT_EQ(records.size(), 1U);
  return records.at(0);
}

/// Of computing, derived in toy_scenario.h and serve_test.cpp.
constexpr Duration compute{174'432};

const FixedRadio slow_radio{.rate = BitRate(8e6), .delay = 50us};  // a microsecond a byte
const FixedLink slow_link{.rate = BitRate(8e6), .delay = 100us};   // the same
const FibreLink gigabit{.length = Metres(10'000), .rate = BitRate(1e9), .switches = 2, .switch_latency = 1us};

TEST(PacketFidelity, WithoutRadioAndBackhaulOnlyComputingTakesTime) {
  const RequestRecord record = only_record_of(packets());
  EXPECT_EQ(record.latency(), compute);
  EXPECT_EQ(record.floor, compute);
  EXPECT_EQ(record.outcome, Outcome::completed);
  EXPECT_EQ(record.uplink_bytes, Bytes(388));
}

TEST(PacketFidelity, AMessageOfOnePacketTakesAsLongAsInMessageFidelity) {
  for (const LinkConfig& backhaul : {LinkConfig(NoLink{}), LinkConfig(slow_link), LinkConfig(gigabit)}) {
    for (const RadioConfig& radio : {RadioConfig(NoRadio{}), RadioConfig(slow_radio)}) {
      Scenario scenario = packets();
      scenario.backhaul = backhaul;
      scenario.radio = radio;
      const RequestRecord packet = only_record_of(scenario);
      const RequestRecord message = only_record_of(as_messages(scenario));
      EXPECT_EQ(packet.stages, message.stages);
      EXPECT_EQ(packet.finish, message.finish);
      EXPECT_EQ(packet.floor, message.floor);
      EXPECT_EQ(packet.blocks, message.blocks);
    }
  }
}

TEST(PacketFidelity, OnePacketOverAFibreWithTwoSwitches) {
  Scenario scenario = packets();
  scenario.backhaul = gigabit;
  const RequestRecord record = only_record_of(scenario);
  // A frame of 38 B of Ethernet around 388 or 32 B, sent three times at 8 ns a byte; 2 x 1 us of switching; 49 us of
  // glass.
  EXPECT_EQ(stage(record, Stage::backhaul), 3 * (388 + 38 + 32 + 38) * 8ns + 2 * (2us + 49us));
}

TEST(PacketFidelity, ThePacketsOfAMessageOverlapOnRadioAndBackhaul) {
  Scenario scenario = packets(Bytes(128));
  scenario.radio = slow_radio;
  scenario.backhaul = slow_link;
  const RequestRecord record = only_record_of(scenario);
  // 360 B are three packets of 128 B and one of 60 + 28 B, 472 B in all. The radio is done with them 128, 256, 384 and
  // 472 us after the start (50 us later each); the backhaul is 128 us behind and sends the last one from 512 to 600 us.
  EXPECT_EQ(stage(record, Stage::uplink_queue) + stage(record, Stage::uplink_air), 472us + 50us);
  EXPECT_EQ(stage(record, Stage::uplink_air), 88us + 50us) << "the air of the packet that left last";
  const Duration answer = 32us + 100us;
  EXPECT_EQ(stage(record, Stage::backhaul), 128us + 100us + answer);
  EXPECT_EQ(record.latency(), compute + 600us + 150us + answer + 32us + 50us);
  EXPECT_EQ(record.uplink_bytes, Bytes(472));
  // The floor takes the best order of packets: 472 us over one leg and 88 us over the other.
  EXPECT_EQ(record.floor, record.latency() - 40us);
  EXPECT_EQ(only_record_of(as_messages(scenario)).latency(), record.latency()) << "messages overlap as packets do";
}

TEST(PacketFidelity, PacketsFollowEachOtherThroughTheSwitches) {
  Scenario scenario = packets(Bytes(128));
  scenario.backhaul = gigabit;
  const RequestRecord record = only_record_of(scenario);
  // First hop: three frames of 166 B and one of 126 B. The last packet waits for the one before it at each hop, and so
  // is there 126 B after it: 3 x 166 + 2 x 166 + 126 B.
  const Duration up = (5 * 166 + 126) * 8ns + 51us;
  const Duration down = 3 * 70 * 8ns + 51us;
  EXPECT_EQ(stage(record, Stage::backhaul), up + down);
}

TEST(PacketFidelity, AnAnswerOfSeveralPacketsOverlapsToo) {
  Scenario scenario = packets(Bytes(128));
  scenario.cut = Cut{0};
  scenario.workload.stream = false;
  scenario.workload.output = FixedLength{Tokens(60)};  // 240 B of answer: two packets of 128 B and one of 40 + 28 B
  scenario.radio = slow_radio;
  scenario.backhaul = slow_link;
  const RequestRecord record = only_record_of(scenario);
  // Backhaul 128, 256, 324 us; the radio is one packet behind: 256, 384, 452 us. The last packet enters it at 324 us.
  const Duration prompt = 68us + 100us;
  EXPECT_EQ(stage(record, Stage::backhaul), prompt + 324us + 100us);
  EXPECT_EQ(stage(record, Stage::downlink_wait) + stage(record, Stage::downlink_air), 452us - 324us + 50us);
  EXPECT_EQ(record.downlink_bytes, Bytes(324));
}

TEST(PacketFidelity, ClientsOfAllCellsShareTheBackhaul) {
  Scenario scenario = packets();
  scenario.workload.clients = 4;
  scenario.requests = 4;
  scenario.cells = 2;
  scenario.radio = slow_radio;
  scenario.backhaul = slow_link;
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 4U);
  std::vector<Duration> backhaul;
  backhaul.reserve(records.size());
  for (const RequestRecord& record : records) backhaul.push_back(stage(record, Stage::backhaul));
  std::sort(backhaul.begin(), backhaul.end());
  // Two packets arrive at once, from the two cells, 388 us before the next two; then one waits for three, not two.
  const Duration alone = 388us + 100us + 32us + 100us;
  EXPECT_EQ(backhaul.front(), alone);
  EXPECT_EQ(backhaul.back(), alone + 2 * 388us);
}

TEST(PacketFidelity, SeventySwitchesDoNotWearAPacketOut) {
  Scenario scenario = packets();
  scenario.backhaul = FibreLink{.rate = BitRate(1e9), .switches = 70};
  EXPECT_EQ(stage(only_record_of(scenario), Stage::backhaul), 71 * (388 + 38 + 32 + 38) * 8ns);
}

TEST(PacketFidelity, TheWholeModelOnTheDeviceNeedsNoPackets) {
  Scenario scenario = packets();
  scenario.cut = Cut{std::nullopt};
  scenario.transport = NoTransport{};
  EXPECT_THAT(scenario.problems(), testing::IsEmpty());
  EXPECT_EQ(only_record_of(scenario).latency(), 536'320ns);
}

/// Every source of chance at once, several packets a message, losses.
Scenario chancy_scenario() {
  Scenario scenario = packets(Bytes(128));
  scenario.requests.reset();
  scenario.duration = 1s;
  scenario.workload.clients = 12;
  scenario.workload.arrivals = PoissonArrivals{.rate = EventRate(50)};
  scenario.workload.output = FixedLength{Tokens(2)};
  NrRadio radio;
  radio.placement = DiscPlacement{.radius = Metres(400), .nearest = Metres(1)};
  radio.device.power = PowerLevel(-10);
  radio.harq.max_transmissions = 2;
  scenario.radio = radio;
  scenario.backhaul = gigabit;
  scenario.cells = 2;
  return scenario;
}

TEST(PacketFidelity, EveryRequestEndsOnceStagesAddUpAndNoneBeatsItsFloor) {
  Records records;
  const Replication result = replicate(chancy_scenario(), 1, records);
  std::uint64_t failed = 0;
  std::int64_t blocks = 0;
  for (const RequestRecord& record : records.rows) {
    ASSERT_EQ(total(record.stages), record.latency());
    ASSERT_TRUE(std::all_of(record.stages.begin(), record.stages.end(), [](Duration d) { return d >= 0ns; }));
    if (record.outcome == Outcome::failed) ++failed;
    ASSERT_TRUE(record.outcome == Outcome::failed || record.latency() >= record.bound);
    blocks += record.blocks;
  }
  EXPECT_GT(failed, 0U) << "the scenario is meant to lose some";
  EXPECT_GT(result.counts.completed, 100U);
  EXPECT_EQ(result.counts.failed, failed);
  EXPECT_EQ(result.counts.in_flight, 0U);
  EXPECT_EQ(result.counts.offered, records.rows.size());
  EXPECT_GE(blocks, result.uplink.blocks + result.downlink.blocks)
      << "every block is in a record, shared ones in several";
}

auto fields(const RequestRecord& r) {
  return std::tuple{r.request.id, r.request.arrival, r.outcome, r.finish, r.stages, r.floor, r.blocks};
}

TEST(PacketFidelity, ARunDoesNotDependOnWhatRanBefore) {
  const auto run = [](std::uint32_t replication) {
    std::vector<decltype(fields(RequestRecord{}))> rows;
    for (const RequestRecord& record : records_of(chancy_scenario(), replication)) rows.push_back(fields(record));
    return rows;
  };
  const auto first = run(1);
  const auto other = run(2);
  EXPECT_EQ(run(1), first);
  EXPECT_NE(other, first);
}

TEST(PacketFidelity, ALostPacketFailsItsRequestWhenTheOthersHaveArrived) {
  Scenario scenario = packets(Bytes(128));
  NrRadio radio;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  radio.device.power = PowerLevel(-200);
  scenario.radio = radio;
  scenario.backhaul = slow_link;
  Records records;
  const Replication result = replicate(scenario, 1, records);
  ASSERT_EQ(records.rows.size(), 1U);
  EXPECT_EQ(records.rows[0].outcome, Outcome::failed);
  EXPECT_EQ(stage(records.rows[0], Stage::backhaul), 0ns) << "nothing came that far";
  EXPECT_EQ(result.counts.failed, 1U);
  EXPECT_GT(result.uplink.lost_blocks, 0);
}

TEST(PacketFidelity, OneLostPacketOfSeveralIsEnoughToFailARequest) {
  Scenario scenario = packets(Bytes(128));
  NrRadio radio;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  radio.harq = {.max_transmissions = 1, .target = Fraction(0.5)};
  int partly = 0;
  for (int tenths = -400; tenths < -300; tenths += 2) {  // from one MCS to the next, with all error rates in between
    radio.device.power = PowerLevel(tenths / 10.0);
    scenario.radio = radio;
    Records records;
    const Replication result = replicate(scenario, 1, records);
    const auto lost = result.uplink.lost_blocks + result.downlink.lost_blocks;
    EXPECT_EQ(records.rows.at(0).outcome, lost > 0 ? Outcome::failed : Outcome::completed) << tenths;
    EXPECT_GE(records.rows.at(0).blocks, result.uplink.blocks + result.downlink.blocks);
    partly += lost > 0 && lost < result.uplink.blocks ? 1 : 0;
  }
  EXPECT_GT(partly, 0) << "some lose a part of their packets, which share few blocks";
}

TEST(PacketFidelity, TheRunMayBeCutShortInTheMiddleOfMessages) {
  Scenario scenario = chancy_scenario();
  scenario.limits.events = 3'000;
  Records records;
  const Replication result = replicate(scenario, 1, records);
  EXPECT_EQ(result.end, RunEnd::event_limit);
  EXPECT_EQ(result.events, 3'000U) << "ns-3's own events count";
  EXPECT_GT(result.counts.in_flight, 0U);
}

TEST(PacketFidelity, CarriedLoadOfTheBackhaulIsThatOfItsFrames) {
  Scenario scenario = packets(Bytes(128));
  scenario.backhaul = slow_link;
  Records records;
  const Replication result = replicate(scenario, 1, records);
  const auto share = [&](const std::string& name) {
    const auto found = std::find_if(result.utilisation.begin(), result.utilisation.end(),
                                    [&](const Utilisation& load) { return load.resource == name; });
    return found->share * to_seconds(result.finished);
  };
  EXPECT_NEAR(share("backhaul uplink"), 472e-6, 1e-12);
  EXPECT_NEAR(share("backhaul downlink"), 32e-6, 1e-12);
}

// ---- What cannot be carried
// --------------------------------------------------------------------------------------------

std::string problem_of(const Scenario& scenario) {
  const auto problems = scenario.problems();
  return problems.empty() ? "" : problems.at(0).key + " " + problems.at(0).problem;
}

TEST(PacketFidelity, RefusesWhatIsNotMadeOfPackets) {
  Scenario scenario = packets();
  EXPECT_EQ(problem_of(scenario), "");
  scenario.transport = NoTransport{};
  EXPECT_THAT(problem_of(scenario), testing::StartsWith("transport sends no packets"));
  EXPECT_EQ(problem_of(as_messages(scenario)), "");
}

TEST(PacketFidelity, RefusesHeadersOtherThanThoseOfItsPackets) {
  Scenario scenario = packets();
  scenario.transport = UdpTransport{.headers = Bytes(40)};
  EXPECT_THAT(problem_of(scenario), testing::StartsWith("transport has headers of 40 B"));
  EXPECT_EQ(problem_of(as_messages(scenario)), "");
}

TEST(PacketFidelity, RefusesPacketsThatIpDoesNotKnow) {
  EXPECT_THAT(problem_of(packets(Bytes(67))), testing::StartsWith("transport has an mtu of 67 B"));
  EXPECT_EQ(problem_of(packets(Bytes(68))), "");
  EXPECT_EQ(only_record_of(packets(Bytes(68))).latency(), compute);
  EXPECT_EQ(only_record_of(packets(Bytes(65'535))).latency(), compute);
}

TEST(PacketFidelity, RefusesPacketsThatDoNotFitAFrame) {
  Scenario scenario = packets(Bytes(1501));
  scenario.backhaul = FibreLink{};
  EXPECT_THAT(problem_of(scenario), testing::StartsWith("backhaul has frames of 1500 B"));
  scenario.backhaul = FibreLink{.frame = Bytes(1501)};
  EXPECT_EQ(problem_of(scenario), "");
  scenario.backhaul = slow_link;
  EXPECT_EQ(problem_of(scenario), "") << "a fixed link has no frames";
}

TEST(PacketFidelity, RefusesRatesThatNs3CannotHold) {
  for (const double rate : {0.5, 1.5, 2e18}) {
    Scenario scenario = packets();
    scenario.backhaul = FixedLink{.rate = BitRate(rate)};
    EXPECT_THAT(problem_of(scenario), testing::StartsWith("backhaul has a rate")) << rate;
    EXPECT_EQ(problem_of(as_messages(scenario)), "");
  }
  for (const double rate : {1.0, 1e18}) {
    Scenario scenario = packets();
    scenario.backhaul = FixedLink{.rate = BitRate(rate)};
    EXPECT_EQ(problem_of(scenario), "");
  }
}

}  // namespace
}  // namespace trilemma
