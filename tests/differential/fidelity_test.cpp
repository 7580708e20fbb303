// The same scenarios with whole messages and with packets over ns-3's Internet stack. Arrivals are the same in both, so
// requests are compared one by one.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/replicate.h"
#include "tests/support/message_cell.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

constexpr std::int64_t requests = 1000;
const FibreLink metro{.length = Metres(10'000), .rate = BitRate(10e9), .switches = 2, .switch_latency = 1us};

/// The raw input of `size` crosses the air and a fibre; computing takes next to no time. The answer is one packet.
Scenario network_alone(const RadioConfig& radio, Bytes size, std::int64_t clients) {
  Scenario scenario = test::toy_scenario();
  scenario.cut = Cut{0};
  scenario.llm.context = Tokens(100'000);
  scenario.edge = test::toy_machine<EdgeConfig>(OperationRate(1e18));
  scenario.edge.bandwidth = ByteRate(1e18);
  scenario.edge.count = 1000;
  scenario.requests = requests;
  scenario.transport = UdpTransport{};
  scenario.workload.clients = clients;
  scenario.workload.prompt = FixedLength{Tokens(size.value() / Costs::token_id.value())};
  scenario.radio = radio;
  scenario.backhaul = metro;
  return scenario;
}

/// Poisson arrivals that load the uplink as much as `load` says, as message fidelity counts it.
Scenario loaded(Scenario scenario, double load) {
  scenario.workload.arrivals = PoissonArrivals{.rate = EventRate(1)};
  for (const Utilisation& one : preview(scenario).forecast) {
    if (one.resource == "uplink") scenario.workload.arrivals = PoissonArrivals{.rate = EventRate(load / one.share)};
  }
  return scenario;
}

struct Outcomes {
  std::vector<Duration> latencies;  // by request
  double uplink = 0;                // carried load
  std::uint64_t events = 0;

  [[nodiscard]] double quantile_ms(double q) const {
    std::vector<Duration> sorted = latencies;
    std::sort(sorted.begin(), sorted.end());
    return to_milliseconds(sorted.at(static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size()))) - 1));
  }
};

Outcomes outcomes_of(Scenario scenario, Fidelity fidelity, std::uint32_t replication = 1) {
  scenario.fidelity = fidelity;
  test::Records records;
  const Replication result = replicate(scenario, replication, records);
  Outcomes outcomes{.latencies = std::vector<Duration>(requests), .events = result.events};
  for (const RequestRecord& record : records.rows) {
    EXPECT_EQ(record.outcome, Outcome::completed);
    outcomes.latencies.at(record.request.id) = record.latency();
  }
  for (const Utilisation& one : result.utilisation) {
    if (one.resource == "uplink") outcomes.uplink = one.share;
  }
  return outcomes;
}

struct Comparison {
  Outcomes message;
  Outcomes packet;
  [[nodiscard]] double ratio(double q) const { return packet.quantile_ms(q) / message.quantile_ms(q); }
};

struct Point {
  Bytes size;
  double load;
  std::int64_t clients;
};

void print(const std::string& name, const Point& point, const Comparison& both) {
  std::printf("| %s | %lld | %.0f %% | %lld |", name.c_str(), static_cast<long long>(point.size.value()),
              point.load * 100, static_cast<long long>(point.clients));
  for (const double q : {0.5, 0.99}) {
    std::printf(" %.3f | %.3f | %.3f |", both.message.quantile_ms(q), both.packet.quantile_ms(q), both.ratio(q));
  }
  std::printf(" %.1f %% | %.1f %% |\n", both.message.uplink * 100, both.packet.uplink * 100);
}

Comparison compare(const std::string& name, const Point& point, const Scenario& scenario) {
  Comparison both{outcomes_of(scenario, Fidelity::message), outcomes_of(scenario, Fidelity::packet)};
  print(name, point, both);
  return both;
}

/// A last packet of 40 B behind full ones, on links of all proportions.
TEST(Fidelity, AShortLastPacketCatchesUpWithTheOneBeforeIt) {
  for (const double radio : {1e9, 5e9, 8e9}) {
    for (const double link : {1e9, 2e9, 10e9}) {
      for (const std::int64_t switches : {0, 2, 4}) {
        Scenario scenario = network_alone(FixedRadio{.rate = BitRate(radio), .delay = 10us}, Bytes(5900), 1);
        scenario.backhaul = FibreLink{.rate = BitRate(link), .switches = switches};
        scenario.workload.arrivals = PeriodicArrivals{.period = 1ms};
        const Outcomes message = outcomes_of(scenario, Fidelity::message);
        const Outcomes packet = outcomes_of(scenario, Fidelity::packet);
        // Rounding: ns-3 2 ns a hop and packet, the pipe 1 ns a packet; five packets up and one down.
        EXPECT_NEAR(static_cast<double>((message.latencies.at(7) - packet.latencies.at(7)).count()), 0,
                    6. * (2. * static_cast<double>(switches + 1) + 1))
            << radio << " " << link << " " << switches;
      }
    }
  }
}

