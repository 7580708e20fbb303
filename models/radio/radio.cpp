#include "models/radio/radio.h"

#include <algorithm>

namespace trilemma {

RadioCounts& RadioCounts::operator+=(const RadioCounts& other) {
  blocks += other.blocks;
  retransmissions += other.retransmissions;
  errors += other.errors;
  lost_blocks += other.lost_blocks;
  recovered_blocks += other.recovered_blocks;
  empty_blocks += other.empty_blocks;
  symbols += other.symbols;
  on_air += other.on_air;
  bytes_offered += other.bytes_offered;
  bytes_delivered += other.bytes_delivered;
  bytes_lost += other.bytes_lost;
  return *this;
}

namespace {

Bytes first_packet(const RadioMessage& message) {
  return message.packet > Bytes(0) ? std::min(message.packet, message.size) : message.size;
}
/// Of a message of which the last `bytes` have come at once: a packet whose end was missing has waited for it.
Bytes tail(const RadioMessage& message, Bytes bytes) {
  const Bytes packet = first_packet(message);
  return message.size - (message.size - bytes).value() / packet.value() * packet;
}

}  // namespace

void note_arrival(RadioMessage& message, Bytes bytes, Instant decoded, bool latest) {
  const Bytes packet = first_packet(message);
  if (message.received < packet && message.received + bytes >= packet) message.first = decoded;
  message.received += bytes;
  message.before = latest ? message.decoded : std::max(message.before, decoded);
  if (latest) message.tail = tail(message, bytes);
}

namespace {

/// A shared first-in-first-out pipe in each direction; without a rate it is no leg at all.
class Pipe final : public Radio {
 public:
  Pipe(Scheduler& scheduler, std::optional<FixedRadio> config) : scheduler_(scheduler), config_(config) {}

  void send(Direction direction, RadioMessage& message) override {
    Lane& lane = lanes_[static_cast<std::size_t>(direction)];
    const Duration serialisation = serialise(message.size);
    lane.free_at = std::max(lane.free_at, scheduler_.now()) + serialisation;
    lane.busy += serialisation;
    ++lane.counts.blocks;
    lane.counts.on_air += serialisation;
    lane.counts.bytes_offered += message.size.value();
    lane.counts.bytes_delivered += message.size.value();
    message.blocks = 1;
    message.first = lane.free_at - serialisation + serialise(first_packet(message)) + delay();
    message.tail = tail(message, Bytes(1));
    message.before = lane.free_at - serialisation + serialise(message.size - message.tail) + delay();
    message.times = {.queueing = lane.free_at - serialisation - scheduler_.now(), .air = serialisation + delay()};
    scheduler_.at(lane.free_at + delay(), message.done);
  }
  [[nodiscard]] RadioFloor floor(Direction /*direction*/, ClientIndex /*client*/, Bytes size) const override {
    return {.air = serialise(size) + delay()};
  }
  [[nodiscard]] Duration bound(Direction /*direction*/, ClientIndex /*client*/, Bytes size) const override {
    return serialise(size) + delay();
  }
  [[nodiscard]] double forecast(Direction /*direction*/, std::span<const RadioDemand> demand) const override {
    double load = 0;
    for (const RadioDemand& one : demand) load += one.rate * to_seconds(serialise(one.size));
    return load;
  }
  [[nodiscard]] double utilisation(Direction direction, Duration window) const override {
    if (window <= Duration{0}) return 0;
    return to_seconds(lanes_[static_cast<std::size_t>(direction)].busy) / to_seconds(window);
  }
  [[nodiscard]] RadioCounts counts(Direction direction) const override {
    return lanes_[static_cast<std::size_t>(direction)].counts;
  }
  [[nodiscard]] std::span<const RadioLinkState> links() const override { return {}; }

 private:
  struct Lane {
    Instant free_at{0};
    Duration busy{0};
    RadioCounts counts;
  };
  [[nodiscard]] Duration serialise(Bytes size) const { return config_ ? size / config_->rate : Duration{0}; }
  [[nodiscard]] Duration delay() const { return config_ ? config_->delay : Duration{0}; }

  Scheduler& scheduler_;
  std::optional<FixedRadio> config_;
  std::array<Lane, 2> lanes_;
};

}  // namespace

std::unique_ptr<Radio> make_radio(Scheduler& scheduler, const RadioConfig& config, const CellPlace& place,
                                  const Streams& streams) {
  if (std::holds_alternative<NoRadio>(config)) return std::make_unique<Pipe>(scheduler, std::nullopt);
  if (const auto* fixed = std::get_if<FixedRadio>(&config)) return std::make_unique<Pipe>(scheduler, *fixed);
  return make_nr_cell(scheduler, std::get<NrRadio>(config), place, streams);
}

std::vector<std::unique_ptr<Radio>> make_radios(Scheduler& scheduler, const RadioConfig& config, std::int64_t cells,
                                                std::int64_t clients, const Streams& streams) {
  std::vector<std::unique_ptr<Radio>> radios;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const CellPlace place{.cell = cell, .cells = cells, .clients = clients / cells + (cell < clients % cells ? 1 : 0)};
    radios.push_back(make_radio(scheduler, config, place, streams));
  }
  return radios;
}

}  // namespace trilemma
