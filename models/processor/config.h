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

/// No machine is slower than a thousand operations or bytes a second.
inline constexpr config::Bounds least_rate{.min = 1e3};

/// What a processor reaches with weights of one precision under one runtime (software): the model of
/// models/processor/roofline.h. Written by `trilemma calibrate`, or by hand.
struct PrecisionRate {
  Precision precision = Precision::fp16;
  std::string runtime;
  OperationRate compute{0};                      // peak arithmetic rate for this precision
  Fraction compute_efficiency{1};                // share of the peak reached by matrix products
  Fraction memory_efficiency{1};                 // share of the memory bandwidth reached by weight streaming
  std::optional<Fraction> attention_efficiency;  // share of the peak reached by attention; absent: as matrices
  std::optional<Fraction> cache_efficiency;  // share of the bandwidth reached by the KV cache; absent: as the weights
  std::optional<Fraction> convolution_efficiency;  // share of the peak reached by convolutions; absent: as matrices
  Fraction overlap{1};                             // of the shorter of compute and memory time with the longer
  Duration per_call{0};                            // fixed cost of one forward pass (launch, synchronisation)
  Duration per_layer{0};                           // fixed cost of one transformer block
  std::optional<std::int64_t> chunk;               // tokens of a prompt that go through in one pass, padded
  std::optional<Tokens> cache_tokens;              // the whole cache that each pass reads, whatever is in it
  double cache_bits = 16;                          // of a number in the KV cache
  std::optional<double> head_bits;                 // of a weight of embedding and LM head; absent: as the blocks
  Fraction spread{0};                              // standard deviation of the logarithm of time about the model
  std::vector<std::string> uncertain;              // fitted parameters, in the order of `covariance`
  std::vector<double> covariance;                  // lower triangle by rows: logarithms, overlap, seconds of costs
  std::optional<Fraction> decode_error;            // median absolute error on unseen models
  std::optional<Fraction> prefill_error;
  std::optional<Fraction> convolution_error;
  std::optional<Quality> quality;  // absent: that of the device
  static constexpr auto fields() {
    using config::between, config::Bounds, config::field, config::required;
    constexpr Bounds share{.min = 0, .max = 1, .min_allowed = false};
    return std::tuple{
        required("precision", &PrecisionRate::precision, "number format of the weights"),
        field("runtime", &PrecisionRate::runtime, "software that was measured"),
        required("compute", &PrecisionRate::compute, "peak arithmetic rate", least_rate),
        required("compute_efficiency", &PrecisionRate::compute_efficiency, "share of the peak that is reached", share),
        required("memory_efficiency", &PrecisionRate::memory_efficiency, "share of the bandwidth that is reached",
                 share),
        field("attention_efficiency", &PrecisionRate::attention_efficiency,
              "share of the peak that attention reaches; absent: that of the matrices", share),
        field("cache_efficiency", &PrecisionRate::cache_efficiency,
              "share of the bandwidth that reads of the KV cache reach; absent: that of the weights", share),
        field("convolution_efficiency", &PrecisionRate::convolution_efficiency,
              "share of the peak that convolutions reach; absent: that of the matrices", share),
        field("overlap", &PrecisionRate::overlap,
              "share of the shorter of compute and memory time that runs during the longer", between(0, 1)),
        field("per_call", &PrecisionRate::per_call, "fixed cost of one forward pass", config::up_to_an_hour),
        field("per_layer", &PrecisionRate::per_layer, "fixed cost of one transformer block", config::up_to_an_hour),
        field("chunk", &PrecisionRate::chunk,
              "tokens of a prompt in one pass, padded to that number; absent: the whole prompt", between(1, 1e6)),
        field("cache_tokens", &PrecisionRate::cache_tokens,
              "tokens of the KV cache that each pass reads, used or not; absent: those that are there",
              between(1, 1e7)),
        field("cache_bits", &PrecisionRate::cache_bits, "bits of a number in the KV cache", between(1, 32)),
        field("head_bits", &PrecisionRate::head_bits,
              "bits of a weight of embedding and LM head, scales included; absent: as the blocks", between(1, 32)),
        field("spread", &PrecisionRate::spread, "standard deviation of the logarithm of time about the model",
              between(0, 3)),
        field("uncertain", &PrecisionRate::uncertain, "fitted parameters, in the order of their covariance"),
        field("covariance", &PrecisionRate::covariance,
              "covariance of efficiencies' logarithms, the overlap and costs in seconds, lower triangle by rows"),
        field("decode_error", &PrecisionRate::decode_error, "median error of decoding times of models not fitted",
              config::non_negative),
        field("prefill_error", &PrecisionRate::prefill_error, "the same of prefill times", config::non_negative),
        field("convolution_error", &PrecisionRate::convolution_error, "the same of convolutional networks",
              config::non_negative),
        field("quality", &PrecisionRate::quality, "measured, fitted, roofline or guess; absent: that of the device"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// Electrical power of a machine; what it takes beyond `idle` while it computes belongs to the work.
struct PowerConfig {
  Watts idle{0};
  Watts active{0};

  static constexpr auto fields() {
    using config::field, config::required;
    return std::tuple{field("idle", &PowerConfig::idle, "power without work", config::between(0, 1e5)),
                      required("active", &PowerConfig::active, "power at work", config::between(0, 1e5))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const {
    if (idle <= active) return {};
    return {{"idle", "is more than the power at work; write a smaller one"}};
  }
};

/// What codecs run on: a processor at a rate of its own, measured on transforms.
struct SignalProcessor {
  static constexpr std::string_view kind = "processor";
  OperationRate rate{0};
  Duration per_call{0};

  static constexpr auto fields() {
    using config::field, config::required, config::positive;
    return std::tuple{required("rate", &SignalProcessor::rate, "operations of a codec per second", positive),
                      field("per_call", &SignalProcessor::per_call, "fixed cost of a pass", config::up_to_an_hour)};
  }
};
/// A fixed-function pipeline that takes one value after the other (an FPGA or a hardwired transform).
struct SignalPipeline {
  static constexpr std::string_view kind = "pipeline";
  EventRate values{0};
  Duration fill{0};

  static constexpr auto fields() {
    using config::field, config::required, config::positive;
    return std::tuple{
        required("values", &SignalPipeline::values, "values that enter per second", positive),
        field("fill", &SignalPipeline::fill, "from the first value to the first result", config::up_to_an_hour)};
  }
};
using SignalConfig = std::variant<SignalProcessor, SignalPipeline>;

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
  std::int64_t quantisation_block = 32;  // weights that share one 16-bit scale at 8 bits and below; 0 = no scales
  std::optional<PowerConfig> power;
  std::optional<SignalConfig> signal;
  std::vector<PrecisionRate> rates;
  std::optional<std::string> runtime;  // which of several with one precision; absent: the first
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
        required("bandwidth", &ProcessorConfig::bandwidth, "bandwidth of the memory that holds the weights",
                 least_rate),
        field("quantisation_block", &ProcessorConfig::quantisation_block,
              "weights that share one 16-bit scale at 8 bits and below; 0 = no scales", between(0, 1e6)),
        field("power", &ProcessorConfig::power, "electrical power; absent: no energy is reported"),
        field("signal", &ProcessorConfig::signal, "what codecs run on; absent: as matrix products"),
        required("rates", &ProcessorConfig::rates, "what each precision reaches"),
        field("runtime", &ProcessorConfig::runtime,
              "software, where the device has several for the precision; absent: the first"),
        field("quality", &ProcessorConfig::quality, "measured, fitted, roofline or guess"),
        field("source", &ProcessorConfig::source, "where the numbers come from"),
    };
  }
};

}  // namespace trilemma
