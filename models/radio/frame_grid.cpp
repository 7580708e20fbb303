#include "models/radio/frame_grid.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {

FrameGrid::FrameGrid(const NrRadio& config)
    : mu_(static_cast<int>(config.numerology)),
      longest_(static_cast<int>(config.symbols)),
      fixed_uplink_length_(config.access == Access::configured_grant),
      slot_(slot_duration(static_cast<int>(config.numerology))) {
  if (config.frame == full_uplink) {
    period_ = slot_;
    add_downlink(0, symbols_per_slot);
    add_uplink(0, symbols_per_slot);
    return;
  }
  period_ = static_cast<std::int64_t>(config.frame.size()) * slot_;
  for (int slot = 0; slot < static_cast<int>(config.frame.size()); ++slot) {
    const char letter = config.frame[static_cast<std::size_t>(slot)];
    if (letter == 'D') add_downlink(slot, symbols_per_slot);
    if (letter == 'U') add_uplink(slot, symbols_per_slot);
    if (letter == 'S') {
      add_downlink(slot, static_cast<int>(config.special.downlink));
      add_uplink(slot, static_cast<int>(config.special.uplink));
    }
  }
}

void FrameGrid::add_downlink(int slot, int symbols) {
  if (symbols == 0) return;
  lane(Direction::downlink).control.push_back(piece(slot, 0, 1));
  add_data(Direction::downlink, slot, 1, symbols);
}

void FrameGrid::add_uplink(int slot, int symbols) {
  if (symbols == 0) return;
  lane(Direction::uplink).control.push_back(piece(slot, symbols_per_slot - 1, 1));
  add_data(Direction::uplink, slot, symbols_per_slot - symbols, symbols_per_slot);
}

void FrameGrid::add_data(Direction direction, int slot, int first, int last) {
  Lane& lane = this->lane(direction);
  for (int symbol = first; last - symbol >= shortest; symbol += longest_) {
    const int symbols = std::min(longest_, last - symbol);
    if (direction == Direction::uplink && fixed_uplink_length_ && symbols < longest_) break;
    lane.data.push_back(piece(slot, symbol, symbols));
    lane.symbols += symbols;
  }
}

FrameGrid::Piece FrameGrid::piece(int slot, int first, int symbols) const {
  return {.start = slot * slot_ + symbol_start(mu_, first), .slot = slot, .first = first, .symbols = symbols};
}

Instant FrameGrid::boundary(std::int64_t period, int slot, int symbol) const {
  return period * period_ + slot * slot_ + symbol_start(mu_, symbol);
}

namespace {

/// Index, counted from time 0, of the first piece of a repeating list that starts at `time` or later.
template <class Pieces>
std::int64_t first_at_or_after(const Pieces& pieces, Duration period, Instant time) {
  TRILEMMA_ENSURE(!pieces.empty(), "a frame pattern has opportunities in the direction that is used");
  const auto count = static_cast<std::int64_t>(pieces.size());
  const std::int64_t whole = time / period;
  const Duration inside = time - whole * period;
  const auto found = std::lower_bound(pieces.begin(), pieces.end(), inside,
                                      [](const auto& piece, Duration offset) { return piece.start < offset; });
  return whole * count + (found - pieces.begin());
}

}  // namespace

FrameGrid::Opportunity FrameGrid::next(Direction direction, Instant time) const {
  return at(direction, first_at_or_after(lane(direction).data, period_, time));
}

FrameGrid::Opportunity FrameGrid::at(Direction direction, std::int64_t index) const {
  const auto& pieces = lane(direction).data;
  const auto count = static_cast<std::int64_t>(pieces.size());
  const Piece& piece = pieces[static_cast<std::size_t>(index % count)];
  return {.index = index, .start = index / count * period_ + piece.start, .symbols = piece.symbols};
}

Instant FrameGrid::end(Direction direction, const Opportunity& opportunity, int symbols) const {
  const auto& pieces = lane(direction).data;
  const auto count = static_cast<std::int64_t>(pieces.size());
  const Piece& piece = pieces[static_cast<std::size_t>(opportunity.index % count)];
  return boundary(opportunity.index / count, piece.slot, piece.first + symbols);
}

FrameGrid::Span FrameGrid::next_control(Direction direction, Instant time) const {
  const auto& pieces = lane(direction).control;
  const std::int64_t index = first_at_or_after(pieces, period_, time);
  const auto count = static_cast<std::int64_t>(pieces.size());
  const Piece& piece = pieces[static_cast<std::size_t>(index % count)];
  return {.start = boundary(index / count, piece.slot, piece.first),
          .end = boundary(index / count, piece.slot, piece.first + 1)};
}

std::int64_t FrameGrid::opportunities(Direction direction) const {
  return static_cast<std::int64_t>(lane(direction).data.size());
}

std::int64_t FrameGrid::symbols(Direction direction) const { return lane(direction).symbols; }

int FrameGrid::longest(Direction direction) const {
  int longest = 0;
  for (const Piece& piece : lane(direction).data) longest = std::max(longest, piece.symbols);
  return longest;
}

}  // namespace trilemma
