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

namespace trilemma {

/// How a client gets uplink resources: scheduling request and grant, or its own periodic occasions (type 1).
enum class Access { dynamic, configured_grant };
/// Which client is next: in turn; by rate over average rate; by deadline; or in turn with standing grants that repeat
/// while they are used.
enum class RadioScheduler { round_robin, proportional_fair, earliest_deadline_first, semi_persistent };
/// Where a block may start in its slot (TS 38.214 tables 5.1.2.1-1 and 6.1.2.1-1): at symbols 0 to 3 of downlink and 0
/// of uplink, with at least four symbols, so that there is one a slot; or at any.
enum class Mapping { a, b };
/// What a block spends on reference signals: a whole symbol of its own (front-loaded DM-RS, type 1, both combs), or one
/// of twelve subcarriers in every symbol.
enum class ReferenceSignals { symbol, comb };
/// What configured grants share: time (occasion k belongs to client k mod N) or frequency (each client has 1/N of the
/// band, always).
enum class Multiplexing { time, frequency };

/// Table by which a buffer size is reported (TS 38.321 clause 6.1.3.1): not rounded, 5 bits, 8 bits.
enum class BufferTable { exact, short5, long8 };
/// Whether the base station deducts the grants on their way from a buffer report that is older than they are.
enum class GrantsInFlight { deducted, ignored };

namespace config {
template <>
inline constexpr auto names<Access> =
    std::array{Name{"dynamic", Access::dynamic}, Name{"configured-grant", Access::configured_grant}};
template <>
inline constexpr auto names<RadioScheduler> = std::array{
    Name{"round-robin", RadioScheduler::round_robin}, Name{"proportional-fair", RadioScheduler::proportional_fair},
    Name{"edf", RadioScheduler::earliest_deadline_first}, Name{"semi-persistent", RadioScheduler::semi_persistent}};
template <>
inline constexpr auto names<Mapping> = std::array{Name{"a", Mapping::a}, Name{"b", Mapping::b}};
template <>
inline constexpr auto names<ReferenceSignals> =
    std::array{Name{"symbol", ReferenceSignals::symbol}, Name{"comb", ReferenceSignals::comb}};
template <>
inline constexpr auto names<Multiplexing> =
    std::array{Name{"time", Multiplexing::time}, Name{"frequency", Multiplexing::frequency}};
template <>
inline constexpr auto names<BufferTable> =
    std::array{Name{"exact", BufferTable::exact}, Name{"short", BufferTable::short5}, Name{"long", BufferTable::long8}};
template <>
inline constexpr auto names<GrantsInFlight> =
    std::array{Name{"deducted", GrantsInFlight::deducted}, Name{"ignored", GrantsInFlight::ignored}};
}  // namespace config

/// The times of TS 38.214, half of each on either side of the air (TR 37.910 clause 5.7.1), at the symbols of the
/// frame.
struct StandardTiming {
  static constexpr std::string_view kind = "standard";
  static constexpr auto fields() { return std::tuple{}; }
};

/// The same, averaged as TR 37.910 averages: every repetition and its feedback meet the frame at a phase of their own,
/// feedback may use any symbol, and d1,1 is its mean over the allowed starts. For one client; the phases are locked in
/// truth, which `standard` shows.
struct Tr37910Timing {
  static constexpr std::string_view kind = "tr37910";
  static constexpr auto fields() { return std::tuple{}; }
};

/// A base station that schedules once a slot, with whole slots between decision and air, as packet-level simulators do.
struct SlottedTiming {
  static constexpr std::string_view kind = "slotted";
  std::int64_t request = 2;
  std::int64_t grant = 4;
  std::int64_t assembly = 2;
  std::int64_t downlink = 2;
  std::int64_t feedback = 4;
  Duration decoding{100'000};

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("request", &SlottedTiming::request,
              "slots from the slot in which a request is made to the earliest "
              "slot whose uplink control carries it",
              between(0, 100)),
        field("grant", &SlottedTiming::grant, "slots from the scheduler's decision to the uplink block",
              between(1, 100)),
        field("assembly", &SlottedTiming::assembly,
              "slots before the uplink block whose control symbol brings the grant; the block is assembled then",
              between(1, 100)),
        field("downlink", &SlottedTiming::downlink, "slots from the scheduler's decision to the downlink block",
              between(0, 100)),
        field("feedback", &SlottedTiming::feedback, "slots from a downlink block to the decision on its repetition",
              between(1, 100)),
        field("decoding", &SlottedTiming::decoding, "from the last symbol to the bits", config::up_to_an_hour)};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// One value of a measured delay and how often it was seen.
struct DelayShare {
  Duration delay{0};
  double weight = 1;

  static constexpr auto fields() {
    return std::tuple{config::required("delay", &DelayShare::delay, "measured delay", config::up_to_an_hour),
                      config::field("weight", &DelayShare::weight, "count or share of the sample", config::positive)};
  }
};

/// A measured pair of control delays: they depend on each other, because data start in an uplink slot.
struct GrantShare {
  Duration request_to_grant{0};
  Duration grant_to_data{0};
  double weight = 1;

