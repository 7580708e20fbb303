#include "models/radio/motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

#include "core/config/text.h"

namespace trilemma {
namespace {

struct Plane {
  double x;
  double y;
};

Plane operator+(Plane a, Plane b) { return {a.x + b.x, a.y + b.y}; }
Plane operator*(double factor, Plane a) { return {factor * a.x, factor * a.y}; }
double dot(Plane a, Plane b) { return a.x * b.x + a.y * b.y; }
double length(Plane a) { return std::hypot(a.x, a.y); }
Plane left_of(Plane a) { return {-a.y, a.x}; }

/// Ground coordinates with the base station at the origin.
Plane offset(const Journey& journey) {
  return {(journey.start.x - journey.base_station.x).value(), (journey.start.y - journey.base_station.y).value()};
}

Position place(const Journey& journey, Plane at) {
  return {.x = journey.base_station.x + Metres(at.x), .y = journey.base_station.y + Metres(at.y), .z = journey.start.z};
}

/// The two circles, inside by more than rounding errors, so that no place is ever out of the user's range.
struct Ring {
  double inner;
  double outer;
};

constexpr double margin = 1e-9;

Ring ring_of(Metres nearest, Metres farthest) {
  return {.inner = nearest.value() * (1 + margin), .outer = farthest.value() * (1 - margin)};
}

class Standing final : public Motion {
 public:
  explicit Standing(const Position& place) : place_(place) {}
  Position at(Instant) override { return place_; }

 private:
  Position place_;
};

class Line final : public Motion {
 public:
  Line(const LineMotion& config, const Journey& journey)
      : config_(config), journey_(journey), ring_(ring_of(config.nearest, config.farthest)) {
    const double distance = length(offset(journey));
    direction_ = 1 / distance * offset(journey);
    const double out = distance - config.nearest.value();
    unfolded_ = config.heading == Heading::outward ? out : round_trip() - out;
  }

  Position at(Instant t) override {
    const double way = std::fmod(unfolded_ + (config_.speed * t).value(), round_trip());
    const double distance = config_.nearest.value() + std::min(way, round_trip() - way);
    return place(journey_, std::clamp(distance, ring_.inner, ring_.outer) * direction_);
  }

 private:
  [[nodiscard]] double round_trip() const { return 2 * (config_.farthest - config_.nearest).value(); }

  LineMotion config_;
  Journey journey_;
  Ring ring_;
  Plane direction_{};    // from the base station to the start
  double unfolded_ = 0;  // m walked at the start since the client was last at the nearest distance
};

class Walk final : public Motion {
 public:
  Walk(const WalkMotion& config, const Journey& journey, Rng rng)
      : config_(config), journey_(journey), ring_(ring_of(config.nearest, config.farthest)), rng_(std::move(rng)) {
    const double distance = length(offset(journey));
    from_ = std::clamp(distance, ring_.inner, ring_.outer) / distance * offset(journey);
    turn();
  }

  Position at(Instant t) override {
    const double way = (config_.speed * t).value();
    while (way > walked_ + std::min(leg_, wall_)) {
      if (leg_ <= wall_) {
        advance(leg_);
        turn();
      } else {
        advance(wall_);
        bounce();
      }
    }
    return place(journey_, from_ + (way - walked_) * direction_);
  }

 private:
  void advance(double metres) {
    from_ = from_ + metres * direction_;
    walked_ += metres;
    leg_ -= metres;
  }

  void turn() {
    const double angle = 2 * std::numbers::pi * rng_.uniform();
    direction_ = {std::cos(angle), std::sin(angle)};
    leg_ = -config_.leg.value() * std::log(rng_.uniform());
    wall_ = to_wall();
  }

  /// Metres ahead to the first of the two circles: |from + s direction| = radius.
  [[nodiscard]] double to_wall() const {
    const double outward = dot(from_, direction_);
    const auto discriminant = [&](double radius) { return outward * outward - dot(from_, from_) + radius * radius; };
    if (const double inner = discriminant(ring_.inner); outward < 0 && inner >= 0) {
      return std::max(0.0, -outward - std::sqrt(inner));
    }
    return std::max(0.0, -outward + std::sqrt(std::max(0.0, discriminant(ring_.outer))));
  }

  /// Mirrors the direction at the circle. A leg along the circle would bounce for ever: it leaves it at a slope of at
  /// least 1e-4.
  void bounce() {
    const Plane normal = 1 / length(from_) * from_;
    const double radial = dot(direction_, normal);
    const double back = -std::copysign(std::clamp(std::abs(radial), 1e-4, 1.0), radial);
    const double along = std::copysign(std::sqrt(1 - back * back), dot(direction_, left_of(normal)));
    direction_ = back * normal + along * left_of(normal);
    wall_ = to_wall();
  }

  WalkMotion config_;
  Journey journey_;
  Ring ring_;
  Rng rng_;
  Plane from_{};       // start of the present straight piece
  Plane direction_{};  // of length 1
  double walked_ = 0;  // m up to from_
  double leg_ = 0;     // m from from_ to the next change of direction
  double wall_ = 0;    // m from from_ to the next circle
};

std::vector<config::FieldProblem> range_problems(Metres nearest, Metres farthest) {
  if (nearest + Metres(1) <= farthest) return {};
  return {{"nearest", "is not at least 1 m below 'farthest'; write a smaller distance"}};
}

}  // namespace

std::vector<config::FieldProblem> WalkMotion::problems() const { return range_problems(nearest, farthest); }
std::vector<config::FieldProblem> LineMotion::problems() const { return range_problems(nearest, farthest); }

Speed speed_of(const MotionConfig& config) {
  if (const auto* walk = std::get_if<WalkMotion>(&config)) return walk->speed;
  if (const auto* line = std::get_if<LineMotion>(&config)) return line->speed;
  return Speed(0);
}

DistanceRange excursion(const MotionConfig& config, Metres start) {
  if (const auto* walk = std::get_if<WalkMotion>(&config)) return {.min = walk->nearest, .max = walk->farthest};
  if (const auto* line = std::get_if<LineMotion>(&config)) return {.min = line->nearest, .max = line->farthest};
  return {.min = start, .max = start};
}

std::unique_ptr<Motion> make_motion(const MotionConfig& config, const Journey& journey, Rng rng) {
  const Metres start(length(offset(journey)));
  const auto [nearest, farthest] = excursion(config, start);
  if (start < nearest * (1 - margin) || start > farthest * (1 + margin)) {
    using Text = config::Text<Metres>;
    throw std::invalid_argument(fmt::format("a client starts {} from its base station, but moves between {} and {}",
                                            Text::format(start), Text::format(nearest), Text::format(farthest)));
  }
  if (const auto* walk = std::get_if<WalkMotion>(&config)) {
    return std::make_unique<Walk>(*walk, journey, std::move(rng));
  }
  if (const auto* line = std::get_if<LineMotion>(&config)) return std::make_unique<Line>(*line, journey);
  return std::make_unique<Standing>(journey.start);
}

}  // namespace trilemma
