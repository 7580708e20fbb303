#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"

/// Large-scale propagation of 3GPP TR 38.901 V19.4.0 clause 7.4, 0.5 to 100 GHz: path loss, line of sight and
/// shadowing between a UE and a base station, both fixed and outside buildings and vehicles or in the same hall.
/// No penetration into buildings, oxygen absorption (53 to 67 GHz), blockage or correlation between places (for a
/// client that moves, see large_scale.h).
namespace trilemma {

/// Urban micro street canyon, urban macro, indoor open office, and the five indoor factories: sparse or dense clutter
/// (s, d), low or high base station (l, h), and hh, where both ends are above the clutter.
enum class Environment { umi, uma, inh, inf_sl, inf_dl, inf_sh, inf_dh, inf_hh };

/// Whether the line of sight is a matter of chance (table 7.4.2-1) or given.
enum class LineOfSight { drawn, always, never };

/// Log-normal deviation from the median path loss.
enum class Shadowing { on, off };

namespace config {
template <>
inline constexpr auto names<Environment> = std::array{
    Name{"umi", Environment::umi},       Name{"uma", Environment::uma},       Name{"inh", Environment::inh},
    Name{"inf-sl", Environment::inf_sl}, Name{"inf-dl", Environment::inf_dl}, Name{"inf-sh", Environment::inf_sh},
    Name{"inf-dh", Environment::inf_dh}, Name{"inf-hh", Environment::inf_hh}};
template <>
inline constexpr auto names<LineOfSight> = std::array{
    Name{"drawn", LineOfSight::drawn}, Name{"always", LineOfSight::always}, Name{"never", LineOfSight::never}};
template <>
inline constexpr auto names<Shadowing> = std::array{Name{"on", Shadowing::on}, Name{"off", Shadowing::off}};
}  // namespace config

/// A place; z is the height above the ground.
struct Position {
  Metres x{0};
  Metres y{0};
  Metres z{0};
};

struct Heights {
  Metres base_station;
  Metres ue;
};

/// The antenna heights of the evaluation set-ups of TR 38.901 (clauses 7.2 and 7.8): UMi 10 / 1.5 m, UMa 25 / 1.5 m,
/// InH 3 / 1 m, InF-SL and -DL 1.5 / 1.5 m, InF-SH and -DH 8 / 1.5 m; InF-HH, which has none, 8 / 8 m.
Heights default_heights(Environment environment);

struct DistanceRange {
  Metres min;
  Metres max;
};

/// Distances for which the path loss is specified: 10 m to 5 km on the ground for UMi and UMa, 1 to 150 m (InH) and 1
/// to 600 m (InF) between the antennas.
DistanceRange distance_range(Environment environment);

/// Standard deviations of shadowing, by state of the line of sight (table 7.4.1-1).
struct ShadowingDeviations {
  Decibels line_of_sight;
  Decibels obstructed;
};
ShadowingDeviations shadowing_deviations(Environment environment);

/// Probability of a line of sight (table 7.4.2-1; clutter of table 7.8-7: density 0.2, size 10 m, height 2 m for
/// sparse, 0.6, 2 m, 6 m for dense). Throws std::invalid_argument, with a sentence for the user, for heights at which
/// it is not defined or not available: see Propagation::draw.
double line_of_sight_probability(Environment environment, const Position& ue, const Position& base_station);

struct PropagationConfig {
  Environment environment = Environment::umi;
  Frequency carrier{28e9};
  LineOfSight line_of_sight = LineOfSight::drawn;
  Shadowing shadowing = Shadowing::on;
  std::uint32_t seed = 1;         // 1 .. 4294944442, as the generator demands
  std::uint64_t replication = 0;  // substream of the generator
};

struct PathLoss {
  Decibels loss;  // median plus shadowing
  bool line_of_sight;
};

/// What chance decides about a link.
struct Luck {
  double uniform;  // for the line of sight, in (0, 1)
  double normal;   // for the shadowing
};

/// The next three numbers of a stream.
Luck draw_luck(Rng& rng);

/// Draws links. Median path loss comes from ns-3's ThreeGpp*PropagationLossModel (InF: our model of that family).
/// Line of sight and shadowing are drawn here, because ns-3 keys its own draws on nodes, and a node enters ns-3's
/// event list; this class leaves event list and generator settings of ns-3 alone and outlives Simulator::Destroy.
class Propagation {
 public:
  /// Throws std::invalid_argument, with a sentence for the user, for a carrier outside 0.5 to 100 GHz and for InF-HH
  /// without a line of sight, which does not exist.
  explicit Propagation(const PropagationConfig& config);
  ~Propagation();
  Propagation(const Propagation&) = delete;
  Propagation& operator=(const Propagation&) = delete;
  Propagation(Propagation&&) noexcept;
  Propagation& operator=(Propagation&&) noexcept;

  /// The link of `ue` and `base_station`, with the random numbers of `stream` >= 0: a pure function of the
  /// configuration and the arguments, whatever was drawn before. Links that fade independently need streams of their
  /// own. Each draw takes the same random numbers whether or not a setting needs them, so that scenarios that differ in
  /// one setting share the rest of their luck.
  ///
  /// Throws std::invalid_argument, with a sentence for the user, when the pair is outside distance_range() or a height
  /// is out of bounds: UMi base stations stand at exactly 10 m (ns-3 3.37 confuses the two ends otherwise) and UEs at
  /// 1.5 to 22.5 m, UMa UEs at 1.5 to 13 m (above, the breakpoint is random) below the base station, InF-SH and -DH
  /// UEs below the clutter and base stations above it.
  [[nodiscard]] PathLoss draw(std::int64_t stream, const Position& ue, const Position& base_station) const;

  /// The parts of a draw. They throw as draw() does.
  /// State of the line of sight, by the probability of table 7.4.2-1 and a number in (0, 1), or as the setting says.
  [[nodiscard]] bool line_of_sight(double uniform, const Position& ue, const Position& base_station) const;
  /// Path loss without shadowing, with or without a line of sight.
  [[nodiscard]] Decibels median(bool line_of_sight, const Position& ue, const Position& base_station) const;
  /// Deviation from the median for a standard normal number; 0 if the setting has no shadowing.
  [[nodiscard]] Decibels shadowing(bool line_of_sight, double normal) const;

  [[nodiscard]] const PropagationConfig& config() const { return config_; }

 private:
  struct Models;
  PropagationConfig config_;
  std::unique_ptr<Models> models_;
};

}  // namespace trilemma
