#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalogue.h"
#include "core/units.h"
#include "models/llm/config.h"
#include "models/processor/config.h"

namespace trilemma {

/// What was measured: time per token while generating; of a whole prompt; of all blocks for some tokens without LM
/// head; of the matrices of one block, without attention; of a whole request, prompt and answer; of a
/// network of fully connected layers only, which is what a transformer is to a microcontroller; of one of convolutions.
enum class Metric { decode, prefill, blocks, matrices, request, fully_connected, convolution };
/// What a measurement is for, decided before fitting.
enum class Purpose { fit, test };

namespace config {
template <>
inline constexpr auto names<Metric> =
    std::array{Name{"decode", Metric::decode},          Name{"prefill", Metric::prefill},
               Name{"blocks", Metric::blocks},          Name{"matrices", Metric::matrices},
               Name{"request", Metric::request},        Name{"fully-connected", Metric::fully_connected},
               Name{"convolution", Metric::convolution}};
template <>
inline constexpr auto names<Purpose> = std::array{Name{"fit", Purpose::fit}, Name{"test", Purpose::test}};
}  // namespace config

/// One published measurement: a row of configs/calibration/DEVICE.csv.
struct Measurement {
  std::int64_t line = 0;  // of the file
  Purpose purpose = Purpose::fit;
  std::string model;  // catalogue entry of configs/llms, or the name of another network
  LlmConfig llm;
  Precision precision = Precision::fp16;
  Metric metric = Metric::decode;
  Duration time{0};  // of what the metric says
  Tokens prompt{1};
  Tokens output{1};
  Tokens context{0};          // in the KV cache, on average over the passes that were timed
  bool cache_stated = false;  // by the row: what each pass reads, whatever the runtime usually does
  std::int64_t batch = 1;
  Operations operations{0};      // of a network that is no catalogue entry
  std::optional<Bytes> weights;  // read by one pass, where the format in use is not that of the device file
  std::string runtime;
  std::string version;
  std::string source;

  /// A network of `operations`, not a language model.
  [[nodiscard]] bool is_network() const { return metric == Metric::fully_connected || metric == Metric::convolution; }
};

/// Reads and checks a file; every problem names its line. Throws config::Error. A file may have a header alone: of
/// hardware that nobody has measured.
///
/// Columns, in any order: use (fit or test), model, precision, metric, value (with its unit: 'token/s' or a time);
/// optional: prompt, output, context, batch, weight_bytes, operations, runtime, version, date, source, confidence,
/// note. A rate counts prompt tokens (prefill, blocks), tokens of all sequences (decode), answer tokens (request).
std::vector<Measurement> read_measurements(const std::filesystem::path& path, const std::string& shown,
                                           const config::Catalogue& catalogue);

/// What the model of a processor says of a measurement. Requires a rate for its precision.
Duration predicted(const ProcessorConfig& processor, const Measurement& row);

/// The fastest that the hardware can: no overhead, full peaks, arithmetic and memory at the same time. Requires a rate
/// for the measurement's precision.
Duration hardware_bound(const ProcessorConfig& processor, const Measurement& row);

}  // namespace trilemma
