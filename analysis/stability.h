#pragma once

#include <cstdint>

#include "core/units.h"

namespace trilemma {

/// Events counted in one half of the arrival window. Completions are all those within the half, of whatever arrival;
/// requests that were dropped, rejected or timed out have left as well and count as completions.
struct HalfCounts {
  std::uint64_t arrivals = 0;
  std::uint64_t completions = 0;
};

/// Whether more came than left in BOTH halves, each time by more than 4 standard errors of a Poisson count:
/// arrivals - completions > 4 sqrt(arrivals), decided in integers. There is nothing to tune.
///
/// Filling up to the number that a stable system keeps in flight is no growth: that happens once, in the first half, if
/// the window is long enough. Growth slower than 4 / sqrt(arrivals of a half) of the arrival rate is not seen: lengthen
/// the run.
bool backlog_grows(HalfCounts first, HalfCounts second);

/// Mean growth of the backlog over the whole arrival window, of length `window` > 0, in requests per second; negative
/// when it shrank.
EventRate backlog_growth(HalfCounts first, HalfCounts second, Duration window);

}  // namespace trilemma
