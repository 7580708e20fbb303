#include "models/radio/nr_links.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// A passing blocker is looked at this often.
constexpr Duration blocker_step{1'000'000};

/// Horizontal distance of a client: fixed, or uniform by area over the disc.
Metres distance_of(const PlacementConfig& placement, const Streams& streams, std::int64_t client) {
  if (const auto* ring = std::get_if<RingPlacement>(&placement)) return ring->distance;
  Rng rng = streams.stream(fmt::format("client {}/place", client));
  const auto& disc = std::get<DiscPlacement>(placement);
  const double inner = disc.nearest.value() * disc.nearest.value();
  const double outer = disc.radius.value() * disc.radius.value();
  return Metres(std::sqrt(inner + rng.uniform() * (outer - inner)));
}

PropagationConfig propagation_of(const NrRadio& config, const Streams& streams) {
  return {.environment = config.environment,
          .carrier = config.carrier,
          .line_of_sight = config.line_of_sight,
          .shadowing = config.shadowing,
          .seed = streams.seed(),
          .replication = streams.replication()};
}

InterferingStation interfering(const StationConfig& station, Metres height) {
  const ArrayConfig array = station.array.value_or(ArrayConfig{.rows = 1, .columns = 1});
  return {.power = station.power,
          .array = array,
          .extra = station.total_gain() - peak_gain(array),
          .noise_figure = station.noise_figure,
          .height = height};
}

}  // namespace

bool links_change(const NrRadio& config) {
  return !std::holds_alternative<NoFading>(config.fading) || !std::holds_alternative<StaticMotion>(config.motion) ||
         !std::holds_alternative<NoBlockage>(config.blockage);
}

namespace {

Metres device_height(const NrRadio& config) {
  return config.device.height.value_or(default_heights(config.environment).ue);
}
Metres base_height(const NrRadio& config) {
  return config.base_station.height.value_or(default_heights(config.environment).base_station);
}

std::uint64_t propagation_stream(std::int64_t client) {
  return stream_number(fmt::format("client {}/propagation", client));
}

}  // namespace

InterferenceSetup interference_setup(const NrRadio& config, int uplink_blocks, int downlink_blocks) {
  const Frequency block = subcarrier_spacing(static_cast<int>(config.numerology)) * 12.0;
  return {.environment = config.environment,
          .carrier = config.carrier,
          .line_of_sight = config.line_of_sight,
          .shadowing = config.shadowing,
          .uplink_bandwidth = block * uplink_blocks,
          .downlink_bandwidth = block * downlink_blocks,
          .base_station = interfering(config.base_station, base_height(config)),
          .device = interfering(config.device, device_height(config))};
}

/// What a link is made of that changes, and the link as it was last evaluated.
struct NrLinks::Changing {
  LargeScale large_scale;
  Blockage blockage;
  Instant until{-1};         // what is below holds before this instant
  std::vector<float> gains;  // of sub-bands, linear
  std::array<NrLink, 2> links{};
  std::array<std::int64_t, 2> report{-1, -1};  // the period in which the MCS was chosen
};

NrLinks::~NrLinks() = default;

NrLinks::NrLinks(const NrRadio& config, const std::array<NrPhy, 2>& phys, const CellPlace& place,
                 const Streams& streams)
    : config_(config),
      phys_(phys),
      cell_(place),
      streams_(streams),
      base_station_{.z = base_height(config)},
      propagation_(propagation_of(config, streams)),
      changing_(links_change(config)),
      changes_(static_cast<std::size_t>(place.clients)) {
  if (const auto* fading = std::get_if<Tr38901Fading>(&config.fading)) {
    fading_.emplace(*fading,
                    FadingSetup{.environment = config.environment,
                                .carrier = config.carrier,
                                .bandwidth = config.bandwidth,
                                .base_station = *config.base_station.array,
                                .client = *config.device.array,
                                .heights = {.base_station = base_height(config), .ue = device_height(config)}},
                    streams, fmt::format("cell {}", place.cell));
    betas_ = eesm_betas(config.mcs_table);
  }
  const InterferenceSetup setup = interference_setup(config, phys[0].resource_blocks(),
                                                     phys[1].resource_blocks() * static_cast<int>(config.subbands));
  const Interference interference(config.interference, setup, fmt::format("cell {}", place.cell), streams);
  for (std::int64_t i = 0; i < place.clients; ++i) add_client(interference, place.cell + i * place.cells);
}

