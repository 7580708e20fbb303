#include "analysis/codec_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

#include "core/config/yaml.h"
#include "models/codec/codec.h"
#include "models/codec/npy.h"
#include "models/codec/number_format.h"

namespace trilemma {
namespace {

using Clock = std::chrono::steady_clock;

Bytes plain_bytes(NumberFormat format, Shape shape) { return make_codec(IdentityCodec{format})->encoded_size(shape); }

/// The paper's S D / (K_S K_D) from the header of a message; nothing of other kinds and of uncompressed messages.
std::optional<double> coefficient_ratio(std::span<const std::byte> message) {
  const wire::Header header = wire::open(message);
  const auto kept_rows = static_cast<double>(header.parameters[0]);
  const auto all = static_cast<double>(elements(header.shape));
  constexpr std::uint32_t sides = 0x7fffffffU;  // the upper bit of the second parameter says "windowed"
  switch (header.codec) {
    case wire::CodecId::fourier:
    case wire::CodecId::fourier_published:
    case wire::CodecId::fourier_text:
      return all / (kept_rows * static_cast<double>(header.parameters[1] & sides));
    case wire::CodecId::token_fourier:
      return static_cast<double>(header.shape.hidden) / kept_rows;
    default:
      return std::nullopt;
  }
}

/// Both ends of a connection, which share no memory.
class Connection {
 public:
  Connection(const CodecConfig& config, const ActivationWindows& activations, Messages messages)
      : activations_(activations),
        per_window_(messages == Messages::whole ? 1 : activations.shape.tokens),
        shape_{.tokens = activations.shape.tokens / per_window_, .hidden = activations.shape.hidden},
        encoder_(make_codec(config)),
        decoder_(make_codec(config)),
        restored_(activations.values.size()) {
    if (const auto problem = encoder_->problem(shape_)) throw std::invalid_argument(*problem);
  }

  /// Sends the whole file once.
  void pass() {
    encode_ = decode_ = Duration{0};
    wire_ = Bytes(0);
    const std::span<const float> all(activations_.values);
    const auto count = static_cast<std::size_t>(elements(shape_));
    for (std::int64_t index = 0; index < sent(); ++index) {
      if (index % per_window_ == 0) {
        encoder_->restart();
        decoder_->restart();
      }
      const std::size_t start = static_cast<std::size_t>(index) * count;
      const auto before = Clock::now();
      message_ = encoder_->encode(all.subspan(start, count), shape_);
      const auto between = Clock::now();
      const std::vector<float> values = decoder_->decode(message_);
      decode_ += Clock::now() - between;
      encode_ += between - before;
      wire_ += Bytes(std::ssize(message_));
      std::ranges::copy(values, restored_.begin() + static_cast<std::ptrdiff_t>(start));
    }
  }

  [[nodiscard]] std::int64_t sent() const { return activations_.windows * per_window_; }
  [[nodiscard]] Shape shape() const { return shape_; }
  [[nodiscard]] Bytes reference() const { return encoder_->reference_size(shape_) * sent(); }
  [[nodiscard]] Bytes wire() const { return wire_; }
  [[nodiscard]] Duration encode() const { return encode_; }
  [[nodiscard]] Duration decode() const { return decode_; }
  [[nodiscard]] std::span<const float> restored() const { return restored_; }
  [[nodiscard]] std::span<const std::byte> last_message() const { return message_; }

