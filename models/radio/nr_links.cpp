#include "models/radio/nr_links.h"

#include <cmath>

#include <fmt/format.h>

#include "models/radio/propagation.h"

namespace trilemma {
namespace {

/// Horizontal distance of a client: fixed, or uniform by area over the disc.
Metres distance_of(const PlacementConfig& placement, const Streams& streams, std::int64_t client) {
  if (const auto* ring = std::get_if<RingPlacement>(&placement)) return ring->distance;
  Rng rng = streams.stream(fmt::format("client {}/place", client));
  const auto& disc = std::get<DiscPlacement>(placement);
  const double inner = disc.nearest.value() * disc.nearest.value();
  const double outer = disc.radius.value() * disc.radius.value();
  return Metres(std::sqrt(inner + rng.uniform() * (outer - inner)));
}

/// Signal to noise: power and noise both over `blocks` resource blocks.
Decibels sinr(const NrRadio& config, const StationConfig& from, const StationConfig& to, Decibels loss, int blocks) {
  const Frequency occupied = subcarrier_spacing(static_cast<int>(config.numerology)) * (12.0 * blocks);
  const PowerLevel noise = thermal_noise(occupied) + to.noise_figure;
  return ratio(from.power + from.gain + to.gain - loss, noise);
}

}  // namespace

NrLinks::NrLinks(const NrRadio& config, const std::array<NrPhy, 2>& phys, const CellPlace& place,
                 const Streams& streams) {
  const NrPhy& uplink = phys[static_cast<std::size_t>(Direction::uplink)];
  const NrPhy& downlink = phys[static_cast<std::size_t>(Direction::downlink)];
  const Propagation propagation({.environment = config.environment,
                                 .carrier = config.carrier,
                                 .line_of_sight = config.line_of_sight,
                                 .shadowing = config.shadowing,
                                 .seed = streams.seed(),
                                 .replication = streams.replication()});
  const Heights standard = default_heights(config.environment);
  const Position base{.z = config.base_station.height.value_or(standard.base_station)};
  // A device spends its power on its own part of the band, the base station on all parts.
  const int own = uplink.resource_blocks();
  const int all = *resource_blocks(config.bandwidth, static_cast<int>(config.numerology), config.carrier);
  for (std::int64_t i = 0; i < place.clients; ++i) {
    const std::int64_t client = place.cell + i * place.cells;
    const Position device{.x = distance_of(config.placement, streams, client),
                          .z = config.device.height.value_or(standard.ue)};
    const auto stream = static_cast<std::int64_t>(stream_number(fmt::format("client {}/propagation", client)));
    const PathLoss path = propagation.draw(stream, device, base);
    const NrLink up = uplink.link(sinr(config, config.device, config.base_station, path.loss, own));
    const NrLink down = downlink.link(sinr(config, config.base_station, config.device, path.loss, all));
    links_[static_cast<std::size_t>(Direction::uplink)].push_back(up);
    links_[static_cast<std::size_t>(Direction::downlink)].push_back(down);
    states_.push_back({.distance_m = device.x.value(),
                       .line_of_sight = path.line_of_sight,
                       .uplink_sinr_db = up.sinr.value(),
                       .downlink_sinr_db = down.sinr.value(),
                       .uplink_mcs = up.mcs,
                       .downlink_mcs = down.mcs,
                       .uplink_bler = uplink.block_error_rate(up.mcs, up.sinr, static_cast<int>(config.symbols), 1),
                       .in_coverage = up.meets_target && down.meets_target});
  }
}

}  // namespace trilemma
