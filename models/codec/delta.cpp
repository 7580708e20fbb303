#include <algorithm>

#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/little_endian.h"
#include "models/codec/number_format.h"
#include "models/codec/row_quantiser.h"

namespace trilemma::codec_kinds {
namespace {

constexpr std::size_t number_size = 4;

/// Where a sequence stands: the token that the other end restored last, and how many messages there were.
struct Sequence {
  std::vector<float> last;
  std::uint32_t messages = 0;
};

/// Each token as its difference from the restored token before it (closed-loop DPCM), in integers with one fp16 scale a
/// token; the first token of a sequence is its own difference from nothing. The sequence goes on from message to
/// message, so that in a generation each step sends its difference from the last; a message of another width, or
/// restart(), begins a new one. The payload starts with the number of the message in its sequence, so that the other
/// end notices one that is missing. Changes below 2^-24 vanish in their scale. Gains only if successive tokens resemble
/// each other.
class Delta final : public Codec {
 public:
  explicit Delta(const DeltaCodec& config) : Codec(wire::CodecId::delta), config_(config) {}

  void restart() override {
    sent_ = {};
    received_ = {};
  }

 private:
  static std::int64_t payload_size(NumberFormat format, Shape shape) {
    return static_cast<std::int64_t>(number_size) + shape.tokens * row_size(format, shape.hidden);
  }

  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const Bytes payload(payload_size(config_.format, shape));
    const CodecWork work{
        .operations = Operations((3 + operations_per_real(config_.format)) * static_cast<double>(elements(shape))),
        .moved = Bytes(12 * elements(shape)) + payload};
    return Layout{.format = config_.format,
                  .parameters = {},
                  .payload = payload,
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = work,
                  .decode = work};
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    require_finite(values);
    const auto width = static_cast<std::size_t>(shape.hidden);
    if (sent_.last.size() != width) sent_ = {.last = std::vector<float>(width)};
    put_little_endian(payload.first(number_size), sent_.messages++);
    const auto size = static_cast<std::size_t>(row_size(layout.format, shape.hidden));
    std::vector<float> change(width);
    for (std::size_t token = 0; token < static_cast<std::size_t>(shape.tokens); ++token) {
      const auto row = payload.subspan(number_size + token * size, size);
      for (std::size_t d = 0; d < width; ++d) change[d] = values[token * width + d] - sent_.last[d];
      write_row(layout.format, change, row);
      read_row(layout.format, row, change);
      for (std::size_t d = 0; d < width; ++d) sent_.last[d] += change[d];
    }
    return 1;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    if (!is_integer(header.format) || header.parameters != std::array<std::uint32_t, 2>{} || header.scale != 1)
      throw MalformedMessage("the header of the message is no header of differences");
    if (std::ssize(payload) != payload_size(header.format, header.shape))
      throw MalformedMessage("the payload of the message does not have the length of its shape");
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const auto width = static_cast<std::size_t>(header.shape.hidden);
    const auto number = static_cast<std::uint32_t>(get_little_endian(payload.first(number_size)));
    if (number == 0) received_ = {.last = std::vector<float>(width)};
    if (number != received_.messages || received_.last.size() != width)
      throw MalformedMessage("the message continues a sequence of which others are missing");
    ++received_.messages;
    const auto size = static_cast<std::size_t>(row_size(header.format, header.shape.hidden));
    for (std::size_t token = 0; token < static_cast<std::size_t>(header.shape.tokens); ++token) {
      const auto row = values.subspan(token * width, width);
      read_row(header.format, payload.subspan(number_size + token * size, size), row);
      for (std::size_t d = 0; d < width; ++d) row[d] = received_.last[d] += row[d];
    }
  }

  DeltaCodec config_;
  Sequence sent_;
  Sequence received_;
};

}  // namespace

std::optional<std::string> problem(const DeltaCodec& config) {
  if (!is_integer(config.format)) return "format: delta sends int8, int4 or int2; write for example 'int8'";
  return budget_problem("delta", 1, config.reference);
}

std::unique_ptr<Codec> make(const DeltaCodec& config) { return std::make_unique<Delta>(config); }

}  // namespace trilemma::codec_kinds