 private:
  const ActivationWindows& activations_;
  std::int64_t per_window_;
  Shape shape_;
  std::unique_ptr<Codec> encoder_;
  std::unique_ptr<Codec> decoder_;
  std::vector<float> restored_;
  std::vector<std::byte> message_;
  Bytes wire_;
  Duration encode_{};
  Duration decode_{};
};

void add_errors(std::span<const float> original, std::span<const float> restored, CodecMeasurement& result) {
  double errors = 0;
  double energy = 0;
  double peak = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const auto value = static_cast<double>(original[i]);
    const double error = static_cast<double>(restored[i]) - value;
    errors += error * error;
    energy += value * value;
    peak = std::max(peak, std::abs(value));
  }
  result.relative_error = errors == 0 ? 0 : std::sqrt(errors / energy);
  const double root_mean_square = std::sqrt(errors / static_cast<double>(original.size()));
  result.psnr_db = errors == 0 ? std::numeric_limits<double>::infinity() : 20 * std::log10(peak / root_mean_square);
}

Duration median(std::vector<Duration> times) {
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Passes that are timed: five, or fewer if they take long, but one.
void add_times(Connection& connection, const ActivationWindows& activations, CodecMeasurement& result) {
  constexpr std::size_t passes = 5;
  constexpr auto enough = std::chrono::seconds(2);
  std::vector<Duration> encodes;
  std::vector<Duration> decodes;
  const auto start = Clock::now();
  do {
    connection.pass();
    encodes.push_back(connection.encode());
    decodes.push_back(connection.decode());
  } while (encodes.size() < passes && Clock::now() - start < enough);
  const Bytes moved(std::ssize(activations.values) * std::int64_t{sizeof(float)});
  const auto rate = [&](Duration time) { return static_cast<double>(moved.value()) / to_seconds(time); };
  result.encode_bytes_per_s = rate(median(encodes));
  result.decode_bytes_per_s = rate(median(decodes));
  result.encode = median(encodes) / activations.windows;
  result.decode = median(decodes) / activations.windows;
}

CodecMeasurement measured(const CodecConfig& config, const ActivationWindows& activations, Messages messages) {
  Connection connection(config, activations, messages);
  connection.pass();
  CodecMeasurement result{.wire = connection.wire(), .reference = connection.reference()};
  result.fp16 = plain_bytes(NumberFormat::fp16, connection.shape()) * connection.sent();
  result.fp32 = plain_bytes(NumberFormat::fp32, connection.shape()) * connection.sent();
  result.coefficients = coefficient_ratio(connection.last_message());
  constexpr double bits_of_byte = 8;
  result.bits_per_value =
      bits_of_byte * static_cast<double>(result.wire.value()) / static_cast<double>(activations.values.size());
  add_errors(activations.values, connection.restored(), result);
  add_times(connection, activations, result);
  return result;
}

std::string plain_text(const config::Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

constexpr std::array swept_ratios{1.0, 2.0, 4.0, 7.6, 10.3, 16.0};

template <class Kind>
void add_swept(std::vector<CodecConfig>& configs) {
  constexpr std::array floats{NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16};
  constexpr std::array integers{NumberFormat::int8, NumberFormat::int4, NumberFormat::int2};
  Kind codec;
  if constexpr (requires { codec.ratio; }) {
    for (const double ratio : swept_ratios) {
      codec.ratio = ratio;
      configs.push_back(codec);
    }
  } else {
    for (const NumberFormat format : std::is_same_v<Kind, IdentityCodec> ? floats : integers) {
      codec.format = format;
      configs.push_back(codec);
    }
  }
}

}  // namespace

CodecConfig read_codec(const std::vector<CodecOption>& options, const config::Catalogue& catalogue) {
  config::Node root{.kind = config::Node::Kind::map, .origin = {.source = "codec"}};
  for (const CodecOption& option : options) {
    config::Node one{.kind = config::Node::Kind::map, .origin = {.source = option.origin}};
    config::apply_set(one, option.text);
    for (config::Entry& entry : one.entries) {
      entry.key_origin.source = option.origin;
      if (entry.value.kind == config::Node::Kind::scalar) entry.value.origin.source = option.origin;
    }
    root = config::overlay(std::move(root), one);
  }
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  auto config = reader.read<CodecConfig>(root);
  problems.throw_if_any();
  return config;
}

std::vector<CodecConfig> swept_codecs() {
  std::vector<CodecConfig> configs;
  [&]<class... Kind>(std::type_identity<std::variant<Kind...>>) {
    (add_swept<Kind>(configs), ...);
  }(std::type_identity<CodecConfig>{});
  return configs;
}

std::string codec_label(const CodecConfig& config) {
  return std::visit(
      []<class Kind>(const Kind& codec) {
        std::string label(Kind::kind);
        const config::Json standard = config::to_json(Kind{});
        const config::Json written = config::to_json(codec);
        for (const auto& [key, value] : written.items()) {
          const bool main = key == "ratio" || key == "format";
          if (key == "kind" || (!main && standard.contains(key) && standard[key] == value)) continue;
          label += fmt::format(" {}={}", key, plain_text(value));
        }
        return label;
      },
      config);
}

CodecRow measure_codec(const CodecConfig& config, const ActivationWindows& activations, Messages messages) {
  CodecRow row{.config = config, .measured = std::nullopt, .refusal = {}};
  try {
    row.measured = measured(config, activations, messages);
  } catch (const std::invalid_argument& problem) {
    row.refusal = problem.what();
  } catch (const NpyProblem& problem) {  // of a basis
    row.refusal = problem.what();
  }
  return row;
}

CodecReport codec_report(const std::vector<CodecConfig>& configs, const ActivationWindows& activations,
                         Messages messages) {
  CodecReport report{.shape = activations.shape, .windows = activations.windows, .messages = messages};
  for (const CodecConfig& config : configs) report.rows.push_back(measure_codec(config, activations, messages));
  report.energy = energy_shares(activations);
  report.correlation = neighbour_correlation(activations);
  report.entropies = stage_entropies(activations);
  return report;
}

std::vector<PublishedRatio> published_ratios(Shape shape) {
  constexpr std::array ratios{6.0, 7.6, 10.3};
  const Bytes plain16 = plain_bytes(NumberFormat::fp16, shape);
  const Bytes plain32 = plain_bytes(NumberFormat::fp32, shape);
  std::vector<PublishedRatio> rows;
  for (const double ratio : ratios) {
    PublishedRatio row{.ratio = ratio,
                       .coefficients = static_cast<std::int64_t>(static_cast<double>(elements(shape)) / ratio)};
    const auto parts = [&](NumberFormat format) {
      return Bytes(wire::header_size + packed_size(format, 2 * row.coefficients));
    };
    row.fp32 = parts(NumberFormat::fp32);
    row.fp16 = parts(NumberFormat::fp16);
    row.fp32_of_fp32 = plain32 / row.fp32;
    row.fp16_of_fp16 = plain16 / row.fp16;
    row.fp16_of_fp32 = plain32 / row.fp16;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace trilemma
