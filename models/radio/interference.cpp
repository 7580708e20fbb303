#include "models/radio/interference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/config/text.h"
#include "core/ensure.h"
#include "models/radio/deployment.h"

namespace trilemma {
namespace {

double ground_distance(const Position& a, const Position& b) {
  return std::hypot((a.x - b.x).value(), (a.y - b.y).value());
}

double milliwatts(PowerLevel level) { return linear(ratio(level, PowerLevel(0))); }

/// Gain of a station at `here` with its beam at `peer`, towards `there`.
Decibels gain(const InterferingStation& station, const Position& here, const Position& peer, const Position& there) {
  const Antenna antenna(station.array, level_bearing(here, peer));
  return antenna.gain(bearing(here, peer), bearing(here, there)) + station.extra;
}

/// The distance by which the environment sets its limits: on the ground outdoors, between the antennas indoors.
Metres limited_distance(const InterferenceSetup& setup, Metres ground) {
  const bool outdoor = setup.environment == Environment::umi || setup.environment == Environment::uma;
  if (outdoor) return ground;
  return Metres(std::hypot(ground.value(), (setup.base_station.height - setup.device.height).value()));
}

Position draw_client(const Position& site, const NeighbourInterference& config, const InterferenceSetup& setup,
                     Rng& rng) {
  const Metres min = distance_range(setup.environment).min;
  while (true) {
    Position client = uniform_in_hexagon(site, config.inter_site_distance, rng);
    client.z = setup.device.height;
    const Metres ground(ground_distance(client, site));
    if (ground > Metres(0) && limited_distance(setup, ground) >= min) return client;
  }
}

Decibels rise(double interference_mw, Frequency bandwidth, Decibels noise_figure) {
  return decibels(1 + interference_mw / milliwatts(thermal_noise(bandwidth) + noise_figure));
}

PropagationConfig propagation_config(const InterferenceSetup& setup, const Streams& streams) {
  return {.environment = setup.environment,
          .carrier = setup.carrier,
          .line_of_sight = setup.line_of_sight,
          .shadowing = setup.shadowing,
          .seed = streams.seed(),
          .replication = streams.replication()};
}

std::int64_t stream_of(const std::string& name) { return static_cast<std::int64_t>(stream_number(name)); }

}  // namespace

std::vector<config::FieldProblem> NeighbourInterference::problems() const {
  if (sites == 6 || sites == 18) return {};
  return {{"sites", "is not a whole number of rings; write 6 or 18"}};
}

std::string distance_problem(const NeighbourInterference& neighbours, const InterferenceSetup& setup, Metres farthest) {
  using config::Text;
  const auto [min, max] = distance_range(setup.environment);
  const Metres grid = neighbours.inter_site_distance;
  const double rings = neighbours.sites == 6 ? 1 : 2;
  const Metres corner = grid / std::sqrt(3.0);
  const Metres longest = grid * rings + std::max(corner, farthest);
  if (limited_distance(setup, longest) > max) {
    return fmt::format(
        "puts neighbours up to {} away, beyond the {} for which TR 38.901 specifies '{}'; write a smaller "
        "distance or fewer sites",
        Text<Metres>::format(longest), Text<Metres>::format(max), config::name_of(setup.environment));
  }
  // The nearest that a neighbour's client comes to this base station, and a client of this cell to the neighbour's.
  const Metres shortest = std::min(grid / 2, grid - farthest);
  if (shortest <= Metres(0) || limited_distance(setup, shortest) < min) {
    return fmt::format("leaves clients within {} of a neighbouring base station; write a distance of more than {}",
                       Text<Metres>::format(min), Text<Metres>::format(std::max(min * 2, min + farthest)));
  }
  return {};
}

std::vector<Neighbour> draw_neighbours(const NeighbourInterference& config, const InterferenceSetup& setup,
                                       std::string_view cell, const Streams& streams) {
  TRILEMMA_ENSURE(config.problems().empty(), "neighbours come in whole rings");
  const int rings = config.sites == 6 ? 1 : 2;
  const std::vector<Position> sites = hexagonal_sites(config.inter_site_distance, rings, setup.base_station.height);
  std::vector<Neighbour> neighbours;
  for (std::size_t i = 1; i < sites.size(); ++i) {
    Rng rng = streams.stream(fmt::format("{}/neighbour {}/places", cell, i - 1));
    Neighbour& neighbour = neighbours.emplace_back(Neighbour{.base_station = sites[i], .clients = {}});
    for (std::int64_t k = 0; k < config.clients; ++k) {
      neighbour.clients.push_back(draw_client(sites[i], config, setup, rng));
    }
  }
  return neighbours;
}

NeighbourField::NeighbourField(Fraction activity, const InterferenceSetup& setup, std::vector<Neighbour> neighbours,
                               std::string_view cell, const Streams& streams)
    : activity_(activity.value()),
      setup_(setup),
      neighbours_(std::move(neighbours)),
      streams_(streams),
      propagation_(propagation_config(setup, streams)),
      base_station_{.z = setup.base_station.height} {
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    TRILEMMA_ENSURE(!neighbours_[i].clients.empty(), "a neighbour that transmits has clients");
    add_uplink_sources(neighbours_[i], fmt::format("{}/neighbour {}", cell, i));
  }
}

