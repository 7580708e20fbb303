#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/frame_grid.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"
#include "models/radio/symbol_supply.h"
#include "models/radio/timing.h"

namespace trilemma {

/// Latency of a message on an idle cell without errors, over the luckiest arrival: closed form of what SharedChannel
/// does for one message. Measured delays count with their least value.
class NrFloor {
 public:
  /// `grid` and `phy` outlive this.
  NrFloor(const NrRadio& config, const FrameGrid& grid, const NrPhy& phy);

  [[nodiscard]] RadioFloor idle(const SymbolSupply& supply, int mcs, Bytes size);
  /// The same for a message that finds a grant on its way: no transfer is faster.
  [[nodiscard]] Duration bound(const SymbolSupply& supply, int mcs, Bytes size);

 private:
  struct Delivery {
    Instant first_start{0};
    Instant last_end{0};
    Instant decoded{0};
    Duration air{0};
    int symbols = 0;  // of a first block
  };
  /// Where the blocks of a region lie: where one alone lies, or at its start, before those of others.
  enum class Spot { alone, first };
  [[nodiscard]] Delivery deliver(const SymbolSupply& supply, int mcs, Bytes size, Instant from,
                                 Spot spot = Spot::alone);
  [[nodiscard]] Delivery deliver_first(const SymbolSupply& supply, int mcs, Instant from);
  [[nodiscard]] OnAir on_air(std::int64_t slot, int symbol, int symbols) const {
    return {grid_.time_of(slot, symbol), grid_.time_of(slot, symbol + symbols), symbol, symbols};
  }
  [[nodiscard]] RadioFloor offered_at(const SymbolSupply& supply, int mcs, Bytes size, Instant offered);
  [[nodiscard]] std::vector<Instant> arrivals(const SymbolSupply& supply) const;

  std::optional<Bytes> first_grant_;
  std::optional<Duration> standing_;  // period of standing grants
  const FrameGrid& grid_;
  const NrPhy& phy_;
  RadioTiming timing_;
};

}  // namespace trilemma
