#include <algorithm>

#include <fmt/format.h>

#include "core/object_pool.h"
#include "models/link/ns3.h"
#include "models/radio/radio.h"
#include "sim/network.h"

namespace trilemma {
namespace {

DatagramConfig datagram_config(const Scenario& scenario) {
  const bool nr = std::holds_alternative<NrRadio>(scenario.radio);
  return {.backhaul = scenario.backhaul,
          .mtu = std::get<UdpTransport>(scenario.transport).mtu,
          .radio_headers = nr ? nr_packet_headers : Bytes(0),
          .clients = scenario.workload.clients};
}

class PacketNetwork final : public Network {
 public:
  explicit PacketNetwork(const NetworkParts& parts)
      : parts_(parts),
        config_(datagram_config(parts.scenario)),
        packets_(parts.scenario),
        datagrams_(parts.scheduler, parts.radios, config_, parts.streams) {}

  void send(Message& message) override {
    Transit& transit = transits_.take([&] { return Transit{*this}; });
    transit.message = &message;
    transit.datagrams = {.direction = message.direction,
                         .client = message.client,
                         .size = message.size,
                         .done = Action::call<&Transit::arrive>(transit)};
    datagrams_.send(transit.datagrams);
  }

  [[nodiscard]] LegFloor floor(Direction direction, std::int64_t client, Bytes size) const override {
    const auto over_radio = [&](Bytes bytes) {
      return parts_.radio(client).floor(direction, parts_.in_cell(client), bytes);
    };
    const RadioFloor all = over_radio(packets_.on_air(size));
    const auto total = [&](Bytes bytes) { return over_radio(bytes).total(); };
    return {.radio = all, .backhaul = least(size, total) - all.total()};
  }
  [[nodiscard]] Duration bound(Direction direction, std::int64_t client, Bytes size) const override {
    return least(size,
                 [&](Bytes bytes) { return parts_.radio(client).bound(direction, parts_.in_cell(client), bytes); });
  }

  [[nodiscard]] Duration backhaul_busy(Direction direction) const override {
    return datagrams_.backhaul_busy(direction);
  }

 private:
  struct Transit {
    PacketNetwork& network;
    Message* message = nullptr;
    DatagramMessage datagrams;
    void arrive() { network.finish(*this); }
  };

  /// No message is faster than all its packets over the radio and the smallest, which is the last, over the backhaul,
  /// nor than the smallest over the radio and all over the backhaul.
  template <class OverRadio>
  [[nodiscard]] Duration least(Bytes size, const OverRadio& over_radio) const {
    const Bytes last = packets_.last(size);
    return std::max(over_radio(packets_.on_air(size)) + datagrams_.backhaul_floor(last),
                    over_radio(packets_.on_air(last)) + datagrams_.backhaul_floor(size));
  }

  void finish(Transit& transit) {
    transit.message->leg = {.radio = transit.datagrams.radio, .backhaul = transit.datagrams.backhaul};
    const Action done = transit.message->done;
    transits_.give_back(transit);
    done();
  }

  NetworkParts parts_;
  DatagramConfig config_;
  Packets packets_;
  DatagramNetwork datagrams_;
  ObjectPool<Transit> transits_;
};

std::string transport_problem(const TransportConfig& transport) {
  const auto* udp = std::get_if<UdpTransport>(&transport);
  if (udp == nullptr) return "sends no packets, which fidelity 'packet' is about; write '{kind: udp}'";
  if (udp->headers != datagram_headers)
    return fmt::format(
        "has headers of {} B, but the packets of fidelity 'packet' have {} B of IPv4 and UDP; write 28 B",
        udp->headers.value(), datagram_headers.value());
  if (udp->mtu < smallest_mtu)
    return fmt::format(
        "has an mtu of {} B, but every IPv4 link takes {} B, so fidelity 'packet' needs them; write more",
        udp->mtu.value(), smallest_mtu.value());
  return {};
}

}  // namespace

std::unique_ptr<Network> make_packet_network(const NetworkParts& parts) {
  return std::make_unique<PacketNetwork>(parts);
}

std::vector<config::FieldProblem> packet_problems(const Scenario& scenario) {
  if (scenario.fidelity != Fidelity::packet || scenario.stays_on_device()) return {};
  if (std::string wrong = transport_problem(scenario.transport); !wrong.empty()) return {{"transport", wrong}};
  const auto wrong = packet_problem(scenario.backhaul, std::get<UdpTransport>(scenario.transport).mtu);
  if (wrong) return {{"backhaul", *wrong}};
  return {};
}

}  // namespace trilemma
