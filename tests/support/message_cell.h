#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/config/catalogue.h"
#include "core/process.h"
#include "models/radio/radio.h"
#include "sim/experiment.h"

/// A cell whose clients send messages of one size as Poisson processes.
namespace trilemma::test {

struct MessageLoad {
  Direction direction = Direction::uplink;
  std::int64_t clients = 1;
  Bytes size{0};                  // with all headers above the radio
  EventRate rate{1};              // of one client
  Duration active{0};             // arrivals stop then
  Instant end = Duration::max();  // what arrives later is not counted
  std::uint64_t replication = 1;
};

struct MessageRun {
  std::vector<double> latencies_us;  // sorted; of messages that arrived
  std::int64_t lost = 0;
  RadioCounts counts;
  double utilisation = 0;
};

inline Process send_message(Scheduler& scheduler, Radio& radio, const MessageLoad& load, ClientIndex client,
                            MessageRun& run) {
  const Instant offered = scheduler.now();
  const RadioTransfer done =
      co_await RadioTransferAwaiter(scheduler, radio, load.direction, client, load.size).by(offered);
  if (done.lost)
    ++run.lost;
  else if (scheduler.now() <= load.end)
    run.latencies_us.push_back(static_cast<double>((scheduler.now() - offered).count()) / 1000);
}

inline Process send_messages(Scheduler& scheduler, Radio& radio, const MessageLoad& load, ClientIndex client,
                             const Streams& streams, MessageRun& run) {
  Rng rng = streams.stream("client " + std::to_string(client) + "/messages");
  while (true) {
    co_await scheduler.delay(rng.exponential(load.rate));
    if (scheduler.now() >= load.active) co_return;
    send_message(scheduler, radio, load, client, run);
  }
}

/// `attached` clients, if more than those that send, are silent.
inline MessageRun run_messages(const NrRadio& config, const MessageLoad& load, std::int64_t attached = 0) {
  Scheduler scheduler;
  const Streams streams(1, load.replication);
  const auto radio = make_radio(scheduler, config, {.clients = std::max(load.clients, attached)}, streams);
  MessageRun run;
  for (std::int64_t client = 0; client < load.clients; ++client) {
    send_messages(scheduler, *radio, load, static_cast<ClientIndex>(client), streams, run);
  }
  scheduler.run();
  std::sort(run.latencies_us.begin(), run.latencies_us.end());
  run.counts = radio->counts(load.direction);
  run.utilisation = radio->utilisation(load.direction, load.active);
  return run;
}

/// The k-th smallest, k = ceil(n q).
inline double order_statistic(const std::vector<double>& sorted, double q) {
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted.at(static_cast<std::size_t>(std::max(1.0, rank)) - 1);
}

/// The radio of a scenario file.
inline NrRadio scenario_radio(const std::string& file, const std::vector<std::string>& sets) {
  const std::string source = TRILEMMA_SOURCE_DIR;
  const auto experiment = read_experiment(source + "/" + file, sets, config::Catalogue(source + "/configs"));
  return std::get<NrRadio>(experiment.scenario.radio);
}

/// A radio of the catalogue, as a scenario gets it.
inline NrRadio catalogue_radio(const std::string& name, const std::vector<std::string>& sets = {}) {
  std::vector<std::string> all{"radio=" + name};
  all.insert(all.end(), sets.begin(), sets.end());
  return scenario_radio("bench/speed.yaml", all);
}

}  // namespace trilemma::test
