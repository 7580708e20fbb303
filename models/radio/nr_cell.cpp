#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"
#include "models/radio/shared_channel.h"

namespace trilemma {
namespace {

struct ClientLinks {
  std::vector<NrLink> uplink;
  std::vector<NrLink> downlink;
  std::vector<RadioLinkState> states;
};

/// Horizontal distance of a client: fixed, or uniform by area over the disc.
Metres distance_of(const PlacementConfig& placement, Rng& rng) {
  if (const auto* ring = std::get_if<RingPlacement>(&placement)) return ring->distance;
  const auto& disc = std::get<DiscPlacement>(placement);
  const double inner = disc.nearest.value() * disc.nearest.value();
  const double outer = disc.radius.value() * disc.radius.value();
  return Metres(std::sqrt(inner + rng.uniform() * (outer - inner)));
}

Decibels sinr(const NrRadio& config, const StationConfig& from, const StationConfig& to, Decibels loss, int blocks) {
  const Frequency occupied = subcarrier_spacing(static_cast<int>(config.numerology)) * (12.0 * blocks);
  const PowerLevel noise = thermal_noise(occupied) + to.noise_figure;
  return ratio(from.power + from.gain + to.gain - loss, noise);
}

ClientLinks draw_links(const NrRadio& config, const NrPhy& phy, const CellPlace& place, const Streams& streams) {
  const Propagation propagation({.environment = config.environment,
                                 .carrier = config.carrier,
                                 .line_of_sight = config.line_of_sight,
                                 .shadowing = config.shadowing,
                                 .seed = streams.seed(),
                                 .replication = streams.replication()});
  const Heights standard = default_heights(config.environment);
  const Position base{.z = config.base_station.height.value_or(standard.base_station)};
  const int blocks = *resource_blocks(config.bandwidth, static_cast<int>(config.numerology));
  const bool placed_by_chance = std::holds_alternative<DiscPlacement>(config.placement);
  ClientLinks links;
  for (std::int64_t i = 0; i < place.clients; ++i) {
    const std::int64_t client = place.cell + i * place.cells;
    Metres distance = placed_by_chance ? Metres(0) : std::get<RingPlacement>(config.placement).distance;
    if (placed_by_chance) {
      Rng rng = streams.stream(fmt::format("client {}/place", client));
      distance = distance_of(config.placement, rng);
    }
    const Position device{.x = distance, .z = config.device.height.value_or(standard.ue)};
    const auto stream = static_cast<std::int64_t>(stream_number(fmt::format("client {}/propagation", client)));
    const PathLoss path = propagation.draw(stream, device, base);
    const NrLink& up =
        links.uplink.emplace_back(phy.link(sinr(config, config.device, config.base_station, path.loss, blocks)));
    const NrLink& down =
        links.downlink.emplace_back(phy.link(sinr(config, config.base_station, config.device, path.loss, blocks)));
    links.states.push_back({.distance_m = distance.value(),
                            .line_of_sight = path.line_of_sight,
                            .uplink_sinr_db = up.sinr.value(),
                            .downlink_sinr_db = down.sinr.value(),
                            .uplink_mcs = up.mcs,
                            .downlink_mcs = down.mcs,
                            .uplink_bler = up.first_bler[static_cast<std::size_t>(config.symbols)],
                            .in_coverage = up.meets_target && down.meets_target});
  }
  return links;
}

/// Uplink of configured grants: occasion k belongs to client k mod N, for it alone, whole. The fate of a message is
/// settled when it is offered, since nobody else can change it.
class ConfiguredGrants {
 public:
  ConfiguredGrants(Scheduler& scheduler, const NrPhy& phy, std::span<const NrLink> links, Rng rng)
      : scheduler_(scheduler), phy_(phy), links_(links), sender_(phy, std::move(rng)), free_(links.size()) {}

