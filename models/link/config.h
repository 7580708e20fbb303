#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// Base station and server in one place: no backhaul.
struct NoLink {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};

/// One store-and-forward hop of constant delay.
struct FixedLink {
  static constexpr std::string_view kind = "fixed";
  std::string title;
  BitRate rate{0};
  Duration delay{0};
  std::string source;

  static constexpr auto fields() {
    return std::tuple{config::field("title", &FixedLink::title, "full name"),
                      config::required("rate", &FixedLink::rate, "serialisation rate, each way", config::positive),
                      config::field("delay", &FixedLink::delay, "propagation delay, one way", config::up_to_an_hour),
                      config::field("source", &FixedLink::source, "where the numbers come from")};
  }
};

/// Fibre with store-and-forward switches: switches + 1 hops, each serialises at `rate` frame by frame; the length is
/// travelled once.
struct FibreLink {
  static constexpr std::string_view kind = "fibre";
  std::string title;
  Metres length{0};
  BitRate rate{10e9};
  std::int64_t switches = 0;
  Duration switch_latency{0};
  Duration delay{0};
  Bytes frame{1500};
  Bytes frame_overhead{38};
  std::string source;

  static constexpr auto fields() {
    return std::tuple{
        config::field("title", &FibreLink::title, "full name"),
        config::required("length", &FibreLink::length, "length of the fibre, one way", config::between(0, 4e7)),
        config::field("rate", &FibreLink::rate, "rate of every hop, each way", config::positive),
        config::field("switches", &FibreLink::switches, "store-and-forward switches on the way",
                      config::between(0, 1000)),
        config::field("switch_latency", &FibreLink::switch_latency, "forwarding latency of one switch",
                      config::up_to_an_hour),
        config::field("delay", &FibreLink::delay, "further constant delay, one way", config::up_to_an_hour),
        config::field("frame", &FibreLink::frame, "largest payload of a frame", config::between(1, 1e9)),
        config::field("frame_overhead", &FibreLink::frame_overhead,
                      "bytes around each frame; Ethernet: preamble 8, header 14, FCS 4, gap 12",
                      config::between(0, 1e6)),
        config::field("source", &FibreLink::source, "where the numbers come from")};
  }
};

using LinkConfig = std::variant<NoLink, FixedLink, FibreLink>;

namespace config {
template <>
inline constexpr std::string_view variant_catalogue<LinkConfig> = "links";
}  // namespace config

}  // namespace trilemma
