#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace trilemma::test {

/// A scenario drawn from everything that a file may say, small enough to run in milliseconds. A pure function of
/// `number`; some numbers give a scenario that a file may not describe (see problems_of).
Scenario random_scenario(std::uint32_t number);

/// Every problem of a scenario and of the structs inside it; empty for one that may be run.
std::vector<std::string> problems_of(const Scenario& scenario);

/// The scenario as a file that runs it again; the rows of a trace follow as comments.
std::string as_yaml(const Scenario& scenario);

}  // namespace trilemma::test
