#include "models/radio/frame_grid.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {

FrameGrid::FrameGrid(const NrRadio& config)
    : slot_(slot_duration(static_cast<int>(config.numerology))), longest_block_(static_cast<int>(config.symbols)) {
  if (config.mapping == Mapping::a) {
    lane(Direction::downlink).last_start = 3;
    lane(Direction::uplink).last_start = 0;
  }
  for (int symbol = 0; symbol <= symbols_per_slot; ++symbol) {
    boundary_[static_cast<std::size_t>(symbol)] = symbol_start(static_cast<int>(config.numerology), symbol);
  }
  if (config.frame == full_uplink) {
    add_slot(0, 'D', config);
    add_slot(0, 'U', config);
  } else {
    slots_ = static_cast<std::int64_t>(config.frame.size());
    for (std::int64_t slot = 0; slot < slots_; ++slot) {
      add_slot(slot, config.frame[static_cast<std::size_t>(slot)], config);
    }
  }
  cut_occasions(static_cast<int>(config.symbols));
}

void FrameGrid::add_slot(std::int64_t slot, char letter, const NrRadio& config) {
  const auto down = static_cast<int>(config.downlink_control);
  const auto up = static_cast<int>(config.uplink_control);
  if (letter == 'D') add_downlink(slot, symbols_per_slot, down);
  if (letter == 'U') add_uplink(slot, symbols_per_slot, up);
  if (letter == 'S') {
    add_downlink(slot, static_cast<int>(config.special.downlink), down);
    add_uplink(slot, static_cast<int>(config.special.uplink), up);
  }
  if (letter == 'F') {
    const Region region{.slot = slot, .first = down, .symbols = symbols_per_slot - down - up, .flexible = true};
    for (const Direction direction : {Direction::downlink, Direction::uplink}) {
      lane(direction).control_slots.push_back(slot);
      add_region(direction, region);
    }
  }
}

void FrameGrid::add_downlink(std::int64_t slot, int symbols, int control) {
  if (symbols == 0) return;
  lane(Direction::downlink).control_slots.push_back(slot);
  add_region(Direction::downlink, {.slot = slot, .first = control, .symbols = symbols - control, .flexible = false});
}

void FrameGrid::add_uplink(std::int64_t slot, int symbols, int control) {
  if (symbols == 0) return;
  lane(Direction::uplink).control_slots.push_back(slot);
  add_region(Direction::uplink,
             {.slot = slot, .first = symbols_per_slot - symbols, .symbols = symbols - control, .flexible = false});
}

void FrameGrid::add_region(Direction direction, Region region) {
  Lane& lane = this->lane(direction);
  if (region.symbols <= 0 || region.first > lane.last_start) return;
  lane.regions.push_back(region);
  lane.symbols += region.symbols;
  lane.longest = std::max(lane.longest, std::min(longest_block_, region.symbols));
}

void FrameGrid::cut_occasions(int symbols) {
  const Lane& uplink = lane(Direction::uplink);
  for (const Region& region : uplink.regions) {
    const int end = region.first + region.symbols;
    for (int symbol = region.first; symbol + symbols <= end && symbol <= uplink.last_start; symbol += symbols) {
      occasions_.push_back({.index = occasions(), .region = region, .symbol = symbol});
    }
  }
}

int FrameGrid::start_in(Direction direction, const Region& region, Duration offset, int symbols) const {
  const auto from = std::lower_bound(boundary_.begin() + region.first, boundary_.end() - 1, offset);
  const auto symbol = static_cast<int>(from - boundary_.begin());
  const bool fits = symbol <= lane(direction).last_start && symbol + symbols <= region.first + region.symbols;
  return fits ? symbol : symbols_per_slot;
}

