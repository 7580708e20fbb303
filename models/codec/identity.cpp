#include "models/codec/kinds.h"
#include "models/codec/number_format.h"

namespace trilemma::codec_kinds {
namespace {

/// Every value, rounded to the number format; infinities and NaN pass, and fp16 turns |x| >= 65520 into an infinity.
/// Work, either way: S D conversions (none for fp32); 4 S D bytes on the fp32 side and the payload on the other.
class Identity final : public Codec {
 public:
  explicit Identity(const IdentityCodec& config) : Codec(wire::CodecId::identity), format_(config.format) {}

 private:
  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const std::int64_t count = elements(shape);
    const Bytes payload(packed_size(format_, count));
    const CodecWork work{.operations = Operations(operations_per_real(format_) * static_cast<double>(count)),
                         .moved = Bytes(4 * count) + payload};
    return Layout{.format = format_,
                  .parameters = {},
                  .payload = payload,
                  .reference = Bytes(wire::header_size) + payload,
                  .encode = work,
                  .decode = work};
  }

  float encode_payload(std::span<const float> values, Shape /*shape*/, const Layout& /*layout*/,
                       std::span<std::byte> payload) override {
    pack(format_, values, payload);
    return 1;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    if (is_integer(header.format) || header.parameters != std::array<std::uint32_t, 2>{} || header.scale != 1) {
      throw MalformedMessage("the header of the message is no identity header");
    }
    if (std::ssize(payload) != packed_size(header.format, elements(header.shape))) {
      throw MalformedMessage("the payload of the message does not have the length of its shape");
    }
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    unpack(header.format, payload, values);
  }

  NumberFormat format_;
};

}  // namespace

std::optional<std::string> problem(const IdentityCodec& config) {
  if (is_integer(config.format)) return "identity sends fp32, fp16 or bf16; write for example 'fp16'";
  return std::nullopt;
}

std::unique_ptr<Codec> make(const IdentityCodec& config) { return std::make_unique<Identity>(config); }

}  // namespace trilemma::codec_kinds
