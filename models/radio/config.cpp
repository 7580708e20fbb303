#include "models/radio/config.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/config/text.h"
#include "models/radio/frame_grid.h"
#include "models/radio/nr_links.h"
#include "models/radio/nr_phy.h"
#include "models/radio/timing.h"

namespace trilemma {
namespace {

using config::FieldProblem;
using config::Text;

/// Distances that come out of a calculation, for messages.
std::string rounded(Metres distance) { return Text<Metres>::format(Metres(std::round(distance.value() * 100) / 100)); }

std::string mapping_problem(const NrRadio& radio) {
  if (radio.mapping == Mapping::b) return {};
  if (radio.shortest < 4) {
    return "has blocks of at least 4 symbols in TS 38.214 tables 5.1.2.1-1 and 6.1.2.1-1; write 'shortest: 4', or "
           "'mapping: b'";
  }
  if (radio.frame != full_uplink && radio.frame.find('F') != std::string::npos) {
    return "starts uplink at symbol 0, which flexible slots do not have; write 'mapping: b', or D, S and U";
  }
  return {};
}

std::string frame_problem(const NrRadio& radio) {
  const std::string advice = "; write letters D, S, U and F such as 'DDDSU', or 'full-uplink'";
  if (radio.frame != full_uplink) {
    if (radio.frame.empty() || radio.frame.find_first_not_of("DSUF") != std::string::npos) {
      return "is not a frame pattern" + advice;
    }
    if (radio.frame.size() > 640) return "is longer than 640 slots" + advice;
  }
  const FrameGrid grid(radio);
  const bool granted = radio.access == Access::configured_grant;
  if (granted && radio.frame.find('F') != std::string::npos) {
    return "has flexible slots, which configured grants cannot own; write D, S and U only, or 'access: dynamic'";
  }
  if (granted && !grid.fits(Direction::uplink, static_cast<int>(radio.symbols))) {
    return fmt::format("has no {} uplink symbols in a row for a configured grant; write fewer symbols{}", radio.symbols,
                       radio.frame == full_uplink ? ", or 'uplink_control: 0'" : ", or a U slot");
  }
  if (!grid.fits(Direction::uplink, static_cast<int>(radio.shortest))) return "has no room for uplink data" + advice;
  if (!grid.fits(Direction::downlink, static_cast<int>(radio.shortest)))
    return "has no room for downlink data" + advice;
  if (!grid.has_control(Direction::uplink)) return "has no slot that ends in uplink control" + advice;
  if (!grid.has_control(Direction::downlink)) return "has no slot that begins with downlink control" + advice;
  return {};
}

/// The most robust blocks must carry something in both directions: a client at the edge of the cell would wait for
/// ever. Requires a radio without other problems.
std::string payload_problem(const NrRadio& radio) {
  const FrameGrid grid(radio);
  const NrPhy phy(radio, radio.subbands);
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    const int longest = grid.longest(direction);
    if (phy.payload(0, longest) > Bytes(0)) continue;
    return fmt::format(
        "leaves {} {} symbols in a row, whose block at MCS 0 of '{}' is no larger than its headers; write more "
        "symbols, fewer subbands, a wider bandwidth or another MCS table",
        longest, direction == Direction::uplink ? "uplink" : "downlink", config::name_of(radio.mcs_table));
  }
  return {};
}

std::string bandwidth_problem(const NrRadio& radio) {
  const int mu = static_cast<int>(radio.numerology);
  if (resource_blocks(radio.bandwidth, mu, radio.carrier)) return {};
  const auto known = channel_bandwidths(mu, radio.carrier);
  if (known.empty()) {
    return fmt::format("does not exist at {} and numerology {}; write numerology {}",
                       Text<Frequency>::format(radio.carrier), mu,
                       is_fr2(radio.carrier) ? "2, 3, 5 or 6" : "0, 1 or 2");
  }
  std::string allowed;
  for (const Frequency bandwidth : known) {
    allowed += (allowed.empty() ? "" : ", ") + Text<Frequency>::format(bandwidth);
  }
  return fmt::format("is not a channel bandwidth of TS 38.101 at numerology {}; write one of {}", mu, allowed);
}

std::string shortest_problem(const NrRadio& radio) {
  if (radio.shortest > radio.symbols) {
    return fmt::format("is longer than the longest transmission of {} symbols; write at most {}", radio.symbols,
                       radio.symbols);
  }
  if (radio.shortest == 1 && radio.reference == ReferenceSignals::symbol) {
    return "leaves no symbol for data beside the reference signals; write 2, or 'reference: comb'";
  }
  return {};
}

std::string sounding_problem(const NrRadio& radio) {
  if (radio.sounding != 1) return {};
  return "leaves a client no slot for anything else; write 2 or more, or 0";
}

std::string subbands_problem(const NrRadio& radio) {
  const auto blocks = resource_blocks(radio.bandwidth, static_cast<int>(radio.numerology), radio.carrier);
  if (!blocks || radio.subbands <= *blocks) return {};
  return fmt::format("are more than the {} resource blocks of the carrier; write fewer", *blocks);
}

std::string height_problem(const NrRadio& radio, const StationConfig& device, const StationConfig& base_station) {
  try {
    const Heights standard = default_heights(radio.environment);
    const Position ue{.x = Metres(20), .z = device.height.value_or(standard.ue)};
    const Position base{.z = base_station.height.value_or(standard.base_station)};
    (void)line_of_sight_probability(radio.environment, ue, base);
    return {};
  } catch (const std::invalid_argument& problem) {
    return fmt::format("does not allow these antenna heights: {}; write other heights", problem.what());
  }
}

std::string distance_problem(const NrRadio& radio) {
  const DistanceRange range = distance_range(radio.environment);
  // Indoors the limit is on the distance between the antennas, which stand at different heights.
  const bool outdoor = radio.environment == Environment::umi || radio.environment == Environment::uma;
  const Heights standard = default_heights(radio.environment);
  const Metres low = radio.device.height.value_or(standard.ue);
  const Metres high = radio.base_station.height.value_or(standard.base_station);
  const auto outside = [&](Metres distance) {
    const Metres between(outdoor ? distance.value() : std::hypot(distance.value(), (high - low).value()));
    return distance < range.min || between > range.max;
  };
  const bool bad = std::visit(
      [&](const auto& placement) {
        if constexpr (requires { placement.distance; })
          return outside(placement.distance);
        else
          return outside(placement.nearest) || outside(placement.radius);
      },
      radio.placement);
  if (!bad) return {};
  return fmt::format("lies outside {} to {}{}, where TR 38.901 specifies '{}'; write distances inside",
                     rounded(range.min), rounded(range.max), outdoor ? "" : " between the antennas",
                     config::name_of(radio.environment));
}

/// What moves and fades needs.
void channel_problems(const NrRadio& radio, std::vector<FieldProblem>& found) {
  const auto& base = radio.base_station;
  if (!std::holds_alternative<NoFading>(radio.fading) && (!base.array || !radio.device.array)) {
    found.push_back({"fading",
                     "needs the antenna arrays of both ends; write 'array: {rows: 8, columns: 8}' for "
                     "base_station and device in place of their gains"});
  }
  const bool outdoor = radio.environment == Environment::umi || radio.environment == Environment::uma;
  if (radio.penetration != Penetration::none && !outdoor) {
    found.push_back({"penetration",
                     "is for clients in buildings around an outdoor cell; write 'none', or environment "
                     "umi or uma"});
  }
  if (radio.penetration != Penetration::none && !std::holds_alternative<StaticMotion>(radio.motion)) {
    found.push_back({"penetration", "does not go with clients that move; write 'none', or motion static"});
  }
}

Metres farthest(const NrRadio& radio) {
  const Metres start = std::visit(
      [](const auto& placement) {
        if constexpr (requires { placement.distance; })
          return placement.distance;
        else
          return placement.radius;
      },
      radio.placement);
  return excursion(radio.motion, start).max;
}

std::string motion_problem(const NrRadio& radio) {
  if (std::holds_alternative<StaticMotion>(radio.motion)) return {};
  const auto [nearest, start] = std::visit(
      [](const auto& placement) {
        if constexpr (requires { placement.distance; })
          return std::pair{placement.distance, placement.distance};
        else
          return std::pair{placement.nearest, placement.radius};
      },
      radio.placement);
  const DistanceRange way = excursion(radio.motion, nearest);
  if (way.min > nearest || start > way.max) {
    return fmt::format(
        "keeps clients between {} and {}, where not all of them start; write a range around the placement",
        rounded(way.min), rounded(way.max));
  }
  NrRadio ends = radio;
  ends.placement = DiscPlacement{.radius = way.max, .nearest = way.min};
  return distance_problem(ends);
}

std::string interference_problem(const NrRadio& radio) {
  const auto* neighbours = std::get_if<NeighbourInterference>(&radio.interference);
  const auto blocks = resource_blocks(radio.bandwidth, static_cast<int>(radio.numerology), radio.carrier);
  if (neighbours == nullptr || !blocks) return {};
  return distance_problem(*neighbours, interference_setup(radio, *blocks, *blocks), farthest(radio));
}

}  // namespace

