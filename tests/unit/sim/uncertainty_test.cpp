#include "sim/uncertainty.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "analysis/collector.h"
#include "analysis/summary.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

Scenario uncertain() {
  Scenario scenario = test::toy_scenario();
  PrecisionRate& rate = scenario.device.rates[0];
  rate.compute_efficiency = Fraction(0.5);
  rate.memory_efficiency = Fraction(0.5);
  rate.uncertain = {"compute_efficiency", "memory_efficiency"};
  rate.covariance = {0.01, 0.006, 0.01};  // 10 % each, correlation 0.6
  scenario.uncertainty = Switch::on;
  return scenario;
}

TEST(Uncertainty, DrawsParametersFromTheirCovariance) {
  const Scenario scenario = uncertain();
  constexpr int count = 4000;
  double first = 0;
  double product = 0;
  double square = 0;
  for (int i = 0; i < count; ++i) {
    const Scenario drawn = with_drawn_parameters(scenario, Streams(1, static_cast<std::uint64_t>(i)));
    const double compute = std::log(drawn.device.rates[0].compute_efficiency.value() / 0.5);
    const double memory = std::log(drawn.device.rates[0].memory_efficiency.value() / 0.5);
    first += compute;
    square += compute * compute;
    product += compute * memory;
  }
  EXPECT_NEAR(first / count, 0, 4 * 0.1 / std::sqrt(count));
  EXPECT_NEAR(square / count / 0.01, 1, 4 * std::sqrt(2.0 / count));
  EXPECT_NEAR(product / count / 0.01, 0.6, 4 * std::sqrt((1 + 0.36) / count));
}

TEST(Uncertainty, KeepsSharesInTheirRange) {
  Scenario scenario = uncertain();
  scenario.device.rates[0].compute_efficiency = Fraction(1);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Fraction drawn = with_drawn_parameters(scenario, Streams(1, i)).device.rates[0].compute_efficiency;
    EXPECT_LE(drawn, Fraction(1));
    EXPECT_GT(drawn, Fraction(0));
  }
}

// A cost found to be nothing, uncertain by 10 us: half a normal distribution, of mean 10 us sqrt(2 / pi).
TEST(Uncertainty, DrawsACostFromWhatIsLeftAboveNothing) {
  Scenario scenario = uncertain();
  scenario.device.rates[0].per_layer = 0ns;
  scenario.device.rates[0].uncertain = {"per_layer"};
  scenario.device.rates[0].covariance = {1e-10};
  constexpr int count = 2000;
  double sum_us = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration drawn = with_drawn_parameters(scenario, Streams(1, i)).device.rates[0].per_layer;
    EXPECT_GE(drawn, 0ns);
    sum_us += static_cast<double>(drawn.count()) / 1000;
  }
  const double mean = 10 * std::sqrt(2 / std::numbers::pi);
  EXPECT_NEAR(sum_us / count, mean, 4 * std::sqrt((100 - mean * mean) / count));
}

// Correlations of 1 between the first two, of 0 and 0.1 of them with the third: no such numbers exist, but by rounding.
TEST(Uncertainty, NoDrawGoesBeyondItsVarianceBecauseACovarianceWasRounded) {
  Scenario scenario = uncertain();
  PrecisionRate& rate = scenario.device.rates[0];
  rate.per_layer = 1ms;
  rate.uncertain = {"compute_efficiency", "memory_efficiency", "per_layer"};
  rate.covariance = {1e-2, 1e-2, 1.000001e-2, 0, 1e-6, 1e-8};
  constexpr int count = 1000;
  double square = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration drawn = with_drawn_parameters(scenario, Streams(1, i)).device.rates[0].per_layer;
    square += std::pow(to_milliseconds(drawn) - 1, 2);
  }
  EXPECT_NEAR(square / count / 0.01, 1, 4 * std::sqrt(2.0 / count));
}

TEST(Uncertainty, IsOffByDefault) {
  Scenario scenario = uncertain();
  scenario.uncertainty = Switch::off;
  EXPECT_EQ(with_drawn_parameters(scenario, Streams(1, 1)).device.rates[0].compute_efficiency, Fraction(0.5));
}

