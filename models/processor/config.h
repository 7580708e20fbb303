#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// Number format of weights.
enum class Precision { fp32, bf16, fp16, int8, int4, int2, int1 };
/// Where a tier stands: microcontroller, phone, embedded board, workstation, data-centre server.
enum class Tier { mcu, phone, embedded, workstation, server };
/// How far a compute model can be trusted, best first.
enum class Quality { measured, fitted, roofline, guess };

namespace config {
template <>
inline constexpr auto names<Precision> =
    std::array{Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16}, Name{"fp16", Precision::fp16},
               Name{"int8", Precision::int8}, Name{"int4", Precision::int4}, Name{"int2", Precision::int2},
               Name{"int1", Precision::int1}};
template <>
inline constexpr auto names<Tier> =
    std::array{Name{"mcu", Tier::mcu}, Name{"phone", Tier::phone}, Name{"embedded", Tier::embedded},
               Name{"workstation", Tier::workstation}, Name{"server", Tier::server}};
template <>
inline constexpr auto names<Quality> = std::array{Name{"measured", Quality::measured}, Name{"fitted", Quality::fitted},
                                                  Name{"roofline", Quality::roofline}, Name{"guess", Quality::guess}};
}  // namespace config

/// What a processor reaches with weights of one precision: peak x efficiency.
struct PrecisionRate {
  Precision precision = Precision::fp16;
  OperationRate compute{0};        // peak arithmetic rate for this precision
  Fraction compute_efficiency{1};  // share of the peak reached by prefill
  Fraction memory_efficiency{1};   // share of the memory bandwidth reached by weight streaming

  static constexpr auto fields() {
    using config::Bounds, config::required, config::positive;
    constexpr Bounds share{.min = 0, .max = 1, .min_allowed = false};
    return std::tuple{
        required("precision", &PrecisionRate::precision, "number format of the weights"),
        required("compute", &PrecisionRate::compute, "peak arithmetic rate", positive),
        required("compute_efficiency", &PrecisionRate::compute_efficiency, "share of the peak that is reached", share),
        required("memory_efficiency", &PrecisionRate::memory_efficiency, "share of the bandwidth that is reached",
                 share),
    };
  }
};

/// A compute device; a catalogue entry of configs/devices.
struct ProcessorConfig {
  static constexpr std::string_view catalogue = "devices";

  std::string kind = "custom";
  std::string title;
  Tier tier = Tier::workstation;
  Bytes memory{0};                       // RAM for activations, KV cache and (without `storage`) weights
  Bytes reserve{0};                      // of it taken by the operating system and the runtime
  std::optional<Bytes> storage;          // flash that holds the weights, when they are read in place
  ByteRate bandwidth{0};                 // of the memory that weights are streamed from
  Duration per_call{0};                  // fixed cost of one forward pass (launch, synchronisation)
  Duration per_layer{0};                 // fixed cost of one transformer block
  std::int64_t quantisation_block = 32;  // weights that share one 16-bit scale at 8 bits and below; 0 = no scales
  std::vector<PrecisionRate> rates;
  Quality quality = Quality::guess;
  std::string source;

  static constexpr auto fields() {
    using config::between, config::field, config::non_negative, config::positive, config::required;
    return std::tuple{
        field("kind", &ProcessorConfig::kind, "catalogue entry in configs/devices, or 'custom'"),
        field("title", &ProcessorConfig::title, "full name"),
        field("tier", &ProcessorConfig::tier, "class of machine"),
        required("memory", &ProcessorConfig::memory, "RAM", positive),
        field("reserve", &ProcessorConfig::reserve, "RAM taken by system and runtime", non_negative),
        field("storage", &ProcessorConfig::storage, "flash that holds the weights, read in place", positive),
        required("bandwidth", &ProcessorConfig::bandwidth, "bandwidth of the memory that holds the weights", positive),
        field("per_call", &ProcessorConfig::per_call, "fixed cost of one forward pass", config::up_to_an_hour),
        field("per_layer", &ProcessorConfig::per_layer, "fixed cost of one transformer block", config::up_to_an_hour),
        field("quantisation_block", &ProcessorConfig::quantisation_block,
              "weights that share one 16-bit scale at 8 bits and below; 0 = no scales", between(0, 1e6)),
        required("rates", &ProcessorConfig::rates, "what each precision reaches"),
        field("quality", &ProcessorConfig::quality, "measured, fitted, roofline or guess"),
        field("source", &ProcessorConfig::source, "where the numbers come from"),
    };
  }
};

}  // namespace trilemma
