#pragma once

#include <cstdint>

#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/frame_grid.h"

namespace trilemma {

/// The symbols that one channel may use, cut into slices: what there is to divide at one scheduling instant.
class SymbolSupply {
 public:
  enum class Cut {
    any_symbol,  // a slice starts at any symbol of a region, where the one before ended
    regions,     // a slice is a region: one decision for all of it
    occasions,   // configured grants in turn: every `owners`-th occasion from `owner` on
  };
  struct Slice {
    Instant start;
    FrameGrid::Region region;
    int symbol;  // of the slot
    int room;    // symbols
  };

  /// Of all clients that are `owner` modulo `owners`.
  struct Turn {
    std::int64_t owner;
    std::int64_t owners;
  };
  /// `by_region`: the scheduler decides region by region. `grid`
  /// outlives this.
  SymbolSupply(const NrRadio& config, const FrameGrid& grid, Direction direction, bool by_region, Turn turn);

  /// The first slice at `earliest` or later with at least `symbols` symbols (any_symbol), or just the first.
  [[nodiscard]] Slice next(Instant earliest, int symbols) const;
  /// Where the blocks of a slice begin when they take `used` symbols: uplink blocks that are decided region by region
  /// lie at its end.
  [[nodiscard]] int first_symbol(const Slice& slice, int used) const;
  /// From when the next slice may start.
  [[nodiscard]] Instant free_after(const Slice& slice, int used) const;

  [[nodiscard]] Direction direction() const { return direction_; }
  /// Whether these are configured grants: blocks fill their slice.
  [[nodiscard]] bool granted() const { return granted_; }
  [[nodiscard]] Cut cut() const { return cut_; }
  [[nodiscard]] std::int64_t owner() const { return turn_.owner; }
  [[nodiscard]] std::int64_t owners() const { return turn_.owners; }
  [[nodiscard]] int shortest() const { return shortest_; }
  [[nodiscard]] int longest() const { return longest_; }
  /// Time after which the supply repeats.
  [[nodiscard]] Duration period() const;

 private:
  const FrameGrid* grid_;
  Direction direction_;
  bool granted_;
  Cut cut_;
  Turn turn_;
  int shortest_;
  int longest_;
};

}  // namespace trilemma
