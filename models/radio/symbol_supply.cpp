#include "models/radio/symbol_supply.h"

#include <algorithm>

namespace trilemma {

SymbolSupply::SymbolSupply(const NrRadio& config, const FrameGrid& grid, Direction direction, bool by_region, Turn turn)
    : grid_(&grid),
      direction_(direction),
      granted_(direction == Direction::uplink && config.access == Access::configured_grant),
      cut_(by_region ? Cut::regions : Cut::any_symbol),
      turn_(turn),
      shortest_(static_cast<int>(granted_ ? config.symbols : config.shortest)),
      longest_(static_cast<int>(config.symbols)) {
  if (granted_ && config.multiplexing == Multiplexing::time) cut_ = Cut::occasions;
}

SymbolSupply::Slice SymbolSupply::next(Instant earliest, int symbols) const {
  if (cut_ == Cut::any_symbol) {
    const FrameGrid::Start start = grid_->next_start(direction_, earliest, symbols);
    return {start.time, start.region, start.symbol, std::min(longest_, start.room())};
  }
  if (cut_ == Cut::regions) {
    const FrameGrid::Region region = grid_->next_region(direction_, earliest);
    return {grid_->start(region), region, region.first, region.symbols};
  }
  const std::int64_t first = grid_->next_occasion(earliest).index;
  const FrameGrid::Occasion occasion =
      grid_->occasion(first + (turn_.owner - first % turn_.owners + turn_.owners) % turn_.owners);
  return {grid_->start(occasion), occasion.region, occasion.symbol, longest_};
}

int SymbolSupply::first_symbol(const Slice& slice, int used) const {
  if (cut_ != Cut::regions || direction_ == Direction::downlink) return slice.symbol;
  return slice.region.first + slice.region.symbols - used;
}

Instant SymbolSupply::free_after(const Slice& slice, int used) const {
  if (cut_ != Cut::any_symbol || used == 0) return slice.start + 1ns;
  return grid_->time_of(slice.region.slot, slice.symbol + used);
}

Duration SymbolSupply::period() const {
  return cut_ == Cut::occasions ? turn_.owners * grid_->period() : grid_->period();
}

}  // namespace trilemma