namespace {

/// Grants in turn: does the sounding of some client fall on all its occasions?
std::string silenced_problem(const NrRadio& radio, std::int64_t clients) {
  const FrameGrid grid(radio);
  const RadioTiming timing(radio, grid);
  const std::int64_t repeats = grid.occasions() * radio.sounding;
  for (std::int64_t client = 0; client < clients; ++client) {
    std::int64_t turn = 0;
    while (turn < repeats && timing.sounds(client, grid.occasion(client + turn * clients).region.slot)) ++turn;
    if (turn < repeats) continue;
    return fmt::format(
        "has a client ({}) whose configured grants all fall into slots in which it sounds; write another number of "
        "clients, or 'sounding: 0'",
        client);
  }
  return {};
}

std::string side_by_side_problem(const NrRadio& radio, std::int64_t clients) {
  const auto blocks = *resource_blocks(radio.bandwidth, static_cast<int>(radio.numerology), radio.carrier);
  for (std::int64_t most = std::min<std::int64_t>(clients, blocks); most >= 1; --most) {
    if (NrPhy(radio, most).payload(0, static_cast<int>(radio.symbols)) == Bytes(0)) continue;
    if (most == clients) return {};
    return fmt::format(
        "are too many in one cell for configured grants side by side: {} resource blocks of {} symbols "
        "have room for data at MCS 0 of {} clients; write fewer clients, more cells, longer "
        "transmissions or 'multiplexing: time'",
        blocks, radio.symbols, most);
  }
  return "cannot have configured grants side by side: not even one has room for data at MCS 0; write longer "
         "transmissions";
}

}  // namespace

