#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/action.h"
#include "core/random.h"
#include "core/scheduler.h"
#include "models/link/config.h"
#include "models/radio/radio.h"

namespace trilemma {

/// Headers of ns-3's packets: IPv4 20 B (RFC 791), UDP 8 B (RFC 768).
inline constexpr Bytes datagram_headers{28};
/// Every IPv4 module forwards this much without fragments (RFC 791); ns-3 has no interface of less.
inline constexpr Bytes smallest_mtu{68};

struct DatagramConfig {
  LinkConfig backhaul;
  Bytes mtu{1500};           // largest IP packet, `smallest_mtu` to 65,535 B
  Bytes radio_headers{0};    // of a packet over the air, see NrDeviceConfig
  std::int64_t clients = 0;  // client i is client i / cells of cell i mod cells
};

/// Why `backhaul` cannot carry packets of up to `mtu`; empty where it can.
std::optional<std::string> packet_problem(const LinkConfig& backhaul, Bytes mtu);

/// A message on its way as datagrams. Lives with whoever waits for it, until `done` has run.
struct DatagramMessage {
  // Set by the sender.
  Direction direction = Direction::uplink;
  std::int64_t client = 0;
  Bytes size{0};  // of all its IP packets, headers included: full ones of the MTU and a last one
  Action done;
  // Set by the network before `done` runs.
  RadioTransfer radio;   // of the packet that left the radio last; lost, blocks and retransmissions of all packets
  Duration backhaul{0};  // the rest of the time
  // The network's own.
  Instant offered{0};
  std::int64_t packets_due = 0;
};

/// Messages between clients and the edge over ns-3's Internet stack: UDP socket, IPv4, NrNetDevice, radio, base
/// station, the wires of the backhaul (one ns3::PointToPointNetDevice pair a hop), IPv4, UDP socket, and back.
///
/// Base stations and switches pass packets on without an IP stack of their own: in 5G a packet crosses the base station
/// in a tunnel, and switches work on frames. So a packet finds its client by address alone, in constant time, and no
/// hop costs a unit of its time to live. All cells share the backhaul, as in message fidelity. A packet is a frame on
/// the wire; a switch is store-and-forward: each hop serialises the frame and its overhead at the rate, rounded by ns-3
/// within 2 ns, and queues are unlimited. PPP's 2 B are part of the overhead.
///
/// A message is done when its last packet has arrived or is lost: the sender learns nothing of losses (UDP).
class DatagramNetwork {
 public:
  /// `radios` (one a cell) and the scheduler outlive the run. `config` has no packet_problem().
  DatagramNetwork(Scheduler& scheduler, std::span<const std::unique_ptr<Radio>> radios, const DatagramConfig& config,
                  const Streams& streams);
  ~DatagramNetwork();
  DatagramNetwork(const DatagramNetwork&) = delete;
  DatagramNetwork& operator=(const DatagramNetwork&) = delete;

  /// Runs message.done when the message has arrived or is lost. Requires size > datagram_headers.
  void send(DatagramMessage& message);
  /// Latency over an idle backhaul of packets that are all there at once; no message of `size` is faster.
  [[nodiscard]] Duration backhaul_floor(Bytes size) const;
  /// Total of the serialisation of the packets sent so far in one direction.
  [[nodiscard]] Duration backhaul_busy(Direction direction) const;

 private:
  class Stack;
  std::unique_ptr<Stack> stack_;
};

/// How a message of `size` (headers included) is cut: `count` packets, the last of `last` bytes, the others of the MTU.
struct Datagrams {
  std::int64_t count;
  Bytes last;
};
Datagrams datagrams(Bytes size, Bytes mtu);

}  // namespace trilemma
