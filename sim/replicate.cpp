#include "sim/replicate.h"

#include <algorithm>

#include "sim/uncertainty.h"

namespace trilemma {
namespace {

RunLimits limits_of(const LimitsConfig& config) {
  RunLimits limits{.wall = config.wall, .memory = config.memory};
  if (config.events) limits.events = static_cast<std::uint64_t>(*config.events);
  return limits;
}

RadioCounts sum(const World& world, Direction direction) {
  RadioCounts total;
  for (const auto& radio : world.radios()) {
    total += radio->counts(direction);
  }
  return total;
}

std::vector<RadioLinkState> links_of(const World& world) {
  std::vector<RadioLinkState> links;
  for (const auto& radio : world.radios()) links.insert(links.end(), radio->links().begin(), radio->links().end());
  return links;
}

std::vector<StageTimes> floors_of(World& world) {
  const WorkloadConfig& workload = world.scenario().workload;
  std::vector<StageTimes> floors;
  for (std::int64_t client = 0; client < workload.clients; ++client) {
    floors.push_back(world.lowest_floor_stages(client));
  }
  return floors;
}

class NoSink final : public RecordSink {
 public:
  void add(const RequestRecord& /*record*/) override {}
};

/// Expected number of requests of one replication, where the scenario says it.
std::optional<double> expected_requests(const Scenario& scenario, const std::vector<Demand>& demands) {
  if (scenario.requests) return static_cast<double>(*scenario.requests);
  if (!scenario.trace.empty()) return static_cast<double>(scenario.trace.size());
  if (demands.empty()) return std::nullopt;
  double rate = 0;
  for (const Demand& one : demands) rate += one.rate;
  return rate * to_seconds(*scenario.duration);
}

/// Turns the scheduler's calls into reports on the world it runs.
class Reporter final : public RunObserver {
 public:
  Reporter(std::uint32_t replication, ProgressSink* sink) : replication_(replication), sink_(sink) {}
  void watch(const World& world) { world_ = &world; }
  void on_progress() override {
    sink_->report({.replication = replication_,
                   .fraction = world_->progress(),
                   .simulated = world_->now(),
                   .requests = world_->counts()});
  }

 private:
  std::uint32_t replication_;
  ProgressSink* sink_;
  const World* world_ = nullptr;
};

}  // namespace

Replication replicate(const Scenario& scenario, std::uint32_t index, RecordSink& sink, ProgressSink* progress) {
  Reporter reporter(index, progress);
  Scheduler scheduler(limits_of(scenario.limits), progress != nullptr ? &reporter : nullptr);
  const Streams streams(static_cast<std::uint32_t>(scenario.seed), index);
  const Scenario drawn = with_drawn_parameters(scenario, streams);
  World world(drawn, streams, scheduler, sink);
  reporter.watch(world);
  world.start_clients();
  Replication result{.index = index, .end = scheduler.run()};
  world.check_balance();
  result.counts = world.counts();
  result.backlog = world.backlog();
  result.judged = world.judged();
  result.late = world.late();
  result.device_busy = world.device_busy();
  result.edge = world.edge_site().counts();
  if (world.has_cloud()) result.cloud = world.cloud().counts();
  result.window = world.window();
  result.finished = scheduler.now();
  result.events = scheduler.events();
  result.forecast = world.forecast();
  result.utilisation = world.utilisation();
  result.uplink = sum(world, Direction::uplink);
  result.downlink = sum(world, Direction::downlink);
  result.links = links_of(world);
  const auto floors = floors_of(world);
  result.floor_stages =
      *std::min_element(floors.begin(), floors.end(), [](const auto& a, const auto& b) { return total(a) < total(b); });
  return result;
}

Preview preview(const Scenario& scenario) {
  Scheduler scheduler;
  const Streams streams(static_cast<std::uint32_t>(scenario.seed), 0);
  NoSink sink;
  World world(scenario, streams, scheduler, sink);
  const Ask usual = world.usual();
  Preview result{.floors = floors_of(world),
                 .forecast = world.forecast(),
                 .links = links_of(world),
                 .prefill = world.service(0).costs.prefill(usual.prompt, usual.output),
                 .requests = expected_requests(scenario, world.demand())};
  if (result.requests) *result.requests *= static_cast<double>(scenario.replications);
  return result;
}

}  // namespace trilemma
