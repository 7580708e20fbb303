#include "sim/world.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/processor/roofline.h"

namespace trilemma {

Duration total(const StageTimes& stages) { return std::accumulate(stages.begin(), stages.end(), Duration{0}); }

World::World(const Scenario& scenario, const Streams& streams, Scheduler& scheduler, RecordSink& sink)
    : scenario_(scenario),
      streams_(streams),
      scheduler_(scheduler),
      sink_(sink),
      costs_(scenario),
      radios_(make_radios(scheduler, scenario.radio, scenario.cells, scenario.workload.clients, streams)),
      backhaul_up_(make_link(scheduler, scenario.backhaul)),
      backhaul_down_(make_link(scheduler, scenario.backhaul)),
      network_(make_network({scheduler, scenario, streams, radios_, *backhaul_up_, *backhaul_down_})),
      edge_(scheduler, scenario.edge.count, pace("edge", edge_spread(), std::nullopt)),
      floors_(static_cast<std::size_t>(scenario.workload.clients)) {
  const std::int64_t clients = scenario.workload.clients;
  for (std::int64_t client = 0; client < clients; ++client) {
    devices_.emplace_back(scheduler, 1,
                          pace(fmt::format("client {}", client), device_spread(), scenario.device.throttling));
  }
  expected_window_ = expected_window();
}

Pace World::pace(const std::string& who, double spread, const std::optional<ThrottlingConfig>& throttling) const {
  if (spread == 0 && !throttling) return {};  // no stream for nothing: there may be a million clients
  return {spread, throttling, streams_.stream(who + "/pace")};
}

double World::spread(const ProcessorConfig& processor, Precision precision) const {
  const auto rate = rate_for(processor, precision);
  return scenario_.jitter == Switch::on && rate ? rate->spread.value() : 0;
}

bool World::open() const {
  if (scenario_.requests) return counts_.offered < static_cast<std::uint64_t>(*scenario_.requests);
  return !scenario_.duration || now() < *scenario_.duration;
}

Request World::begin(std::int64_t client, Tokens prompt, Tokens output) {
  integrate();
  last_arrival_ = now();
  ++counts_.in_flight;
  return {.id = counts_.offered++, .client = client, .arrival = now(), .prompt = prompt, .output = output};
}

void World::finish(RequestRecord& record) {
  integrate();
  record.finish = now();
  const Floors lowest = floors(record.request.client, record.request.prompt, record.request.output);
  record.floor = lowest.floor;
  record.bound = lowest.bound;
  TRILEMMA_ENSURE(total(record.stages) == record.latency(), "the stages of a request add up to its latency");
  TRILEMMA_ENSURE(record.outcome != Outcome::completed || record.latency() >= record.bound,
                  "no request beats its lower bound");
  latencies_ += record.latency().count();
  if (scenario_.target && record.request.arrival >= scenario_.warmup) {
    ++judged_;
    if (record.outcome != Outcome::completed || record.latency() > scenario_.target->latency) ++late_;
  }
  --counts_.in_flight;
  ++(record.outcome == Outcome::completed ? counts_.completed : counts_.failed);
  count_overdue(record);
  sink_.add(record);
}

Duration World::expected_window() const {
  if (scenario_.requests) {
    double rate = 0;
    for (const Demand& one : demand()) rate += one.rate;
    return rate > 0 ? to_duration(static_cast<long double>(*scenario_.requests) / rate) : Duration{0};
  }
  if (scenario_.duration) return *scenario_.duration;
  return scenario_.trace.empty() ? Duration{0} : scenario_.trace.back().time;
}

void World::count_overdue(const RequestRecord& record) {
  const Duration step = expected_window_ / static_cast<std::int64_t>(backlog_samples);
  if (step <= Duration{0}) return;
  const Instant due = record.request.arrival + record.floor;
  for (std::int64_t sample = std::max<std::int64_t>(1, (due + step - 1ns) / step);
       sample <= static_cast<std::int64_t>(backlog_samples) && sample * step < record.finish; ++sample) {
    ++backlog_[static_cast<std::size_t>(sample - 1)];
  }
}

void World::integrate() {
  requests_in_system_ += static_cast<Integral>(counts_.in_flight) * (now() - integrated_until_).count();
  integrated_until_ = now();
}

Duration World::window() const {
  if (!scenario_.duration || scenario_.requests) return last_arrival_;
  // A run that a limit has cut short has not seen all of its duration.
  return counts_.in_flight > 0 ? std::min(now(), *scenario_.duration) : *scenario_.duration;
}

double World::progress() const {
  const auto share = [](double done, double all) { return all > 0 ? std::min(done / all, 1.0) : 1.0; };
  if (scenario_.requests) return share(static_cast<double>(counts_.offered), static_cast<double>(*scenario_.requests));
  if (scenario_.duration) return share(to_seconds(now()), to_seconds(*scenario_.duration));
  return share(static_cast<double>(counts_.offered), static_cast<double>(scenario_.trace.size()));
}

Duration World::device_busy() const {
  Duration sum{0};
  for (const Server& device : devices_) sum += device.busy();
  return sum;
}

void World::check_balance() const {
  const RequestCounts& c = counts_;
  TRILEMMA_ENSURE(c.offered == c.completed + c.failed + c.dropped + c.in_flight,
                  "every offered request is in one place");
  if (c.in_flight > 0) return;
  for (const auto& radio : radios_) {
    for (const Direction direction : {Direction::uplink, Direction::downlink}) {
      TRILEMMA_ENSURE(radio->counts(direction).bytes_queued() == 0, "a radio that is done holds no bytes");
    }
  }
  TRILEMMA_ENSURE(requests_in_system_ == latencies_,
                  "Little's law: the integral of requests in the system is the sum of latencies");
}

StageTimes World::floor_stages(std::int64_t client, Tokens prompt, Tokens output) {
  StageClock clock;
  const auto add = [&](const Pass& pass, std::int64_t messages) {
    clock.charge(Stage::device, pass.device);
    if (!pass.leaves_device) return;
    const LegFloor up = network_->floor(Direction::uplink, client, pass.uplink);
    const LegFloor down = network_->floor(Direction::downlink, client, pass.downlink);
    clock.charge(Stage::codec, pass.encode + pass.decode);
    clock.charge(Direction::uplink, up.radio, messages);
    clock.charge(Direction::downlink, down.radio, messages);
    clock.charge(Stage::backhaul, messages * (up.backhaul + down.backhaul));
    clock.charge(Stage::edge, pass.edge);
  };
  add(costs_.prefill(prompt, output), 1);
  const Costs::Further& further = costs_.further(prompt, output);
  if (further.trips > 0) add(further.sum, further.trips);
  return clock.times();
}

World::Floors World::find_floors(std::int64_t client, Tokens prompt, Tokens output) {
  const Duration floor = total(floor_stages(client, prompt, output));
  // What noise can save on computations, and a transfer against the idle cell.
  Duration saved{0};
  const auto save = [&](const Pass& pass, std::int64_t messages) {
    if (device_spread() > 0)
      saved += pass.on_device() - messages * Pace::least(pass.on_device() / messages, device_spread());
    if (!pass.leaves_device) return;
    if (edge_spread() > 0) saved += pass.at_edge() - messages * Pace::least(pass.at_edge() / messages, edge_spread());
    for (const Direction direction : {Direction::uplink, Direction::downlink}) {
      const Bytes size = direction == Direction::uplink ? pass.uplink : pass.downlink;
      const LegFloor idle = network_->floor(direction, client, size);
      saved += messages * (idle.radio.total() + idle.backhaul - network_->bound(direction, client, size));
    }
  };
  save(costs_.prefill(prompt, output), 1);
  const Costs::Further& further = costs_.further(prompt, output);
  if (further.trips > 0) save(further.sum, further.trips);
  return {.floor = floor, .bound = floor - saved};
}

World::Floors World::floors(std::int64_t client, Tokens prompt, Tokens output) {
  const bool usual = prompt == scenario_.workload.prompt && output == scenario_.workload.output;
  if (!usual) return find_floors(client, prompt, output);
  auto& known = floors_[static_cast<std::size_t>(client)];
  if (!known) known = find_floors(client, prompt, output);
  return *known;
}

Duration World::floor(std::int64_t client, Tokens prompt, Tokens output) {
  return floors(client, prompt, output).floor;
}

Duration World::bound(std::int64_t client, Tokens prompt, Tokens output) {
  return floors(client, prompt, output).bound;
}

}  // namespace trilemma