  void send(RadioMessage& message) {
    const NrLink& link = links_[message.client];
    message.unsent = message.size;
    Free& free = free_[message.client];
    std::int64_t occasion = own_at_or_after(message.client, phy_.first_chance(Direction::uplink, scheduler_.now()));
    free.forget_before(occasion);
    occasion = free.at_or_after(occasion);
    pending_.clear();
    while (!message.lost && (message.unsent > Bytes(0) || !pending_.empty())) {
      const FrameGrid::Opportunity opportunity = phy_.grid().at(Direction::uplink, occasion);
      const bool sent = use(message, link, opportunity);
      if (sent) free.take(occasion, step());
      occasion = free.at_or_after(sent || message.unsent > Bytes(0)
                                      ? occasion + step()
                                      : own_at_or_after(message.client, pending_.front().eligible, occasion));
    }
    message.air += phy_.decoding();
    scheduler_.at(message.decoded, message.done);
  }
  [[nodiscard]] const RadioCounts& counts() const { return sender_.counts(); }

 private:
  struct Pending {
    int symbols;
    int transmission;
    Instant eligible;
  };

  /// The occasions of one client that no message has taken: all from `from` on, and those of `gaps` before it, which an
  /// earlier message let pass while it waited for a repetition.
  struct Free {
    std::int64_t from = 0;
    std::deque<std::int64_t> gaps;  // ascending

    void forget_before(std::int64_t occasion) {
      from = std::max(from, occasion);
      while (!gaps.empty() && gaps.front() < occasion) gaps.pop_front();
    }
    [[nodiscard]] std::int64_t at_or_after(std::int64_t occasion) const {
      const auto gap = std::lower_bound(gaps.begin(), gaps.end(), occasion);
      return gap != gaps.end() ? *gap : std::max(occasion, from);
    }
    void take(std::int64_t occasion, std::int64_t step) {
      if (occasion < from) {
        gaps.erase(std::lower_bound(gaps.begin(), gaps.end(), occasion));
        return;
      }
      for (; from < occasion; from += step) gaps.push_back(from);
      from += step;
    }
  };

  [[nodiscard]] std::int64_t step() const { return static_cast<std::int64_t>(links_.size()); }

  [[nodiscard]] std::int64_t own_at_or_after(ClientIndex client, Instant time, std::int64_t after = -1) const {
    const std::int64_t first = std::max(phy_.grid().next(Direction::uplink, time).index, after + 1);
    return first + (client - first % step() + step()) % step();
  }

  /// Uses one occasion of the client for a block that is due again or for new data; false when it stays empty.
  bool use(RadioMessage& message, const NrLink& link, const FrameGrid::Opportunity& opportunity) {
    const FrameGrid::Span on_air{opportunity.start,
                                 phy_.grid().end(Direction::uplink, opportunity, opportunity.symbols)};
    const auto due = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& block) {
      return block.eligible <= opportunity.start && block.symbols <= opportunity.symbols;
    });
    if (due != pending_.end()) {
      const Pending block = *due;
      pending_.erase(due);
      transmit(message, link, {block.symbols, block.transmission, on_air});
      return true;
    }
    const Bytes payload = phy_.payload(link.mcs, opportunity.symbols);
    if (message.unsent == Bytes(0) || payload == Bytes(0)) return false;
    message.unsent = std::max(Bytes(0), message.unsent - payload);
    transmit(message, link, {opportunity.symbols, 1, on_air});
    return true;
  }

  void transmit(RadioMessage& message, const NrLink& link, const BlockSender::Block& block) {
    if (sender_.send(message, link, block)) return;
    if (block.transmission == phy_.max_transmissions()) return sender_.lose(message);
    pending_.push_back({block.symbols, block.transmission + 1, phy_.next_chance(Direction::uplink, block.on_air.end)});
  }

  Scheduler& scheduler_;
  const NrPhy& phy_;
  std::span<const NrLink> links_;
  BlockSender sender_;
  std::vector<Free> free_;        // by client
  std::vector<Pending> pending_;  // of the message at hand
};

class NrCell final : public Radio {
 public:
  NrCell(Scheduler& scheduler, const NrRadio& config, NrPhy phy, const CellPlace& place, const Streams& streams)
      : access_(config.access),
        longest_(static_cast<int>(config.symbols)),
        phy_(std::move(phy)),
        clients_(draw_links(config, phy_, place, streams)),
        grants_(scheduler, phy_, clients_.uplink, streams.stream(fmt::format("cell {}/uplink errors", place.cell))),
        uplink_(scheduler, phy_, Direction::uplink, clients_.uplink,
                streams.stream(fmt::format("cell {}/uplink errors", place.cell))),
        downlink_(scheduler, phy_, Direction::downlink, clients_.downlink,
                  streams.stream(fmt::format("cell {}/downlink errors", place.cell))) {}

