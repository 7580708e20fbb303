#pragma once

#include <cstdint>
#include <span>

#include "core/units.h"

namespace trilemma {

/// Whether a backlog grows without end. `backlog` holds, at equal distances over the arrival window, the number of
/// requests that are late: that would have left already, had they been alone. It grows when every sample is above the
/// one before and the last exceeds 4 standard errors of the Poisson count of `arrivals`, 4 sqrt(arrivals), decided in
/// integers. There is nothing to tune.
///
/// A full pipeline is no backlog, and bursts that drain between samples are none. Growth that is slower than
/// 4 / sqrt(arrivals) of the arrival rate, or that noise interrupts, is not seen: there the load forecast speaks.
bool backlog_grows(std::span<const std::uint64_t> backlog, std::uint64_t arrivals);

/// Mean growth over a window of length `window` > 0, in requests per second.
EventRate backlog_growth(std::span<const std::uint64_t> backlog, Duration window);

}  // namespace trilemma
