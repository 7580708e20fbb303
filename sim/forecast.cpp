#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "models/server/saturated_step.h"
#include "sim/world.h"

namespace trilemma {
namespace {

/// Requests per second of one client, where the arrivals do not depend on the answers.
std::optional<double> rate_of(const ArrivalConfig& arrivals) {
  if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals)) return poisson->rate.value();
  if (const auto* periodic = std::get_if<PeriodicArrivals>(&arrivals)) return 1 / to_seconds(periodic->period);
  return std::nullopt;
}

std::string direction_name(Direction direction) { return direction == Direction::uplink ? "uplink" : "downlink"; }

}  // namespace

std::vector<Demand> World::demand() const {
  const WorkloadConfig& workload = scenario_.workload;
  std::vector<Demand> demands;
  double shares = 0;
  for (const Service& service : services_) shares += service.share;
  const auto add = [&](std::int64_t client, const TraceRow* row, double rate) {
    for (std::size_t kind = 0; kind < services_.size(); ++kind) {
      const RequestTokens usual = classes_[kind].usual_request();
      const Tokens prompt = row != nullptr ? row->prompt.value_or(usual.prompt) : usual.prompt;
      const Tokens output = row != nullptr ? row->output.value_or(usual.output) : usual.output;
      demands.push_back({client, prompt, output, rate * services_[kind].share / shares, kind});
    }
  };
  if (const auto rate = rate_of(workload.arrivals)) {
    for (std::int64_t client = 0; client < workload.clients; ++client) add(client, nullptr, *rate);
  }
  if (scenario_.trace.empty()) return demands;
  // n rows are n - 1 gaps apart; the last row takes up a gap as well.
  const auto rows = static_cast<double>(scenario_.trace.size());
  const double gaps = to_seconds(scenario_.trace.back().time - scenario_.trace.front().time);
  const double span = rows > 1 ? gaps * rows / (rows - 1) : 0;
  if (span <= 0) return demands;
  for (const TraceRow& row : scenario_.trace) add(row.client, &row, 1 / span);
  return demands;
}

