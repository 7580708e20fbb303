#include "sim/network.h"

#include <algorithm>

#include "core/object_pool.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"

namespace trilemma {
namespace {

/// One message after the other. Uplink, its packets overlap on radio and backhaul: those that the radio delivered early
/// have left early. Downlink, the radio gets it when the backhaul has delivered it as a whole.
class MessageNetwork final : public Network {
 public:
  explicit MessageNetwork(const NetworkParts& parts)
      : parts_(parts), packets_(parts.scenario), one_place_(parts.uplink.floor(Bytes(1)) == Duration{0}) {}

  void send(Message& message) override {
    Transit& transit = transits_.take([&] { return Transit{*this}; });
    transit.message = &message;
    message.direction == Direction::uplink ? enter_radio(transit) : enter_backhaul(transit);
  }
  [[nodiscard]] LegFloor floor(Direction direction, std::int64_t client, Bytes size) const override {
    const auto over_radio = [&](Bytes bytes) {
      return parts_.radio(client).floor(direction, parts_.in_cell(client), packets_.on_air(bytes));
    };
    const RadioFloor all = over_radio(size);
    const Duration total = least(direction, size, [&](Bytes bytes) { return over_radio(bytes).total(); });
    return {.radio = all, .backhaul = total - all.total()};
  }
  [[nodiscard]] Duration bound(Direction direction, std::int64_t client, Bytes size) const override {
    return least(direction, size, [&](Bytes bytes) {
      return parts_.radio(client).bound(direction, parts_.in_cell(client), packets_.on_air(bytes));
    });
  }
  [[nodiscard]] Duration backhaul_busy(Direction direction) const override { return parts_.backhaul(direction).busy(); }

 private:
  struct Transit {
    MessageNetwork& network;
    Message* message = nullptr;
    RadioMessage radio;
    Instant since{0};  // when it entered where it is
    void leave_radio() { network.leave_radio(*this); }
    void leave_backhaul() { network.leave_backhaul(*this); }
  };

  template <class OverRadio>
  [[nodiscard]] Duration least(Direction direction, Bytes size, const OverRadio& over_radio) const {
    const Link& backhaul = parts_.backhaul(direction);
    if (direction == Direction::downlink) return over_radio(size) + backhaul.floor(size);
    // All packets over the radio and the last one over the backhaul, or the first one over the radio and all over the
    // backhaul, or all but the last one over the radio and the last two over the backhaul.
    const Bytes first = packets_.first(size);
    const Bytes last = packets_.last(size);
    const Duration ends = std::max(over_radio(size) + backhaul.floor(last), over_radio(first) + backhaul.floor(size));
    if (last == size) return ends;
    return std::max(ends, over_radio(size - last) + backhaul.floor(first + last));
  }

  void enter_radio(Transit& transit) {
    const Message& message = *transit.message;
    transit.since = parts_.scheduler.now();
    transit.radio = {};
    transit.radio.client = parts_.in_cell(message.client);
    transit.radio.size = packets_.on_air(message.size);
    transit.radio.deadline = message.deadline;
    transit.radio.packet = packets_.largest_on_air();
    transit.radio.done = Action::call<&Transit::leave_radio>(transit);
    parts_.radio(message.client).send(message.direction, transit.radio);
  }
  void leave_radio(Transit& transit) {
    Message& message = *transit.message;
    message.leg.radio = transfer_of(transit.radio, parts_.scheduler.now() - transit.since);
    if (message.direction == Direction::downlink || message.leg.radio.lost) return finish(transit);
    enter_backhaul(transit);
  }
  void enter_backhaul(Transit& transit) {
    const Message& message = *transit.message;
    transit.since = parts_.scheduler.now();
    if (one_place_) return leave_backhaul(transit);
    const Arrival arrival = message.direction == Direction::uplink
                                ? Arrival{.since = transit.radio.first,
                                          .tail = packets_.tail(message.size, transit.radio.tail),
                                          .before = transit.radio.before,
                                          .packet = packets_.first(message.size)}
                                : Arrival{.since = transit.since, .tail = message.size};
    parts_.backhaul(message.direction).send(message.size, arrival, Action::call<&Transit::leave_backhaul>(transit));
  }
  void leave_backhaul(Transit& transit) {
    Message& message = *transit.message;
    message.leg.backhaul = parts_.scheduler.now() - transit.since;
    message.direction == Direction::uplink ? finish(transit) : enter_radio(transit);
  }
  void finish(Transit& transit) {
    const Action done = transit.message->done;
    transits_.give_back(transit);
    done();
  }

  NetworkParts parts_;
  Packets packets_;
  bool one_place_;  // base station and edge: no backhaul, no event
  ObjectPool<Transit> transits_;
};

}  // namespace

Packets::Packets(const Scenario& scenario) : largest_(std::int64_t{1} << 60) {
  const auto* udp = std::get_if<UdpTransport>(&scenario.transport);
  if (udp == nullptr) return;
  largest_ = udp->mtu;
  if (!std::holds_alternative<NrRadio>(scenario.radio)) return;
  headers_ = nr_packet_headers + NrPhy::block_headers;
  shared_ = NrPhy::block_headers;
}

std::unique_ptr<Network> make_network(const NetworkParts& parts) {
  if (parts.scenario.fidelity == Fidelity::packet && !parts.scenario.stays_on_device())
    return make_packet_network(parts);
  return std::make_unique<MessageNetwork>(parts);
}

}  // namespace trilemma
