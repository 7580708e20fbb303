#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "analysis/collector.h"
#include "sim/replicate.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

using test::Records;
using test::stage;
using test::toy_scenario;

auto fields(const RequestRecord& r) {
  return std::tuple{r.request.id,   r.request.client, r.request.arrival, r.request.prompt, r.request.output,
                    r.outcome,      r.finish,         r.first_token,     r.stages,         r.floor,
                    r.uplink_bytes, r.downlink_bytes, r.blocks,          r.retransmissions};
}

std::vector<decltype(fields(RequestRecord{}))> all_fields(const std::vector<RequestRecord>& records) {
  std::vector<decltype(fields(RequestRecord{}))> rows;
  for (const RequestRecord& record : records) rows.push_back(fields(record));
  return rows;
}

/// Every source of chance at once: random arrivals, places, lines of sight, shadowing, block errors.
Scenario chancy_scenario() {
  Scenario scenario = toy_scenario();
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
  scenario.cells = 2;
  return scenario;
}

/// The only client is so weak that no block ever gets through.
Scenario deaf_scenario() {
  Scenario scenario = toy_scenario();
  NrRadio radio;
  radio.frame = full_uplink;
  radio.access = Access::configured_grant;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  radio.device.power = PowerLevel(-200);
  scenario.radio = radio;
  return scenario;
}

TEST(Conservation, ALostMessageFailsItsRequest) {
  Records records;
  const Replication result = replicate(deaf_scenario(), 1, records);
  ASSERT_EQ(records.rows.size(), 1U);
  const RequestRecord& record = records.rows[0];
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_EQ(record.blocks, 1);
  EXPECT_EQ(record.retransmissions, 3);
  EXPECT_EQ(record.first_token, 0ns);
  EXPECT_EQ(stage(record, Stage::edge), 0ns);
  // At 120 kHz the halves of Tproc,1 and Tproc,2 are 89,193 and 160,547 ns. Encoded at 133,440 and prepared at 293,987:
  // slot 3, 375 to 500 us. The failure is known and answered 178,386 ns later, the PDCCH is at 750 us, read at 758,929
  // and acted on 321,094 ns later: slot 9, 1125 us. So every 750 us until the fourth ends at 2750 us and is decoded.
  EXPECT_EQ(record.finish, 2'750'000ns + 89'193ns);
  EXPECT_EQ(stage(record, Stage::uplink_grant), 160'547ns);
  EXPECT_EQ(stage(record, Stage::uplink_alignment), 375'000ns - 293'987ns);
  EXPECT_EQ(stage(record, Stage::uplink_queue), 0ns);
  EXPECT_EQ(stage(record, Stage::uplink_air), 125'000ns);
  EXPECT_EQ(stage(record, Stage::uplink_retransmission), 3 * 750'000ns);
  EXPECT_EQ(stage(record, Stage::uplink_decoding), 89'193ns);
  EXPECT_EQ(result.uplink.on_air, 4 * 125'000ns) << "it takes energy all the same";
  EXPECT_EQ(result.counts.failed, 1U);
  EXPECT_EQ(result.counts.completed, 0U);
  EXPECT_EQ(result.uplink.lost_blocks, 1);
}

TEST(Conservation, ALostAnswerFailsItsRequestToo) {
  Scenario scenario = deaf_scenario();
  auto& radio = std::get<NrRadio>(scenario.radio);
  radio.device.power = PowerLevel(60);
  radio.base_station.power = PowerLevel(-200);
  Records records;
  const Replication result = replicate(scenario, 1, records);
  ASSERT_EQ(records.rows.size(), 1U);
  EXPECT_EQ(records.rows[0].outcome, Outcome::failed);
  EXPECT_EQ(stage(records.rows[0], Stage::edge), 40'352ns);
  EXPECT_EQ(result.uplink.lost_blocks, 0);
  EXPECT_EQ(result.downlink.lost_blocks, 1);
}

TEST(Conservation, EveryRequestEndsInExactlyOneWay) {
  Records records;
  const Replication result = replicate(chancy_scenario(), 1, records);
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  for (const RequestRecord& record : records.rows) ++(record.outcome == Outcome::completed ? completed : failed);
  EXPECT_GT(completed, 100U);
  EXPECT_GT(failed, 0U) << "the scenario is meant to lose some";
  EXPECT_EQ(result.counts.completed, completed);
  EXPECT_EQ(result.counts.failed, failed);
  EXPECT_EQ(result.counts.offered, completed + failed);
  EXPECT_EQ(result.counts.in_flight, 0U);
  EXPECT_EQ(result.counts.dropped, 0U);
}

TEST(Conservation, StagesAddUpAndNoCompletedRequestBeatsItsBound) {
  for (const RequestRecord& record : test::records_of(chancy_scenario())) {
    ASSERT_EQ(total(record.stages), record.latency());
    for (const Duration time : record.stages) ASSERT_GE(time, 0ns);
    if (record.outcome == Outcome::completed) {
      ASSERT_GE(record.latency(), record.bound);
    }
    ASSERT_LE(record.bound, record.floor);
  }
}

TEST(Conservation, AnEventLimitLeavesTheRestInFlight) {
  Scenario scenario = chancy_scenario();
  scenario.limits.events = 1000;
  Records records;
  const Replication result = replicate(scenario, 1, records);
  EXPECT_EQ(result.end, RunEnd::event_limit);
  EXPECT_EQ(result.events, 1000U);
  EXPECT_GT(result.counts.in_flight, 0U);
  EXPECT_EQ(result.counts.offered, records.rows.size() + result.counts.in_flight);
}

TEST(Conservation, AReplicationIsTheSameWhateverRanBefore) {
  const Scenario scenario = chancy_scenario();
  const auto alone = all_fields(test::records_of(scenario, 3));
  const auto first = all_fields(test::records_of(scenario, 1));
  const auto second = all_fields(test::records_of(scenario, 2));
  EXPECT_EQ(all_fields(test::records_of(scenario, 3)), alone);
  EXPECT_NE(first, alone);
  EXPECT_NE(second, alone);
}

TEST(Conservation, AnotherSeedGivesOtherRecords) {
  Scenario scenario = chancy_scenario();
  const auto one = all_fields(test::records_of(scenario));
  scenario.seed = 2;
  EXPECT_NE(all_fields(test::records_of(scenario)), one);
}

TEST(Conservation, ArrivalsDoNotDependOnTheCut) {
  Scenario scenario = chancy_scenario();
  const auto arrivals = [&] {
    std::vector<std::pair<Instant, std::int64_t>> found;
    for (const RequestRecord& r : test::records_of(scenario)) found.emplace_back(r.request.arrival, r.request.client);
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto at_one = arrivals();
  scenario.cut = Cut{0};
  EXPECT_EQ(arrivals(), at_one);
}

TEST(WarmUp, LeavesOutWhatArrivesBeforeItsEnd) {
  Scenario scenario = toy_scenario();
  scenario.requests = 5;
  scenario.workload.arrivals = PeriodicArrivals{.period = 1ms, .aligned = true};
  const auto measured = [&](Duration warmup) {
    scenario.warmup = warmup;
    Collector collector(scenario);
    const Replication result = replicate(scenario, 1, collector);
    EXPECT_EQ(result.counts.offered, 5U);
    return collector.latency().count();
  };
  EXPECT_EQ(measured(0ms), 5);
  EXPECT_EQ(measured(2ms), 3);  // an arrival at the very end of the warm-up is measured
  EXPECT_EQ(measured(2ms + 1ns), 2);
}

}  // namespace
}  // namespace trilemma
