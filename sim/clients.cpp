#include <fmt/format.h>

#include "sim/world.h"

namespace trilemma {
namespace {

/// Whether an arrival at `time` still belongs to the run.
bool within(const World& world, Instant time) {
  const auto& duration = world.scenario().duration;
  return world.open() && (!duration || world.scenario().requests || time < *duration);
}

/// A request of the scenario's own size, started now.
void ask(World& world, std::int64_t client) { serve(world, world.begin(client, world.draw(client))); }

Process poisson(World& world, std::int64_t client, EventRate rate, Rng rng) {
  while (true) {
    const Duration gap = rng.exponential(rate);
    if (!within(world, world.now() + gap)) co_return;
    co_await world.scheduler().delay(gap);
    if (!world.open()) co_return;
    ask(world, client);
  }
}

Process periodic(World& world, std::int64_t client, PeriodicArrivals arrivals, Rng rng) {
  Instant due = arrivals.aligned ? Duration{0} : rng.uniform(arrivals.period);
  while (true) {
    const Instant time = due + (arrivals.jitter > Duration{0} ? rng.uniform(arrivals.jitter) : Duration{0});
    if (!within(world, time)) co_return;
    co_await world.scheduler().delay(time - world.now());
    if (!world.open()) co_return;
    ask(world, client);
    due += arrivals.period;
  }
}

Process closed(World& world, std::int64_t client, Duration think, Rng rng) {
  while (true) {
    const Duration pause = rng.exponential(think);
    if (!within(world, world.now() + pause)) co_return;
    co_await world.scheduler().delay(pause);
    if (!world.open()) co_return;
    Signal answered;
    serve(world, world.begin(client, world.draw(client)), &answered);
    co_await answered;
  }
}

Process replay(World& world) {
  for (const TraceRow& row : world.scenario().trace) {
    if (!within(world, row.time)) co_return;
    co_await world.scheduler().delay(row.time - world.now());
    serve(world, world.begin(row.client, world.ask_of(row)));
  }
}

Rng numbers(const Streams& streams, std::int64_t client) {
  return streams.stream(fmt::format("client {}/arrivals", client));
}

void start_client(World& world, std::int64_t client, const PoissonArrivals& arrivals, const Streams& streams) {
  poisson(world, client, arrivals.rate, numbers(streams, client));
}
void start_client(World& world, std::int64_t client, const PeriodicArrivals& arrivals, const Streams& streams) {
  periodic(world, client, arrivals, numbers(streams, client));
}
void start_client(World& world, std::int64_t client, const ClosedArrivals& arrivals, const Streams& streams) {
  closed(world, client, arrivals.think, numbers(streams, client));
}
/// A trace is replayed by one process for all clients.
void start_client(World& world, std::int64_t client, const TraceArrivals& /*arrivals*/, const Streams& /*streams*/) {
  if (client == 0) replay(world);
}

}  // namespace

void World::start_clients() {
  const ArrivalConfig& arrivals = scenario_.workload.arrivals;
  for (std::int64_t client = 0; client < scenario_.workload.clients; ++client) {
    std::visit([&](const auto& chosen) { start_client(*this, client, chosen, streams_); }, arrivals);
  }
}

}  // namespace trilemma
