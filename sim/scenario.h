#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"
#include "models/accuracy/published.h"
#include "models/codec/config.h"
#include "models/link/config.h"
#include "models/llm/config.h"
#include "models/llm/cut.h"
#include "models/llm/work.h"
#include "models/processor/roofline.h"
#include "models/radio/config.h"
#include "models/server/roofline_step.h"
#include "models/workload/config.h"
#include "models/workload/target.h"
#include "models/workload/trace.h"
#include "sim/tiers.h"

namespace trilemma {

enum class Fidelity { message, packet };
enum class Switch { off, on };

namespace config {
template <>
inline constexpr auto names<Fidelity> =
    std::array{Name{"message", Fidelity::message}, Name{"packet", Fidelity::packet}};
template <>
inline constexpr auto names<Switch> = std::array{Name{"off", Switch::off}, Name{"on", Switch::on}};
}  // namespace config

/// Messages are sent as they are.
struct NoTransport {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};
/// Messages are cut into datagrams that fit the MTU; each carries headers.
struct UdpTransport {
  static constexpr std::string_view kind = "udp";
  Bytes mtu{1500};
  Bytes headers{28};
  static constexpr auto fields() {
    return std::tuple{config::field("mtu", &UdpTransport::mtu, "largest IP packet", config::between(64, 65535)),
                      config::field("headers", &UdpTransport::headers, "headers of a packet: IPv4 20 B and UDP 8 B",
                                    config::between(0, 63))};
  }
};
using TransportConfig = std::variant<UdpTransport, NoTransport>;

struct LimitsConfig {
  std::optional<Duration> wall;
  std::optional<Bytes> memory;
  std::optional<std::int64_t> events;

  static constexpr auto fields() {
    return std::tuple{
        config::field("wall", &LimitsConfig::wall, "host time of one replication", config::positive),
        config::field("memory", &LimitsConfig::memory, "resident memory of the process", config::positive),
        config::field("events", &LimitsConfig::events, "events of one replication", config::between(1, 9e18))};
  }
};

/// One point: everything that decides a result.
struct Scenario {
  std::string name = "unnamed";
  std::string question;
  std::int64_t seed = 1;
  std::optional<Duration> duration;
  std::optional<std::int64_t> requests;
  Duration warmup{0};
  std::int64_t replications = 1;
  Switch jitter = Switch::off;
  Switch uncertainty = Switch::off;
  Fidelity fidelity = Fidelity::message;
  LimitsConfig limits;

  LlmConfig llm;
  PruningConfig pruning;
  Cut cut;
  DeviceConfig device;
  EdgeConfig edge;
  std::optional<CloudConfig> cloud;
  std::optional<SpeculationConfig> speculation;
  CodecConfig codec;
  TransportConfig transport;
  WorkloadConfig workload;
  RadioConfig radio;
  std::int64_t cells = 1;
  LinkConfig backhaul;
  std::optional<TargetConfig> target;

  // Read with the scenario; not fields.
  std::vector<TraceRow> trace;       // of workload.arrivals
  AccuracyTable accuracies;          // published ones, where workload.task is given
  std::filesystem::path checkpoint;  // folder of the llm's weights, which need not exist

  static constexpr auto fields() {
    using config::between, config::field, config::positive, config::required;
    return std::tuple{
        field("name", &Scenario::name, "short name, used for result folders"),
        field("question", &Scenario::question, "what the experiment asks"),
        field("seed", &Scenario::seed, "seed of all random streams", between(1, 4294944442.0)),
        field("duration", &Scenario::duration, "arrivals stop at this time; then the run drains",
              config::positive_up_to_30_years),
        field("requests", &Scenario::requests, "arrivals stop after this many requests, instead of duration",
              between(1, 1e12)),
        field("warmup", &Scenario::warmup, "requests that arrive earlier are left out of the statistics",
              config::up_to_30_years),
        field("replications", &Scenario::replications, "independent runs, pooled", between(1, 1e6)),
        field("jitter", &Scenario::jitter,
              "log-normal noise on each computation, with the spread that the calibration left"),
        field("uncertainty", &Scenario::uncertainty,
              "draws the fitted parameters of device and edge anew for each replication; a target then has to hold in "
              "each"),
        field("fidelity", &Scenario::fidelity,
              "message: radio and backhaul carry whole messages; packet: every IP packet over ns-3's stack"),
        field("limits", &Scenario::limits, "bounds on the cost of a run"),
        required("llm", &Scenario::llm, "language model"),
        field("pruning", &Scenario::pruning, "structured pruning of the model, on both sides of the cut"),
        field(
            "cut", &Scenario::cut,
            "blocks on the device: 0 = all at the edge (raw input is sent), all = on the device; [a, b]: the cloud has "
            "those from block b on"),
        required("device", &Scenario::device, "device tier"),
        required("edge", &Scenario::edge, "edge tier"),
        field("cloud", &Scenario::cloud, "cloud tier, for cuts such as [1, 12]; absent: none"),
        field("speculation", &Scenario::speculation,
              "speculative decoding with a small model on the device, where the whole model is behind it"),
        field("codec", &Scenario::codec, "activation compression at the cut"),
        field("transport", &Scenario::transport, "packet headers around each message"),
        required("workload", &Scenario::workload, "clients and their requests"),
        required("radio", &Scenario::radio, "radio leg"),
        field("cells", &Scenario::cells, "cells that share the backhaul and the edge; clients are spread evenly",
              between(1, 1e4)),
        required("backhaul", &Scenario::backhaul, "from the base station to the edge"),
        field("target", &Scenario::target, "latency target"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;

  [[nodiscard]] bool on_device() const { return !cut.layers.has_value(); }
  [[nodiscard]] bool raw_input() const { return cut.layers == std::int64_t{0}; }
  [[nodiscard]] bool uses_cloud() const { return cut.cloud.has_value(); }
  /// Of all kinds of requests: whether none needs more than the device, and whether one target is that of all.
  [[nodiscard]] bool stays_on_device() const;
  [[nodiscard]] bool has_one_target() const;
  /// Whether one site behind the device has the whole model, and so generates the answer by itself.
  [[nodiscard]] bool is_remote() const { return raw_input() && cut.cloud.value_or(0) == 0; }
  /// The language model as it runs, and its parts.
  [[nodiscard]] LlmConfig model() const { return pruned(llm, pruning); }
  [[nodiscard]] ModelPart part(Station station) const;
  /// A request's size in words: what a typical one has, rounded, and what the largest has.
  [[nodiscard]] RequestTokens usual_request() const;
  [[nodiscard]] RequestTokens largest_request() const;
  /// Memory that each side needs for the largest request.
  [[nodiscard]] MemoryNeed device_need() const;
  [[nodiscard]] MemoryNeed edge_need() const;
  [[nodiscard]] MemoryNeed cloud_need() const;
};

}  // namespace trilemma
