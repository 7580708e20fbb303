#include <algorithm>
#include <map>

#include <fmt/format.h>

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
  if (const auto rate = rate_of(workload.arrivals)) {
    for (std::int64_t client = 0; client < workload.clients; ++client) {
      demands.push_back({client, workload.prompt, workload.output, *rate});
    }
  }
  if (scenario_.trace.empty()) return demands;
  // n rows are n - 1 gaps apart; the last row takes up a gap as well.
  const auto rows = static_cast<double>(scenario_.trace.size());
  const double gaps = to_seconds(scenario_.trace.back().time - scenario_.trace.front().time);
  const double span = rows > 1 ? gaps * rows / (rows - 1) : 0;
  if (span <= 0) return demands;
  for (const TraceRow& row : scenario_.trace) {
    demands.push_back(
        {row.client, row.prompt.value_or(workload.prompt), row.output.value_or(workload.output), 1 / span});
  }
  return demands;
}

std::vector<Utilisation> World::forecast() {
  const std::vector<Demand> demands = demand();
  if (demands.empty()) return {};
  std::map<std::int64_t, double> device;
  double edge = 0;
  double up = 0;
  double down = 0;
  for (const Demand& one : demands) {
    const auto add = [&](const Pass& pass, std::int64_t messages) {
      device[one.client] += one.rate * to_seconds(pass.on_device());
      if (!pass.leaves_device) return;
      const double message_rate = one.rate * static_cast<double>(messages);
      edge += one.rate * to_seconds(pass.at_edge()) / static_cast<double>(scenario_.edge.count);
      up += message_rate * to_seconds(backhaul_up_->occupancy(pass.uplink));
      down += message_rate * to_seconds(backhaul_down_->occupancy(pass.downlink));
    };
    add(costs_.prefill(one.prompt, one.output), 1);
    const Costs::Further& further = costs_.further(one.prompt, one.output);
    if (further.trips > 0) add(further.sum, further.trips);
  }
  const auto busiest =
      std::max_element(device.begin(), device.end(), [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<Utilisation> loads{{"device", busiest->second}};
  if (scenario_.on_device()) return loads;
  for (Utilisation& load : forecast_radio(demands)) loads.push_back(std::move(load));
  loads.push_back({"backhaul uplink", up});
  loads.push_back({"backhaul downlink", down});
  loads.push_back({"edge", edge});
  return loads;
}

std::vector<Utilisation> World::forecast_radio(const std::vector<Demand>& demands) {
  std::vector<Utilisation> loads;
  const Packets packets(scenario_);
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    const auto size = [&](const Pass& pass) {
      return packets.on_air(direction == Direction::uplink ? pass.uplink : pass.downlink);
    };
    std::vector<std::vector<RadioDemand>> by_cell(radios_.size());
    for (const Demand& one : demands) {
      auto& cell = by_cell[static_cast<std::size_t>(one.client % scenario_.cells)];
      const Costs::Further& further = costs_.further(one.prompt, one.output);
      cell.push_back({index_in_cell(one.client), size(costs_.prefill(one.prompt, one.output)), one.rate});
      if (further.trips == 0) continue;
      cell.push_back({index_in_cell(one.client), size(further.sum), one.rate * static_cast<double>(further.trips)});
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
  if (scenario_.on_device()) return loads;
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    double most = 0;
    for (const auto& radio : radios_) most = std::max(most, radio->utilisation(direction, run));
    loads.push_back({direction_name(direction), most});
  }
  loads.push_back({"backhaul uplink", to_seconds(network_->backhaul_busy(Direction::uplink)) / seconds});
  loads.push_back({"backhaul downlink", to_seconds(network_->backhaul_busy(Direction::downlink)) / seconds});
  loads.push_back({"edge", to_seconds(edge_.busy()) / seconds / static_cast<double>(scenario_.edge.count)});
  return loads;
}

}  // namespace trilemma