Position NrLinks::place_of(std::int64_t client) const {
  const double distance = distance_of(config_.placement, streams_, client).value();
  Rng rng = streams_.stream(fmt::format("client {}/azimuth", client));
  const double azimuth = 2 * std::numbers::pi * rng.uniform();
  return {.x = Metres(distance * std::cos(azimuth)),
          .y = Metres(distance * std::sin(azimuth)),
          .z = device_height(config_)};
}

/// Path loss, with the building if there is one: the way indoors does not count for the line of sight, and shadowing
/// has a deviation of its own (penetration.h).
PathLoss NrLinks::path_loss(std::int64_t client, const Position& device) const {
  const std::uint64_t stream = propagation_stream(client);
  if (config_.penetration == Penetration::none) {
    return propagation_.draw(static_cast<std::int64_t>(stream), device, base_station_);
  }
  Rng rng = streams_.stream(fmt::format("client {}/building", client));
  const Indoors indoors = draw_penetration(config_.penetration, config_.carrier, rng);
  Rng luck_rng(streams_.seed(), stream, streams_.replication());
  const Luck luck = draw_luck(luck_rng);
  const double ground = std::hypot(device.x.value(), device.y.value());
  const double outdoors = std::max(ground - indoors.depth.value(), distance_range(config_.environment).min.value());
  const Position wall{.x = device.x * (outdoors / ground), .y = device.y * (outdoors / ground), .z = device.z};
  const bool clear = propagation_.line_of_sight(luck.uniform, wall, base_station_);
  const Decibels shadow = config_.shadowing == Shadowing::on ? indoor_shadowing_deviation * luck.normal : Decibels(0);
  return {.loss = propagation_.median(clear, device, base_station_) + indoors.loss + shadow, .line_of_sight = clear};
}

void NrLinks::add_client(const Interference& interference, std::int64_t client) {
  const Position device = place_of(client);
  const PathLoss path = path_loss(client, device);
  places_.push_back(device);
  losses_.push_back(path.loss);
  const NoiseRise rise = interference.noise_rise(fmt::format("client {}", client), device);
  noise_rise_[0].push_back(rise.uplink);
  noise_rise_[1].push_back(rise.downlink);
  const auto index = static_cast<ClientIndex>(losses_.size() - 1);
  const NrLink up = phys_[0].link(sinr(Direction::uplink, index, path.loss));
  const NrLink down = phys_[1].link(sinr(Direction::downlink, index, path.loss));
  links_[0].push_back(up);
  links_[1].push_back(down);
  states_.push_back({.distance_m = std::hypot(device.x.value(), device.y.value()),
                     .line_of_sight = path.line_of_sight,
                     .uplink_sinr_db = up.sinr.value(),
                     .downlink_sinr_db = down.sinr.value(),
                     .uplink_mcs = up.mcs,
                     .downlink_mcs = down.mcs,
                     .uplink_bler = phys_[0].block_error_rate(up.mcs, up.sinr, static_cast<int>(config_.symbols), 1),
                     .in_coverage = up.meets_target && down.meets_target});
}

Decibels NrLinks::sinr(Direction direction, ClientIndex client, Decibels loss) const {
  const bool up = direction == Direction::uplink;
  const StationConfig& from = up ? config_.device : config_.base_station;
  const StationConfig& to = up ? config_.base_station : config_.device;
  // A device spends its power on its own part of the band, the base station on all parts: noise counts over the same.
  const int blocks = up ? phys_[0].resource_blocks()
                        : *resource_blocks(config_.bandwidth, static_cast<int>(config_.numerology), config_.carrier);
  const Frequency occupied = subcarrier_spacing(static_cast<int>(config_.numerology)) * (12.0 * blocks);
  const PowerLevel noise = thermal_noise(occupied) + to.noise_figure + noise_rise_[up ? 0 : 1][client];
  const Decibels gains = from.total_gain() + to.total_gain();
  const PowerLevel power = up ? uplink_power(loss - gains, blocks) : from.power;
  return ratio(power + gains - loss, noise);
}

