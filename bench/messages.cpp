// Messages per second of host time through one cell with small-scale fading, on the scenarios that were run on
// packet-level simulators (tests/data/peer_speed_marginal.csv), and how the cost grows with clients:
//     build/release/messages
// Rates are by the CPU time of this process. `setup` is the time to build the cell and draw its links.

#include <ctime>

#include <fmt/format.h>

#include "tests/support/peer_row.h"

namespace {

using namespace trilemma;
using namespace trilemma::test;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

NrRadio fading_cell() {
  return catalogue_radio(
      "5g-lena", {"radio.placement={kind: ring, distance: 20 m}", "radio.fading={kind: tr38901, speed: 3 km/h}"});
}

/// Marginal cost: a run of `seconds` less a run of a hundredth of it.
void measure(const std::string& name, const NrRadio& radio, MessageLoad load, double seconds, std::int64_t attached) {
  const auto run = [&](double active) {
    load.active = to_duration(active);
    const double start = cpu_seconds();
    const MessageRun done = run_messages(radio, load, attached);
    return std::pair(cpu_seconds() - start, static_cast<double>(done.latencies_us.size()));
  };
  run(seconds / 100);
  const auto [short_time, short_count] = run(seconds / 100);
  const auto [long_time, long_count] = run(seconds);
  fmt::print("{:<44} {:>10.0f} messages/s   whole run {:.2f} s\n", name,
             (long_count - short_count) / (long_time - short_time), long_time);
}

}  // namespace

int main() {
  const NrRadio fading = fading_cell();
  const auto load = [](std::int64_t clients, std::int64_t bytes, double megabits) {
    return MessageLoad{
        .clients = clients,
        .size = with_packet_headers(bytes),
        .rate = EventRate(megabits * 1e6 / 8 / static_cast<double>(bytes) / static_cast<double>(clients))};
  };
  measure("4 KB, 900 Mbit/s, 16 clients, fading", fading, load(16, 4096, 900), 20, 16);
  measure("64 KB, 300 Mbit/s, 16 clients, fading", fading, load(16, 65536, 300), 200, 16);
  measure("4 KB, 300 Mbit/s, 1 client, fading", fading, load(1, 4096, 300), 20, 1);
  for (const std::int64_t clients : {1, 10, 100, 1000}) {
    measure(fmt::format("4 KB, 0.6 Mbit/s each of {} clients, fading", clients), fading,
            load(clients, 4096, 0.6 * static_cast<double>(clients)), 20'000.0 / static_cast<double>(clients), clients);
  }
  measure("4 KB, 300 Mbit/s, 10 active of 10, fading", fading, load(10, 4096, 300), 20, 10);
  measure("4 KB, 300 Mbit/s, 10 active of 10000, fading", fading, load(10, 4096, 300), 20, 10'000);
}
