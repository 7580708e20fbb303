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
#include "models/llm/work.h"
#include "models/processor/config.h"
#include "models/processor/network.h"
#include "models/processor/roofline.h"
#include "models/radio/config.h"
#include "models/server/pace.h"
#include "models/workload/config.h"
#include "models/workload/trace.h"

namespace trilemma {

/// Blocks of the model that run on the device: 0 = none (the raw input is sent), all = the whole model.
struct Cut {
  std::optional<std::int64_t> layers = 0;  // empty: all
  bool operator==(const Cut&) const = default;
};

enum class Fidelity { message, packet };
enum class EdgeScheduling { fcfs };
enum class Switch { off, on };

namespace config {
template <>
inline constexpr auto names<Fidelity> =
    std::array{Name{"message", Fidelity::message}, Name{"packet", Fidelity::packet}};
template <>
inline constexpr auto names<EdgeScheduling> = std::array{Name{"fcfs", EdgeScheduling::fcfs}};

template <>
inline constexpr auto names<Switch> = std::array{Name{"off", Switch::off}, Name{"on", Switch::on}};

template <>
struct Text<Cut> {
  static constexpr std::string_view what = "a cut";
  static constexpr std::string_view example = "1";
  static Parsed<Cut> parse(std::string_view text);
  static std::string format(Cut cut);
  static std::string pattern();
};
}  // namespace config

/// Electrical power of a device's radio by what it does (states as in TR 38.840).
struct ModemConfig {
  Watts transmit{0};
  Watts receive{0};
  Watts idle{0};

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{required("transmit", &ModemConfig::transmit, "power while it transmits", between(0, 1000)),
                      required("receive", &ModemConfig::receive, "power while it receives data", between(0, 1000)),
                      field("idle", &ModemConfig::idle, "power otherwise", between(0, 1000))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const {
    if (idle <= transmit && idle <= receive) return {};
    return {{"idle", "is more than the power of a state in which it works; write a smaller one"}};
  }
};

/// The device tier of a scenario: a processor and what runs on it.
struct DeviceConfig : ProcessorConfig {
  Precision precision = Precision::int4;
  Duration tokenisation{0};                // of one token of the prompt
  std::optional<NetworkConfig> front_end;  // a network that runs before the first block, such as an image encoder
  std::optional<ThrottlingConfig> throttling;
  std::optional<ModemConfig> modem;

  static constexpr auto fields() {
    return std::tuple_cat(
        ProcessorConfig::fields(),
        std::tuple{config::field("precision", &DeviceConfig::precision, "number format of the weights"),
                   config::field("tokenisation", &DeviceConfig::tokenisation,
                                 "time to make one token of the input (tokenisation and other preparation)",
                                 config::up_to_an_hour),
                   config::field("front_end", &DeviceConfig::front_end,
                                 "network that runs on the device before the prompt, such as an image encoder; a "
                                 "catalogue entry or its operations and parameters"),
                   config::field("throttling", &DeviceConfig::throttling, "slowing down when hot; absent: never"),
                   config::field("modem", &DeviceConfig::modem,
                                 "electrical power of the radio; absent: no radio energy is reported")});
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// The edge tier: `count` processors, each with a copy of its part of the model.
struct EdgeConfig : ProcessorConfig {
  std::int64_t count = 1;
  Precision precision = Precision::fp16;
  EdgeScheduling scheduling = EdgeScheduling::fcfs;

  static constexpr auto fields() {
    return std::tuple_cat(ProcessorConfig::fields(),
                          std::tuple{config::field("count", &EdgeConfig::count,
                                                   "processors, one request at a time each", config::between(1, 1e6)),
                                     config::field("precision", &EdgeConfig::precision, "number format of the weights"),
                                     config::field("scheduling", &EdgeConfig::scheduling, "order of the queue")});
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

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

/// A latency bound and the share of requests that must meet it.
struct TargetConfig {
  static constexpr std::string_view catalogue = "targets";
  std::string kind = "custom";
  std::string title;
  Duration latency{0};
  Fraction reliability{0.99};
  std::string scope;
  std::string source;

  static constexpr auto fields() {
    using config::field, config::required;
    return std::tuple{field("kind", &TargetConfig::kind, "catalogue entry in configs/targets, or 'custom'"),
                      field("title", &TargetConfig::title, "full name"),
                      required("latency", &TargetConfig::latency, "bound on the latency of a request",
                               config::positive_up_to_30_years),
                      required("reliability", &TargetConfig::reliability, "share of requests that must meet it",
                               config::Bounds{.min = 0, .max = 1, .min_allowed = false, .max_allowed = false}),
                      field("scope", &TargetConfig::scope, "what the bound covers in its source"),
                      field("source", &TargetConfig::source, "where the numbers come from")};
  }
};

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
        field("cut", &Scenario::cut,
              "blocks on the device: 0 = all at the edge (raw input is sent), all = on the device"),
        required("device", &Scenario::device, "device tier"),
        required("edge", &Scenario::edge, "edge tier"),
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
  /// The language model as it runs.
  [[nodiscard]] LlmConfig model() const { return pruned(llm, pruning); }
  [[nodiscard]] ModelPart head() const {
    return on_device() ? whole_model(model()) : device_part(model(), *cut.layers);
  }
  [[nodiscard]] ModelPart tail() const { return on_device() ? ModelPart{} : edge_part(model(), *cut.layers); }
  /// Memory that each side needs for a request of the workload's size.
  [[nodiscard]] MemoryNeed device_need() const;
  [[nodiscard]] MemoryNeed edge_need() const;
};

}  // namespace trilemma
