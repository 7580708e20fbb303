#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"
#include "models/radio/antenna.h"
#include "models/radio/blockage.h"
#include "models/radio/fading.h"
#include "models/radio/interference.h"
#include "models/radio/mac_config.h"
#include "models/radio/mcs.h"
#include "models/radio/motion.h"
#include "models/radio/numerology.h"
#include "models/radio/penetration.h"
#include "models/radio/propagation.h"

namespace trilemma {

/// No radio leg: clients sit on the backhaul.
struct NoRadio {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// A pipe shared by the clients of a cell: first in, first out at `rate`, then `delay`; uplink and downlink apart.
struct FixedRadio {
  static constexpr std::string_view kind = "fixed";
  BitRate rate{0};
  Duration delay{0};

  static constexpr auto fields() {
    return std::tuple{
        config::required("rate", &FixedRadio::rate, "serialisation rate, shared by the cell", config::positive),
        config::field("delay", &FixedRadio::delay, "propagation and processing delay", config::up_to_an_hour)};
  }
};

/// Every client at the same distance from its base station.
struct RingPlacement {
  static constexpr std::string_view kind = "ring";
  Metres distance{20};

  static constexpr auto fields() {
    return std::tuple{config::field("distance", &RingPlacement::distance, "horizontal distance to the base station",
                                    config::between(0.1, 10000))};
  }
};

/// Clients uniform over a disc (by area) around the base station.
struct DiscPlacement {
  static constexpr std::string_view kind = "disc";
  Metres radius{50};
  Metres nearest{1};

