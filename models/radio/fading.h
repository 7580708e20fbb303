#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"
#include "models/radio/antenna.h"
#include "models/radio/cluster_statistics.h"
#include "models/radio/multipath.h"
#include "models/radio/propagation.h"

namespace trilemma {

/// Every link has the ideal array gain all the time.
struct NoFading {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// Small-scale fading of TR 38.901 clause 7.5.
struct Tr38901Fading {
  static constexpr std::string_view kind = "tr38901";
  Speed speed{0.83};
  std::int64_t subbands = 16;

  static constexpr auto fields() {
    return std::tuple{
        config::field("speed", &Tr38901Fading::speed,
                      "of the client, or of its surroundings, in a random direction; 0: the channel stands still",
                      config::between(0, 150)),
        config::field("subbands", &Tr38901Fading::subbands, "parts of the band, each with a gain of its own",
                      config::between(1, 64))};
  }
};

using FadingConfig = std::variant<NoFading, Tr38901Fading>;

struct FadingSetup {
  Environment environment = Environment::inf_dh;
  Frequency carrier{28e9};
  Frequency bandwidth{400e6};
  ArrayConfig base_station;
  ArrayConfig client{.rows = 4, .columns = 4};
  Heights heights = default_heights(Environment::inf_dh);
};

/// A link under the beams of both ends, ready for fast evaluation: power gain over the ideal array gain
///
///     |sum_n a_n exp(j 2 pi (nu_n t - f tau_n))|^2 / ideal
///
/// with the sum over clusters n: amplitude a_n, delay tau_n, Doppler shift nu_n = speed / wavelength x cosine of the
/// angle between travel and arrival, as in ns-3's ThreeGppSpectrumPropagationLossModel at the centre of the cluster.
/// Single precision (1e-5 of the ideal gain) but for phases over time.
class FadingLink {
 public:
  static constexpr std::size_t most_paths = 32;  // clause 7.5 makes up to 29

  struct Path {
    std::complex<double> amplitude;  // of the ideal one
    double delay;                    // seconds
    Frequency doppler;
  };
  struct Band {
    Frequency lowest;   // centre of the first sub-band, relative to the carrier
    Frequency spacing;  // of sub-bands
  };
  FadingLink(std::span<const Path> paths, const Band& band);

  /// One linear gain a sub-band, from low to high frequencies.
  void gains(Instant t, std::span<float> gains) const;

 private:
  std::size_t paths_;
  std::array<double, most_paths> doppler_{};  // Hz
  std::array<float, most_paths> real_{};      // amplitude in the first sub-band at t = 0
  std::array<float, most_paths> imaginary_{};
  std::array<float, most_paths> step_real_{};  // turn from one sub-band to the next
  std::array<float, most_paths> step_imaginary_{};
};

/// Small-scale fading of the clients of a cell. Realisations follow TR 38.901 V19.4.0 clause 7.5 (multipath.h); both
/// ends face each other and use the best pair of ideal beams, by mean power, among the straight line between them and
/// the four strongest clusters, so that an obstructed link loses what its other scatterers send past the beams. One
/// realisation lasts for ever: the channel varies by Doppler only. The gain of a client is a pure function of set-up,
/// streams, client, state, distance and time: it does not matter which other clients are asked, in which order. Leaves
/// ns-3's event list and generators alone.
///
/// Ignores: Doppler spread within a cluster (a link with a single cluster in its beams does not fade over time),
/// correlation between clients and with shadowing, polarisation, beam squint, blockage, spatial consistency.
class Fading {
 public:
  /// `who` names the cell in the streams, for example "cell 0". Requires a carrier of 0.5 to 100 GHz and heights and
  /// distances that Propagation accepts.
  Fading(const Tr38901Fading& config, const FadingSetup& setup, const Streams& streams, std::string_view who);

  /// A client of this cell, drawn from streams of its own.
  [[nodiscard]] FadingLink draw(std::uint32_t client, bool line_of_sight, Metres distance) const;

  /// Gains of sub-bands at the begin of the epoch of `t`, relative to the ideal array gain; `gains` has one place a
  /// sub-band. The link is drawn at its first use (about 0.2 ms, 0.9 kB) and kept, with the `distance` of that time.
  void gains(std::uint32_t client, bool line_of_sight, Metres distance, Instant t, std::span<float> gains);

  /// 0.423 / f_D with f_D = speed / wavelength (Rappaport, Wireless Communications, 2nd ed., eq. 5.40.c); what a caller
  /// may keep a gain for. Longer than any run for a speed of 0.
  [[nodiscard]] Duration coherence_time() const { return coherence_time_; }
  /// Number of the coherence time that `t` lies in: gains change with it only.
  [[nodiscard]] std::int64_t epoch(Instant t) const { return t / coherence_time_; }
  [[nodiscard]] std::size_t subbands() const { return static_cast<std::size_t>(config_.subbands); }

 private:
  struct States {
    std::unique_ptr<FadingLink> clear;
    std::unique_ptr<FadingLink> obstructed;
  };

  [[nodiscard]] std::vector<Path> through_best_beams(const Multipath& multipath) const;

  Tr38901Fading config_;
  FadingSetup setup_;
  Streams streams_;
  std::string who_;
  Duration coherence_time_;
  std::vector<States> clients_;
};

}  // namespace trilemma