  void send(Direction direction, RadioMessage& message) override {
    TRILEMMA_ENSURE(message.size > Bytes(0), "a message over the air has at least one byte");
    if (direction == Direction::downlink) return downlink_.send(message);
    if (access_ == Access::configured_grant) return grants_.send(message);
    uplink_.send(message);
  }

  [[nodiscard]] RadioFloor floor(Direction direction, ClientIndex client, Bytes size) const override {
    const bool own = granted(direction);
    const std::int64_t owners = own ? static_cast<std::int64_t>(clients_.uplink.size()) : 1;
    const Key key{direction, links(direction)[client].mcs, size.value(), own ? client : 0};
    const auto [entry, added] = floors_.try_emplace(key, RadioFloor{});
    if (added) entry->second = phy_.floor(direction, key.mcs, size, own ? client : 0, owners);
    return entry->second;
  }

  [[nodiscard]] double forecast(Direction direction, std::span<const RadioDemand> demand) const override {
    double total = 0;
    std::vector<double> by_client(clients_.uplink.size());
    for (const RadioDemand& one : demand) {
      const NrLink& link = links(direction)[one.client];
      if (granted(direction))
        by_client[one.client] += one.rate * mean_occasions(link, one.size);
      else
        total += one.rate / capacity(direction, link.mcs, one.size) * repetition(direction, link, one.size);
    }
    if (!granted(direction)) return total;
    // Nobody else can use a client's occasions: the busiest client decides.
    const double largest = by_client.empty() ? 0 : *std::max_element(by_client.begin(), by_client.end());
    return largest * static_cast<double>(clients_.uplink.size()) / per_second(phy_.grid().opportunities(direction));
  }

  [[nodiscard]] double utilisation(Direction direction, Duration window) const override {
    if (window <= Duration{0}) return 0;
    return counts(direction).symbols / (per_second(phy_.grid().symbols(direction)) * to_seconds(window));
  }
  [[nodiscard]] RadioCounts counts(Direction direction) const override {
    if (direction == Direction::downlink) return downlink_.counts();
    return granted(direction) ? grants_.counts() : uplink_.counts();
  }
  [[nodiscard]] std::span<const RadioLinkState> links() const override { return clients_.states; }

 private:
  struct Key {
    Direction direction;
    int mcs;
    std::int64_t size;
    ClientIndex owner;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] bool granted(Direction direction) const {
    return direction == Direction::uplink && access_ == Access::configured_grant;
  }
  [[nodiscard]] const std::vector<NrLink>& links(Direction direction) const {
    return direction == Direction::uplink ? clients_.uplink : clients_.downlink;
  }
  [[nodiscard]] double per_second(std::int64_t per_period) const {
    return static_cast<double>(per_period) / to_seconds(phy_.grid().period());
  }
  [[nodiscard]] double capacity(Direction direction, int mcs, Bytes size) const {
    const auto [entry, added] = capacities_.try_emplace(Key{direction, mcs, size.value(), 0}, 0);
    if (added) entry->second = phy_.messages_per_second(direction, mcs, size);
    return entry->second;
  }
  /// How often each block of a message is sent on average.
  [[nodiscard]] double repetition(Direction direction, const NrLink& link, Bytes size) const {
    return phy_.mean_transmissions(link, phy_.symbols_for(link.mcs, size, phy_.grid().longest(direction)));
  }
  [[nodiscard]] double mean_occasions(const NrLink& link, Bytes size) const {
    const Bytes full = phy_.payload(link.mcs, longest_);
    if (full == Bytes(0)) return std::numeric_limits<double>::infinity();
    return std::ceil(size / full) * phy_.mean_transmissions(link, longest_);
  }

  Access access_;
  int longest_;
  NrPhy phy_;
  ClientLinks clients_;
  ConfiguredGrants grants_;
  SharedChannel uplink_;
  SharedChannel downlink_;
  mutable std::map<Key, RadioFloor> floors_;
  mutable std::map<Key, double> capacities_;  // messages per second
};

}  // namespace

std::unique_ptr<Radio> make_nr_cell(Scheduler& scheduler, const NrRadio& config, const NrPhy& phy,
                                    const CellPlace& place, const Streams& streams) {
  return std::make_unique<NrCell>(scheduler, config, phy, place, streams);
}

}  // namespace trilemma