std::vector<Utilisation> World::forecast() {
  const std::vector<Demand> demands = demand();
  if (demands.empty()) return {};
  std::map<std::int64_t, double> device;
  std::array<double, 4> busy{};  // of backhaul and WAN, up and down
  for (const Demand& one : demands) {
    const Bill bill = service(one.kind).costs.bill(one.prompt, one.output);
    device[one.client] += one.rate * to_seconds(bill.work.device.total());
    const auto add = [&](double& load, const std::unique_ptr<Link>& link, const MessageCount& messages) {
      if (messages.count > 0)
        load += one.rate * static_cast<double>(messages.count) * to_seconds(link->occupancy(messages.size));
    };
    for (const MessageCount& messages : bill.uplink) add(busy[0], backhaul_up_, messages);
    for (const MessageCount& messages : bill.downlink) add(busy[1], backhaul_down_, messages);
    add(busy[1], backhaul_down_, bill.streamed);
    for (const MessageCount& messages : bill.to_cloud) add(busy[2], wan_up_, messages);
    for (const MessageCount& messages : bill.from_cloud) add(busy[3], wan_down_, messages);
    add(busy[3], wan_down_, bill.streamed_over_wan);
  }
  const auto busiest =
      std::max_element(device.begin(), device.end(), [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<Utilisation> loads{{"device", busiest->second}};
  if (scenario_.stays_on_device()) return loads;
  for (Utilisation& load : forecast_radio(demands)) loads.push_back(std::move(load));
  loads.push_back({"backhaul uplink", busy[0]});
  loads.push_back({"backhaul downlink", busy[1]});
  loads.push_back(site_load(demands, Station::edge));
  if (!cloud_) return loads;
  loads.push_back({"wan uplink", busy[2]});
  loads.push_back({"wan downlink", busy[3]});
  loads.push_back(site_load(demands, Station::cloud));
  return loads;
}

/// Work offered to a site over what its replicas can do. In batches they can do the more the fuller those are; what
/// counts for stability is what they can do when requests pile up: full steps, of prompts and single tokens in the
/// proportion in which they come.
Utilisation World::site_load(const std::vector<Demand>& demands, Station station) {
  const bool in_cloud = station == Station::cloud;
  const EdgeConfig& tier = in_cloud ? *scenario_.cloud : scenario_.edge;
  const RooflineStep& step = in_cloud ? *cloud_step_ : edge_step_;
  const auto copies = static_cast<double>(tier.copies());
  SaturatedStep saturated(tier, step, cache_blocks(classes_, station));
  double alone = 0;
  for (const Demand& one : demands) {
    Service& kind = service(one.kind);
    const Bill bill = kind.costs.bill(one.prompt, one.output);
    const WorkSum& work = in_cloud ? bill.work.cloud : bill.work.edge;
    alone += one.rate * to_seconds(work.total()) / copies;
    const std::int64_t drafts = kind.scenario.speculation ? kind.scenario.speculation->tokens : 0;
    saturated.add({.model = in_cloud ? kind.cloud_model : kind.edge_model,
                   .rate = one.rate,
                   .prompt = one.prompt,
                   .output = one.output,
                   .passes = work.passes,
                   .fresh = Tokens(1 + drafts),
                   .before = work.codec});
  }
  const std::string name = in_cloud ? "cloud" : "edge";
  if (tier.rule().most == 1 || step.takes_turns()) return {name, alone};
  return {.resource = name, .share = saturated.load() / copies, .is_estimate = true};
}

std::vector<Utilisation> World::forecast_radio(const std::vector<Demand>& demands) {
  std::vector<Utilisation> loads;
  const Packets packets(scenario_);
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    std::vector<std::vector<RadioDemand>> by_cell(radios_.size());
    for (const Demand& one : demands) {
      auto& cell = by_cell[static_cast<std::size_t>(one.client % scenario_.cells)];
      const Bill bill = service(one.kind).costs.bill(one.prompt, one.output);
      const auto add = [&](const MessageCount& messages) {
        if (messages.count == 0) return;
        cell.push_back(
            {index_in_cell(one.client), packets.on_air(messages.size), one.rate * static_cast<double>(messages.count)});
      };
      for (const MessageCount& messages : direction == Direction::uplink ? bill.uplink : bill.downlink) add(messages);
      if (direction == Direction::downlink) add(bill.streamed);
    }
    for (std::size_t cell = 0; cell < radios_.size(); ++cell) {
      const std::string name =
          radios_.size() == 1 ? direction_name(direction) : fmt::format("{} cell {}", direction_name(direction), cell);
      loads.push_back({name, radios_[cell]->forecast(direction, by_cell[cell])});
    }
  }
  return loads;
}

std::vector<Utilisation> World::utilisation() const {
  const Duration run = now();
  const double seconds = to_seconds(run);
  if (seconds <= 0) return {};
  Duration device{0};
  for (const Server& server : devices_) device = std::max(device, server.busy());
  std::vector<Utilisation> loads{{"device", to_seconds(device) / seconds}};
  if (scenario_.stays_on_device()) return loads;
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    double most = 0;
    for (const auto& radio : radios_) most = std::max(most, radio->utilisation(direction, run));
    loads.push_back({direction_name(direction), most});
  }
  loads.push_back({"backhaul uplink", to_seconds(network_->backhaul_busy(Direction::uplink)) / seconds});
  loads.push_back({"backhaul downlink", to_seconds(network_->backhaul_busy(Direction::downlink)) / seconds});
  const auto add_site = [&](const std::string& name, const Site& site, const SiteConfig& config) {
    loads.push_back({name, to_seconds(site.counts().busy) / seconds / static_cast<double>(config.processors())});
  };
  add_site("edge", edge_, scenario_.edge);
  if (!cloud_) return loads;
  loads.push_back({"wan uplink", to_seconds(wan_up_->busy()) / seconds});
  loads.push_back({"wan downlink", to_seconds(wan_down_->busy()) / seconds});
  add_site("cloud", *cloud_, *scenario_.cloud);
  return loads;
}

}  // namespace trilemma
