#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"
#include "models/radio/antenna.h"
#include "models/radio/propagation.h"

/// Interference from other cells, as the rise of the noise level N to N + I: SINR = SNR - rise, in dB.
namespace trilemma {

/// A cell alone.
struct NoInterference {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// The same rise for every client: the interference margin of a link budget.
struct MarginInterference {
  static constexpr std::string_view kind = "margin";
  Decibels uplink{3};
  Decibels downlink{3};

  static constexpr auto fields() {
    return std::tuple{config::field("uplink", &MarginInterference::uplink, "rise of the noise at the base station",
                                    config::between(0, 60)),
                      config::field("downlink", &MarginInterference::downlink, "rise of the noise at the clients",
                                    config::between(0, 60))};
  }
};

/// Rings of cells like this one around it, on the same carrier, with clients of their own.
struct NeighbourInterference {
  static constexpr std::string_view kind = "neighbours";
  Metres inter_site_distance{200};
  Fraction activity{0.5};
  std::int64_t sites = 6;
  std::int64_t clients = 16;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("inter_site_distance", &NeighbourInterference::inter_site_distance,
              "between base stations, on a hexagonal grid", between(1, 5000)),
        field("activity", &NeighbourInterference::activity,
              "share of the symbols of a direction in which a neighbouring cell transmits", between(0, 1)),
        field("sites", &NeighbourInterference::sites, "neighbouring base stations: 6 (one ring) or 18 (two)",
              between(6, 18)),
        field("clients", &NeighbourInterference::clients,
              "of a neighbouring cell, uniform over its hexagon; they share its activity equally", between(1, 1000))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using InterferenceConfig = std::variant<NoInterference, MarginInterference, NeighbourInterference>;

/// What interference needs to know of one kind of station.
struct InterferingStation {
  PowerLevel power{0};  // into the antenna
  ArrayConfig array;
  Decibels extra{0};  // gain (losses: negative) that the array does not show, in all directions
  Decibels noise_figure{7};
  Metres height{1.5};
};

/// The carrier and the two kinds of station, the same in all cells.
struct InterferenceSetup {
  Environment environment = Environment::umi;
  Frequency carrier{28e9};
  LineOfSight line_of_sight = LineOfSight::drawn;  // of the interfering ways
  Shadowing shadowing = Shadowing::on;             // likewise
  Frequency uplink_bandwidth{100e6};               // of a transmission; the noise counts over it
  Frequency downlink_bandwidth{100e6};
  InterferingStation base_station;
  InterferingStation device;
};

/// Why the neighbours cannot be simulated when this cell's clients stand up to `farthest` from their base station: the
/// beginning is the user's to supply ("'inter_site_distance' ..."); empty when they can.
std::string distance_problem(const NeighbourInterference& neighbours, const InterferenceSetup& setup, Metres farthest);

struct NoiseRise {
  Decibels uplink{0};
  Decibels downlink{0};
};

/// A cell nearby and the clients that it serves, one at a time.
struct Neighbour {
  Position base_station;
  std::vector<Position> clients;
};

/// The neighbours of a cell at the origin; clients keep the smallest distance to their own base station that the
/// environment knows, and are a function of `cell` (who asks, for example "cell 3") and `streams` only.
std::vector<Neighbour> draw_neighbours(const NeighbourInterference& config, const InterferenceSetup& setup,
                                       std::string_view cell, const Streams& streams);

/// Mean interference in a cell whose base station stands at the origin:
///
///     rise = 10 lg(1 + I / N),  I = activity x sum over neighbours of mean over their clients of P Gt Gr / L,
///
/// N the thermal noise plus noise figure over the bandwidth of a transmission. Downlink: the neighbour's base station
/// beams at its client and the victim's array at this base station. Uplink: the neighbour's client beams at its own
/// base station, and this base station's array at the client that it receives. L is path loss, line of sight and
/// shadowing of TR 38.901 as Propagation draws them, one independent draw a pair of places. Gains are those of the
/// direct way. Every array faces the station that it serves on the ground, as a base station of several panels does, so
/// that the serving link has the peak gain less its tilt; what leaks sideways and backwards is the array's (`Antenna`).
///
/// Static: a client's rise does not change in time. The neighbours' bursts are averaged to their mean power, which
/// hides that a block meets either much or none of it: the mean rate comes out too low when interference is strong and
/// rare, and the tail of the block errors too thin. Also ignored: power control, scattered ways (they fill the nulls),
/// the choice of the strongest cell (neighbours' clients belong to the nearest), alignment of frames between cells
/// (uplink meets uplink only), correlation of shadowing, buildings and own interference.
class NeighbourField {
 public:
  /// Throws std::invalid_argument where Propagation does (see distance_problem).
  NeighbourField(Fraction activity, const InterferenceSetup& setup, std::vector<Neighbour> neighbours,
                 std::string_view cell, const Streams& streams);

  /// Of the client `name` (for example "client 7") at `place`, relative to its base station.
  [[nodiscard]] NoiseRise noise_rise(std::string_view name, const Position& place) const;

 private:
  /// A neighbour's client as this base station hears it.
  struct UplinkSource {
    Bearing arrival;       // from this base station
    double power_mw_mean;  // its share of the activity included, receiving array not
  };

  void add_uplink_sources(const Neighbour& neighbour, const std::string& name);
  [[nodiscard]] double uplink_power(const Position& place) const;
  [[nodiscard]] double downlink_power(std::string_view name, const Position& place) const;

  double activity_;
  InterferenceSetup setup_;
  std::vector<Neighbour> neighbours_;
  Streams streams_;
  Propagation propagation_;
  Position base_station_;
  std::vector<UplinkSource> uplink_sources_;
};

/// Any kind of interference in one cell.
class Interference {
 public:
  Interference(const InterferenceConfig& config, const InterferenceSetup& setup, std::string_view cell,
               const Streams& streams);
  /// As NeighbourField::noise_rise.
  [[nodiscard]] NoiseRise noise_rise(std::string_view name, const Position& place) const;

 private:
  std::variant<NoiseRise, NeighbourField> source_;
};

}  // namespace trilemma
