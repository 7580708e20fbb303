#include "models/radio/nr_floor.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// The luckiest client has its occasion for a scheduling request when it needs it, and sounds at another time.
NrRadio always_asking(NrRadio config) {
  config.request.period = Duration{0};
  config.sounding = 0;
  return config;
}

}  // namespace

NrFloor::NrFloor(const NrRadio& config, const FrameGrid& grid, const NrPhy& phy)
    : first_grant_(config.request.first_grant), grid_(grid), phy_(phy), timing_(always_asking(config), grid) {
  if (config.scheduler == RadioScheduler::semi_persistent) standing_ = config.persistence.period;
}

/// Blocks one after the other from `from` on. Whole periods of a long message are counted at once.
NrFloor::Delivery NrFloor::deliver(const SymbolSupply& supply, int mcs, Bytes size, Instant from, Spot spot) {
  Delivery delivery;
  OnAir block;
  Instant mark = from;
  Bytes mark_size = size;
  Duration mark_air{0};
  bool first = true;
  for (Instant cursor = from; size > Bytes(0);) {
    const SymbolSupply::Slice slice = supply.next(cursor, supply.shortest());
    const int most = std::min(slice.room, supply.longest());
    const int filled = most >= supply.shortest() ? most : 0;
    const int symbols = supply.granted() ? filled : phy_.symbols_for(mcs, size, most);
    cursor = supply.free_after(slice, symbols);
    if (symbols == 0) continue;
    const int symbol = spot == Spot::first ? slice.symbol : supply.first_symbol(slice, symbols);
    block = on_air(slice.region.slot, symbol, symbols);
    if (first) delivery.first_start = block.start;
    first = false;
    delivery.air += block.end - block.start;
    size -= phy_.payload(mcs, symbols);
    if (cursor - mark < supply.period()) continue;
    const Bytes carried = mark_size - size;
    const std::int64_t whole =
        cursor - mark == supply.period() && carried > Bytes(0) ? size.value() / carried.value() - 2 : 0;
    if (whole > 0) {
      size -= carried * whole;
      delivery.air += whole * (delivery.air - mark_air);
      cursor += whole * supply.period();
    }
    mark = cursor;
    mark_size = size;
    mark_air = delivery.air;
  }
  delivery.last_end = block.end;
  delivery.decoded = timing_.decoded(supply.direction(), block);
  return delivery;
}

/// The block that a scheduling request is granted.
NrFloor::Delivery NrFloor::deliver_first(const SymbolSupply& supply, int mcs, Instant from) {
  for (Instant cursor = from;;) {
    const SymbolSupply::Slice slice = supply.next(cursor, supply.shortest());
    const int symbols = phy_.symbols_for(mcs, *first_grant_, std::min(slice.room, supply.longest()));
    cursor = supply.free_after(slice, symbols);
    if (symbols == 0) continue;
    const OnAir block = on_air(slice.region.slot, supply.first_symbol(slice, symbols), symbols);
    return {.first_start = block.start,
            .last_end = block.end,
            .decoded = timing_.decoded(supply.direction(), block),
            .air = block.end - block.start,
            .symbols = symbols};
  }
}

RadioFloor NrFloor::offered_at(const SymbolSupply& supply, int mcs, Bytes size, Instant offered) {
  const bool requested = supply.direction() == Direction::uplink && !supply.granted();
  const Instant eligible = requested ? timing_.requested_start(timing_.request_known(offered, 0))
                                     : timing_.granted_start(supply.direction(), offered);
  const auto times = [&](const Delivery& first, const Delivery& last, Duration air) {
    RadioFloor floor{.grant = eligible - offered,
                     .alignment = first.first_start - eligible,
                     .air = air,
                     .decoding = last.decoded - last.last_end};
    floor.queueing = last.decoded - offered - floor.total();
    return floor;
  };
  if (!requested || !first_grant_) {
    const Delivery all = deliver(supply, mcs, size, eligible);
    return times(all, all, all.air);
  }
  // The first block is as long as a scheduling request is granted; its buffer report brings the rest.
  const Delivery first = deliver_first(supply, mcs, eligible);
  const Bytes granted = phy_.payload(mcs, first.symbols);
  const Bytes carried = std::min(size, granted);
  Delivery last = first;
  Duration air = first.air;
  Bytes left = size - carried;
  const Instant reported = timing_.first_start(supply.direction(), first.decoded);
  // A standing grant repeats the first one, perhaps before its report has arrived.
  while (standing_ && left > Bytes(0)) {
    const Instant again = last.first_start + *standing_;
    if (supply.next(again, first.symbols).start >= reported) break;
    last = deliver(supply, mcs, granted, again);
    air += last.air;
    left -= std::min(left, granted);
  }
  if (left > Bytes(0)) {
    last = deliver(supply, mcs, left, reported);
    air += last.air;
  }
  return times(first, last, air);
}

std::vector<Instant> NrFloor::arrivals(const SymbolSupply& supply) const {
  // Later by whole periods, so that all that lies before an arrival is at positive times.
  std::vector<Instant> found;
  const auto before = [&](Instant time) {
    for (const Duration lead : timing_.leads()) found.push_back(time - lead);
  };
  const std::int64_t period = grid_.slots();
  const std::int64_t first = period * (1 + 200 / period);
  if (supply.cut() == SymbolSupply::Cut::occasions) {
    Instant time = grid_.time_of(first, 0);
    for (std::int64_t i = 0; i < grid_.occasions(); ++i) {
      const SymbolSupply::Slice slice = supply.next(time, supply.shortest());
      const Instant start = slice.start;
      before(start);
      found.push_back(timing_.assembly(supply.direction(), start, slice.region.slot));
      time = start + 1ns;
    }
    return found;
  }
  for (std::int64_t slot = first; slot < first + period; ++slot) {
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol) before(grid_.time_of(slot, symbol));
  }
  return found;
}

RadioFloor NrFloor::idle(const SymbolSupply& supply, int mcs, Bytes size) {
  std::optional<RadioFloor> best;
  for (const Instant offered : arrivals(supply)) {
    const RadioFloor floor = offered_at(supply, mcs, size, offered);
    if (!best || floor.total() < best->total()) best = floor;
  }
  return *best;
}

Duration NrFloor::bound(const SymbolSupply& supply, int mcs, Bytes size) {
  Duration best = Duration::max();
  for (const Instant offered : arrivals(supply)) {
    const Instant from = timing_.granted_start(supply.direction(), offered);
    best = std::min(best, deliver(supply, mcs, size, from, Spot::first).decoded - offered);
  }
  return best;
}

}  // namespace trilemma
