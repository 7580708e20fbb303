#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/radio/nr_floor.h"
#include "models/radio/nr_links.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"
#include "models/radio/shared_channel.h"

namespace trilemma {
namespace {

constexpr std::array directions{Direction::uplink, Direction::downlink};
std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

/// Into how many parts the clients of a direction divide its band.
std::int64_t parts_of_band(const NrRadio& config, Direction direction, std::int64_t clients) {
  const bool granted = direction == Direction::uplink && config.access == Access::configured_grant;
  if (!granted) return config.subbands;
  return config.multiplexing == Multiplexing::frequency ? std::max<std::int64_t>(1, clients) : 1;
}

/// How many channels serve a direction: client i belongs to channel i modulo that.
std::int64_t channels_of(const NrRadio& config, Direction direction, std::int64_t clients) {
  const bool granted = direction == Direction::uplink && config.access == Access::configured_grant;
  return granted ? std::max<std::int64_t>(1, clients) : config.subbands;
}

class NrCell final : public Radio {
 public:
  NrCell(Scheduler& scheduler, NrRadio config, const CellPlace& place, const Streams& streams)
      : config_(std::move(config)),
        clients_(place.clients),
        grid_(config_),
        phys_{NrPhy(config_, parts_of_band(config_, Direction::uplink, place.clients)),
              NrPhy(config_, parts_of_band(config_, Direction::downlink, place.clients))},
        links_(config_, phys_, place, streams),
        timing_(config_, grid_, streams.stream(fmt::format("cell {}/delays", place.cell))),
        flexible_(static_cast<int>(config_.special.guard)),
        errors_{streams.stream(fmt::format("cell {}/uplink errors", place.cell)),
                streams.stream(fmt::format("cell {}/downlink errors", place.cell))},
        floors_{NrFloor(config_, grid_, phys_[0]), NrFloor(config_, grid_, phys_[1])} {
    for (const Direction direction : directions) open_channels(scheduler, direction);
  }

  void send(Direction direction, RadioMessage& message) override {
    TRILEMMA_ENSURE(message.size > Bytes(0), "a message over the air has at least one byte");
    auto& channels = channels_[index(direction)];
    channels[message.client % channels.size()].send(message);
  }

  [[nodiscard]] RadioFloor floor(Direction direction, ClientIndex client, Bytes size) const override {
    return known_floor(direction, client, size).idle;
  }
  [[nodiscard]] Duration bound(Direction direction, ClientIndex client, Bytes size) const override {
    return known_floor(direction, client, size).bound;
  }

  [[nodiscard]] double forecast(Direction direction, std::span<const RadioDemand> demand) const override {
    // Nobody else can use a channel's symbols: the busiest channel decides, or the client that uses its own share up.
    std::vector<double> channels(channels_[index(direction)].size());
    std::vector<double> clients(static_cast<std::size_t>(clients_));
    for (const RadioDemand& one : demand) {
      const NrLink& link = links_.typical(direction, one.client);
      channels[one.client % channels.size()] += one.rate * seconds_of_air(direction, link, one.size, Users::many);
      clients[one.client] += one.rate * seconds_of_air(direction, link, one.size, Users::one);
    }
    const auto most = [](const auto& loads) {
      return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
    };
    return std::max(most(channels), most(clients));
  }

  [[nodiscard]] double utilisation(Direction direction, Duration window) const override {
    const std::int64_t channels = shared_in_time(direction) ? 1 : channels_of(config_, direction, clients_);
    const std::int64_t symbols = channels * grid_.symbols_before(direction, window);
    return symbols > 0 ? counts_[index(direction)].symbols / static_cast<double>(symbols) : 0;
  }
  [[nodiscard]] RadioCounts counts(Direction direction) const override { return counts_[index(direction)]; }
  [[nodiscard]] std::span<const RadioLinkState> links() const override { return links_.states(); }