std::vector<Point> grid() {
  std::vector<Point> points;
  for (const Bytes size : {Bytes(4096), Bytes(65'536)}) {
    for (const double load : {0.2, 0.6}) {
      for (const std::int64_t clients : {1, 4}) points.push_back({size, load, clients});
    }
  }
  return points;
}

TEST(Fidelity, PacketsAndMessagesOverAPipeAgreeToTheRounding) {
  const FixedRadio pipe{.rate = BitRate(1e9), .delay = 100us};  // 8 ns a byte: cutting costs no rounding
  for (const Point& point : grid()) {
    const Comparison both = compare("fixed", point, loaded(network_alone(pipe, point.size, point.clients), point.load));
    for (std::size_t i = 0; i < requests; ++i) {
      // ns-3 rounds two times a hop, 2 ns at most, on three hops up and three down.
      const Duration difference = both.message.latencies[i] - both.packet.latencies[i];
      ASSERT_NEAR(static_cast<double>(difference.count()), 0, 6 * 2) << "request " << i;
    }
  }
}

NrRadio clear_radio(Access access) {
  NrRadio radio;
  radio.access = access;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  return radio;
}

TEST(Fidelity, AMessageOfOnePacketOverNrIsTheSameInBoth) {
  for (const Access access : {Access::dynamic, Access::configured_grant}) {
    for (const Bytes size : {Bytes(1000), Bytes(60'000)}) {
      const Point point{size, 0.6, 4};
      Scenario scenario = network_alone(clear_radio(access), size, point.clients);
      scenario.transport = UdpTransport{.mtu = Bytes(65'535)};
      FibreLink jumbo = metro;
      jumbo.frame = Bytes(65'535);
      scenario.backhaul = jumbo;
      const Comparison both = compare("one", point, loaded(scenario, point.load));
      // The device's 4 B of headers can cost one more symbol or block.
      EXPECT_NEAR(both.ratio(0.5), 1, 0.05);
      EXPECT_NEAR(both.ratio(0.99), 1, 0.05);
    }
  }
}

/// The same scenario several times over, all requests together.
Comparison compare_over_nr(const Point& point, std::uint32_t replications) {
  const Scenario scenario = loaded(network_alone(clear_radio(Access::dynamic), point.size, point.clients), point.load);
  Comparison all;
  for (std::uint32_t replication = 1; replication <= replications; ++replication) {
    const auto add = [&](Outcomes& to, Fidelity fidelity) {
      const Outcomes one = outcomes_of(scenario, fidelity, replication);
      to.latencies.insert(to.latencies.end(), one.latencies.begin(), one.latencies.end());
      to.uplink += one.uplink / replications;
      to.events += one.events / replications;
    };
    add(all.message, Fidelity::message);
    add(all.packet, Fidelity::packet);
  }
  print("nr", point, all);
  return all;
}

// Over NR, a block is filled with what waits, packets or a part of a message, so both load the radio alike. What is
// left: packets that two blocks share, and the last packet on the backhaul.
TEST(Fidelity, PacketsAndMessagesOverNrAgreeWithinFivePercent) {
  for (const Point& point : grid()) {
    // 99 % of a queue at 60 % needs more than 10 requests beyond it.
    const Comparison both = compare_over_nr(point, point.size > Bytes(10'000) && point.load > 0.5 ? 6 : 2);
    for (const double q : {0.5, 0.99}) EXPECT_NEAR(both.ratio(q), 1, 0.05) << q;
    EXPECT_NEAR(both.packet.uplink / both.message.uplink, 1, 0.02);
  }
}

// All packets of a message are there when it asks, so they share its request and its measured delays.
TEST(Fidelity, MeasuredDelaysAreThoseOfTheMessageNotOfEachPacket) {
  const auto preset = test::catalogue_radio("commercial");
  for (const Bytes size : {Bytes(4096), Bytes(65'536)}) {
    Scenario scenario = network_alone(preset, size, 1);
    scenario.workload.arrivals = PoissonArrivals{.rate = EventRate(1)};
    Comparison both{outcomes_of(scenario, Fidelity::message), outcomes_of(scenario, Fidelity::packet)};
    print("commercial", {size, 0, 1}, both);
    for (const double q : {0.5, 0.99}) EXPECT_NEAR(both.ratio(q), 1, 0.05) << q;
  }
}

}  // namespace
}  // namespace trilemma