  static constexpr auto fields() {
    return std::tuple{config::required("request_to_grant", &GrantShare::request_to_grant,
                                       "from the start of a scheduling request to the grant", config::up_to_an_hour),
                      config::required("grant_to_data", &GrantShare::grant_to_data, "from the grant to the first block",
                                       config::up_to_an_hour),
                      config::field("weight", &GrantShare::weight, "count or share of the sample", config::positive)};
  }
};

/// Delays drawn from measured distributions, independently but for those of one grant.
struct MeasuredTiming {
  static constexpr std::string_view kind = "measured";
  std::vector<GrantShare> grant;
  std::vector<DelayShare> data;
  std::vector<DelayShare> downlink;
  std::vector<DelayShare> repetition;

  static constexpr auto fields() {
    using config::required;
    return std::tuple{required("grant", &MeasuredTiming::grant, "control delays of an uplink burst"),
                      required("data", &MeasuredTiming::data,
                               "from the start of an uplink block to its bits; never less than its symbols"),
                      required("downlink", &MeasuredTiming::downlink,
                               "from the start of a downlink block to its bits; never less than its symbols"),
                      required("repetition", &MeasuredTiming::repetition, "what one repetition adds")};
  }
};

using TimingConfig = std::variant<StandardTiming, Tr37910Timing, SlottedTiming, MeasuredTiming>;

/// What an uplink request and the reports after it tell the base station.
struct RequestConfig {
  Duration period{0};
  std::optional<Bytes> first_grant;
  BufferTable table = BufferTable::long8;
  GrantsInFlight in_flight = GrantsInFlight::deducted;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("period", &RequestConfig::period,
              "time between a client's occasions for scheduling requests; 0: every uplink control symbol",
              config::up_to_an_hour),
        field("first_grant", &RequestConfig::first_grant,
              "what the base station grants on a scheduling request, before the first buffer report; absent: it knows "
              "the size of the message, an ideal",
              between(1, 1e9)),
        field("table", &RequestConfig::table, "rounding of buffer reports"),
        field("in_flight", &RequestConfig::in_flight, "grants that a buffer report has not seen yet")};
  }
};

/// Standing grants of the semi-persistent scheduler.
struct PersistenceConfig {
  Duration period{1'000'000};
  std::int64_t release = 3;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("period", &PersistenceConfig::period, "time between the repetitions of a standing grant",
              config::Bounds{.min = 1e4, .max = 3.6e12}),
        field("release", &PersistenceConfig::release, "unused repetitions after which it ends", between(1, 1e6))};
  }
};

struct HarqConfig {
  std::int64_t max_transmissions = 4;
  std::optional<Fraction> target;

  static constexpr auto fields() {
    return std::tuple{
        config::field("max_transmissions", &HarqConfig::max_transmissions,
                      "transmissions of a transport block before it is lost", config::between(1, 32)),
        config::field(
            "target", &HarqConfig::target,
            "block error rate that link adaptation accepts; absent: 10 %, and 1e-5 for the MCS table qam64-low-se",
            config::Bounds{.min = 0, .max = 1, .min_allowed = false, .max_allowed = false})};
  }
};

/// A block that HARQ gives up is lost, and with it every message that has a byte in it.
struct UnacknowledgedRlc {
  static constexpr std::string_view kind = "unacknowledged";
  static constexpr auto fields() { return std::tuple{}; }
};

/// RLC acknowledged mode (TS 38.322): the receiver reports the gap after `delay`, and the block starts again, up to
/// `max_retransmissions` times.
struct AcknowledgedRlc {
  static constexpr std::string_view kind = "acknowledged";
  std::int64_t max_retransmissions = 8;
  Duration delay{5'000'000};

  static constexpr auto fields() {
    return std::tuple{config::field("max_retransmissions", &AcknowledgedRlc::max_retransmissions,
                                    "fresh starts of a block before it is lost", config::between(1, 32)),
                      config::field("delay", &AcknowledgedRlc::delay,
                                    "from giving up to the status report at the sender (t-Reassembly and status)",
                                    config::up_to_an_hour)};
  }
};

using RlcConfig = std::variant<UnacknowledgedRlc, AcknowledgedRlc>;

/// Block errors from SINR, MCS and block size.
struct ModelledErrors {
  static constexpr std::string_view kind = "modelled";
  Decibels gap{1.2};

  static constexpr auto fields() {
    return std::tuple{config::field("gap", &ModelledErrors::gap,
                                    "SINR that the code asks for beyond the normal approximation",
                                    config::between(0, 30))};
  }
};

/// Block errors at given rates, whatever the link.
struct FixedErrors {
  static constexpr std::string_view kind = "fixed";
  Fraction first{0.1};
  Fraction later{0};

  static constexpr auto fields() {
    return std::tuple{
        config::field("first", &FixedErrors::first, "error rate of first transmissions", config::between(0, 1)),
        config::field("later", &FixedErrors::later, "error rate of repetitions", config::between(0, 1))};
  }
};

using ErrorsConfig = std::variant<ModelledErrors, FixedErrors>;

}  // namespace trilemma
