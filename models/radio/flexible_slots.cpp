#include "models/radio/flexible_slots.h"

#include <algorithm>

namespace trilemma {

FlexibleSlots::Slot& FlexibleSlots::slot(std::int64_t number) {
  Slot& slot = recent_[static_cast<std::size_t>(number) % recent_.size()];
  if (slot.number != number) slot = {.number = number};
  return slot;
}

int FlexibleSlots::room(Direction direction, const FrameGrid::Region& region) {
  const Slot& used = slot(region.slot);
  const int others = used.taken[static_cast<std::size_t>(opposite(direction))];
  return std::max(0, region.symbols - others - (others > 0 ? guard_ : 0));
}

void FlexibleSlots::take(Direction direction, const FrameGrid::Region& region, int symbols) {
  int& taken = slot(region.slot).taken[static_cast<std::size_t>(direction)];
  taken = std::max(taken, symbols);
}

}  // namespace trilemma
