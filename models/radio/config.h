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
#include "models/radio/mcs.h"
#include "models/radio/numerology.h"
#include "models/radio/propagation.h"

namespace trilemma {

/// How a client gets uplink resources: scheduling request and grant, or its own periodic occasions (type 1).
enum class Access { dynamic, configured_grant };
enum class RadioScheduler { round_robin };

namespace config {
template <>
inline constexpr auto names<Access> =
    std::array{Name{"dynamic", Access::dynamic}, Name{"configured-grant", Access::configured_grant}};
template <>
inline constexpr auto names<RadioScheduler> = std::array{Name{"round-robin", RadioScheduler::round_robin}};
}  // namespace config

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

struct HarqConfig {
  std::int64_t max_transmissions = 4;
  Fraction target{0.1};

  static constexpr auto fields() {
    return std::tuple{config::field("max_transmissions", &HarqConfig::max_transmissions,
                                    "transmissions of a transport block before it is lost", config::between(1, 32)),
                      config::field("target", &HarqConfig::target, "block error rate that link adaptation accepts",
                                    config::Bounds{.min = 0, .max = 1, .min_allowed = false, .max_allowed = false})};
  }
};

/// Transmit side and receive side of one end of the link.
struct StationConfig {
  PowerLevel power{23};  // into the antenna
  Decibels gain{0};      // beamforming and element gain towards the peer
  Decibels noise_figure{7};
  std::optional<Metres> height;  // absent: what TR 38.901 takes for the environment

  static constexpr auto fields() {
    return std::tuple{
        config::field("power", &StationConfig::power, "transmit power into the antenna", config::between(-50, 80)),
        config::field("gain", &StationConfig::gain, "antenna and beamforming gain towards the peer",
                      config::between(-50, 80)),
        config::field("noise_figure", &StationConfig::noise_figure, "receiver noise figure", config::between(0, 50)),
        config::field("height", &StationConfig::height,
                      "antenna height; by default that of the environment in TR 38.901", config::between(0, 500))};
  }
};

/// An NR FR2 cell at transport-block level; docs/models.md, "Radio".
struct NrRadio {
  static constexpr std::string_view kind = "nr-fr2";
  std::string title;
  Frequency carrier{28e9};
  Frequency bandwidth{400e6};
  std::int64_t numerology = 3;
  std::string frame = "DDDSU";
  SpecialSlot special;
  Access access = Access::dynamic;
  std::int64_t symbols = 14;
  RadioScheduler scheduler = RadioScheduler::round_robin;
  McsTable mcs_table = McsTable::qam64;
  std::int64_t layers = 1;
  UeCapability capability = UeCapability::one;
  HarqConfig harq;
  Environment environment = Environment::inf_dh;
  PlacementConfig placement;
  LineOfSight line_of_sight = LineOfSight::drawn;
  Shadowing shadowing = Shadowing::on;
  StationConfig base_station{.power = PowerLevel(30), .gain = Decibels(24), .noise_figure = Decibels(7)};
  StationConfig device{.power = PowerLevel(13.4), .gain = Decibels(9), .noise_figure = Decibels(10)};
  std::string source;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("title", &NrRadio::title, "full name"),
        field("carrier", &NrRadio::carrier, "carrier frequency", between(0.5e9, 100e9)),
        field("bandwidth", &NrRadio::bandwidth, "channel bandwidth, one of TS 38.101-2 for the numerology",
              config::positive),
        field("numerology", &NrRadio::numerology, "mu: subcarrier spacing 15 kHz x 2^mu", between(2, 6)),
        field("frame", &NrRadio::frame,
              "TDD pattern over D, S and U, one letter a slot; or full-uplink: paired carriers, all slots usable both "
              "ways"),
        field("special", &NrRadio::special, "symbols of an S slot"),
        field("access", &NrRadio::access, "how the uplink is granted"),
        field("symbols", &NrRadio::symbols, "longest transmission in symbols: 2, 4, 7 or 14", between(2, 14)),
        field("scheduler", &NrRadio::scheduler, "order among clients"),
        field("mcs_table", &NrRadio::mcs_table, "MCS table of TS 38.214 clause 5.1.3.1"),
        field("layers", &NrRadio::layers, "spatial layers", between(1, 4)),
        field("capability", &NrRadio::capability, "UE processing capability of TS 38.214"),
        field("harq", &NrRadio::harq, "retransmissions and link adaptation"),
        field("environment", &NrRadio::environment, "scenario of TR 38.901"),
        field("placement", &NrRadio::placement, "where the clients stand"),
        field("line_of_sight", &NrRadio::line_of_sight, "drawn from TR 38.901, always or never"),
        field("shadowing", &NrRadio::shadowing, "log-normal shadowing of TR 38.901"),
        field("base_station", &NrRadio::base_station, "the base station's end"),
        field("device", &NrRadio::device, "the client's end"),
        field("source", &NrRadio::source, "where the numbers come from"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using RadioConfig = std::variant<NoRadio, FixedRadio, NrRadio>;

namespace config {
template <>
inline constexpr std::string_view variant_catalogue<RadioConfig> = "radios";
}  // namespace config

}  // namespace trilemma
