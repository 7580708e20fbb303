#pragma once

#include "core/random.h"
#include "sim/scenario.h"

namespace trilemma {

/// The scenario of one replication: with `uncertainty: on`, the fitted parameters of device and edge are drawn from
/// their covariance, jointly normal (efficiencies in their logarithms), again and again until all lie in their ranges:
/// the truncated normal, which is what least squares knows of a parameter with limits.
Scenario with_drawn_parameters(const Scenario& scenario, const Streams& streams);

}  // namespace trilemma