FrameGrid::Start FrameGrid::next_start(Direction direction, Instant time, int symbols) const {
  TRILEMMA_ENSURE(fits(direction, symbols), "a block is no longer than the longest of its direction");
  const auto& regions = lane(direction).regions;
  const std::int64_t slot = time / slot_;
  std::int64_t period = slot / slots_;
  auto found = std::lower_bound(regions.begin(), regions.end(), slot % slots_,
                                [](const Region& region, std::int64_t wanted) { return region.slot < wanted; });
  while (true) {
    for (; found != regions.end(); ++found) {
      Region region = *found;
      region.slot += period * slots_;
      const int symbol = start_in(direction, region, time - region.slot * slot_, symbols);
      if (symbol < symbols_per_slot) return {.time = time_of(region.slot, symbol), .region = region, .symbol = symbol};
    }
    found = regions.begin();
    ++period;
  }
}

FrameGrid::Region FrameGrid::next_region(Direction direction, Instant time) const {
  const auto& regions = lane(direction).regions;
  TRILEMMA_ENSURE(!regions.empty(), "a frame pattern has room in the direction that is used");
  const std::int64_t slot = time / slot_;
  std::int64_t period = slot / slots_;
  auto found = std::lower_bound(regions.begin(), regions.end(), slot % slots_,
                                [](const Region& region, std::int64_t wanted) { return region.slot < wanted; });
  while (true) {
    for (; found != regions.end(); ++found) {
      Region region = *found;
      region.slot += period * slots_;
      if (start(region) >= time) return region;
    }
    found = regions.begin();
    ++period;
  }
}

std::int64_t FrameGrid::symbols_before(Direction direction, Instant time) const {
  const std::int64_t whole = time / period();
  std::int64_t count = whole * symbols(direction);
  for (const Region& region : regions(direction)) {
    if (start(region) < time - whole * period()) count += region.symbols;
  }
  return count;
}

FrameGrid::Occasion FrameGrid::occasion(std::int64_t index) const {
  Occasion occasion = occasions_[static_cast<std::size_t>(index % occasions())];
  occasion.region.slot += index / occasions() * slots_;
  occasion.index = index;
  return occasion;
}

FrameGrid::Occasion FrameGrid::next_occasion(Instant time) const {
  TRILEMMA_ENSURE(!occasions_.empty(), "a frame pattern has occasions for configured grants that are used");
  const std::int64_t whole = time / period();
  const Duration inside = time - whole * period();
  const auto found =
      std::lower_bound(occasions_.begin(), occasions_.end(), inside,
                       [&](const Occasion& occasion, Duration offset) { return start(occasion) < offset; });
  return occasion(whole * occasions() + (found - occasions_.begin()));
}

FrameGrid::Span FrameGrid::next_control(Direction direction, Instant time) const {
  const auto& slots = lane(direction).control_slots;
  TRILEMMA_ENSURE(!slots.empty(), "a frame pattern has control symbols in both directions");
  const int symbol = direction == Direction::downlink ? 0 : symbols_per_slot - 1;
  // The first slot whose control symbol starts at `time` or later.
  const std::int64_t slot = slot_at_or_after(time - boundary_[static_cast<std::size_t>(symbol)] < Duration{0}
                                                 ? Duration{0}
                                                 : time - boundary_[static_cast<std::size_t>(symbol)]);
  std::int64_t period = slot / slots_;
  auto found = std::lower_bound(slots.begin(), slots.end(), slot % slots_);
  if (found == slots.end()) {
    found = slots.begin();
    ++period;
  }
  const std::int64_t chosen = period * slots_ + *found;
  return {.start = time_of(chosen, symbol), .end = time_of(chosen, symbol + 1)};
}

std::vector<int> FrameGrid::downlink_starts(const Region& region, int symbols) const {
  std::vector<int> found;
  const int last = std::min(lane(Direction::downlink).last_start, region.first + region.symbols - symbols);
  for (int symbol = region.first; symbol <= last; ++symbol) found.push_back(symbol);
  return found;
}

}  // namespace trilemma