PowerLevel NrLinks::uplink_power(Decibels coupling_loss, int blocks) const {
  const PowerLevel most = config_.device.power;
  const auto* control = std::get_if<FractionalPowerControl>(&config_.power_control);
  if (control == nullptr) return most;
  const Decibels width = decibels(std::exp2(config_.numerology) * blocks);
  return std::min(most, control->p0 + width + coupling_loss * control->alpha);
}

// ---- Links that change ----------------------------------------------------------------------------------------------

std::unique_ptr<NrLinks::Changing> NrLinks::make_changing(ClientIndex index) const {
  const std::int64_t client = cell_.cell + static_cast<std::int64_t>(index) * cell_.cells;
  const auto stream = [&](std::string_view what) { return streams_.stream(fmt::format("client {}/{}", client, what)); };
  const LargeScaleConfig large_scale{
      .motion = config_.motion, .start = places_[index], .base_station = base_station_, .step = std::nullopt};
  const BlockageLink ray{.carrier = config_.carrier, .device = places_[index], .base_station = base_station_};
  return std::make_unique<Changing>(
      Changing{.large_scale =
                   LargeScale(propagation_, large_scale,
                              Rng(streams_.seed(), propagation_stream(client), streams_.replication()), stream("way")),
               .blockage = Blockage(config_.blockage, ray, stream("blockers")),
               .gains = std::vector<float>(fading_ ? fading_->subbands() : 0)});
}

const NrLink& NrLinks::changing_link(Direction direction, ClientIndex client, Instant time) {
  auto& link = changes_[client];
  if (!link) link = make_changing(client);
  if (time >= link->until) refresh(*link, client, time);
  return link->links[static_cast<std::size_t>(direction)];
}

void NrLinks::refresh(Changing& link, ClientIndex client, Instant time) {
  const bool moves = !std::holds_alternative<StaticMotion>(config_.motion);
  link.until = Instant::max();
  Decibels loss = losses_[client];
  bool line_of_sight = states_[client].line_of_sight;
  Position place = places_[client];
  if (moves) {
    const LargeScale::State& state = link.large_scale.at(time);
    loss = state.loss;
    line_of_sight = state.line_of_sight;
    place = state.place;
    link.until = link.large_scale.constant_until(time);
    link.blockage.move(place);
  }
  // Blockers stand in the line of sight; where there is none, they hide nothing.
  if (line_of_sight) loss += link.blockage.loss(time);
  const Instant clear_until = link.blockage.constant_until(time);
  link.until = std::min(link.until, clear_until > time ? clear_until : time + blocker_step);
  if (fading_) {
    const Metres distance(std::hypot(place.x.value(), place.y.value()));
    fading_->gains(client, line_of_sight, distance, time, link.gains);
    link.until = std::min(link.until, (fading_->epoch(time) + 1) * fading_->coherence_time());
  }
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    adapt(direction, sinr(direction, client, loss), link, time);
  }
}

/// The MCS follows the link, or stays until the next report.
void NrLinks::adapt(Direction direction, Decibels mean, Changing& link, Instant time) {
  const auto index = static_cast<std::size_t>(direction);
  NrLink& now = link.links[index];
  const Duration period = config_.report_period;
  const std::int64_t report = period > Duration{0} ? time / period : 0;
  const bool keep = period > Duration{0} && link.report[index] == report;
  link.report[index] = report;
  if (!fading_) {
    const int mcs = now.mcs;
    now = phys_[index].link(mean);
    if (keep) now.mcs = mcs;
    return;
  }
  const double flat = linear(mean);
  sinrs_.resize(link.gains.size());
  for (std::size_t i = 0; i < sinrs_.size(); ++i) sinrs_[i] = static_cast<float>(flat * link.gains[i]);
  const auto effective = [&](int mcs) {
    return decibels(std::max(effective_sinr(sinrs_, betas_[static_cast<std::size_t>(mcs)]), 1e-12));
  };
  if (keep) {
    now.sinr = effective(now.mcs);
    return;
  }
  // The effective SINR depends on the MCS that it decides: a few rounds settle it, downwards where it swings.
  int mcs = phys_[index].link(mean).mcs;
  for (int round = 0; round < 4; ++round) {
    now = phys_[index].link(effective(mcs));
    if (now.mcs == mcs) return;
    mcs = round < 2 ? now.mcs : std::min(now.mcs, mcs);
  }
  now.mcs = mcs;
  now.sinr = effective(mcs);
}

}  // namespace trilemma
