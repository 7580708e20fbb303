#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/message_cell.h"
#include "tests/unit/radio/csv.h"

/// The preset `commercial` against the measurement it stands for (PAM 2023): the parts are drawn from it, their sum is
/// compared with the measured sum.
namespace trilemma::test {
namespace {

constexpr int messages = 40'000;

Process send_one(Scheduler& scheduler, Radio& radio, Instant when, std::vector<double>& uplink_ms) {
  co_await scheduler.delay(when - scheduler.now());
  co_await RadioTransferAwaiter(scheduler, radio, Direction::uplink, 0, Bytes(100)).by(Instant{0});
  // The measurement starts with the request: the last of the 14 symbols of a slot. The model's request waits for it.
  const Duration slot = 125us;
  const Duration last = Duration((13 * slot.count() + 13) / 14);
  const Instant request = (std::max(Instant{0}, when - last) + slot - 1ns) / slot * slot + last;
  uplink_ms.push_back(to_seconds(scheduler.now() - request) * 1000);
}

std::vector<double> uplink_ms(const NrRadio& radio) {
  Scheduler scheduler;
  const Streams streams(1, 1);
  const auto cell = make_radio(scheduler, radio, {.clients = 1}, streams);
  Rng rng = streams.stream("test/arrivals");
  std::vector<double> values;
  for (int i = 0; i < messages; ++i) {
    send_one(scheduler, *cell, i * Duration(20ms) + rng.uniform(Duration(10ms)), values);
  }
  scheduler.run();
  std::sort(values.begin(), values.end());
  return values;
}

/// Share of `sorted` below `value`.
double share_below(const std::vector<double>& sorted, double value) {
  const auto below = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
  return static_cast<double>(below) / static_cast<double>(sorted.size());
}

Row measured(const std::string& metric, const std::string& condition) {
  for (const Row& row : read_csv("mmwave_latency_measured_pam23.csv")) {
    if (row.at("metric") == metric && row.at("condition") == condition) return row;
  }
  throw std::runtime_error("no measurement " + metric);
}

NrRadio one_occasion_a_slot(std::vector<std::string> more = {}) {
  more.emplace_back("radio.request.period=0 ms");
  return catalogue_radio("commercial", more);
}

TEST(Commercial, UplinkHasTheMeasuredDistribution) {
  const std::vector<double> ours = uplink_ms(one_occasion_a_slot());
  const Row row = measured("T_UL Total [ms]", "best case");
  const double n = number(row, "n");
  // Half a symbol of 8.9 us for the alignment to the next symbol, and the rounding of the printed value.
  constexpr double resolution = 0.01;
  for (const auto& [column, q] : {std::pair{"p5", 0.05},
                                  {"p25", 0.25},
                                  {"p50", 0.5},
                                  {"p75", 0.75},
                                  {"p90", 0.9},
                                  {"p95", 0.95},
                                  {"p99", 0.99}}) {
    // The measured quantile is one of a sample of n: our share below it is q within its standard error.
    const double error = std::sqrt(q * (1 - q) / n);
    EXPECT_LE(share_below(ours, number(row, column) - resolution), q + 4 * error) << column;
    EXPECT_GE(share_below(ours, number(row, column) + resolution), q - 4 * error) << column;
  }
  // Least of n: the probability that none of n values of ours is smaller is between 1e-4 and 1 - 1e-4.
  const double all_above = std::pow(1 - share_below(ours, number(row, "min") - resolution), n);
  EXPECT_GT(all_above, 1e-4);
  EXPECT_LT(std::pow(1 - share_below(ours, number(row, "min") + resolution), n), 1 - 1e-4);
}

TEST(Commercial, MeanUplinkIsTheMeasuredMean) {
  const std::vector<double> ours = uplink_ms(one_occasion_a_slot());
  double sum = 0;
  for (const double value : ours) sum += value;
  const Row row = measured("T_UL Total [ms]", "best case");
  const double error = number(row, "std") / std::sqrt(number(row, "n"));
  EXPECT_NEAR(sum / messages, number(row, "mean"), 4 * error);
}

TEST(Commercial, OneRetransmissionAddsWhatWasMeasured) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  const double none = mean(uplink_ms(one_occasion_a_slot()));
  const double one = mean(uplink_ms(one_occasion_a_slot({"radio.errors={kind: fixed, first: 100 %, later: 0 %}"})));
  const Row zero_row = measured("T_phy", "no reTx");
  const Row one_row = measured("T_phy", "exactly one reTx");
  const double added = number(one_row, "mean") - number(zero_row, "mean");
  const double error = number(one_row, "std") / std::sqrt(number(one_row, "n"));
  EXPECT_NEAR(one - none, added, 4 * error);
}

}  // namespace
}  // namespace trilemma::test
