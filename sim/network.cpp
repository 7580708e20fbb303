#include "sim/network.h"

#include "core/object_pool.h"
#include "models/radio/radio.h"

namespace trilemma {
namespace {

/// One message after the other, each as a whole: the backhaul gets it when the radio has delivered it, and the other
/// way round.
class MessageNetwork final : public Network {
 public:
  explicit MessageNetwork(const NetworkParts& parts)
      : parts_(parts), one_place_(parts.uplink.floor(Bytes(1)) == Duration{0}) {}

  void send(Message& message) override {
    Transit& transit = transits_.take([&] { return Transit{*this}; });
    transit.message = &message;
    message.direction == Direction::uplink ? enter_radio(transit) : enter_backhaul(transit);
  }
  [[nodiscard]] LegFloor floor(Direction direction, std::int64_t client, Bytes size) const override {
    return {.radio = parts_.radio(client).floor(direction, parts_.in_cell(client), size),
            .backhaul = parts_.backhaul(direction).floor(size)};
  }
  [[nodiscard]] Duration bound(Direction direction, std::int64_t client, Bytes size) const override {
    return parts_.radio(client).bound(direction, parts_.in_cell(client), size) + parts_.backhaul(direction).floor(size);
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

  void enter_radio(Transit& transit) {
    const Message& message = *transit.message;
    transit.since = parts_.scheduler.now();
    transit.radio = {};
    transit.radio.client = parts_.in_cell(message.client);
    transit.radio.size = message.size;
    transit.radio.deadline = message.deadline;
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
    parts_.backhaul(message.direction).send(message.size, Action::call<&Transit::leave_backhaul>(transit));
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
  bool one_place_;  // base station and edge: no backhaul, no event
  ObjectPool<Transit> transits_;
};

}  // namespace

std::unique_ptr<Network> make_network(const NetworkParts& parts) {
  if (parts.scenario.fidelity == Fidelity::packet && !parts.scenario.on_device()) return make_packet_network(parts);
  return std::make_unique<MessageNetwork>(parts);
}

}  // namespace trilemma