void NeighbourField::add_uplink_sources(const Neighbour& neighbour, const std::string& name) {
  const double share = activity_ / static_cast<double>(neighbour.clients.size());
  for (std::size_t k = 0; k < neighbour.clients.size(); ++k) {
    const Position& client = neighbour.clients[k];
    const auto stream = stream_of(fmt::format("{}/client {}/propagation", name, k));
    const Decibels loss = propagation_.draw(stream, client, base_station_).loss;
    const Decibels transmit = gain(setup_.device, client, neighbour.base_station, base_station_);
    uplink_sources_.push_back({.arrival = bearing(base_station_, client),
                               .power_mw_mean = share * milliwatts(setup_.device.power + transmit - loss)});
  }
}

double NeighbourField::uplink_power(const Position& place) const {
  const Antenna antenna(setup_.base_station.array, level_bearing(base_station_, place));
  const Bearing beam = bearing(base_station_, place);
  double sum = 0;
  for (const UplinkSource& source : uplink_sources_) {
    sum += source.power_mw_mean * linear(antenna.gain(beam, source.arrival) + setup_.base_station.extra);
  }
  return sum;
}

double NeighbourField::downlink_power(std::string_view name, const Position& place) const {
  double sum = 0;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const Neighbour& neighbour = neighbours_[i];
    const auto stream = stream_of(fmt::format("{}/neighbour {}/propagation", name, i));
    const Decibels loss = propagation_.draw(stream, place, neighbour.base_station).loss;
    const Decibels receive = gain(setup_.device, place, base_station_, neighbour.base_station);
    double transmit = 0;
    for (const Position& client : neighbour.clients) {
      transmit += linear(gain(setup_.base_station, neighbour.base_station, client, place));
    }
    transmit *= activity_ / static_cast<double>(neighbour.clients.size());
    sum += transmit * milliwatts(setup_.base_station.power + receive - loss);
  }
  return sum;
}

NoiseRise NeighbourField::noise_rise(std::string_view name, const Position& place) const {
  return {.uplink = rise(uplink_power(place), setup_.uplink_bandwidth, setup_.base_station.noise_figure),
          .downlink = rise(downlink_power(name, place), setup_.downlink_bandwidth, setup_.device.noise_figure)};
}

Interference::Interference(const InterferenceConfig& config, const InterferenceSetup& setup, std::string_view cell,
                           const Streams& streams) {
  if (const auto* margin = std::get_if<MarginInterference>(&config)) {
    source_ = NoiseRise{.uplink = margin->uplink, .downlink = margin->downlink};
  } else if (const auto* neighbours = std::get_if<NeighbourInterference>(&config)) {
    source_.emplace<NeighbourField>(neighbours->activity, setup, draw_neighbours(*neighbours, setup, cell, streams),
                                    cell, streams);
  }
}

NoiseRise Interference::noise_rise(std::string_view name, const Position& place) const {
  if (const auto* constant = std::get_if<NoiseRise>(&source_)) return *constant;
  return std::get<NeighbourField>(source_).noise_rise(name, place);
}

}  // namespace trilemma
