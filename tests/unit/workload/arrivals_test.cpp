#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "models/workload/config.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

/// Arrival times by client, in order, of a scenario whose requests do not get into each other's way.
std::map<std::int64_t, std::vector<Instant>> arrivals(const Scenario& scenario, std::uint32_t replication = 1) {
  std::map<std::int64_t, std::vector<Instant>> times;
  for (const RequestRecord& record : test::records_of(scenario, replication)) {
    times[record.request.client].push_back(record.request.arrival);
  }
  for (auto& [client, of_client] : times) std::sort(of_client.begin(), of_client.end());
  return times;
}

Scenario scenario_with(ArrivalConfig arrival_config, std::int64_t clients, Duration duration) {
  Scenario scenario = test::toy_scenario();
  scenario.requests.reset();
  scenario.duration = duration;
  scenario.workload.clients = clients;
  scenario.workload.arrivals = std::move(arrival_config);
  return scenario;
}

TEST(PeriodicArrivals, AlignedClientsAskTogetherFromTheStart) {
  const auto times = arrivals(scenario_with(PeriodicArrivals{.period = 10ms, .aligned = true}, 3, 35ms));
  ASSERT_EQ(times.size(), 3U);
  for (const auto& [client, of_client] : times) {
    EXPECT_EQ(of_client, (std::vector<Instant>{0ms, 10ms, 20ms, 30ms})) << client;
  }
}

TEST(PeriodicArrivals, NoneComesAtTheEndOfTheDuration) {
  EXPECT_EQ(arrivals(scenario_with(PeriodicArrivals{.period = 10ms, .aligned = true}, 1, 30ms))[0].size(), 3U);
  EXPECT_EQ(arrivals(scenario_with(PeriodicArrivals{.period = 10ms, .aligned = true}, 1, 30ms + 1ns))[0].size(), 4U);
}

TEST(PeriodicArrivals, EachClientKeepsThePhaseThatItDrew) {
  const auto times = arrivals(scenario_with(PeriodicArrivals{.period = 10ms}, 50, 100ms));
  ASSERT_EQ(times.size(), 50U);
  double sum = 0;
  for (const auto& [client, of_client] : times) {
    ASSERT_EQ(of_client.size(), 10U);
    EXPECT_GE(of_client[0], 0ms);
    EXPECT_LT(of_client[0], 10ms);
    for (int i = 1; i < 10; ++i) EXPECT_EQ(of_client[static_cast<std::size_t>(i)] - of_client[0], i * 10ms);
    sum += to_milliseconds(of_client[0]);
  }
  // Uniform on 10 ms: mean 5 ms, standard deviation 10 / sqrt(12) ms, of the mean of 50 that / sqrt(50).
  EXPECT_NEAR(sum / 50, 5, 4 * 10 / std::sqrt(12.0 * 50));
}

TEST(PeriodicArrivals, JitterDelaysEachRequestAndDoesNotAddUp) {
  const auto times = arrivals(scenario_with(PeriodicArrivals{.period = 10ms, .jitter = 4ms, .aligned = true}, 1, 10s));
  double sum = 0;
  const auto& of_client = times.at(0);
  ASSERT_EQ(of_client.size(), 1000U);
  for (std::size_t i = 0; i < of_client.size(); ++i) {
    const Duration late = of_client[i] - static_cast<std::int64_t>(i) * 10ms;
    ASSERT_GE(late, 0ms);
    ASSERT_LT(late, 4ms);
    sum += to_milliseconds(late);
  }
  EXPECT_NEAR(sum / 1000, 2, 4 * 4 / std::sqrt(12.0 * 1000));
}

TEST(PeriodicArrivals, JitterUpToAWholePeriodKeepsTheOrder) {
  const auto times = arrivals(scenario_with(PeriodicArrivals{.period = 10ms, .jitter = 10ms, .aligned = true}, 1, 1s));
  EXPECT_EQ(times.at(0).size(), 100U);
}

TEST(PeriodicArrivals, RefuseAJitterBeyondThePeriod) {
  EXPECT_TRUE((PeriodicArrivals{.period = 10ms, .jitter = 10ms}.problems().empty()));
  EXPECT_EQ((PeriodicArrivals{.period = 10ms, .jitter = 10ms + 1ns}.problems().size()), 1U);
}

TEST(PoissonArrivals, HaveExponentialGapsOfTheRightMean) {
  const auto times = arrivals(scenario_with(PoissonArrivals{.rate = EventRate(100)}, 4, 25s));
  double sum = 0;
  double long_gaps = 0;
  double count = 0;
  for (const auto& [client, of_client] : times) {
    Instant before{0};
    for (const Instant time : of_client) {
      sum += to_milliseconds(time - before);
      long_gaps += time - before > 20ms ? 1 : 0;
      ++count;
      before = time;
    }
  }
  // 10,000 expected in 4 x 25 s, standard deviation 100. Gaps have mean and standard deviation 10 ms, and P(> 20 ms) is
  // e^-2; that the last gap of each client is cut off shortens the mean by less than a tenth of its standard error.
  EXPECT_NEAR(count, 10'000, 4 * 100);
  EXPECT_NEAR(sum / count, 10, 4 * 10 / std::sqrt(count));
  const double tail = std::exp(-2.0);
  EXPECT_NEAR(long_gaps / count, tail, 4 * std::sqrt(tail * (1 - tail) / count));
}

TEST(PoissonArrivals, ANewClientLeavesTheOthersAlone) {
  auto few = arrivals(scenario_with(PoissonArrivals{.rate = EventRate(100)}, 2, 1s));
  auto more = arrivals(scenario_with(PoissonArrivals{.rate = EventRate(100)}, 3, 1s));
  EXPECT_EQ(few[0], more[0]);
  EXPECT_EQ(few[1], more[1]);
  EXPECT_NE(few[0], few[1]);
}

TEST(PoissonArrivals, ReplicationsDiffer) {
  const Scenario scenario = scenario_with(PoissonArrivals{.rate = EventRate(100)}, 1, 1s);
  EXPECT_EQ(arrivals(scenario, 1), arrivals(scenario, 1));
  EXPECT_NE(arrivals(scenario, 1), arrivals(scenario, 2));
}

TEST(PoissonArrivals, StopAfterTheNumberOfRequests) {
  Scenario scenario = scenario_with(PoissonArrivals{.rate = EventRate(100)}, 3, 1s);
  scenario.duration.reset();
  scenario.requests = 17;
  EXPECT_EQ(test::records_of(scenario).size(), 17U);
}

TEST(ClosedArrivals, ThinkForAnExponentialTimeAfterEachAnswer) {
  const auto records = test::records_of(scenario_with(ClosedArrivals{.think = 10ms}, 1, 20s));
  ASSERT_GT(records.size(), 1000U);
  double sum = 0;
  Instant answered{0};
  for (const RequestRecord& record : records) {
    ASSERT_GE(record.request.arrival, answered);
    sum += to_milliseconds(record.request.arrival - answered);
    answered = record.finish;
  }
  const auto count = static_cast<double>(records.size());
  EXPECT_NEAR(sum / count, 10, 4 * 10 / std::sqrt(count));
}

TEST(ClosedArrivals, NeverHaveTwoRequestsOfAClientUnderWay) {
  std::map<std::int64_t, Instant> answered;
  for (const RequestRecord& record : test::records_of(scenario_with(ClosedArrivals{.think = 100us}, 5, 1s))) {
    EXPECT_GE(record.request.arrival, answered[record.request.client]);
    answered[record.request.client] = record.finish;
  }
  EXPECT_EQ(answered.size(), 5U);
}

}  // namespace
}  // namespace trilemma
