#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "models/processor/config.h"

namespace trilemma {

/// What a calibration can find out about one precision of a processor.
enum class Parameter {
  compute_efficiency,
  memory_efficiency,
  attention_efficiency,
  cache_efficiency,
  convolution_efficiency,
  overlap,
  per_call,
  per_layer
};

namespace config {
template <>
inline constexpr auto names<Parameter> = std::array{Name{"compute_efficiency", Parameter::compute_efficiency},
                                                    Name{"memory_efficiency", Parameter::memory_efficiency},
                                                    Name{"attention_efficiency", Parameter::attention_efficiency},
                                                    Name{"cache_efficiency", Parameter::cache_efficiency},
                                                    Name{"convolution_efficiency", Parameter::convolution_efficiency},
                                                    Name{"overlap", Parameter::overlap},
                                                    Name{"per_call", Parameter::per_call},
                                                    Name{"per_layer", Parameter::per_layer}};
}  // namespace config

/// One precision of a sheet: the peak, what is taken as given and what is to be fitted.
struct SheetRate {
  Precision precision = Precision::fp16;
  std::string runtime;
  std::vector<std::string> runtimes;  // of the rows that belong here; empty: all of the precision
  OperationRate compute{0};
  std::vector<Parameter> fit;
  std::optional<Fraction> compute_efficiency;
  std::optional<Fraction> memory_efficiency;
  std::optional<Fraction> attention_efficiency;
  std::optional<Fraction> cache_efficiency;
  std::optional<Fraction> convolution_efficiency;
  std::optional<Fraction> overlap;
  std::optional<Duration> per_call;
  std::optional<Duration> per_layer;
  std::optional<std::int64_t> chunk;
  std::optional<Tokens> cache_tokens;
  double cache_bits = 16;
  std::optional<double> head_bits;
  std::optional<Quality> quality;  // of what is given; a fit has its own
  std::string source;

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    constexpr config::Bounds share{.min = 0, .max = 1, .min_allowed = false};
    return std::tuple{
        required("precision", &SheetRate::precision, "number format of the weights"),
        field("runtime", &SheetRate::runtime, "software that was measured"),
        field("runtimes", &SheetRate::runtimes,
              "what the column 'runtime' says in the rows that belong here; absent: all rows of the precision"),
        required("compute", &SheetRate::compute, "peak arithmetic rate", least_rate),
        field("fit", &SheetRate::fit, "parameters that the measurements decide"),
        field("compute_efficiency", &SheetRate::compute_efficiency, "given share of the peak", share),
        field("memory_efficiency", &SheetRate::memory_efficiency, "given share of the bandwidth", share),
        field("attention_efficiency", &SheetRate::attention_efficiency, "given share of the peak in attention", share),
        field("cache_efficiency", &SheetRate::cache_efficiency, "given share of the bandwidth of the KV cache", share),
        field("convolution_efficiency", &SheetRate::convolution_efficiency, "given share of the peak in convolutions",
              share),
        field("overlap", &SheetRate::overlap, "given overlap of compute and memory time; absent: 100 %", between(0, 1)),
        field("per_call", &SheetRate::per_call, "given cost of a pass", config::up_to_an_hour),
        field("per_layer", &SheetRate::per_layer, "given cost of a block", config::up_to_an_hour),
        field("chunk", &SheetRate::chunk, "tokens of a prompt in one pass", between(1, 1e6)),
        field("cache_tokens", &SheetRate::cache_tokens, "tokens of the cache that each pass reads", between(1, 1e7)),
        field("cache_bits", &SheetRate::cache_bits, "bits of a number in the KV cache", between(1, 32)),
        field("head_bits", &SheetRate::head_bits, "bits of a weight of embedding and LM head", between(1, 32)),
        field("quality", &SheetRate::quality, "of what is given"),
        field("source", &SheetRate::source, "why"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// What is known of a processor before it is measured: configs/calibration/DEVICE.yaml. `peaks` is its last key.
struct HardwareSheet {
  std::string title;
  Tier tier = Tier::workstation;
  Bytes memory{0};
  Bytes reserve{0};
  std::optional<Bytes> storage;
  ByteRate bandwidth{0};
  std::int64_t quantisation_block = 32;
  std::optional<PowerConfig> power;
  std::optional<SignalConfig> signal;
  std::string source;
  std::vector<SheetRate> peaks;

  static constexpr auto fields() {
    using config::between, config::field, config::non_negative, config::positive, config::required;
    return std::tuple{
        field("title", &HardwareSheet::title, "full name"),
        field("tier", &HardwareSheet::tier, "class of machine"),
        required("memory", &HardwareSheet::memory, "RAM", positive),
        field("reserve", &HardwareSheet::reserve, "RAM taken by system and runtime", non_negative),
        field("storage", &HardwareSheet::storage, "flash that holds the weights, read in place", positive),
        required("bandwidth", &HardwareSheet::bandwidth, "bandwidth of the memory that holds the weights", least_rate),
        field("quantisation_block", &HardwareSheet::quantisation_block,
              "weights that share one 16-bit scale at 8 bits and below; 0 = no scales", between(0, 1e6)),
        field("power", &HardwareSheet::power, "electrical power"),
        field("signal", &HardwareSheet::signal, "what codecs run on"),
        field("source", &HardwareSheet::source, "where the numbers come from"),
        required("peaks", &HardwareSheet::peaks, "what each precision could reach, and what is to be fitted"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

}  // namespace trilemma
