#pragma once

#include <string>

#include "analysis/summary.h"
#include "core/config/writer.h"

namespace trilemma {

/// How a result came about. `deterministic` keeps only what the same program and input always give.
struct RunFacts {
  std::string command;
  Duration wall{0};
};
config::Json manifest(const Scenario& scenario, const Summary& summary);
config::Json manifest(const Scenario& scenario, const Summary& summary, const RunFacts& facts);

/// Identity of a point: hash of the resolved scenario, its trace rows and the program version.
std::string point_id(const Scenario& scenario);

}  // namespace trilemma
