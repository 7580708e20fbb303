#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/units.h"
#include "models/codec/config.h"
#include "models/codec/shape.h"
#include "models/codec/wire.h"

/// Compression of the activation that crosses the cut ("smashed data").
///
/// A codec is used in two ways. The simulator asks only for sizes and work: encoded_size() and the like are arithmetic
/// on the shape, in O(S) at most, and never touch a transform. `trilemma codec` and the accuracy models encode and
/// decode real values; both ways give the same size by construction, because encode() writes what layout() announced.
namespace trilemma {

/// What encoding or decoding costs its processor; the time follows from a roofline.
struct CodecWork {
  Operations operations;  // arithmetic, formula at each codec
  Bytes moved;            // to and from memory
};

/// Everything about a message that is known before the first value is seen.
struct Layout {
  NumberFormat format = NumberFormat::fp32;
  std::array<std::uint32_t, 2> parameters{};  // as on the wire
  Bytes payload;                              // without the header
  Bytes reference;                            // the uncompressed message, with its header
  CodecWork encode;
  CodecWork decode;
};

/// Why a shape cannot be encoded; one line for the user, saying what to choose instead.
struct Refusal {
  std::string reason;
};

/// Largest activation that is really encoded or decoded (1 GiB as fp32). Sizes and work reach `max_planned_elements`.
inline constexpr std::int64_t max_coded_elements = std::int64_t{1} << 28;
inline constexpr std::int64_t max_planned_elements = std::int64_t{1} << 40;

/// One configured codec. Not thread-safe: encode and decode share buffers, allocated at the first call of each shape. A
/// block of tokens and a single token of a generation (S = 1) are coded alike; only codecs of kind `delta` remember.
class Codec {
 public:
  virtual ~Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  /// Why this codec cannot send `shape`, if it cannot. Ask before the functions below: they throw
  /// std::invalid_argument with the same text. Empty sides and more than 2^40 values are always refused.
  [[nodiscard]] std::optional<std::string> problem(Shape shape) const;

  /// Exact size of the message, header included.
  [[nodiscard]] Bytes encoded_size(Shape shape) const;
  /// Size of the uncompressed message that ratios refer to, header included.
  [[nodiscard]] Bytes reference_size(Shape shape) const;
  /// Achieved ratio, reference_size / encoded_size: at least the configured one.
  [[nodiscard]] double achieved_ratio(Shape shape) const;
  [[nodiscard]] CodecWork encode_work(Shape shape) const;
  [[nodiscard]] CodecWork decode_work(Shape shape) const;

  /// Compresses `values`, S x D row-major. Requires values.size() == S D. Throws std::invalid_argument for a refused
  /// shape, more than `max_coded_elements`, or values the codec cannot represent (each codec says which). The message
  /// has encoded_size() bytes, or, by a codec with a fall-back, the reference_size() of an uncompressed one.
  [[nodiscard]] std::vector<std::byte> encode(std::span<const float> values, Shape shape);
  /// The same without a fall-back, into a buffer of exactly encoded_size(shape) bytes; codecs on FFTW allocate nothing
  /// once the shape is known (inside FFTW, cosine transforms still take small buffers).
  void encode_into(std::span<const float> values, Shape shape, std::span<std::byte> message);

  /// Restores S D values from a message of any codec of this kind, whatever its ratio and formats. Throws
  /// MalformedMessage, before anything large is allocated, if the bytes are no such message.
  [[nodiscard]] std::vector<float> decode(std::span<const std::byte> message);
  /// The same into a buffer of as many values as the message has.
  void decode_into(std::span<const std::byte> message, std::span<float> values);

  /// Forgets what earlier messages left behind: the next one begins a sequence. Both ends do it together.
  virtual void restart() {}

 protected:
  explicit Codec(wire::CodecId id) : id_(id) {}

 private:
  /// Size and work for a shape with sides in 1 .. 2^31 - 1 and at most 2^40 values. Pure and cheap.
  [[nodiscard]] virtual std::variant<Layout, Refusal> layout(Shape shape) const = 0;

  /// Fills `payload`, which has the size in `layout`, and returns the scale for the header.
  virtual float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                               std::span<std::byte> payload) = 0;

  /// Throws MalformedMessage for what no encoder writes. `header` is in range and at most `max_coded_elements`, but
  /// nothing else is known: format, parameters and payload length, and that the shape is in proportion to the payload.
  virtual void check(const wire::Header& header, std::span<const std::byte> payload) const = 0;

  /// Restores the values of a checked message; may still find what only reading shows (MalformedMessage).
  virtual void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                              std::span<float> values) = 0;

  /// The number format to send `values` in uncompressed, if they are better not compressed.
  [[nodiscard]] virtual std::optional<NumberFormat> fallback(std::span<const float> /*values*/, Shape /*shape*/) {
    return std::nullopt;
  }
  /// Whether messages of kind identity are its own, too.
  [[nodiscard]] virtual bool falls_back() const { return false; }

  [[nodiscard]] wire::Header opened(std::span<const std::byte> message) const;

  [[nodiscard]] std::variant<Layout, Refusal> checked_layout(Shape shape) const;
  [[nodiscard]] Layout required_layout(Shape shape) const;

  wire::CodecId id_;
};

/// What is wrong with a configuration beyond the range of single fields, in one line; nothing if it makes sense.
std::optional<std::string> problem(const CodecConfig& config);

/// Builds the codec. Throws std::invalid_argument with the text of problem(config).
std::unique_ptr<Codec> make_codec(const CodecConfig& config);

}  // namespace trilemma
