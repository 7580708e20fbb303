#include "models/radio/large_scale.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// Distribution function of the standard normal distribution.
double normal_probability(double value) { return std::erfc(-value / std::numbers::sqrt2) / 2; }

/// Its inverse, by bisection: once for each client.
double normal_quantile(double probability) {
  double low = -9;
  double high = 9;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (normal_probability(middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

CorrelationDistances correlation_distances(Environment environment) {
  switch (environment) {
    case Environment::umi:
      return {.line_of_sight = Metres(10), .obstructed = Metres(13), .state = Metres(50)};
    case Environment::uma:
      return {.line_of_sight = Metres(37), .obstructed = Metres(50), .state = Metres(50)};
    case Environment::inh:
      return {.line_of_sight = Metres(10), .obstructed = Metres(6), .state = Metres(10)};
    case Environment::inf_sl:
    case Environment::inf_sh:
    case Environment::inf_hh:
      return {.line_of_sight = Metres(10), .obstructed = Metres(10), .state = Metres(5)};
    case Environment::inf_dl:
    case Environment::inf_dh:
      return {.line_of_sight = Metres(10), .obstructed = Metres(10), .state = Metres(1)};
  }
  TRILEMMA_ENSURE(false, "every environment has correlation distances");
  return {};
}

void LargeScale::Drift::step(Rng& rng) { value = kept * value + fresh * rng.normal(); }

LargeScale::Drift LargeScale::drift(double value, Metres step, Metres distance) {
  const double kept = std::exp(-(step / distance));
  return {.value = value, .kept = kept, .fresh = std::sqrt(1 - kept * kept)};
}

LargeScale::LargeScale(const Propagation& propagation, const LargeScaleConfig& config, Rng luck, Rng way)
    : propagation_(propagation),
      base_station_(config.base_station),
      luck_(std::move(luck)),
      motion_(
          make_motion(config.motion, {.start = config.start, .base_station = config.base_station}, std::move(way))) {
  const CorrelationDistances distances = correlation_distances(propagation.config().environment);
  const Speed speed = speed_of(config.motion);
  const Metres wanted =
      config.step.value_or(std::min({distances.line_of_sight, distances.obstructed, distances.state}) / 10);
  TRILEMMA_ENSURE(wanted > Metres(0), "a step has a length");
  if (speed > Speed(0)) stride_ = wanted / speed;
  const Metres step = speed * stride_;

  // The process of the state that reigns at the start takes the number that draw() takes.
  const Luck first = draw_luck(luck_);
  const double other = luck_.normal();
  const bool clear = propagation_.line_of_sight(first.uniform, config.start, base_station_);
  view_ = drift(normal_quantile(first.uniform), step, distances.state);
  clear_ = drift(clear ? first.normal : other, step, distances.line_of_sight);
  obstructed_ = drift(clear ? other : first.normal, step, distances.obstructed);
  state_ = evaluate(config.start, first.uniform);
}

LargeScale::State LargeScale::evaluate(const Position& place, double uniform) const {
  const bool clear = propagation_.line_of_sight(uniform, place, base_station_);
  const double normal = clear ? clear_.value : obstructed_.value;
  return {.place = place,
          .loss = propagation_.median(clear, place, base_station_) + propagation_.shadowing(clear, normal),
          .line_of_sight = clear};
}

const LargeScale::State& LargeScale::at(Instant t) {
  if (stride_ == 0ns) return state_;
  const std::int64_t step = t / stride_;
  TRILEMMA_ENSURE(step >= step_, "time does not go backwards");
  if (step == step_) return state_;
  for (; step_ < step; ++step_) {
    view_.step(luck_);
    clear_.step(luck_);
    obstructed_.step(luck_);
  }
  state_ = evaluate(motion_->at(step_ * stride_), normal_probability(view_.value));
  return state_;
}

Instant LargeScale::constant_until(Instant t) const {
  if (stride_ == 0ns) return Instant::max();
  return (t / stride_ + 1) * stride_;
}

}  // namespace trilemma
