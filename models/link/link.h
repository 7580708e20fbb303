#pragma once

#include <memory>

#include "core/action.h"
#include "core/scheduler.h"
#include "models/link/config.h"

namespace trilemma {

/// How a message comes to a link whose packets, full ones but for the last, follow each other: the first was there at
/// `since`, the last `tail` bytes are there now, and the packet before those, of `packet` bytes, was there at `before`.
struct Arrival {
  Instant since{0};
  Bytes tail{0};
  Instant before{0};
  Bytes packet{0};
};

/// One direction of a wire. Messages leave in the order in which they were sent.
class Link {
 public:
  virtual ~Link() = default;
  /// Runs `delivered` when the last bit of the message, which is there as a whole, has arrived.
  virtual void send(Bytes size, Action delivered) = 0;
  /// The same, but packets that were there earlier have left earlier. The link works as a fluid queue: a message takes
  /// its serialisation from `since` on behind the messages sent before, and its tail leaves no earlier than on an idle
  /// link, and behind the packet before it. Requires 0 < tail <= size and since <= now.
  virtual void send(Bytes size, const Arrival& arrival, Action delivered) = 0;
  /// Latency of a message on an idle link; no message is faster.
  [[nodiscard]] virtual Duration floor(Bytes size) const = 0;
  /// Time that a message keeps the link busy; the link carries at most 1 / occupancy messages per second.
  [[nodiscard]] virtual Duration occupancy(Bytes size) const = 0;
  /// Total of occupancy() over the messages sent so far.
  [[nodiscard]] virtual Duration busy() const = 0;
};

std::unique_ptr<Link> make_link(Scheduler& scheduler, const LinkConfig& config);

/// `co_await transfer(link, size)`.
inline auto transfer(Link& link, Bytes size) {
  struct Awaiter {
    Link& link;
    Bytes size;
    [[nodiscard]] bool await_ready() const { return link.floor(size) == Duration{0}; }
    void await_suspend(std::coroutine_handle<> waiting) const { link.send(size, Action::resume(waiting)); }
    void await_resume() const {}
  };
  return Awaiter{link, size};
}

/// Group velocity of light in standard single-mode fibre: 4.9 us/km (n = 1.468, ITU-T G.652).
Duration fibre_propagation(Metres length);

}  // namespace trilemma
