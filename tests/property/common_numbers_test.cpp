// What a change leaves alone: random numbers belong to their purpose, not to the order in which things are made.

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/property/invariants.h"
#include "tests/property/random_scenario.h"

namespace trilemma::test {
namespace {

/// Another scenario's network and machines around the same clients.
Scenario with_surroundings_of(const Scenario& scenario, const Scenario& other) {
  Scenario mixed = scenario;
  mixed.radio = other.radio;
  mixed.backhaul = other.backhaul;
  mixed.transport = other.transport;
  mixed.edge.count = other.edge.count;
  mixed.cells = std::min(other.cells, scenario.workload.clients);
  return mixed;
}

std::vector<std::tuple<std::uint64_t, std::int64_t, Instant>> arrivals(const Scenario& scenario, std::uint32_t index) {
  std::vector<std::tuple<std::uint64_t, std::int64_t, Instant>> result;
  for (const RequestRecord& record : run(scenario, index).records) {
    result.emplace_back(record.request.id, record.request.client, record.request.arrival);
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Runs `check` on pairs of valid scenarios that pass `wanted`, until 100 were checked.
template <class Wanted, class Check>
void for_each_pair(Wanted wanted, Check check) {
  int checked = 0;
  for (std::uint32_t number = 1; checked < 100; ++number) {
    const Scenario scenario = random_scenario(number);
    if (!wanted(scenario) || !problems_of(scenario).empty()) continue;
    const Scenario mixed = with_surroundings_of(scenario, random_scenario(number + 1));
    if (!problems_of(mixed).empty()) continue;
    SCOPED_TRACE(as_yaml(scenario));
    check(scenario, mixed);
    if (::testing::Test::HasFatalFailure()) return;
    ++checked;
  }
}

TEST(CommonRandomNumbers, OpenArrivalsDoNotDependOnNetworkAndEdge) {
  for_each_pair(
      [](const Scenario& scenario) { return !std::holds_alternative<ClosedArrivals>(scenario.workload.arrivals); },
      [](const Scenario& scenario, const Scenario& mixed) { ASSERT_EQ(arrivals(scenario, 1), arrivals(mixed, 1)); });
}

TEST(CommonRandomNumbers, AWholeModelOnTheDeviceIsDeafToNetworkAndEdge) {
  for_each_pair([](const Scenario& scenario) { return scenario.on_device(); },
                [](const Scenario& scenario, const Scenario& mixed) {
                  const Played one = run(scenario, 0);
                  const Played other = run(mixed, 0);
                  ASSERT_EQ(one.records.size(), other.records.size());
                  for (std::size_t i = 0; i < one.records.size(); ++i) {
                    ASSERT_EQ(one.records[i].request.id, other.records[i].request.id);
                    ASSERT_EQ(one.records[i].finish, other.records[i].finish);
                    ASSERT_EQ(one.records[i].stages, other.records[i].stages);
                  }
                });
}

TEST(CommonRandomNumbers, ReplicationsAndSeedsDiffer) {
  for_each_pair(
      [](const Scenario& scenario) { return std::holds_alternative<PoissonArrivals>(scenario.workload.arrivals); },
      [](const Scenario& scenario, const Scenario& /*mixed*/) {
        Scenario reseeded = scenario;
        ++reseeded.seed;
        ASSERT_NE(arrivals(scenario, 0), arrivals(scenario, 1));
        ASSERT_NE(arrivals(scenario, 0), arrivals(reseeded, 0));
      });
}

}  // namespace
}  // namespace trilemma::test