Summary summary_of(const Scenario& scenario) {
  Collector collector(scenario);
  std::vector<Replication> replications;
  for (std::int64_t i = 0; i < scenario.replications; ++i) {
    replications.push_back(replicate(scenario, static_cast<std::uint32_t>(i), collector));
  }
  return summarize(scenario, collector, replications);
}

// Between the fastest and the slowest draw no verdict holds over the parameters; beyond them it does.
TEST(Uncertainty, AVerdictHoldsOnlyIfItHoldsInEachDraw) {
  Scenario scenario = uncertain();
  scenario.requests = 100;
  scenario.replications = 20;
  const auto verdict = [&](Duration latency) {
    scenario.target = TargetConfig{.latency = latency, .reliability = Fraction(0.9)};
    return summary_of(scenario).target->verdict;
  };
  EXPECT_EQ(verdict(100us), Verdict::fails);
  EXPECT_EQ(verdict(307us), Verdict::undecided);  // device 265.6 us at one half, 41.6 us the rest
  EXPECT_EQ(verdict(1ms), Verdict::holds);
  scenario.target = TargetConfig{.latency = 307us, .reliability = Fraction(0.9)};
  EXPECT_FALSE(summary_of(scenario).target->more_requests_needed) << "more of the same decides nothing";
}

// The request of the toy scenario: 133,440 ns on the device, 40,992 ns at the edge, 174,432 ns in all.
TEST(Energy, IsIdlePowerAllTheTimeAndMoreAtWork) {
  Scenario scenario = test::toy_scenario();
  scenario.device.power = PowerConfig{.idle = Watts(1), .active = Watts(3)};
  scenario.edge.power = PowerConfig{.idle = Watts(2), .active = Watts(10)};
  const Summary summary = summary_of(scenario);
  EXPECT_NEAR(*summary.energy.device_mj, 0.174432 + 2 * 0.13344, 1e-9);
  EXPECT_NEAR(*summary.energy.edge_mj, 2 * 0.174432 + 8 * 0.040992, 1e-9);
  EXPECT_FALSE(summary.energy.radio_mj);
  EXPECT_FALSE(summary.energy.total_mj());
}

TEST(Energy, OfAnEdgeThatIsNotNeededIsNothing) {
  Scenario scenario = test::toy_scenario();
  scenario.edge.power = PowerConfig{.idle = Watts(2), .active = Watts(10)};
  scenario.cut = Cut{std::nullopt};
  EXPECT_EQ(summary_of(scenario).energy.edge_mj, 0);
}

// A pipe of 8 Mbit/s carries the 360 bytes in 360 us: 2 W for them, 0.5 W for the rest.
TEST(Energy, OfTheRadioIsByItsState) {
  Scenario scenario = test::toy_scenario();
  scenario.radio = FixedRadio{.rate = BitRate(8e6), .delay = Duration{0}};
  scenario.device.modem = ModemConfig{.transmit = Watts(2), .receive = Watts(1), .idle = Watts(0.5)};
  const Summary summary = summary_of(scenario);
  const double answer_ms = 0.004;
  const double whole_ms = 0.174432 + 0.360 + answer_ms;
  EXPECT_NEAR(*summary.energy.radio_mj, 0.5 * whole_ms + 1.5 * 0.360 + 0.5 * answer_ms,
              1e-5);  // nanoseconds are rounded up
}

// Ten requests, a second apart; what is measured of them does not change what they take.
TEST(Energy, OfTheRadioDoesNotDependOnTheWarmUp) {
  Scenario scenario = test::toy_scenario();
  scenario.requests = 10;
  scenario.radio = FixedRadio{.rate = BitRate(8e6), .delay = Duration{0}};
  scenario.device.modem = ModemConfig{.transmit = Watts(2), .receive = Watts(1), .idle = Watts(0.5)};
  const double all = *summary_of(scenario).energy.radio_mj;
  scenario.warmup = 5s;
  EXPECT_EQ(*summary_of(scenario).energy.radio_mj, all);
}

}  // namespace
}  // namespace trilemma
