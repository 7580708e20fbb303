#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"
#include "models/radio/propagation.h"

/// How a client moves over the ground, around its base station.
///
/// ns-3's mobility models are not used: all of them answer for Simulator::Now() only, while a place is needed here for
/// the last step of a lazy channel, in the past; RandomWalk2d and GaussMarkov also keep events on the event list for
/// ever, so that a run would never end, and walk in a rectangle or a box, not around a base station.
namespace trilemma {

/// Clients stay where they are placed.
struct StaticMotion {
  static constexpr std::string_view kind = "static";
  static constexpr auto fields() { return std::tuple{}; }
};

/// Straight legs in random directions, at one speed, reflected by the two circles that it may not leave. The length of
/// a leg is exponential. Clients that start uniform by area between the circles stay so.
struct WalkMotion {
  static constexpr std::string_view kind = "walk";
  Speed speed = kilometres_per_hour(3);
  Metres leg{10};
  Metres nearest{0};
  Metres farthest{0};

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{field("speed", &WalkMotion::speed, "speed over the ground", between(0.001, 140)),
                      field("leg", &WalkMotion::leg, "mean distance between changes of direction", between(0.1, 10000)),
                      required("nearest", &WalkMotion::nearest, "smallest horizontal distance to the base station",
                               between(0.1, 10000)),
                      required("farthest", &WalkMotion::farthest, "largest horizontal distance to the base station",
                               between(0.1, 10000))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

enum class Heading { outward, inward };

namespace config {
template <>
inline constexpr auto names<Heading> = std::array{Name{"outward", Heading::outward}, Name{"inward", Heading::inward}};
}  // namespace config

/// Along the line through the base station and the place of the start, at one speed, back and forth between two
/// distances.
struct LineMotion {
  static constexpr std::string_view kind = "line";
  Speed speed = kilometres_per_hour(3);
  Metres nearest{0};
  Metres farthest{0};
  Heading heading = Heading::outward;

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{field("speed", &LineMotion::speed, "speed over the ground", between(0.001, 140)),
                      required("nearest", &LineMotion::nearest, "horizontal distance at which the client turns round",
                               between(0.1, 10000)),
                      required("farthest", &LineMotion::farthest, "horizontal distance at which the client turns back",
                               between(0.1, 10000)),
                      field("heading", &LineMotion::heading, "direction at the start, seen from the base station")};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using MotionConfig = std::variant<StaticMotion, WalkMotion, LineMotion>;

/// Speed of a client; 0 if it does not move.
Speed speed_of(const MotionConfig& config);
/// Horizontal distances between which a client stays that starts at the distance `start`.
DistanceRange excursion(const MotionConfig& config, Metres start);

/// A client's way.
class Motion {
 public:
  virtual ~Motion() = default;
  /// Where the client is at `t` >= 0. Time never goes backwards between two questions.
  virtual Position at(Instant t) = 0;
};

struct Journey {
  Position start;
  Position base_station;
};

/// The client keeps its height. `rng` is for this client alone: two numbers for each leg of a walk. Throws
/// std::invalid_argument, with a sentence for the user, when the start is outside the excursion.
std::unique_ptr<Motion> make_motion(const MotionConfig& config, const Journey& journey, Rng rng);

}  // namespace trilemma