  static constexpr auto fields() {
    return std::tuple{
        config::field("radius", &DiscPlacement::radius, "radius of the disc", config::between(0.1, 10000)),
        config::field("nearest", &DiscPlacement::nearest, "smallest horizontal distance", config::between(0.1, 10000))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using PlacementConfig = std::variant<RingPlacement, DiscPlacement>;

/// Special slot of a TDD pattern: downlink symbols, guard, uplink symbols; 14 in all.
struct SpecialSlot {
  std::int64_t downlink = 10;
  std::int64_t guard = 2;
  std::int64_t uplink = 2;

  static constexpr auto fields() {
    return std::tuple{
        config::field("downlink", &SpecialSlot::downlink, "downlink symbols", config::between(0, 14)),
        config::field("guard", &SpecialSlot::guard, "symbols to switch direction", config::between(1, 14)),
        config::field("uplink", &SpecialSlot::uplink, "uplink symbols", config::between(0, 14))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// Transmit side and receive side of one end of the link.
struct StationConfig {
  PowerLevel power{23};              // into the antenna
  std::optional<Decibels> gain;      // towards the peer, of antenna and beam together
  std::optional<ArrayConfig> array;  // in its place
  Decibels usual_gain{0};            // where neither is given; not a field
  Decibels noise_figure{7};
  std::optional<Metres> height;  // absent: what TR 38.901 takes for the environment

  static constexpr auto fields() {
    return std::tuple{
        config::field("power", &StationConfig::power, "transmit power into the antenna", config::between(-50, 80)),
        config::field("gain", &StationConfig::gain,
                      "antenna and beamforming gain towards the peer; absent, and without an array: 24 dB for a base "
                      "station, 9 dB for a device",
                      config::between(-50, 80)),
        config::field("array", &StationConfig::array,
                      "antenna array, in place of a gain: that of its beam, which follows the peer"),
        config::field("noise_figure", &StationConfig::noise_figure, "receiver noise figure", config::between(0, 50)),
        config::field("height", &StationConfig::height,
                      "antenna height; by default that of the environment in TR 38.901", config::between(0, 500))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
  [[nodiscard]] Decibels total_gain() const { return array ? peak_gain(*array) : gain.value_or(usual_gain); }
};

/// Devices send at full power.
struct NoPowerControl {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// Open-loop power control of TS 38.213 clause 7.1.1: min(P_max, p0 + 10 lg(2^mu M_RB) + alpha PL), in dBm, with the
/// path loss PL between the antennas, gains deducted.
struct FractionalPowerControl {
  static constexpr std::string_view kind = "fractional";
  PowerLevel p0{-80};
  double alpha = 0.8;

  static constexpr auto fields() {
    return std::tuple{
        config::field("p0", &FractionalPowerControl::p0,
                      "target power at the receiver, of one resource block at 15 kHz", config::between(-202, 24)),
        config::field("alpha", &FractionalPowerControl::alpha, "share of the path loss that is made up for",
                      config::between(0, 1))};
  }
};

using PowerControlConfig = std::variant<NoPowerControl, FractionalPowerControl>;

/// An NR FR2 cell at transport-block level; docs/models.md, "Radio".
struct NrRadio {
  static constexpr std::string_view kind = "nr-fr2";
  std::string title;
  Frequency carrier{28e9};
  Frequency bandwidth{400e6};
  std::int64_t numerology = 3;
  std::string frame = "DDDSU";
  SpecialSlot special;
  std::int64_t downlink_control = 1;
  std::int64_t uplink_control = 0;
  Access access = Access::dynamic;
  Multiplexing multiplexing = Multiplexing::time;
  std::int64_t subbands = 1;
  std::int64_t symbols = 14;
  std::int64_t shortest = 2;
  Mapping mapping = Mapping::b;
  ReferenceSignals reference = ReferenceSignals::symbol;
  TimingConfig timing;
  RequestConfig request;
  std::int64_t sounding = 0;
  RadioScheduler scheduler = RadioScheduler::round_robin;
  std::int64_t quantum = 14;
  PersistenceConfig persistence;
  McsTable mcs_table = McsTable::qam64;
  std::int64_t layers = 1;
  UeCapability capability = UeCapability::one;
  HarqConfig harq;
  RlcConfig rlc;
  ErrorsConfig errors;
  Environment environment = Environment::inf_dh;
  PlacementConfig placement;
  LineOfSight line_of_sight = LineOfSight::drawn;
  Shadowing shadowing = Shadowing::on;
  Penetration penetration = Penetration::none;
  FadingConfig fading;
  MotionConfig motion;
  BlockageConfig blockage;
  InterferenceConfig interference;
  PowerControlConfig power_control;
  LinkFeedback feedback = LinkFeedback::sinr;
  Duration report_period{0};
  StationConfig base_station{.power = PowerLevel(30), .usual_gain = Decibels(24), .noise_figure = Decibels(7)};
  StationConfig device{.power = PowerLevel(13.4), .usual_gain = Decibels(9), .noise_figure = Decibels(10)};
  std::string source;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("title", &NrRadio::title, "full name"),
        field("carrier", &NrRadio::carrier, "carrier frequency", between(0.5e9, 100e9)),
        field("bandwidth", &NrRadio::bandwidth, "channel bandwidth, one of TS 38.101-2 for the numerology",
              config::positive),
        field("numerology", &NrRadio::numerology, "mu: subcarrier spacing 15 kHz x 2^mu", between(0, 6)),
        field("frame", &NrRadio::frame,
              "TDD pattern over D, S, U and F (flexible: each symbol either way), one letter a slot; or full-uplink: "
              "paired carriers, all slots usable both ways"),
        field("special", &NrRadio::special, "symbols of an S slot"),
        field("downlink_control", &NrRadio::downlink_control,
              "symbols at the start of a slot that only control uses; 0: control shares the first symbol",
              between(0, 3)),
        field("uplink_control", &NrRadio::uplink_control,
              "symbols at the end of a slot that only control uses; 0: control shares the last symbol", between(0, 3)),
        field("access", &NrRadio::access, "how the uplink is granted"),
        field("multiplexing", &NrRadio::multiplexing, "what configured grants share"),
        field("subbands", &NrRadio::subbands,
              "equal parts of the band that carry different clients at the same time (needs a digital array)",
              between(1, 64)),
        field("symbols", &NrRadio::symbols, "longest transmission in symbols: 2, 4, 7 or 14", between(2, 14)),
        field("shortest", &NrRadio::shortest, "shortest transmission in symbols", between(1, 14)),
        field("mapping", &NrRadio::mapping, "where in a slot a block may start: symbols 0 to 3 (a) or any (b)"),
        field("reference", &NrRadio::reference, "reference signals of a block"),
        field("timing", &NrRadio::timing, "processing and scheduling delays"),
        field("request", &NrRadio::request, "scheduling requests and buffer reports"),
        field("sounding", &NrRadio::sounding,
              "in one of so many slots with uplink data a client sends sounding signals and nothing else; 0: none",
              between(0, 10240)),
        field("scheduler", &NrRadio::scheduler, "order among clients"),
        field("quantum", &NrRadio::quantum, "symbols a client gets at its turn", between(1, 14)),
        field("persistence", &NrRadio::persistence, "standing grants of the semi-persistent scheduler"),
        field("mcs_table", &NrRadio::mcs_table, "MCS table of TS 38.214 clause 5.1.3.1"),
        field("layers", &NrRadio::layers, "spatial layers", between(1, 4)),
        field("capability", &NrRadio::capability, "UE processing capability of TS 38.214"),
        field("harq", &NrRadio::harq, "retransmissions and link adaptation"),
        field("rlc", &NrRadio::rlc, "what becomes of a block that HARQ gives up"),
        field("errors", &NrRadio::errors, "block errors"),
        field("environment", &NrRadio::environment, "scenario of TR 38.901"),
        field("placement", &NrRadio::placement, "where the clients stand"),
        field("line_of_sight", &NrRadio::line_of_sight, "drawn from TR 38.901, always or never"),
        field("shadowing", &NrRadio::shadowing, "log-normal shadowing of TR 38.901"),
        field("penetration", &NrRadio::penetration, "building that the clients are in"),
        field("fading", &NrRadio::fading, "small-scale fading"),
        field("motion", &NrRadio::motion, "movement of the clients"),
        field("blockage", &NrRadio::blockage, "blockers of the line between the antennas"),
        field("interference", &NrRadio::interference, "from other cells"),
        field("power_control", &NrRadio::power_control, "uplink power"),
        field("feedback", &NrRadio::feedback, "what link adaptation knows of the link"),
        field("report_period", &NrRadio::report_period,
              "time for which link adaptation keeps an MCS, where the link changes; 0: it follows at once",
              config::up_to_an_hour),
        field("base_station", &NrRadio::base_station, "the base station's end"),
        field("device", &NrRadio::device, "the client's end"),
        field("source", &NrRadio::source, "where the numbers come from"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// Why `clients` of one cell cannot share this radio: a sentence for the user about the number of clients; empty if
/// they can. Requires a radio without problems.
std::string clients_problem(const NrRadio& radio, std::int64_t clients);

/// Whether the links of the clients change with time.
bool links_change(const NrRadio& config);

using RadioConfig = std::variant<NoRadio, FixedRadio, NrRadio>;

namespace config {
template <>
inline constexpr std::string_view variant_catalogue<RadioConfig> = "radios";
}  // namespace config

}  // namespace trilemma
