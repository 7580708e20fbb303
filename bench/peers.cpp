// Latencies of the preset 5g-lena beside those of 5G-LENA itself, row by row of tests/data/peer_mmwave_latency.csv, as
// the Markdown table of docs/peers.md:
//     build/release/peers
//
// The peer ran once a row. `band` is where that one run would lie in 95 % of the cases if it were ours: quantiles 2.5 %
// and 97.5 % over 200 runs of the same length, over their median.

#include <fmt/format.h>

#include "tests/support/peer_row.h"

namespace {

using namespace trilemma;
using namespace trilemma::test;

void print_quantile(const std::vector<MessageRun>& runs, double q, double peer) {
  std::vector<double> ours;
  for (const MessageRun& run : runs) {
    if (!run.latencies_us.empty()) ours.push_back(order_statistic(run.latencies_us, q) + peer_backhaul_us);
  }
  std::sort(ours.begin(), ours.end());
  const double median = order_statistic(ours, 0.5);
  const double low = order_statistic(ours, 0.025);
  const double high = order_statistic(ours, 0.975);
  fmt::print(" | {:.0f} | {:.3f} | {:.2f} to {:.2f}{}", median, median / peer, low / median, high / median,
             peer < low || peer > high ? " *" : "");
}

}  // namespace

int main() {
  fmt::print(
      "| run | UEs | bytes | Mbit/s | n | p50, us | ratio | band | p90, us | ratio | band | p99, us | ratio | band |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : read_csv("peer_mmwave_latency.csv")) {
    if (row.at("peer") != "5G-LENA") continue;
    const NrRadio radio = peer_radio(row);
    MessageLoad load = peer_load(row);
    std::vector<MessageRun> runs;
    for (load.replication = 1; load.replication <= 200; ++load.replication) runs.push_back(run_messages(radio, load));
    fmt::print("| {} {} {} m | {} | {} | {:.1f} | {}", row.at("dir"), row.at("tag"), row.at("dist_m"), row.at("n_ue"),
               row.at("msg_bytes"), number(row, "offered_mbps"), row.at("completed"));
    print_quantile(runs, 0.5, number(row, "lat_p50_us"));
    print_quantile(runs, 0.9, number(row, "lat_p90_us"));
    print_quantile(runs, 0.99, number(row, "lat_p99_us"));
    fmt::print(" |\n");
  }
}