 private:
  struct Floors {
    RadioFloor idle;
    Duration bound{0};
  };
  struct Key {
    Direction direction;
    int mcs;
    std::int64_t size;
    std::int64_t owner;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] bool granted(Direction direction) const {
    return direction == Direction::uplink && config_.access == Access::configured_grant;
  }
  [[nodiscard]] bool shared_in_time(Direction direction) const {
    return granted(direction) && config_.multiplexing == Multiplexing::time;
  }
  [[nodiscard]] SymbolSupply supply(Direction direction, std::int64_t owner) const {
    return supply(direction, owner, timing_.by_region());
  }
  [[nodiscard]] SymbolSupply supply(Direction direction, std::int64_t owner, bool by_region) const {
    return {config_, grid_, direction, by_region, {owner, channels_of(config_, direction, clients_)}};
  }
  void open_channels(Scheduler& scheduler, Direction direction) {
    const ChannelParts parts{scheduler,
                             config_,
                             grid_,
                             phys_[index(direction)],
                             links_,
                             timing_,
                             flexible_,
                             errors_[index(direction)],
                             counts_[index(direction)]};
    const std::int64_t channels = channels_of(config_, direction, clients_);
    for (std::int64_t owner = 0; owner < channels; ++owner) {
      const std::int64_t own = clients_ / channels + (owner < clients_ % channels ? 1 : 0);
      channels_[index(direction)].emplace_back(parts, supply(direction, owner), own);
    }
  }

  const Floors& known_floor(Direction direction, ClientIndex client, Bytes size) const {
    const bool in_turn = shared_in_time(direction);
    const Key key{direction, links_.best_mcs(direction, client), size.value(), in_turn ? client : 0};
    const auto [entry, added] = known_floors_.try_emplace(key, Floors{});
    if (added) {
      NrFloor& floor = floors_[index(direction)];
      const SymbolSupply symbols = supply(direction, key.owner);
      entry->second = {floor.idle(symbols, key.mcs, size),
                       floor.bound(supply(direction, key.owner, false), key.mcs, size)};
    }
    return entry->second;
  }

  enum class Users { one, many };
  /// Seconds of a channel that a message takes when full blocks of one client or of many follow each other, repetitions
  /// included.
  [[nodiscard]] double seconds_of_air(Direction direction, const NrLink& link, Bytes size, Users users) const {
    const NrPhy& phy = phys_[index(direction)];
    const bool in_turn = shared_in_time(direction);
    const bool one_a_client = timing_.by_region() && !in_turn;
    const bool one_block = config_.mapping == Mapping::a || (one_a_client && users == Users::one);
    double bytes = 0;  // in one period
    int longest = 0;
    const auto add = [&](int symbols) {
      bytes += static_cast<double>(phy.payload(link.mcs, symbols).value());
      longest = std::max(longest, symbols);
    };
    const int most = static_cast<int>(config_.symbols);
    for (const FrameGrid::Region& region : grid_.regions(direction)) {
      int left = region.symbols;
      int blocks = 0;
      for (; left >= most && !(one_block && blocks > 0); left -= most, ++blocks) add(most);
      if (!granted(direction) && left >= config_.shortest && !(one_block && blocks > 0)) add(left);
    }
    if (in_turn) bytes /= static_cast<double>(clients_);
    if (bytes == 0) return std::numeric_limits<double>::infinity();
    const double own = static_cast<double>((size + NrPhy::block_headers).value());
    return own / bytes * to_seconds(grid_.period()) * phy.mean_transmissions(link, longest);
  }

  NrRadio config_;
  std::int64_t clients_;
  FrameGrid grid_;
  std::array<NrPhy, 2> phys_;
  NrLinks links_;
  RadioTiming timing_;
  FlexibleSlots flexible_;
  std::array<Rng, 2> errors_;
  std::array<RadioCounts, 2> counts_;
  std::array<std::deque<SharedChannel>, 2> channels_;
  mutable std::array<NrFloor, 2> floors_;
  mutable std::map<Key, Floors> known_floors_;
};

}  // namespace

std::unique_ptr<Radio> make_nr_cell(Scheduler& scheduler, const NrRadio& config, const CellPlace& place,
                                    const Streams& streams) {
  return std::make_unique<NrCell>(scheduler, config, place, streams);
}

}  // namespace trilemma
