#include "models/radio/blockage.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "core/config/text.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr double speed_of_light = 299'792'458;  // m/s
constexpr double infinity = std::numeric_limits<double>::infinity();

/// hypot(along, across) - along without cancellation; 0 for an infinite `along`.
double detour(double along, double across) { return across * across / (std::hypot(along, across) + along); }

/// F of one edge, `beyond` the ray: negative for an edge that the ray has passed.
double edge_term(double beyond, const ScreenPlace& place, Frequency carrier) {
  const double wavelength = speed_of_light / carrier.value();
  const double excess = detour(place.to_device.value(), beyond) + detour(place.to_base_station.value(), beyond);
  const double bend = std::numbers::pi / 2 * std::sqrt(std::numbers::pi / wavelength * excess);
  return std::atan(std::copysign(bend, beyond)) / std::numbers::pi;
}

/// F1 + F2 of two opposite edges, the centre between them at `offset` from the ray: 0 to 1.
double covered(Metres size, Metres offset, const ScreenPlace& place, Frequency carrier) {
  const double half = size.value() / 2;
  return edge_term(half + offset.value(), place, carrier) + edge_term(half - offset.value(), place, carrier);
}

Decibels loss_of(double covered_share) { return Decibels(-20 * std::log10(1 - covered_share)); }

/// The screen on the ray, its path `config.distance` over the ground from the device; nothing where it does not stand
/// between the antennas.
std::optional<ScreenPlace> place_on_ray(const CrossingBlockage& config, const BlockageLink& link) {
  const double ground = std::hypot((link.base_station.x - link.device.x).value(),  //
                                   (link.base_station.y - link.device.y).value());
  const double rise = (link.base_station.z - link.device.z).value();
  const double length = std::hypot(ground, rise);
  const double out = config.distance.value();
  if (out >= ground) return std::nullopt;
  const double up = (config.centre.value_or(screen_of(config.blocker).height / 2) - link.device.z).value();
  // The ray's direction is (ground, rise) / length, the one across it (-rise, ground) / length.
  const double along = (out * ground + up * rise) / length;
  if (along <= 0 || along >= length) return std::nullopt;
  return ScreenPlace{.to_device = Metres(along),
                     .to_base_station = Metres(length - along),
                     .vertical = Metres((up * ground - out * rise) / length)};
}

/// From the device to the blocker's centre, which is further than along any ray.
Metres farthest(const CrossingBlockage& config, Metres device_height) {
  const Metres up = config.centre.value_or(screen_of(config.blocker).height / 2) - device_height;
  return Metres(std::hypot(config.distance.value(), up.value()));
}

}  // namespace

Decibels screen_loss(const Screen& screen, const ScreenPlace& place, Frequency carrier) {
  TRILEMMA_ENSURE(place.to_device > Metres(0) && place.to_base_station > Metres(0),
                  "a screen stands between the ends of the ray");
  return loss_of(covered(screen.height, place.vertical, place, carrier) *
                 covered(screen.width, place.lateral, place, carrier));
}

Screen screen_of(Blocker blocker) {
  switch (blocker) {
    case Blocker::human:
      return {.width = Metres(0.3), .height = Metres(1.7)};
    case Blocker::vehicle:
      return {.width = Metres(4.8), .height = Metres(1.4)};
    case Blocker::agv:
      return {.width = Metres(3), .height = Metres(1.5)};
    case Blocker::robot:
      return {.width = Metres(2), .height = Metres(0.2)};
  }
  TRILEMMA_ENSURE(false, "every blocker has a size");
  return {};
}

Speed speed_limit(Blocker blocker) {
  switch (blocker) {
    case Blocker::human:
      return kilometres_per_hour(3);
    case Blocker::vehicle:
      return kilometres_per_hour(100);
    case Blocker::agv:
      return kilometres_per_hour(30);
    case Blocker::robot:
      return Speed(3);
  }
  TRILEMMA_ENSURE(false, "every blocker has a speed limit");
  return {};
}

std::vector<config::FieldProblem> CrossingBlockage::problems() const {
  std::vector<config::FieldProblem> found;
  if (speed > speed_limit(blocker)) {
    found.push_back(
        {"speed", fmt::format("is faster than a {} in TR 38.901; write at most '{}'", config::name_of(blocker),
                              config::Text<Speed>::format(speed_limit(blocker)))});
  }
  if (blocker == Blocker::robot && !centre) {
    found.push_back({"centre", "is missing, and a robot's arm does not stand on the ground; write a height"});
  }
  const double on_the_ray = rate.value() * to_seconds(screen_of(blocker).width / speed);
  if (on_the_ray > 1) {
    found.push_back({"rate", fmt::format("puts {:.1f} blockers on the ray at once, where there is room for one; write "
                                         "a lower rate or a higher speed",
                                         on_the_ray)});
  }
  return found;
}

Metres blockage_reach(Metres width, Metres farthest, Frequency carrier) {
  const ScreenPlace place{.to_device = farthest, .to_base_station = Metres(infinity)};
  const auto counts = [&](double offset) {
    return loss_of(covered(width, Metres(offset), place, carrier)) >= blockage_cutoff;
  };
  if (!counts(0)) return Metres(0);
  double inside = 0;
  double outside = width.value();
  while (counts(outside)) outside *= 2;
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = (inside + outside) / 2;
    (counts(middle) ? inside : outside) = middle;
  }
  return Metres(outside);
}

Blockage::Blockage(const BlockageConfig& config, const BlockageLink& link, Rng rng)
    : link_(link), rng_(std::move(rng)), next_(Instant::max()) {
  const auto* crossing = std::get_if<CrossingBlockage>(&config);
  if (crossing == nullptr) return;
  config_ = *crossing;
  place_ = place_on_ray(config_, link_);
  const Metres reach = blockage_reach(screen_of(config_.blocker).width, farthest(config_, link.device.z), link.carrier);
  if (reach == Metres(0)) return;
  half_ = reach / config_.speed;
  next_ = rng_.exponential(config_.rate) - half_;  // so that the run starts in the middle of things
}

void Blockage::advance(Instant t) {
  TRILEMMA_ENSURE(t >= now_, "time does not go backwards");
  now_ = t;
  for (; next_ != Instant::max() && next_ - half_ <= t; next_ += rng_.exponential(config_.rate)) {
    if (next_ + half_ >= t) crossings_.push_back(next_);
  }
  while (!crossings_.empty() && crossings_.front() + half_ < t) crossings_.pop_front();
}

Decibels Blockage::loss(Instant t) {
  advance(t);
  Decibels sum{0};
  if (!place_) return sum;
  for (const Instant crossing : crossings_) {
    ScreenPlace place = *place_;
    place.lateral = config_.speed * (t - crossing);
    sum += screen_loss(screen_of(config_.blocker), place, link_.carrier);
  }
  return sum;
}

Instant Blockage::constant_until(Instant t) {
  advance(t);
  if (!crossings_.empty()) return t;
  return next_ == Instant::max() ? next_ : next_ - half_;
}

void Blockage::move(const Position& device) {
  TRILEMMA_ENSURE(device.z == link_.device.z, "a client moves on the level");
  link_.device = device;
  if (next_ != Instant::max()) place_ = place_on_ray(config_, link_);
}

}  // namespace trilemma
