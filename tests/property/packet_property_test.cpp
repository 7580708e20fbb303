// Random scenarios in packet fidelity, each run twice, against what a run and its records promise.

#include <gtest/gtest.h>

#include "sim/network.h"
#include "tests/property/invariants.h"
#include "tests/property/random_scenario.h"

namespace trilemma::test {
namespace {

constexpr int scenarios_wanted = 150;

/// The scenario with packets that ns-3 can carry, whatever its messages were made of.
Scenario in_packets(Scenario scenario) {
  scenario.fidelity = Fidelity::packet;
  Bytes mtu{1500};
  if (const auto* udp = std::get_if<UdpTransport>(&scenario.transport)) mtu = std::max(udp->mtu, Bytes(68));
  scenario.transport = UdpTransport{.mtu = mtu};
  if (auto* fibre = std::get_if<FibreLink>(&scenario.backhaul)) fibre->frame = std::max(fibre->frame, mtu);
  return scenario;
}

TEST(PacketProperty, EveryRandomScenarioKeepsItsPromisesAndRepeatsItself) {
  int failed_and_completed = 0;
  std::size_t requests = 0;
  std::uint32_t number = 0;
  for (int left = scenarios_wanted; left > 0;) {
    const Scenario scenario = in_packets(random_scenario(++number));
    if (!problems_of(scenario).empty() || scenario.on_device()) continue;
    --left;
    SCOPED_TRACE(as_yaml(scenario));
    const Played first = run(scenario, 0);
    ASSERT_EQ(broken_by_records(scenario, first), std::vector<std::string>{});
    ASSERT_EQ(broken_by_counts(scenario, first), std::vector<std::string>{});
    ASSERT_EQ(broken_by_floors(scenario, first), std::vector<std::string>{});
    ASSERT_TRUE(same(first, run(scenario, 0)));
    requests += first.records.size();
    const RequestCounts& counts = first.replication.counts;
    failed_and_completed += counts.failed > 0 && counts.completed > 0 ? 1 : 0;
  }
  EXPECT_GT(failed_and_completed, 3) << "both ends are reached";
  EXPECT_GT(requests, 50U * scenarios_wanted / 2);
}

}  // namespace
}  // namespace trilemma::test
