#pragma once

#include "core/units.h"
#include "models/radio/mac_config.h"

namespace trilemma {

/// The number of bytes that a buffer status report stands for: the upper end of the level that `waiting` falls into
/// (TS 38.321 tables 6.1.3.1-1, 5 bits, and 6.1.3.1-2, 8 bits); beyond the last level, the last bound, and the next
/// report tells the rest. Requires waiting >= 0.
Bytes reported(BufferTable table, Bytes waiting);

}  // namespace trilemma
