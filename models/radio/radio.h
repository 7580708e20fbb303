#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/action.h"
#include "core/ensure.h"
#include "core/random.h"
#include "core/scheduler.h"
#include "models/radio/config.h"
#include "models/radio/frame_grid.h"

namespace trilemma {

/// Headers of a packet over NR that its transport blocks do not count (NrPhy::block_headers): SDAP 1 B (TS 37.324).
inline constexpr Bytes nr_packet_headers{1};

using ClientIndex = std::uint32_t;  // within its cell

/// Where the time of a transfer goes, along the block that was decoded last. Every nanosecond has one place.
struct RadioTimes {
  Duration grant{0};           // processing, scheduling request and grant, until a first block may start
  Duration alignment{0};       // until the frame lets it start
  Duration queueing{0};        // other clients, other messages, gaps between blocks
  Duration air{0};             // first transmissions
  Duration retransmission{0};  // from the end of a block's first transmission to the end of its last
  Duration decoding{0};        // from the last symbol to the bits
  [[nodiscard]] Duration total() const { return grant + alignment + queueing + air + retransmission + decoding; }
};

/// A message on its way over the air. Lives with whoever waits for it, until `done` has run.
struct RadioMessage {
  // Set by the sender.
  ClientIndex client = 0;
  Bytes size{0};
  Instant deadline{0};  // for earliest deadline first
  Bytes packet{0};      // largest of its packets, which leave the radio one by one; 0: the message leaves as a whole
  Action done;
  // Set by the radio before `done` runs.
  bool lost = false;        // a transport block failed in all its transmissions
  Instant first{0};         // when the first packet was there
  Bytes tail{0};            // of the packets that were there last
  Instant before{0};        // when the packet before those was there
  RadioTimes times;         // add up to the time from send() to done
  std::int32_t blocks = 0;  // transport blocks with a part of this message
  std::int32_t retransmissions = 0;
  // The radio's own.
  Instant offered{0};
  Instant eligible{0};  // from when a first transmission was possible on an idle cell
  Instant started{0};   // of the first transmission
  Instant decoded{0};   // when the last block so far is known at the receiver
  Duration on_air{0};   // of first transmissions so far
  Bytes unsent{0};
  Bytes received{0};             // or lost
  std::int32_t open_blocks = 0;  // on the air or to be repeated
  RadioMessage* next = nullptr;
};

/// Sets `first` and `tail`: the next `bytes` of the message are there, or lost, at `decoded`; `latest`: none were
/// later.
void note_arrival(RadioMessage& message, Bytes bytes, Instant decoded, bool latest);

/// Traffic that a forecast assumes: `rate` messages of `size` per second from one client.
struct RadioDemand {
  ClientIndex client;
  Bytes size;
  double rate;
};

/// Latency of a transfer on an idle cell at the luckiest instant, without errors.
using RadioFloor = RadioTimes;

struct RadioCounts {
  std::int64_t blocks = 0;  // transport blocks, first transmissions
  std::int64_t retransmissions = 0;
  std::int64_t errors = 0;  // transmissions that were not decoded
  std::int64_t lost_blocks = 0;
  std::int64_t recovered_blocks = 0;  // given up by HARQ, started again by RLC
  std::int64_t empty_blocks = 0;      // granted, and nothing to send
  double symbols = 0;                 // on the air, of the direction
  Duration on_air{0};                 // of all clients together, repetitions and empty blocks included
  // Bytes of messages; offered = delivered + lost + queued, always.
  std::int64_t bytes_offered = 0;
  std::int64_t bytes_delivered = 0;
  std::int64_t bytes_lost = 0;
  [[nodiscard]] std::int64_t bytes_queued() const { return bytes_offered - bytes_delivered - bytes_lost; }
  RadioCounts& operator+=(const RadioCounts& other);
};

/// What a client's link looks like; static in this model.
struct RadioLinkState {
  double distance_m;
  bool line_of_sight;
  double uplink_sinr_db;
  double downlink_sinr_db;
  int uplink_mcs;
  int downlink_mcs;
  double uplink_bler;  // first transmission of a full opportunity
  bool in_coverage;    // MCS 0 meets the block error target, uplink and downlink
};

/// One cell. Directions do not disturb each other.
class Radio {
 public:
  virtual ~Radio() = default;
  /// Runs message.done when the message has arrived or is lost; fills in the rest of `message`.
  virtual void send(Direction direction, RadioMessage& message) = 0;
  /// Latency on an idle cell at the luckiest instant.
  [[nodiscard]] virtual RadioFloor floor(Direction direction, ClientIndex client, Bytes size) const = 0;
  /// What no transfer beats, not even one that rides on a grant that is on its way already.
  [[nodiscard]] virtual Duration bound(Direction direction, ClientIndex client, Bytes size) const = 0;
  /// Utilisation of the direction's busiest resource under `demand`, mean block error rate included. >= 1: overload.
  [[nodiscard]] virtual double forecast(Direction direction, std::span<const RadioDemand> demand) const = 0;
  /// Share of the direction's capacity used over [0, window].
  [[nodiscard]] virtual double utilisation(Direction direction, Duration window) const = 0;
  [[nodiscard]] virtual RadioCounts counts(Direction direction) const = 0;
  /// Empty for radios without a channel model.
  [[nodiscard]] virtual std::span<const RadioLinkState> links() const = 0;
};

/// The result of `co_await transfer(radio, ...)`.
struct RadioTransfer {
  bool lost = false;
  RadioTimes times;
  std::int32_t blocks = 0;
  std::int32_t retransmissions = 0;
};

/// What a message that is done was to its sender, who offered it `latency` ago.
inline RadioTransfer transfer_of(const RadioMessage& message, Duration latency) {
  TRILEMMA_ENSURE(message.times.total() == latency, "the times of a transfer add up to its latency");
  return {.lost = message.lost,
          .times = message.times,
          .blocks = message.blocks,
          .retransmissions = message.retransmissions};
}

class RadioTransferAwaiter {
 public:
  RadioTransferAwaiter(Scheduler& scheduler, Radio& radio, Direction direction, ClientIndex client, Bytes size)
      : scheduler_(scheduler), radio_(radio), direction_(direction) {
    message_.client = client;
    message_.size = size;
  }
  /// For earliest deadline first.
  [[nodiscard]] RadioTransferAwaiter by(Instant deadline) const {
    RadioTransferAwaiter urgent = *this;
    urgent.message_.deadline = deadline;
    return urgent;
  }
  [[nodiscard]] static bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    message_.done = Action::resume(waiting);
    message_.offered = scheduler_.now();
    radio_.send(direction_, message_);
  }
  [[nodiscard]] RadioTransfer await_resume() const {
    return transfer_of(message_, scheduler_.now() - message_.offered);
  }

 private:
  Scheduler& scheduler_;
  Radio& radio_;
  Direction direction_;
  RadioMessage message_;
};

/// What identifies a cell of a world.
struct CellPlace {
  std::int64_t cell = 0;
  std::int64_t cells = 1;
  std::int64_t clients = 0;  // in this cell; its client i is client cell + i * cells of the world
};

std::unique_ptr<Radio> make_radio(Scheduler& scheduler, const RadioConfig& config, const CellPlace& place,
                                  const Streams& streams);
/// `cells` cells with `clients` clients spread evenly over them: client i is in cell i mod cells.
std::vector<std::unique_ptr<Radio>> make_radios(Scheduler& scheduler, const RadioConfig& config, std::int64_t cells,
                                                std::int64_t clients, const Streams& streams);

/// An NR cell of several clients.
std::unique_ptr<Radio> make_nr_cell(Scheduler& scheduler, const NrRadio& config, const CellPlace& place,
                                    const Streams& streams);

}  // namespace trilemma
