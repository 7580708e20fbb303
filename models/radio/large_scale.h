#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/random.h"
#include "core/units.h"
#include "models/radio/motion.h"
#include "models/radio/propagation.h"

/// Path loss, line of sight and shadowing of a client that moves, each correlated over the way it has moved (in the
/// spirit of 3GPP TR 38.901 V19.4.0 clause 7.6.3: the same distances, a process along the way in place of a field over
/// the ground).
///
///     shadowing       sd(state) g, with g standard normal and E[g(s) g(s + d)] = exp(-d / d_state); the processes of
///                     the two states are independent, as in table 7.6.3.4-2, and go on while the other state reigns
///     line of sight   Phi(h) < P_LOS(place), with h standard normal of the same kind (clause 7.6.3.3); the state
///                     changes at once, not softly (eq. 7.6-18 is an option that is not modelled)
///     loss            median(state, place) + shadowing
///
/// At every place the loss has the distribution of Propagation::draw. A client that comes back to a place finds other
/// shadows there, and clients do not share theirs: fit for one client's ups and downs in time, not for maps.
namespace trilemma {

/// Distances over which correlations fall to 1/e.
struct CorrelationDistances {
  Metres line_of_sight;  // of shadowing, table 7.5-6: UMi 10, UMa 37, InH 10, InF 10 m
  Metres obstructed;     // of shadowing, table 7.5-6: UMi 13, UMa 50, InH 6, InF 10 m
  Metres state;  // of the line of sight, table 7.6.3.1-2: UMi and UMa 50, InH 10 m, InF half the clutter size of 10 or
                 // 2 m (table 7.8-7); InF-HH, which has no other state, 5 m
};
CorrelationDistances correlation_distances(Environment environment);

struct LargeScaleConfig {
  MotionConfig motion;
  Position start;
  Position base_station;
  std::optional<Metres> step;  // way between evaluations, > 0; absent: a tenth of the smallest correlation distance
};

/// The channel of one client. It changes at steps of equal length along the way, and is constant in between. Time never
/// goes backwards between two questions, of either kind. The answers depend on configuration and streams alone, not on
/// how often or when one asks; every step on the way costs six random numbers, whether or not a setting needs them,
/// and a question one evaluation of the path loss if there was a step since the last one.
class LargeScale {
 public:
  struct State {
    Position place;  // at the last step
    Decibels loss;
    bool line_of_sight;
  };

  /// `propagation` outlives this. With `luck` = stream n of the propagation's seed and replication, the state at time
  /// 0, which is that of all times for a static client, is propagation.draw(n, start, base_station). `way` is for the
  /// motion. Throws std::invalid_argument as draw() and make_motion() do.
  LargeScale(const Propagation& propagation, const LargeScaleConfig& config, Rng luck, Rng way);

  /// Throws std::invalid_argument where the motion leaves the range of the propagation: compare excursion() with it.
  [[nodiscard]] const State& at(Instant t);
  /// When the state of `t` ends: the time of the next step; Instant::max() for a static client.
  [[nodiscard]] Instant constant_until(Instant t) const;

 private:
  /// A stationary Gaussian process of variance 1 in steps (autoregressive, of order 1).
  struct Drift {
    double value;
    double kept;   // correlation over one step
    double fresh;  // sqrt(1 - kept^2)
    void step(Rng& rng);
  };
  static Drift drift(double value, Metres step, Metres distance);

  [[nodiscard]] State evaluate(const Position& place, double uniform) const;

  const Propagation& propagation_;
  Position base_station_;
  Rng luck_;
  std::unique_ptr<Motion> motion_;
  Duration stride_{0};  // time of a step; 0 for a static client
  std::int64_t step_ = 0;
  Drift view_{};  // the line of sight
  Drift clear_{};
  Drift obstructed_{};
  State state_{};
};

}  // namespace trilemma
