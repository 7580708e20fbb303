#include "sim/world.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/processor/roofline.h"
#include "sim/classes.h"

namespace trilemma {

Duration total(const StageTimes& stages) { return std::accumulate(stages.begin(), stages.end(), Duration{0}); }

World::World(const Scenario& scenario, const Streams& streams, Scheduler& scheduler, RecordSink& sink)
    : scenario_(scenario),
      streams_(streams),
      scheduler_(scheduler),
      sink_(sink),
      classes_(class_scenarios(scenario)),
      edge_models_(served_models(classes_, Station::edge)),
      cloud_models_(served_models(classes_, Station::cloud)),
      edge_step_(scenario.edge, scenario.edge.precision, scenario.edge, edge_models_.models),
      radios_(make_radios(scheduler, scenario.radio, scenario.cells, scenario.workload.clients, streams)),
      backhaul_up_(make_link(scheduler, scenario.backhaul)),
      backhaul_down_(make_link(scheduler, scenario.backhaul)),
      network_(make_network({scheduler, scenario, streams, radios_, *backhaul_up_, *backhaul_down_})),
      edge_({scheduler, scenario.edge, edge_step_, cache_blocks(classes_, Station::edge),
             pace("edge", edge_spread(), std::nullopt), streams.stream("edge/balancer")}) {
  make_services();
  if (scenario.cloud) make_cloud(*scenario.cloud);
  for (std::int64_t client = 0; client < scenario.workload.clients; ++client) {
    const std::string name = fmt::format("client {}", client);
    devices_.emplace_back(scheduler, 1, pace(name, device_spread(), scenario.device.throttling));
    if (scenario.speculation) chances_.push_back(streams.stream(name + "/drafts"));
    if (draws_requests()) draws_.push_back(streams.stream(name + "/requests"));
  }
  expected_window_ = expected_window();
}

void World::make_services() {
  const auto& configs = scenario_.workload.classes;
  for (std::size_t kind = 0; kind < classes_.size(); ++kind) {
    Service& service = services_.emplace_back(classes_[kind]);
    service.edge_model = edge_models_.of_class[kind];
    service.cloud_model = cloud_models_.of_class[kind];
    if (configs.empty()) continue;
    service.share = configs[kind].share;
    service.priority = configs[kind].priority;
  }
}

void World::make_cloud(const CloudConfig& cloud) {
  cloud_step_.emplace(cloud, cloud.precision, cloud, cloud_models_.models);
  cloud_.emplace(Site::Parts{scheduler_, cloud, *cloud_step_, cache_blocks(classes_, Station::cloud),
                             pace("cloud", cloud_spread(), std::nullopt), streams_.stream("cloud/balancer")});
  const FixedLink wan{.rate = cloud.rate, .delay = cloud.rtt / 2};
  wan_up_ = make_link(scheduler_, wan);
  wan_down_ = make_link(scheduler_, wan);
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

bool World::draws_requests() const {
  return classes_.size() > 1 || std::any_of(classes_.begin(), classes_.end(), [](const Scenario& one) {
           return !is_fixed(one.workload.prompt) || !is_fixed(one.workload.output);
         });
}

Ask World::draw(std::int64_t client) {
  if (draws_.empty())
    return {.prompt = longest(classes_.front().workload.prompt), .output = longest(classes_.front().workload.output)};
  Rng& numbers = draws_[static_cast<std::size_t>(client)];
  double all = 0;
  for (const Service& service : services_) all += service.share;
  double left = services_.size() > 1 ? numbers.uniform() * all : 0;
  std::size_t kind = 0;
  while (kind + 1 < services_.size() && left >= services_[kind].share) left -= services_[kind++].share;
  const WorkloadConfig& workload = classes_[kind].workload;
  return {.kind = kind,
          .prompt = trilemma::draw(workload.prompt, numbers),
          .output = trilemma::draw(workload.output, numbers)};
}

Ask World::ask_of(const TraceRow& row) {
  Ask ask = draw(row.client);
  if (row.prompt) ask.prompt = *row.prompt;
  if (row.output) ask.output = *row.output;
  return ask;
}

Request World::begin(std::int64_t client, const Ask& ask) {
  integrate();
  last_arrival_ = now();
  ++counts_.in_flight;
  return {.id = counts_.offered++,
          .client = client,
          .arrival = now(),
          .prompt = ask.prompt,
          .output = ask.output,
          .kind = ask.kind};
}

void World::finish(RequestRecord& record) {
  integrate();
  record.finish = now();
  const Request& request = record.request;
  const Service::Floors lowest = floors(request.client, request.ask());
  record.floor = lowest.floor;
  record.bound = lowest.bound;
  TRILEMMA_ENSURE(total(record.stages) == record.latency(), "the stages of a request add up to its latency");
  TRILEMMA_ENSURE(record.outcome != Outcome::completed || record.latency() >= record.bound,
                  "no request beats its lower bound");
  latencies_ += record.latency().count();
  const auto& target = service(request.kind).scenario.target;
  if (target && request.arrival >= scenario_.warmup) {
    ++judged_;
    if (record.outcome != Outcome::completed || record.latency() > target->latency) ++late_;
  }
  --counts_.in_flight;
  ++(record.outcome == Outcome::completed ? counts_.completed
     : record.outcome == Outcome::failed  ? counts_.failed
                                          : counts_.dropped);
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

Ask World::usual() const {
  const RequestTokens usual = classes_.front().usual_request();
  return {.prompt = usual.prompt, .output = usual.output};
}

StageTimes World::lowest_floor_stages(std::int64_t client) {
  std::optional<StageTimes> lowest;
  for (std::size_t kind = 0; kind < classes_.size(); ++kind) {
    const WorkloadConfig& workload = classes_[kind].workload;
    const StageTimes stages =
        floor_stages(client, {.kind = kind, .prompt = shortest(workload.prompt), .output = shortest(workload.output)});
    if (!lowest || total(stages) < total(*lowest)) lowest = stages;
  }
  return *lowest;
}

StageTimes World::floor_stages(std::int64_t client, const Ask& ask) {
  StageClock clock;
  Costs& costs = service(ask.kind).costs;
  const Bill bill = costs.bill(ask.prompt, ask.output);
  clock.charge(Stage::device, bill.work.device.model);
  clock.charge(Stage::codec, bill.work.device.codec + bill.work.edge.codec + bill.work.cloud.codec);
  clock.charge(Stage::edge, bill.work.edge.model);
  clock.charge(Stage::cloud, bill.work.cloud.model);
  const auto cross = [&](Direction direction, const MessageCount& messages) {
    const LegFloor leg = network_->floor(direction, client, messages.size);
    clock.charge(direction, leg.radio, messages.count);
    clock.charge(Stage::backhaul, messages.count * leg.backhaul);
  };
  for (const MessageCount& messages : bill.uplink) cross(Direction::uplink, messages);
  for (const MessageCount& messages : bill.downlink) cross(Direction::downlink, messages);
  for (const MessageCount& messages : bill.to_cloud)
    clock.charge(Stage::wan, messages.count * wan_up_->floor(messages.size));
  for (const MessageCount& messages : bill.from_cloud)
    clock.charge(Stage::wan, messages.count * wan_down_->floor(messages.size));
  return clock.times();
}

Service::Floors World::find_floors(std::int64_t client, const Ask& ask) {
  const Duration floor = total(floor_stages(client, ask));
  const Bill bill = service(ask.kind).costs.bill(ask.prompt, ask.output);
  // What noise can save on computations, and a transfer against the idle cell.
  Duration saved{0};
  const auto save = [&](const WorkSum& work, double spread) {
    if (spread == 0 || work.passes == 0) return;
    saved += work.total() - work.passes * Pace::least(work.total() / work.passes, spread);
  };
  save(bill.work.device, device_spread());
  save(bill.work.edge, edge_spread());
  save(bill.work.cloud, cloud_spread());
  const auto save_transfer = [&](Direction direction, const MessageCount& messages) {
    const LegFloor idle = network_->floor(direction, client, messages.size);
    saved += messages.count * (idle.radio.total() + idle.backhaul - network_->bound(direction, client, messages.size));
  };
  for (const MessageCount& messages : bill.uplink) save_transfer(Direction::uplink, messages);
  for (const MessageCount& messages : bill.downlink) save_transfer(Direction::downlink, messages);
  return {.floor = floor, .bound = floor - saved};
}

Service::Floors World::floors(std::int64_t client, const Ask& ask) {
  Service& kind = service(ask.kind);
  const RequestTokens usual = kind.scenario.usual_request();
  if (ask.prompt != usual.prompt || ask.output != usual.output) return find_floors(client, ask);
  auto& known = kind.floors[static_cast<std::size_t>(client)];
  if (!known) known = find_floors(client, ask);
  return *known;
}

}  // namespace trilemma
