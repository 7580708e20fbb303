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
  const double span = to_seconds(scenario_.trace.back().time - scenario_.trace.front().time);
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
    for (std::int64_t trip = 0; trip < costs_.passes(one.output); ++trip) {
      const Pass pass = trip == 0 ? costs_.prefill(one.prompt, one.output) : costs_.decode(one.prompt + Tokens(trip));
      device[one.client] += one.rate * to_seconds(pass.on_device());
      if (!pass.leaves_device) continue;
      edge += one.rate * to_seconds(pass.at_edge()) / static_cast<double>(scenario_.edge.count);
      up += one.rate * to_seconds(backhaul_up_->occupancy(pass.uplink));
      down += one.rate * to_seconds(backhaul_down_->occupancy(pass.downlink));
    }
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
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    std::vector<std::vector<RadioDemand>> by_cell(radios_.size());
    for (const Demand& one : demands) {
      for (std::int64_t trip = 0; trip < costs_.passes(one.output); ++trip) {
        const Pass pass = trip == 0 ? costs_.prefill(one.prompt, one.output) : costs_.decode(one.prompt + Tokens(trip));
        const Bytes size = direction == Direction::uplink ? pass.uplink : pass.downlink;
        by_cell[static_cast<std::size_t>(one.client % scenario_.cells)].push_back(
            {index_in_cell(one.client), size, one.rate});
      }
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
  loads.push_back({"backhaul uplink", to_seconds(backhaul_up_->busy()) / seconds});
  loads.push_back({"backhaul downlink", to_seconds(backhaul_down_->busy()) / seconds});
  loads.push_back({"edge", to_seconds(edge_.busy()) / seconds / static_cast<double>(scenario_.edge.count)});
  return loads;
}

}  // namespace trilemma
