#include "sim/replicate.h"

#include <algorithm>

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
    const RadioCounts one = radio->counts(direction);
    total.blocks += one.blocks;
    total.retransmissions += one.retransmissions;
    total.lost_blocks += one.lost_blocks;
    total.symbols += one.symbols;
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
    floors.push_back(world.floor_stages(client, workload.prompt, workload.output));
  }
  return floors;
}

class NoSink final : public RecordSink {
 public:
  void add(const RequestRecord& /*record*/) override {}
};

}  // namespace

Replication replicate(const Scenario& scenario, std::uint32_t index, RecordSink& sink) {
  Scheduler scheduler(limits_of(scenario.limits));
  const Streams streams(static_cast<std::uint32_t>(scenario.seed), index);
  World world(scenario, streams, scheduler, sink);
  world.start_clients();
  Replication result{.index = index, .end = scheduler.run()};
  world.check_balance();
  result.counts = world.counts();
  result.first_half = world.first_half();
  result.second_half = world.second_half();
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
  const WorkloadConfig& workload = scenario.workload;
  return {.floors = floors_of(world),
          .forecast = world.forecast(),
          .links = links_of(world),
          .prefill = world.costs().prefill(workload.prompt, workload.output)};
}

}  // namespace trilemma
