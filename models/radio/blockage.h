#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"
#include "models/radio/propagation.h"

/// Blockage model B of 3GPP TR 38.901 V19.4.0 clause 7.6.4.2: people, vehicles and machines are rectangular screens,
/// and the wave bends around their four edges (knife-edge diffraction, eq. 7.6-29 and -30).
///
/// Only the ray between the two antennas is blocked, one ray stands for the whole link, and the state of the line of
/// sight does not change (as in the TR). Nothing is reflected off a blocker, and no other path steps in for the blocked
/// one.
namespace trilemma {

/// A blocker, seen by the ray: perpendicular to it, two of its edges level.
struct Screen {
  Metres width;
  Metres height;
};

/// Where the centre of a screen is: along the ray the distances to both its ends, > 0, and across it the offsets.
struct ScreenPlace {
  Metres to_device;
  Metres to_base_station;  // infinity: a plane wave, which is what the TR takes for paths other than the line of sight
  Metres lateral{0};
  Metres vertical{0};
};

/// Loss by one screen, >= 0: L = -20 lg(1 - (Fh1 + Fh2)(Fw1 + Fw2)), F = atan(+-pi/2 sqrt(pi/lambda (D1 + D2 - r))) /
/// pi, where D1 + D2 - r is the detour over an edge, seen from the side (h) or from above (w), and an edge that the ray
/// has already passed counts negative. Losses of several screens add up in dB. 6.02 dB where the edge of a half-plane
/// touches the ray, without bound for a screen that grows.
Decibels screen_loss(const Screen& screen, const ScreenPlace& place, Frequency carrier);

enum class Blocker { human, vehicle, agv, robot };

namespace config {
template <>
inline constexpr auto names<Blocker> = std::array{Name{"human", Blocker::human}, Name{"vehicle", Blocker::vehicle},
                                                  Name{"agv", Blocker::agv}, Name{"robot", Blocker::robot}};
}  // namespace config

/// Size and highest speed of a blocker (table 7.6.4.2-5): human 0.3 x 1.7 m, 3 km/h; vehicle 4.8 x 1.4 m, 100 km/h;
/// automated guided vehicle 3 x 1.5 m, 30 km/h; industrial robot (its arm) 2 x 0.2 m, 3 m/s.
Screen screen_of(Blocker blocker);
Speed speed_limit(Blocker blocker);

/// Nothing ever crosses the ray.
struct NoBlockage {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// Blockers cross the ray at a right angle on a straight path over the ground, all of one kind and speed; the instants
/// at which their centres are on the ray are a Poisson process, one for each client.
struct CrossingBlockage {
  static constexpr std::string_view kind = "crossing";
  Blocker blocker = Blocker::human;
  EventRate rate{0};
  Speed speed = kilometres_per_hour(3);
  Metres distance{1};
  std::optional<Metres> centre;  // absent: the blocker stands on the ground

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{
        field("blocker", &CrossingBlockage::blocker, "what crosses, with the size in TR 38.901 table 7.6.4.2-5"),
        required("rate", &CrossingBlockage::rate, "crossings per second and client, on average", between(1e-6, 100)),
        field("speed", &CrossingBlockage::speed, "speed across the ray, up to the blocker's limit in that table",
              between(0.01, 28)),
        field("distance", &CrossingBlockage::distance, "of the blockers' path from the device, over the ground",
              between(0.1, 100)),
        field("centre", &CrossingBlockage::centre,
              "height of the blocker's centre above the ground; by default it stands on the ground; a robot needs one",
              between(0, 500))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using BlockageConfig = std::variant<NoBlockage, CrossingBlockage>;

/// A blocker counts while its screen could cost this much: see blockage_reach().
inline constexpr Decibels blockage_cutoff{0.1};

/// Lateral offset at which a screen of this width and without end upwards and downwards loses blockage_cutoff of a
/// plane wave, `farthest` away from the device; 0 where it never loses as much. Lower or nearer screens and other base
/// stations lose less at that offset (1.05 times the cut-off at the very most).
Metres blockage_reach(Metres width, Metres farthest, Frequency carrier);

struct BlockageLink {
  Frequency carrier;
  Position device;
  Position base_station;
};

/// The blockers of one client, and what they cost its link. Time never goes backwards between two questions, of either
/// kind. The answers depend on the configuration and the stream alone, not on how often or when one asks. A question
/// costs a screen_loss() for each blocker within reach, and next to nothing when there is none.
class Blockage {
 public:
  Blockage(const BlockageConfig& config, const BlockageLink& link, Rng rng);

  /// Sum over the blockers whose centre is within blockage_reach() of the ray at `t` >= 0; exactly 0 without any.
  [[nodiscard]] Decibels loss(Instant t);
  /// How long loss(t) stays 0: until the next blocker comes within reach, or for ever (Instant::max()). `t` itself
  /// while one is.
  [[nodiscard]] Instant constant_until(Instant t);
  /// The client has moved on the level; the path of its blockers moves along. Where the path does not lie between the
  /// two antennas, blockers cost nothing.
  void move(const Position& device);

 private:
  void advance(Instant t);

  CrossingBlockage config_;
  BlockageLink link_;
  Rng rng_;
  std::optional<ScreenPlace> place_;  // of a screen whose centre is on the ray's vertical plane
  Duration half_{0};                  // from the centre on the ray to out of reach
  Instant now_{0};
  Instant next_;                   // the first crossing that is not yet within reach
  std::deque<Instant> crossings_;  // those within reach
};

}  // namespace trilemma
