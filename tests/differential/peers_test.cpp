#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/peer_row.h"

/// The preset 5g-lena against the packet-level simulator itself: two programs that share no code. docs/peers.md has the
/// table and the reasons.
namespace trilemma::test {
namespace {

constexpr int replications = 40;

std::vector<MessageRun> runs_like(const Row& row) {
  const NrRadio radio = peer_radio(row);
  MessageLoad load = peer_load(row);
  std::vector<MessageRun> runs;
  for (load.replication = 1; load.replication <= replications; ++load.replication) {
    runs.push_back(run_messages(radio, load));
  }
  return runs;
}

struct Spread {
  double low;
  double median;
  double high;
};

Spread spread(const std::vector<MessageRun>& runs, double q) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const MessageRun& run : runs) values.push_back(order_statistic(run.latencies_us, q) + peer_backhaul_us);
  std::sort(values.begin(), values.end());
  return {values.front(), order_statistic(values, 0.5), values.back()};
}

std::string name_of(const Row& row) {
  return fmt::format("{} UEs {} bytes {}", row.at("tag"), row.at("n_ue"), row.at("msg_bytes"));
}

/// The peer ran once: it agrees when it is near our median or where one of 40 runs of the same length falls.
bool agrees(double peer, const Spread& ours, double tolerance) {
  return std::abs(ours.median / peer - 1) <= tolerance || (ours.low <= peer && peer <= ours.high);
}

TEST(Peers, MediansAgreeWithinFivePercent) {
  int rows = 0;
  for (const Row& row : read_csv("peer_mmwave_latency.csv")) {
    if (row.at("peer") != "5G-LENA") continue;
    ++rows;
    const Spread ours = spread(runs_like(row), 0.5);
    EXPECT_TRUE(agrees(number(row, "lat_p50_us"), ours, 0.05))
        << name_of(row) << ": " << ours.median << " against " << row.at("lat_p50_us");
  }
  EXPECT_EQ(rows, 53);
}

TEST(Peers, TailsAgreeWithinTenPercent) {
  for (const Row& row : read_csv("peer_mmwave_latency.csv")) {
    if (row.at("peer") != "5G-LENA") continue;
    const Spread ours = spread(runs_like(row), 0.99);
    EXPECT_TRUE(agrees(number(row, "lat_p99_us"), ours, 0.1))
        << name_of(row) << ": " << ours.median << " against " << row.at("lat_p99_us");
  }
}

/// Largest distance of two empirical distribution functions.
double kolmogorov_smirnov(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto below = std::lower_bound(b.begin(), b.end(), a[i]) - b.begin();
    const auto upto = std::upper_bound(b.begin(), b.end(), a[i]) - b.begin();
    const auto n = static_cast<double>(a.size());
    const auto m = static_cast<double>(b.size());
    largest = std::max({largest, std::abs(static_cast<double>(i) / n - static_cast<double>(below) / m),
                        std::abs(static_cast<double>(i + 1) / n - static_cast<double>(upto) / m)});
  }
  return largest;
}

std::vector<double> peer_messages(const std::string& file) {
  std::vector<double> latencies;
  for (const Row& row : read_csv(file)) latencies.push_back(number(row, "msg_latency_us"));
  return latencies;
}

std::vector<double> our_messages(Bytes message, double rate) {
  const MessageRun run = run_messages(
      catalogue_radio("5g-lena", {"radio.placement={kind: ring, distance: 20 m}"}),
      {.size = with_packet_headers(message.value()), .rate = EventRate(rate), .active = to_duration(2e4 / rate)});
  std::vector<double> latencies = run.latencies_us;
  for (double& latency : latencies) latency += peer_backhaul_us;
  return latencies;
}

TEST(Peers, IsolatedMessagesHaveTheSameDistribution) {
  const auto peer = peer_messages("msgs_5glena_F_idle_N1_4KB.csv");
  // Independent messages: beyond D sqrt(n) = 2 with probability 2 exp(-8) = 0.07 %.
  EXPECT_LT(kolmogorov_smirnov(peer, our_messages(Bytes(4096), 20)) * std::sqrt(static_cast<double>(peer.size())), 2);
}

TEST(Peers, MessagesUnderLoadHaveTheSameDistribution) {
  const auto peer = peer_messages("msgs_5glena_F_300Mbps_N1_64KB.csv");
  // Their own latencies differ by whole slots of 125 us. Half a slot either way covers a difference of one slot in half
  // of the messages; without it the distance is that of the two lattices.
  EXPECT_LT(kolmogorov_smirnov(peer, our_messages(Bytes(65536), 572.205)), 0.15);
}

}  // namespace
}  // namespace trilemma::test