std::string clients_problem(const NrRadio& radio, std::int64_t clients) {
  if (clients > 1 && std::holds_alternative<Tr37910Timing>(radio.timing)) {
    return fmt::format(
        "has {} clients in a cell, and timing 'tr37910' is the average of one alone; write one client "
        "a cell, or timing 'standard'",
        clients);
  }
  if (radio.access != Access::configured_grant) return {};
  if (radio.multiplexing == Multiplexing::frequency) return side_by_side_problem(radio, clients);
  return radio.sounding > 0 ? silenced_problem(radio, clients) : std::string();
}

std::vector<FieldProblem> DiscPlacement::problems() const {
  if (nearest < radius) return {};
  return {{"nearest",
           fmt::format("leaves no room between the nearest distance, {}, and the radius, {}; write a larger radius",
                       rounded(nearest), rounded(radius)),
           {"radius"}}};
}

std::vector<FieldProblem> StationConfig::problems() const {
  if (!array || !gain) return {};
  return {{"gain", "stands beside an array, whose gain is that of its beam; write one of the two"}};
}

std::vector<FieldProblem> SlottedTiming::problems() const {
  if (assembly <= grant) return {};
  return {{"assembly",
           fmt::format("lets a block be assembled {} slots ahead, before the decision, {} slots ahead; write an "
                       "'assembly' of at most 'grant'",
                       assembly, grant),
           {"grant"}}};
}

std::vector<FieldProblem> SpecialSlot::problems() const {
  if (downlink + guard + uplink == symbols_per_slot) return {};
  return {{"guard",
           fmt::format("makes a slot of {} symbols: {} downlink, {} guard, {} uplink; write three numbers that add up "
                       "to 14",
                       downlink + guard + uplink, downlink, guard, uplink),
           {"downlink", "uplink"}}};
}

std::vector<FieldProblem> NrRadio::problems() const {
  std::vector<FieldProblem> found;
  const auto add = [&](const char* key, const std::string& problem) {
    if (!problem.empty()) found.push_back({key, problem});
  };
  if (symbols != 2 && symbols != 4 && symbols != 7 && symbols != 14) {
    add("symbols", "is not a transmission length of this model; write 2, 4, 7 or 14");
  } else {
    add("shortest", shortest_problem(*this));
    add("mapping", mapping_problem(*this));
    if (found.empty()) add("frame", frame_problem(*this));
    if (found.empty()) add("sounding", sounding_problem(*this));
  }
  if (numerology == 4) {
    add("numerology", "has no data channel in TS 38.211; write 0 to 3, 5 or 6");
  } else {
    add("bandwidth", bandwidth_problem(*this));
    add("subbands", subbands_problem(*this));
    if (!processing_times(static_cast<int>(numerology), capability))
      add("capability", "has no processing times at this numerology in TS 38.214; write '1'");
  }
  if (environment == Environment::inf_hh && line_of_sight == LineOfSight::never) {
    add("line_of_sight", "does not exist in inf-hh, which is always in line of sight; write 'always'");
  }
  add("environment", height_problem(*this, device, base_station));
  add("placement", distance_problem(*this));
  channel_problems(*this, found);
  if (found.empty()) add("motion", motion_problem(*this));
  if (found.empty()) add("interference", interference_problem(*this));
  if (found.empty()) add("symbols", payload_problem(*this));
  return found;
}

}  // namespace trilemma
