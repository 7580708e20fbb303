#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/link/link.h"
#include "models/radio/radio.h"
#include "sim/scenario.h"

namespace trilemma {

/// What one way between a client and the edge took; radio.times + backhaul = latency, exactly. Lost: `radio`
/// says so, and the message is not at its end.
struct Leg {
  RadioTransfer radio;
  Duration backhaul{0};
};

/// A leg's latency by stage with nothing else under way, at the luckiest instant, without error.
struct LegFloor {
  RadioFloor radio;
  Duration backhaul{0};
};

/// Carries messages between clients and the edge: radio and backhaul, at the scenario's fidelity.
class Network {
 public:
  /// A message on its way. Lives with whoever waits for it, until `done` has run.
  struct Message {
    // Set by the sender.
    Direction direction = Direction::uplink;
    std::int64_t client = 0;
    Bytes size{0};        // packet headers included
    Instant deadline{0};  // for earliest deadline first
    Action done;
    Leg leg;  // set by the network before `done` runs
  };

  virtual ~Network() = default;
  /// Runs message.done when the message has arrived or is lost; fills in message.leg.
  virtual void send(Message& message) = 0;
  [[nodiscard]] virtual LegFloor floor(Direction direction, std::int64_t client, Bytes size) const = 0;
  /// No message is faster, not even one that rides on a grant that is on its way already.
  [[nodiscard]] virtual Duration bound(Direction direction, std::int64_t client, Bytes size) const = 0;
  /// Time for which the backhaul's bottleneck has been busy.
  [[nodiscard]] virtual Duration backhaul_busy(Direction direction) const = 0;
};

/// `co_await` on it gives the Leg.
class LegAwaiter {
 public:
  LegAwaiter(Network& network, const Network::Message& message) : network_(network), message_(message) {}
  [[nodiscard]] static bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    message_.done = Action::resume(waiting);
    network_.send(message_);
  }
  [[nodiscard]] Leg await_resume() const { return message_.leg; }

 private:
  Network& network_;
  Network::Message message_;
};

/// The parts that a world has made of a scenario; they outlive the network.
struct NetworkParts {
  Scheduler& scheduler;
  const Scenario& scenario;
  const Streams& streams;
  std::span<const std::unique_ptr<Radio>> radios;  // by cell
  Link& uplink;                                    // backhaul
  Link& downlink;

  /// Where a client is: client i is client i / cells of cell i mod cells.
  [[nodiscard]] Radio& radio(std::int64_t client) const {
    return *radios[static_cast<std::size_t>(client % scenario.cells)];
  }
  [[nodiscard]] ClientIndex in_cell(std::int64_t client) const {
    return static_cast<ClientIndex>(client / scenario.cells);
  }
  [[nodiscard]] Link& backhaul(Direction direction) const { return direction == Direction::uplink ? uplink : downlink; }
};

/// How messages are cut into packets: full ones and a last one. Without a transport a message is one piece.
class Packets {
 public:
  explicit Packets(const Scenario& scenario);
  [[nodiscard]] Bytes first(Bytes size) const { return std::min(size, largest_); }
  [[nodiscard]] Bytes last(Bytes size) const { return size - (count(size) - 1) * largest_; }
  /// With the radio headers of every packet: over NR SDAP, and those of a block for each but the first.
  [[nodiscard]] Bytes on_air(Bytes size) const { return size + count(size) * headers_ - shared_; }
  [[nodiscard]] Bytes largest_on_air() const { return largest_ + headers_; }
  /// Without headers again, where the last `tail` bytes over the air are whole packets of a message of `size`.
  [[nodiscard]] Bytes tail(Bytes size, Bytes tail) const {
    return size - (on_air(size) - tail).value() / largest_on_air().value() * largest_;
  }

 private:
  [[nodiscard]] std::int64_t count(Bytes size) const {
    return (size.value() + largest_.value() - 1) / largest_.value();
  }

  Bytes largest_;
  Bytes headers_{0};  // of a packet
  Bytes shared_{0};   // of a message, which the radio counts itself
};

std::unique_ptr<Network> make_network(const NetworkParts& parts);
/// Every IP packet on its own over ns-3's Internet stack (models/link/ns3.h), so that the packets of a message overlap
/// on the radio and on the hops of the backhaul.
std::unique_ptr<Network> make_packet_network(const NetworkParts& parts);

/// What packet fidelity cannot carry; empty in message fidelity.
std::vector<config::FieldProblem> packet_problems(const Scenario& scenario);

}  // namespace trilemma
