#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"

namespace trilemma {

/// Sends one block of a message and draws its luck; keeps the counts of a direction.
class BlockSender {
 public:
  BlockSender(const NrPhy& phy, Rng rng) : phy_(phy), rng_(std::move(rng)) {}

  struct Block {
    int symbols;
    int transmission;  // 1 = first
    FrameGrid::Span on_air;
  };
  /// True when the receiver decodes the block. Accounts for it in `message` either way.
  bool send(RadioMessage& message, const NrLink& link, const Block& block);
  /// The block was not decoded and may not be sent again.
  void lose(RadioMessage& message);

  [[nodiscard]] const RadioCounts& counts() const { return counts_; }

 private:
  const NrPhy& phy_;
  Rng rng_;
  RadioCounts counts_;
};

/// One direction of a cell whose opportunities are shared by all clients on demand: retransmissions first, then clients
/// in turn (round-robin), each with as many symbols as its message needs, one block at a time (TDMA by symbol group).
/// An event per opportunity that has something to send and one per message; nothing happens while nothing is pending.
class SharedChannel {
 public:
  SharedChannel(Scheduler& scheduler, const NrPhy& phy, Direction direction, std::span<const NrLink> links, Rng rng);
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;

  void send(RadioMessage& message);
  [[nodiscard]] const RadioCounts& counts() const { return sender_.counts(); }

 private:
  struct Queue {
    RadioMessage* first = nullptr;
    RadioMessage* last = nullptr;
    bool in_turn = false;
  };
  struct Retransmission {
    RadioMessage* message;
    int symbols;
    int transmission;
    Instant eligible;
  };

  void on_opportunity();
  void admit(Instant time);
  int send_again(const FrameGrid::Opportunity& opportunity, int used);
  void send_new(const FrameGrid::Opportunity& opportunity, int used);
  void send_block(RadioMessage& message, const FrameGrid::Opportunity& opportunity, int used, int symbols);
  void transmit(RadioMessage& message, const FrameGrid::Opportunity& opportunity, int used, int symbols,
                int transmission);
  void give_up(RadioMessage& message);
  void finish(RadioMessage& message);
  void pop(Queue& queue);
  void plan(Instant earliest);
  void plan_after(const FrameGrid::Opportunity& opportunity);

  Scheduler& scheduler_;
  const NrPhy& phy_;
  Direction direction_;
  std::span<const NrLink> links_;
  BlockSender sender_;
  std::vector<Queue> queues_;              // by client
  std::deque<ClientIndex> turns_;          // clients with something to send
  RadioMessage* waiting_first_ = nullptr;  // not yet eligible, in order of eligibility
  RadioMessage* waiting_last_ = nullptr;
  std::deque<Retransmission> retransmissions_;  // in order of eligibility
  std::optional<std::int64_t> planned_;         // the next opportunity with an event
};

}  // namespace trilemma
