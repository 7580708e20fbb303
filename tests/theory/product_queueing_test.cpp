#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/theory.h"
#include "models/radio/nr_phy.h"
#include "tests/support/estimate.h"
#include "tests/support/toy_scenario.h"

/// Laws of queueing theory through the path of a user: scenario, replications, records. Comparisons are within four
/// standard errors of a mean over independent replications; the seeds are fixed.
namespace trilemma {
namespace {

using test::estimate;
using test::Estimate;
using test::requests_in_system;
using test::stage;

constexpr std::uint32_t replications = 20;

/// Mean of `value` over the requests that arrive after a tenth of the run, by replication.
std::vector<double> means(const Scenario& scenario, const std::function<double(const RequestRecord&)>& value) {
  std::vector<double> found;
  for (std::uint32_t replication = 0; replication < replications; ++replication) {
    double sum = 0;
    double count = 0;
    for (const RequestRecord& record : test::records_of(scenario, replication)) {
      if (record.request.id < static_cast<std::uint64_t>(*scenario.requests / 10)) continue;
      sum += value(record);
      ++count;
    }
    found.push_back(sum / count);
  }
  return found;
}

void expect_theory(const std::vector<double>& values, double expected, double precision) {
  const Estimate found = estimate(values);
  EXPECT_NEAR(found.mean, expected, 4 * found.error);
  EXPECT_LT(found.error, precision * expected) << "too few requests for the comparison to mean something";
}

/// `clients` Poisson clients send 40 bytes of token ids at once; the edge is too fast to matter.
Scenario poisson_scenario(std::int64_t clients, double total_rate, std::int64_t requests) {
  Scenario scenario = test::toy_scenario();
  scenario.cut = Cut{0};
  scenario.edge = test::toy_machine<EdgeConfig>(OperationRate(1e18));
  scenario.edge.bandwidth = ByteRate(1e18);
  scenario.workload.clients = clients;
  scenario.workload.arrivals = PoissonArrivals{.rate = EventRate(total_rate / static_cast<double>(clients))};
  scenario.requests = requests;
  return scenario;
}

// ---- A shared pipe -------------------------------------------------------------------------------------------------

TEST(FixedRadio, SharedByPoissonClientsIsAnMD1Queue) {
  // 40 bytes at 320 kbit/s: a millisecond each. The streams of the clients together are Poisson again.
  for (const double load : {0.3, 0.6, 0.9}) {
    SCOPED_TRACE(load);
    Scenario scenario = poisson_scenario(10, load * 1000, load < 0.8 ? 15'000 : 80'000);
    scenario.radio = FixedRadio{.rate = BitRate(320e3)};
    const auto waits =
        means(scenario, [](const RequestRecord& r) { return to_milliseconds(stage(r, Stage::uplink_queue)); });
    expect_theory(waits, theory::md1_mean_wait(load, 1), 0.03);
  }
}

TEST(FixedLink, SharedByPoissonClientsIsAnMD1Queue) {
  Scenario scenario = poisson_scenario(10, 600, 15'000);
  scenario.backhaul = FixedLink{.rate = BitRate(320e3)};
  // Up 40 bytes, a millisecond; the answer of 4 bytes 0.1 ms. What comes out of an M/D/1 queue at distances of at least
  // a millisecond never waits for the answers before it.
  const auto sojourns =
      means(scenario, [](const RequestRecord& r) { return to_milliseconds(stage(r, Stage::backhaul)); });
  expect_theory(sojourns, theory::md1_mean_sojourn(0.6, 1) + 0.1, 0.03);
}

TEST(Edge, OfFourExecutorsWaitsBetweenHalfAndAllOfAnMMcQueue) {
  // M/D/c has no closed mean: half of that of M/M/c is its limit in heavy traffic, reached from above (Cosmetatos
  // 1975).
  Scenario scenario = poisson_scenario(10, 0.9 * 4 * 1000, 80'000);
  scenario.edge = test::toy_machine<EdgeConfig>(OperationRate(53'632 * 1000.0));  // 53,632 operations in a millisecond
  scenario.edge.bandwidth = ByteRate(1e18);
  scenario.edge.count = 4;
  const auto waits =
      means(scenario, [](const RequestRecord& r) { return to_milliseconds(stage(r, Stage::edge_queue)); });
  const Estimate found = estimate(waits);
  const double exponential = theory::mmc_mean_wait(4, 0.9 * 4, 1);
  EXPECT_GT(found.mean + 4 * found.error, exponential / 2);
  EXPECT_LT(found.mean - 4 * found.error, exponential);
}

// ---- A configured grant: time-division access ----------------------------------------------------------------------

Scenario granted_scenario(std::int64_t clients, double total_rate, std::int64_t requests) {
  Scenario scenario = poisson_scenario(clients, total_rate, requests);
  NrRadio radio;
  radio.frame = std::string(full_uplink);
  radio.access = Access::configured_grant;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  radio.device.power = PowerLevel(80);
  radio.base_station.power = PowerLevel(80);
  scenario.radio = radio;
  return scenario;
}

constexpr double preparation_us = 160.547;  // Tproc,2 / 2 at 120 kHz
constexpr double decoding_us = 89.193;      // Tproc,1 / 2

double wait_us(const RequestRecord& record) {
  return to_seconds(stage(record, Stage::uplink_grant) + stage(record, Stage::uplink_alignment) +
                    stage(record, Stage::uplink_queue)) *
         1e6;
}
double uplink_us(const RequestRecord& record) {
  const Duration air = stage(record, Stage::uplink_air) + stage(record, Stage::uplink_decoding);
  return wait_us(record) + to_seconds(air) * 1e6;
}

TEST(ConfiguredGrant, WaitsForHalfThePeriodOfItsOccasionsAtLightLoad) {
  // Alone in every slot of 125 us; alone in the one U slot of DDDSU, 625 us; one of three, 375 us. At a load of 1e-4,
  // waiting for other messages adds 1e-4 of half a period, a tenth of the standard error or less.
  const auto expect_half = [](Scenario scenario, double period_us) {
    expect_theory(means(scenario, wait_us), preparation_us + period_us / 2, 0.01);
  };
  expect_half(granted_scenario(1, 0.8, 2'000), 125);
  Scenario divided = granted_scenario(1, 0.16, 2'000);
  std::get<NrRadio>(divided.radio).frame = "DDDSU";
  expect_half(divided, 625);
  expect_half(granted_scenario(3, 0.8, 2'000), 375);
}

/// Messages so long that `messages` of them fill a block. The device has a block every `period`.
Scenario filling_scenario(std::int64_t clients, double rate, std::int64_t requests, std::int64_t messages) {
  Scenario scenario = granted_scenario(clients, rate, requests);
  auto& radio = std::get<NrRadio>(scenario.radio);
  radio.bandwidth = Frequency(50e6);
  // Raw input is 4 bytes a token. After the last message and its headers nothing is left of the block.
  const NrPhy phy(radio);
  const Bytes block = phy.payload(phy.mcs_count() - 1, 14);
  const Bytes headers = (messages - 1) * NrPhy::block_headers;
  scenario.workload.prompt = FixedLength{Tokens((block - headers).value() / messages / 4)};
  const Bytes message(4 * longest(scenario.workload.prompt).value());
  EXPECT_GE(block - headers, messages * message);
  EXPECT_LE(block - headers - NrPhy::block_headers, messages * message);
  return scenario;
}

TEST(ConfiguredGrant, OfOneBlockAMessageIsASlottedMD1Queue) {
  // A message is ready Tproc,2 / 2 after it was offered, which shifts a Poisson process and changes nothing else; then
  // it waits for a slot boundary and for the messages before it.
  for (const double load : {0.3, 0.6, 0.8}) {
    SCOPED_TRACE(load);
    const auto uplinks = means(filling_scenario(1, load * 8000, 30'000, 1), uplink_us);
    const double sojourn_us = 125 * theory::slotted_md1_mean_sojourn(load, 1);
    expect_theory(uplinks, preparation_us + sojourn_us + decoding_us, 0.02);
  }
}

TEST(ConfiguredGrant, OfThreeClientsIsThreeSlottedQueues) {
  const double load = 0.6;
  const auto uplinks = means(filling_scenario(3, load * 8000, 30'000, 1), uplink_us);
  // A client owns every third slot: its slots are 375 us apart, but a block is on the air for 125 us only.
  const double sojourn_us = 375 * (theory::slotted_md1_mean_sojourn(load, 1) - 1) + 125;
  expect_theory(uplinks, preparation_us + sojourn_us + decoding_us, 0.02);
}

TEST(ConfiguredGrant, OfFourMessagesABlockIsAQueueServedInBulk) {
  // X' = max(X - 4, 0) + Poisson(lambda D) messages at the slot boundaries, here solved by iteration; a message stays
  // for E[X] / lambda, half a slot more until its first boundary. At a load of 0.8, E[X] = 4.4355 and 1.8861 slots.
  constexpr int capacity = 4;
  constexpr double mean = 0.8 * capacity;
  std::vector<double> arrivals(60);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    arrivals[i] = i == 0 ? std::exp(-mean) : arrivals[i - 1] * mean / static_cast<double>(i);
  }
  std::vector<double> present(200);
  present[0] = 1;
  for (int step = 0; step < 500; ++step) {
    std::vector<double> next(present.size());
    for (std::size_t x = 0; x < present.size(); ++x) {
      const std::size_t left = x > capacity ? x - capacity : 0;
      for (std::size_t a = 0; a < arrivals.size() && left + a < next.size(); ++a) {
        next[left + a] += present[x] * arrivals[a];
      }
    }
    present = next;
  }
  double in_system = 0;
  for (std::size_t x = 0; x < present.size(); ++x) in_system += static_cast<double>(x) * present[x];
  ASSERT_NEAR(in_system, 4.4355, 0.0001);
  const double sojourn_us = 125 * (in_system / mean + 0.5);
  const auto uplinks = means(filling_scenario(1, mean * 8000, 60'000, capacity), uplink_us);
  expect_theory(uplinks, preparation_us + sojourn_us + decoding_us, 0.02);
}

// ---- Little's law --------------------------------------------------------------------------------------------------

/// N T = (requests / T) x (latency / requests) x T, without a rounding error: both sides are sums of nanoseconds.
void expect_little(const Scenario& scenario) {
  const auto records = test::records_of(scenario);
  ASSERT_GE(records.size(), 1000U);
  Duration latencies{0};
  Duration stages{0};
  for (const RequestRecord& record : records) {
    latencies += record.latency();
    stages += total(record.stages);
  }
  EXPECT_EQ(requests_in_system(records), latencies);
  EXPECT_EQ(stages, latencies);
}

TEST(LittlesLaw, HoldsExactlyForASharedPipe) {
  Scenario scenario = poisson_scenario(10, 900, 5'000);
  scenario.radio = FixedRadio{.rate = BitRate(320e3), .delay = 3ms};
  expect_little(scenario);
}

TEST(LittlesLaw, HoldsExactlyInOverload) {
  Scenario scenario = poisson_scenario(10, 3'000, 5'000);
  scenario.radio = FixedRadio{.rate = BitRate(320e3)};
  expect_little(scenario);
}

TEST(LittlesLaw, HoldsExactlyForConfiguredGrants) { expect_little(granted_scenario(3, 6'000, 5'000)); }

TEST(LittlesLaw, HoldsExactlyForWeakLinksAnswersOfManyTokensAndLosses) {
  Scenario scenario = granted_scenario(8, 500, 1'500);
  scenario.cut = Cut{2};
  scenario.workload.output = FixedLength{Tokens(4)};
  auto& radio = std::get<NrRadio>(scenario.radio);
  radio.frame = "DDDSU";
  radio.access = Access::dynamic;
  radio.device.power = PowerLevel(-10);
  radio.base_station.power = PowerLevel(0);
  radio.placement = DiscPlacement{.radius = Metres(300), .nearest = Metres(1)};
  radio.line_of_sight = LineOfSight::drawn;
  radio.shadowing = Shadowing::on;
  radio.harq.max_transmissions = 2;
  expect_little(scenario);
  const auto records = test::records_of(scenario);
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const auto& r) { return r.outcome == Outcome::failed; }));
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const auto& r) { return r.retransmissions > 0; }));
}

TEST(LittlesLaw, HoldsExactlyForClosedClients) {
  Scenario scenario = poisson_scenario(5, 1, 2'000);
  scenario.cut = Cut{1};
  scenario.workload.arrivals = ClosedArrivals{.think = 100us};
  scenario.backhaul = FibreLink{.length = Metres(1000), .rate = BitRate(1e8), .switches = 3, .switch_latency = 1us};
  expect_little(scenario);
}

}  // namespace
}  // namespace trilemma
