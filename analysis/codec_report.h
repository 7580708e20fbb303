#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/activation_file.h"
#include "analysis/activation_statistics.h"
#include "core/config/catalogue.h"
#include "core/config/writer.h"
#include "core/units.h"
#include "models/codec/config.h"

/// What codecs make of real activations: `trilemma codec`.
namespace trilemma {

/// How a window becomes messages: whole, as a prompt, or token by token, as in a generation.
enum class Messages { whole, tokens };

/// Sizes and errors of all windows together. A time is the median of several passes over the file after one that is not
/// counted.
struct CodecMeasurement {
  Bytes wire;                          // all messages, headers included
  Bytes reference;                     // the uncompressed messages in the codec's own reference format
  Bytes fp16;                          // the same as FP16
  Bytes fp32;                          // and as FP32
  std::optional<double> coefficients;  // S D / (K_S K_D) of Fourier kinds, the paper's ratio
  double bits_per_value = 0;           // on the wire
  double relative_error = 0;           // ||restored - x|| / ||x||, Frobenius; 0 of exact zeros
  double psnr_db = 0;                  // 20 log10(max |x| / root mean square error); infinite if exact
  Duration encode{};                   // of a window
  Duration decode{};
  double encode_bytes_per_s = 0;  // FP32 bytes of the activation over the time
  double decode_bytes_per_s = 0;
};

/// A codec and what it made of a file, or why it could not.
struct CodecRow {
  CodecConfig config;
  std::optional<CodecMeasurement> measured;
  std::string refusal;
};

struct CodecReport {
  Shape shape;
  std::int64_t windows = 1;
  Messages messages = Messages::whole;
  std::vector<CodecRow> rows;
  std::vector<EnergyShare> energy;
  NeighbourCorrelation correlation;
  StageEntropies entropies;
};

/// Lays `options` ("key=value", each with what the messages call it) over one another and reads them as a codec.
/// Throws config::Error.
struct CodecOption {
  std::string text;    // "ratio=8"
  std::string origin;  // "--ratio 8"
};
CodecConfig read_codec(const std::vector<CodecOption>& options, const config::Catalogue& catalogue);

/// Every kind at the ratios 1, 2, 4, 7.6, 10.3 and 16; kinds without a ratio in each of their number formats.
std::vector<CodecConfig> swept_codecs();

/// Kind and keys as --set takes them, without those that have their default: "fourier ratio=8".
std::string codec_label(const CodecConfig& config);

/// Encodes and decodes every window; a codec that does not take these values gets a refusal instead.
CodecRow measure_codec(const CodecConfig& config, const ActivationWindows& activations, Messages messages);

CodecReport codec_report(const std::vector<CodecConfig>& configs, const ActivationWindows& activations,
                         Messages messages);

/// Bytes of one activation if a published "ratio" counts a complex coefficient as one number.
struct PublishedRatio {
  double ratio = 0;
  std::int64_t coefficients = 0;  // floor(S D / ratio)
  Bytes fp32;                     // 8 bytes a coefficient and the header
  double fp32_of_fp32 = 0;        // FP32 message / that
  Bytes fp16;                     // 4 bytes a coefficient and the header
  double fp16_of_fp16 = 0;
  double fp16_of_fp32 = 0;
};
std::vector<PublishedRatio> published_ratios(Shape shape);

std::string codec_report_to_text(const CodecReport& report);
std::string codec_report_to_markdown(const CodecReport& report);
/// One row a codec, unit last in each column name.
std::string codec_report_to_csv(const CodecReport& report);
config::Json codec_report_to_json(const CodecReport& report);

/// One line a kind of codec with its keys.
std::string codec_kinds_text();

}  // namespace trilemma
