#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/server/roofline_step.h"
#include "sim/scenario.h"

namespace trilemma {

/// The scenario of each class of its mix, with what the class says in place of what all share; the scenario itself
/// where it has no classes. Never empty; none has classes or a trace of its own.
std::vector<Scenario> class_scenarios(const Scenario& scenario);
/// The place of a class in that list; empty: there is none of that name.
std::optional<std::size_t> find_class(const Scenario& scenario, const std::string& name);

/// What a tier runs: each part of a model once, and which of them a class asks for.
struct ServedModels {
  std::vector<ServedModel> models;
  std::vector<std::size_t> of_class;
};
ServedModels served_models(const std::vector<Scenario>& classes, Station station);

/// Blocks of the KV cache of one copy at a tier (edge or cloud): what the configuration says, or what fits.
std::int64_t cache_blocks(const std::vector<Scenario>& classes, Station station);

/// What is wrong with a tier's memory; empty if nothing.
std::string memory_problem(const std::vector<Scenario>& classes, Station station);

}  // namespace trilemma
