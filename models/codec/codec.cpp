#include "models/codec/codec.h"

#include <stdexcept>
#include <utility>

#include "core/ensure.h"
#include "models/codec/kinds.h"

namespace trilemma {
namespace {

std::string text(Shape shape) { return std::to_string(shape.tokens) + " x " + std::to_string(shape.hidden); }

bool plannable(Shape shape) {
  const auto in_range = [](std::int64_t side) { return side >= 1 && side <= wire::max_side; };
  return in_range(shape.tokens) && in_range(shape.hidden) && elements(shape) <= max_planned_elements;
}

}  // namespace

std::variant<Layout, Refusal> Codec::checked_layout(Shape shape) const {
  if (plannable(shape)) return layout(shape);
  return Refusal{"an activation of " + text(shape) + " values cannot be sent; both sides are at least 1 and their " +
                 "product at most 2^40"};
}

Layout Codec::required_layout(Shape shape) const {
  auto result = checked_layout(shape);
  if (const auto* refusal = std::get_if<Refusal>(&result)) throw std::invalid_argument(refusal->reason);
  return std::get<Layout>(result);
}

std::optional<std::string> Codec::problem(Shape shape) const {
  auto result = checked_layout(shape);
  if (auto* refusal = std::get_if<Refusal>(&result)) return std::move(refusal->reason);
  return std::nullopt;
}

Bytes Codec::encoded_size(Shape shape) const { return Bytes(wire::header_size) + required_layout(shape).payload; }

Bytes Codec::reference_size(Shape shape) const { return required_layout(shape).reference; }

double Codec::achieved_ratio(Shape shape) const { return reference_size(shape) / encoded_size(shape); }

CodecWork Codec::encode_work(Shape shape) const { return required_layout(shape).encode; }

CodecWork Codec::decode_work(Shape shape) const { return required_layout(shape).decode; }

std::vector<std::byte> Codec::encode(std::span<const float> values, Shape shape) {
  const Bytes size = encoded_size(shape);
  if (falls_back() && std::ssize(values) == elements(shape)) {
    if (const auto format = fallback(values, shape)) return make_codec(IdentityCodec{*format})->encode(values, shape);
  }
  std::vector<std::byte> message(static_cast<std::size_t>(size.value()));
  encode_into(values, shape, message);
  return message;
}

void Codec::encode_into(std::span<const float> values, Shape shape, std::span<std::byte> message) {
  const Layout layout = required_layout(shape);
  if (elements(shape) > max_coded_elements) {
    throw std::invalid_argument("an activation of " + text(shape) + " values is too large to encode; at most 2^28");
  }
  TRILEMMA_ENSURE(std::ssize(values) == elements(shape), "an activation has as many values as its shape says");
  TRILEMMA_ENSURE(std::ssize(message) == wire::header_size + layout.payload.value(), "the buffer has the encoded size");
  const float scale = encode_payload(values, shape, layout, message.subspan(wire::header_size));
  wire::seal({.codec = id_, .format = layout.format, .shape = shape, .parameters = layout.parameters, .scale = scale},
             message);
}

wire::Header Codec::opened(std::span<const std::byte> message) const {
  const wire::Header header = wire::open(message);
  if (header.codec != id_ && !(falls_back() && header.codec == wire::CodecId::identity))
    throw MalformedMessage("the message was made by another kind of codec");
  if (elements(header.shape) > max_coded_elements) {
    throw MalformedMessage("the message claims " + text(header.shape) + " values; at most 2^28 are decoded");
  }
  if (header.codec == id_) check(header, wire::payload(message));
  return header;
}

std::vector<float> Codec::decode(std::span<const std::byte> message) {
  const wire::Header header = opened(message);
  if (header.codec != id_) return make_codec(IdentityCodec{})->decode(message);
  std::vector<float> values(static_cast<std::size_t>(elements(header.shape)));
  decode_payload(header, wire::payload(message), values);
  return values;
}

void Codec::decode_into(std::span<const std::byte> message, std::span<float> values) {
  const wire::Header header = opened(message);
  TRILEMMA_ENSURE(std::ssize(values) == elements(header.shape), "the buffer has as many values as the message");
  if (header.codec != id_) return make_codec(IdentityCodec{})->decode_into(message, values);
  decode_payload(header, wire::payload(message), values);
}

std::optional<std::string> problem(const CodecConfig& config) {
  return std::visit([](const auto& codec) { return codec_kinds::problem(codec); }, config);
}

std::unique_ptr<Codec> make_codec(const CodecConfig& config) {
  if (const auto reason = problem(config)) throw std::invalid_argument(*reason);
  return std::visit([](const auto& codec) { return codec_kinds::make(codec); }, config);
}

}  // namespace trilemma
