#pragma once

#include "core/random.h"
#include "sim/scenario.h"

namespace trilemma {

/// The scenario of one replication: with `uncertainty: on`, the fitted parameters of device and edge are drawn from
/// their covariance, jointly normal in their logarithms (the overlap in itself), again and again until all lie in their
/// ranges.
Scenario with_drawn_parameters(const Scenario& scenario, const Streams& streams);

}  // namespace trilemma
