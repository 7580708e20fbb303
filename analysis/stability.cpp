#include "analysis/stability.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {

bool backlog_grows(std::span<const std::uint64_t> backlog, std::uint64_t arrivals) {
  if (backlog.empty()) return false;
  const bool steady = std::adjacent_find(backlog.begin(), backlog.end(), std::greater_equal<>()) == backlog.end();
  using Wide = unsigned __int128;  // squares of counts do not fit into 64 bits
  const Wide last = backlog.back();
  return steady && last * last > static_cast<Wide>(arrivals) * 16;
}

EventRate backlog_growth(std::span<const std::uint64_t> backlog, Duration window) {
  TRILEMMA_ENSURE(window > Duration::zero(), "an arrival window has a length");
  return EventRate(backlog.empty() ? 0.0 : static_cast<double>(backlog.back()) / to_seconds(window));
}

}  // namespace trilemma
