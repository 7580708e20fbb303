#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ensure.h"
#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/numerology.h"

namespace trilemma {

enum class Direction { uplink, downlink };
constexpr Direction opposite(Direction direction) {
  return direction == Direction::uplink ? Direction::downlink : Direction::uplink;
}

/// Where in time a cell may send: the slots of its frame pattern (TS 38.211 clause 4.3.2, TS 38.213 clause 11.1). Pure
/// arithmetic on a period that repeats for ever; nothing steps from slot to slot.
///
/// D slot: downlink. U slot: uplink. S slot: downlink symbols, guard, uplink symbols. F slot: every symbol between the
/// control symbols goes either way. full-uplink: paired carriers, every slot D on one and U on the other. The first
/// `downlink_control` symbols of downlink carry only control (PDCCH); with 0 control shares the first symbol with data,
/// on other resource blocks, which are not deducted. The same with the last symbols of uplink (PUCCH).
class FrameGrid {
 public:
  struct Span {
    Instant start;
    Instant end;
  };
  /// Data symbols in a row within one slot.
  struct Region {
    std::int64_t slot;  // counted from time 0
    int first;          // symbol of the slot
    int symbols;
    bool flexible;  // shared with the other direction
  };
  /// A symbol at which a block may start.
  struct Start {
    Instant time;
    Region region;
    int symbol;  // of the slot
    [[nodiscard]] int room() const { return region.first + region.symbols - symbol; }
  };
  /// Configured grants in turn: the regions of uplink cut into pieces of exactly `symbols` symbols.
  struct Occasion {
    std::int64_t index;  // counts from time 0
    Region region;
    int symbol;
  };

  /// Requires a config without problems().
  explicit FrameGrid(const NrRadio& config);

  /// The first symbol boundary at `time` or later from which a region has at least `symbols` symbols left, at a symbol
  /// that the mapping type allows. Requires fits(direction, symbols).
  [[nodiscard]] Start next_start(Direction direction, Instant time, int symbols) const;
  /// The first region that starts at `time` or later.
  [[nodiscard]] Region next_region(Direction direction, Instant time) const;
  [[nodiscard]] bool fits(Direction direction, int symbols) const { return longest(direction) >= symbols; }

  [[nodiscard]] bool has_control(Direction direction) const { return !lane(direction).control_slots.empty(); }

  [[nodiscard]] Occasion next_occasion(Instant time) const;
  [[nodiscard]] Occasion occasion(std::int64_t index) const;
  [[nodiscard]] Instant start(const Occasion& occasion) const { return time_of(occasion.region.slot, occasion.symbol); }
  [[nodiscard]] std::int64_t occasions() const { return static_cast<std::int64_t>(occasions_.size()); }

  /// The boundary before `symbol` (0 to 14) of a slot.
  [[nodiscard]] Instant time_of(std::int64_t slot, int symbol) const {
    TRILEMMA_ENSURE(0 <= symbol && symbol <= symbols_per_slot, "a symbol boundary is 0 to 14");
    return slot * slot_ + boundary_[static_cast<std::size_t>(symbol)];
  }
  [[nodiscard]] Instant start(const Region& region) const { return time_of(region.slot, region.first); }
  [[nodiscard]] Instant end(const Region& region) const { return time_of(region.slot, region.first + region.symbols); }
  /// The first control symbol that starts at `time` or later: first of the slot (downlink) or last (uplink).
  [[nodiscard]] Span next_control(Direction direction, Instant time) const;
  /// The first slot boundary at `time` or later, as a number of slots.
  [[nodiscard]] std::int64_t slot_at_or_after(Instant time) const { return (time + slot_ - 1ns) / slot_; }
  [[nodiscard]] Duration symbol_length() const { return boundary_[1]; }

  /// Data symbols of a direction in the regions that begin before `time`.
  [[nodiscard]] std::int64_t symbols_before(Direction direction, Instant time) const;
  /// Data symbols of a direction in one period of the pattern; flexible ones count both ways.
  [[nodiscard]] std::int64_t symbols(Direction direction) const { return lane(direction).symbols; }
  [[nodiscard]] const std::vector<Region>& regions(Direction direction) const { return lane(direction).regions; }
  /// Symbols of the longest block.
  [[nodiscard]] int longest(Direction direction) const { return lane(direction).longest; }
  [[nodiscard]] Duration period() const { return slots_ * slot_; }
  [[nodiscard]] std::int64_t slots() const { return slots_; }
  [[nodiscard]] Duration slot() const { return slot_; }
  /// Symbols at which a downlink block of `symbols` may start in a region, ascending; for averages.
  [[nodiscard]] std::vector<int> downlink_starts(const Region& region, int symbols) const;

 private:
  struct Lane {
    std::vector<Region> regions;              // of one period
    std::vector<std::int64_t> control_slots;  // of one period
    std::int64_t symbols = 0;
    int longest = 0;
    int last_start = symbols_per_slot - 1;  // of the mapping type
  };

  void add_slot(std::int64_t slot, char letter, const NrRadio& config);
  void add_downlink(std::int64_t slot, int symbols, int control);
  void add_uplink(std::int64_t slot, int symbols, int control);
  void add_region(Direction direction, Region region);
  void cut_occasions(int symbols);
  /// The symbol of a region from which a block of `symbols` may start at `offset` into the slot or later; 14 if none.
  [[nodiscard]] int start_in(Direction direction, const Region& region, Duration offset, int symbols) const;
  [[nodiscard]] const Lane& lane(Direction direction) const { return lanes_[static_cast<std::size_t>(direction)]; }
  Lane& lane(Direction direction) { return lanes_[static_cast<std::size_t>(direction)]; }

  Duration slot_;
  std::int64_t slots_ = 1;
  int longest_block_;
  std::array<Duration, symbols_per_slot + 1> boundary_{};
  std::array<Lane, 2> lanes_;
  std::vector<Occasion> occasions_;  // of one period
};

/// Slots of a pattern, or empty for full-uplink.
inline constexpr std::string_view full_uplink = "full-uplink";

}  // namespace trilemma
