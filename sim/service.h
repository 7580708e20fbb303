#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/costs.h"
#include "sim/scenario.h"

namespace trilemma {

/// One kind of request as a world serves it.
struct Service {
  explicit Service(Scenario its_scenario)
      : scenario(std::move(its_scenario)),
        costs(scenario),
        floors(static_cast<std::size_t>(scenario.workload.clients)) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  struct Floors {
    Duration floor;
    Duration bound;
  };

  Scenario scenario;  // of this class alone
  Costs costs;
  double share = 1;  // weight among the requests
  std::int64_t priority = 0;
  std::size_t edge_model = 0;  // among those that the sites serve
  std::size_t cloud_model = 0;
  std::vector<std::optional<Floors>> floors;  // by client, of the usual request

  /// Latest time at which a request that arrives at `arrival` is in time; far off without a target.
  [[nodiscard]] Instant deadline(Instant arrival) const {
    return scenario.target ? arrival + scenario.target->latency : Instant::max();
  }
};

}  // namespace trilemma
