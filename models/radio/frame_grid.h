#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "models/radio/config.h"

namespace trilemma {

enum class Direction { uplink, downlink };

/// Where in time a cell may send: the slots of its frame pattern, cut into transmission opportunities of at most
/// `symbols` symbols. Pure arithmetic on a period that repeats for ever; nothing steps from slot to slot.
///
/// D slot: symbol 0 is control (PDCCH), 1 to 13 downlink data. U slot: 14 uplink symbols; the last one also carries
/// scheduling requests and acknowledgements (PUCCH on the band edges, its resource blocks are not deducted). S slot: as
/// D for its downlink symbols, guard, then as U. A configured grant has a fixed length, so under that access the uplink
/// has only opportunities of exactly `symbols` symbols. full-uplink: paired carriers, every slot D on one and U on the
/// other.
class FrameGrid {
 public:
  /// Shortest transmission: one symbol of reference signals and one of data.
  static constexpr int shortest = 2;

  struct Opportunity {
    std::int64_t index;  // counts the opportunities of the direction from time 0
    Instant start;
    int symbols;
  };
  struct Span {
    Instant start;
    Instant end;
  };

  /// Requires a config without problems().
  explicit FrameGrid(const NrRadio& config);

  /// The first opportunity that starts at `time` or later.
  [[nodiscard]] Opportunity next(Direction direction, Instant time) const;
  [[nodiscard]] Opportunity at(Direction direction, std::int64_t index) const;
  /// End of the first `symbols` symbols of an opportunity.
  [[nodiscard]] Instant end(Direction direction, const Opportunity& opportunity, int symbols) const;
  /// The first control symbol that starts at `time` or later: PDCCH (downlink) or PUCCH (uplink).
  [[nodiscard]] Span next_control(Direction direction, Instant time) const;

  /// Opportunities and data symbols of a direction in one period of the pattern.
  [[nodiscard]] std::int64_t opportunities(Direction direction) const;
  [[nodiscard]] std::int64_t symbols(Direction direction) const;
  /// Symbols of the longest opportunity.
  [[nodiscard]] int longest(Direction direction) const;
  [[nodiscard]] Duration period() const { return period_; }
  [[nodiscard]] Duration slot() const { return slot_; }

 private:
  struct Piece {
    Duration start;  // from the start of the period
    int slot;
    int first;
    int symbols;
  };
  struct Lane {
    std::vector<Piece> data;
    std::vector<Piece> control;
    std::int64_t symbols = 0;
  };

  void add_downlink(int slot, int symbols);
  void add_uplink(int slot, int symbols);
  void add_data(Direction direction, int slot, int first, int last);
  [[nodiscard]] Piece piece(int slot, int first, int symbols) const;
  [[nodiscard]] Instant boundary(std::int64_t period, int slot, int symbol) const;
  [[nodiscard]] const Lane& lane(Direction direction) const { return lanes_[static_cast<std::size_t>(direction)]; }
  Lane& lane(Direction direction) { return lanes_[static_cast<std::size_t>(direction)]; }

  int mu_;
  int longest_;
  bool fixed_uplink_length_;
  Duration slot_;
  Duration period_{0};
  std::array<Lane, 2> lanes_;
};

/// Slots of a pattern, or empty for full-uplink.
inline constexpr std::string_view full_uplink = "full-uplink";

}  // namespace trilemma
