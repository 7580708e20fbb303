#pragma once

#include "models/radio/radio.h"

namespace trilemma {

/// Headers of a packet over NR that its transport blocks do not count (NrPhy::block_headers): SDAP 1 B (TS 37.324) and
/// PDCP 3 B (TS 38.323, 18-bit sequence number).
inline constexpr Bytes nr_packet_headers{4};

/// What a message that is done was to its sender, who offered it `latency` ago.
inline RadioTransfer transfer_of(const RadioMessage& message, Duration latency) {
  return {.lost = message.lost,
          .wait = latency - message.air,
          .air = message.air,
          .blocks = message.blocks,
          .retransmissions = message.retransmissions};
}

}  // namespace trilemma
