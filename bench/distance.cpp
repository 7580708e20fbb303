// One-way uplink against distance, for the claim of scenarios/distance-0.2ms.yaml, as the Markdown table of
// docs/distance.md:
//     build/release/distance

#include <fmt/format.h>

#include "tests/support/message_cell.h"

namespace {

using namespace trilemma;
using namespace trilemma::test;

NrRadio radio_at(const std::string& environment, int metres, const std::vector<std::string>& more) {
  std::vector<std::string> sets{"radio.environment=" + environment,
                                fmt::format("radio.placement.distance={} m", metres)};
  sets.insert(sets.end(), more.begin(), more.end());
  return scenario_radio("scenarios/distance-0.2ms.yaml", sets);
}

void print_row(const std::string& environment, int metres, const std::string& name,
               const std::vector<std::string>& more) {
  std::vector<double> latencies;
  RadioCounts counts;
  std::int64_t lost = 0;
  for (std::uint64_t replication = 1; replication <= 200; ++replication) {
    const MessageRun run = run_messages(
        radio_at(environment, metres, more),
        {.clients = 4, .size = Bytes(172), .rate = EventRate(20), .active = 50s, .replication = replication});
    latencies.insert(latencies.end(), run.latencies_us.begin(), run.latencies_us.end());
    counts += run.counts;
    lost += run.lost;
  }
  std::sort(latencies.begin(), latencies.end());
  const double sent = static_cast<double>(counts.blocks);
  fmt::print("| {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} % | {:.4f} % |\n", environment, name, metres,
             latencies.front() / 1000, order_statistic(latencies, 0.5) / 1000, order_statistic(latencies, 0.999) / 1000,
             100 * static_cast<double>(counts.retransmissions) / sent,
             100 * static_cast<double>(lost) / static_cast<double>(lost + static_cast<std::int64_t>(latencies.size())));
}

}  // namespace

int main() {
  fmt::print(
      "| environment | access | distance, m | least, ms | p50, ms | p99.9, ms | retransmissions per block | messages "
      "lost "
      "|\n|---|---|---|---|---|---|---|---|\n");
  const std::vector<std::string> tdd{"radio.frame=DDDSU", "radio.access=dynamic", "radio.symbols=14",
                                     "radio.downlink_control=1", "radio.multiplexing=time"};
  for (const std::string environment : {"inf-dh", "umi"}) {
    for (const int metres : {5, 10, 20, 50, 100, 200}) {
      if (environment == "umi" && metres < 10) continue;
      print_row(environment, metres, "configured grant, 2 symbols, paired carriers", {});
      print_row(environment, metres, "request and grant, DDDSU", tdd);
    }
  }
}
