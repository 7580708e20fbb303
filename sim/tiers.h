#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"
#include "models/codec/config.h"
#include "models/llm/config.h"
#include "models/processor/config.h"
#include "models/processor/network.h"
#include "models/server/config.h"
#include "models/server/pace.h"

/// The three tiers of a scenario.
namespace trilemma {

/// Where a part of a model runs.
enum class Station { device, edge, cloud };

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

/// The edge tier: servers with processors, each of which (or each group that shares one) has a copy of its part of the
/// model.
struct EdgeConfig : ProcessorConfig, SiteConfig {
  Precision precision = Precision::fp16;

  static constexpr auto fields() {
    return std::tuple_cat(
        ProcessorConfig::fields(), SiteConfig::fields(),
        std::tuple{config::field("precision", &EdgeConfig::precision, "number format of the weights")});
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// The cloud tier: as the edge, at the end of a wide-area network.
struct CloudConfig : EdgeConfig {
  Duration rtt{0};
  BitRate rate{10e9};
  std::optional<CodecConfig> codec;

  static constexpr auto fields() {
    return std::tuple_cat(
        EdgeConfig::fields(),
        std::tuple{config::required("rtt", &CloudConfig::rtt, "round trip of an empty message between edge and cloud",
                                    config::up_to_an_hour),
                   config::field("rate", &CloudConfig::rate, "rate between edge and cloud, each way", config::positive),
                   config::field("codec", &CloudConfig::codec,
                                 "activation compression between edge and cloud; absent: as from the device")});
  }
};

/// Speculative decoding (Leviathan et al., ICML 2023): the device drafts tokens with a small model, and the model
/// behind it checks them in one pass. Each draft is accepted with the same probability, independently, up to the first
/// that is not.
struct SpeculationConfig {
  LlmConfig draft;
  std::int64_t tokens = 4;
  Fraction acceptance{0};
  Bytes token_bytes{4};

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{
        required("draft", &SpeculationConfig::draft, "language model on the device"),
        field("tokens", &SpeculationConfig::tokens, "tokens that are drafted at a time", between(1, 64)),
        required("acceptance", &SpeculationConfig::acceptance, "probability that a drafted token is accepted",
                 between(0, 1)),
        field("token_bytes", &SpeculationConfig::token_bytes,
              "sent for each drafted token; 4 B is its number, more where probabilities go with it", between(1, 1e6))};
  }
};

}  // namespace trilemma
