#include <algorithm>
#include <cmath>
#include <utility>

#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"
#include "models/codec/row_quantiser.h"

namespace trilemma::codec_kinds {
namespace {

/// Symmetric integers with one fp16 scale for each token, or for each channel (hidden value) over all tokens.
/// Work: the four operations a value of models/codec/number_format.h.
class Quantise final : public Codec {
 public:
  explicit Quantise(const QuantiseCodec& config) : Codec(wire::CodecId::quantise), config_(config) {}

 private:
  /// Rows that share a scale, and values of each.
  static std::pair<std::int64_t, std::int64_t> rows(Shape shape, QuantisedAxis axis) {
    if (axis == QuantisedAxis::token) return {shape.tokens, shape.hidden};
    return {shape.hidden, shape.tokens};
  }

  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const auto [count, length] = rows(shape, config_.axis);
    const Bytes payload(count * row_size(config_.format, length));
    const CodecWork work{
        .operations = Operations(operations_per_real(config_.format) * static_cast<double>(elements(shape))),
        .moved = Bytes(4 * elements(shape)) + payload};
    return Layout{.format = config_.format,
                  .parameters = {config_.axis == QuantisedAxis::token ? 0U : 1U, 0},
                  .payload = payload,
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = work,
                  .decode = work};
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& /*layout*/,
                       std::span<std::byte> payload) override {
    require_finite(values);
    // Scales in fp16 reach down to 2^-24: values are brought to size 1 before, by a power of two for the header.
    int exponent = 0;
    std::frexp(largest_magnitude(values), &exponent);
    const float unit = std::ldexp(1.0F, std::clamp(exponent, -120, 120));
    const auto [count, length] = rows(shape, config_.axis);
    const auto size = static_cast<std::size_t>(row_size(config_.format, length));
    std::vector<float> row(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t j = 0; j < length; ++j)
        row[static_cast<std::size_t>(j)] = values[place(shape, config_.axis, i, j)] / unit;
      write_row(config_.format, row, payload.subspan(static_cast<std::size_t>(i) * size, size));
    }
    return unit;
  }

  [[nodiscard]] static std::size_t place(Shape shape, QuantisedAxis axis, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(axis == QuantisedAxis::token ? row * shape.hidden + column
                                                                 : column * shape.hidden + row);
  }
  static QuantisedAxis axis_of(const wire::Header& header) {
    return header.parameters[0] == 0 ? QuantisedAxis::token : QuantisedAxis::channel;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    if (!is_integer(header.format) || header.parameters[0] > 1 || header.parameters[1] != 0)
      throw MalformedMessage("the header of the message is no header of quantised values");
    const auto [count, length] = rows(header.shape, axis_of(header));
    if (std::ssize(payload) != count * row_size(header.format, length))
      throw MalformedMessage("the payload of the message does not have the length of its shape");
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const QuantisedAxis axis = axis_of(header);
    const auto [count, length] = rows(header.shape, axis);
    const auto size = static_cast<std::size_t>(row_size(header.format, length));
    std::vector<float> row(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < count; ++i) {
      read_row(header.format, payload.subspan(static_cast<std::size_t>(i) * size, size), row);
      for (std::int64_t j = 0; j < length; ++j)
        values[place(header.shape, axis, i, j)] = row[static_cast<std::size_t>(j)] * header.scale;
    }
  }

  QuantiseCodec config_;
};

}  // namespace

std::optional<std::string> problem(const QuantiseCodec& config) {
  if (!is_integer(config.format)) return "format: quantise sends int8, int4 or int2; write for example 'int8'";
  return budget_problem("quantise", 1, config.reference);
}

std::unique_ptr<Codec> make(const QuantiseCodec& config) { return std::make_unique<Quantise>(config); }

}  // namespace trilemma::codec_kinds
