#include "analysis/stability.h"

#include "core/ensure.h"

namespace trilemma {
namespace {

bool grows(HalfCounts half) {
  if (half.arrivals <= half.completions) return false;
  using Wide = unsigned __int128;  // squares of counts do not fit into 64 bits
  const Wide growth = half.arrivals - half.completions;
  return growth * growth > static_cast<Wide>(half.arrivals) * 16;
}

}  // namespace

bool backlog_grows(HalfCounts first, HalfCounts second) { return grows(first) && grows(second); }

EventRate backlog_growth(HalfCounts first, HalfCounts second, Duration window) {
  TRILEMMA_ENSURE(window > Duration::zero(), "an arrival window has a length");
  const auto growth = static_cast<std::int64_t>(first.arrivals + second.arrivals) -
                      static_cast<std::int64_t>(first.completions + second.completions);
  return EventRate(static_cast<double>(growth) / to_seconds(window));
}

}  // namespace trilemma
