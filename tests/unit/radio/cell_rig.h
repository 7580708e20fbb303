#pragma once

#include <memory>
#include <vector>

#include "core/process.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"

/// A radio on its own event list, and messages offered to it at given times.
namespace trilemma::test {

// Half of Tproc,1 and Tproc,2 at 120 kHz, capability 1: N = 20 and 36 symbols of 2192 64 / (480,000 4096 8) s =
// 8919.27 ns, rounded up to 178,386 and 321,094 ns and again when halved.
inline constexpr Duration half1{89'193};
inline constexpr Duration half2{160'547};
inline constexpr Duration slot = 125us;

/// Start of a symbol at 120 kHz: slots of 125 us, symbols of fourteenths, rounded up.
inline Instant symbol(std::int64_t in_slot, std::int64_t index) {
  return in_slot * slot + Duration((index * 125'000 + 13) / 14);
}

struct Transfer {
  ClientIndex client = 0;
  Direction direction = Direction::uplink;
  Bytes size{0};
  Instant offered{0};
  Instant done{0};
  RadioTransfer result;
  [[nodiscard]] Duration latency() const { return done - offered; }
};

struct Offer {
  Instant time{0};
  Bytes size{0};
  ClientIndex client = 0;
  Direction direction = Direction::uplink;
  Instant deadline{0};
};

inline Process offer(Scheduler& scheduler, Radio& radio, Offer message, std::vector<Transfer>& transfers) {
  co_await scheduler.delay(message.time - scheduler.now());
  const Instant offered = scheduler.now();
  const RadioTransfer result =
      co_await RadioTransferAwaiter(scheduler, radio, message.direction, message.client, message.size)
          .by(message.deadline);
  transfers.push_back({message.client, message.direction, message.size, offered, scheduler.now(), result});
}

/// 120 kHz, 400 MHz, all clients at 20 m in line of sight, so loud that no block ever fails.
inline NrRadio loud_radio() {
  NrRadio radio;
  radio.line_of_sight = LineOfSight::always;
  radio.shadowing = Shadowing::off;
  radio.device.power = PowerLevel(80);
  radio.base_station.power = PowerLevel(80);
  return radio;
}

/// So weak that every block fails.
inline NrRadio deaf_radio() {
  NrRadio radio = loud_radio();
  radio.device.power = PowerLevel(-200);
  radio.base_station.power = PowerLevel(-200);
  return radio;
}

/// The uplink SINR of `radio`, whose clients are all alike, becomes `sinr`.
inline NrRadio with_uplink_sinr(NrRadio radio, Decibels sinr) {
  Scheduler scheduler;
  const auto cell = make_radio(scheduler, radio, {.clients = 1}, Streams(1, 1));
  radio.device.power = radio.device.power + (sinr - Decibels(cell->links()[0].uplink_sinr_db));
  return radio;
}

struct Run {
  std::vector<Transfer> transfers;  // in order of arrival
  RadioCounts uplink;
  RadioCounts downlink;
  std::uint64_t events = 0;
};

inline Run run(const RadioConfig& config, const std::vector<Offer>& offers, std::int64_t clients = 1,
               std::uint64_t replication = 1) {
  Scheduler scheduler;
  const auto radio = make_radio(scheduler, config, {.clients = clients}, Streams(1, replication));
  Run result;
  for (const Offer& message : offers) offer(scheduler, *radio, message, result.transfers);
  scheduler.run();
  result.uplink = radio->counts(Direction::uplink);
  result.downlink = radio->counts(Direction::downlink);
  result.events = scheduler.events();
  return result;
}

inline RadioFloor floor_of(const RadioConfig& config, Direction direction, Bytes size, std::int64_t clients = 1,
                           ClientIndex client = 0) {
  Scheduler scheduler;
  return make_radio(scheduler, config, {.clients = clients}, Streams(1, 1))->floor(direction, client, size);
}

/// Payload of a block at the MCS that loud clients get, the highest of its table.
inline Bytes loud_payload(const NrRadio& radio, int symbols) {
  const NrPhy phy(radio);
  return phy.payload(phy.link(Decibels(80)).mcs, symbols);
}

}  // namespace trilemma::test
