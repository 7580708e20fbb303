#pragma once

#include <array>
#include <cstdint>

#include "models/radio/frame_grid.h"

namespace trilemma {

/// Flexible slots of a cell: how many symbols of a slot each direction has taken, on the widest of the channels that
/// share its band. Uplink grows from the end of the slot, downlink from its start, `guard` symbols apart. A channel
/// asks once a slot.
class FlexibleSlots {
 public:
  explicit FlexibleSlots(int guard) : guard_(guard) {}
  [[nodiscard]] int room(Direction direction, const FrameGrid::Region& region);
  void take(Direction direction, const FrameGrid::Region& region, int symbols);

 private:
  struct Slot {
    std::int64_t number = -1;
    std::array<int, 2> taken{};
  };
  Slot& slot(std::int64_t number);

  int guard_;
  std::array<Slot, 8> recent_{};  // by number modulo 8
};

}  // namespace trilemma
