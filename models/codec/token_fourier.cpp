#include <algorithm>
#include <cmath>

#include "core/ensure.h"
#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"
#include "models/codec/prepared_shapes.h"
#include "models/codec/real_transform.h"

namespace trilemma::codec_kinds {
namespace {

struct Prepared {
  Prepared(Shape shape, std::int64_t kept)
      : transform(shape, Along::hidden), numbers(static_cast<std::size_t>(shape.tokens * kept)) {}

  RealTransform transform;
  std::vector<float> numbers;  // DC of all tokens, then the next real part of all tokens, and so on
};

/// A Fourier transform of each token along its hidden values, of which the K lowest real numbers are kept: Re X[0],
/// Re X[1], Im X[1], ... It needs no other token and so serves generation, where S = 1. Good only where neighbouring
/// hidden values resemble each other; their order is that of training and means nothing.
class TokenFourier final : public Codec {
 public:
  explicit TokenFourier(const TokenFourierCodec& config) : Codec(wire::CodecId::token_fourier), config_(config) {}

 private:
  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const auto size = [&](std::int64_t kept) { return packed_size(config_.coefficients, shape.tokens * kept); };
    const std::int64_t kept = most_that_fit(payload_room(config_.reference, config_.ratio, shape), shape.hidden, size);
    if (kept == 0)
      return too_few_bytes(config_.reference, config_.ratio, shape, size(1), "one coefficient of each token");
    const auto count = static_cast<double>(elements(shape));
    const CodecWork work{.operations = Operations(2.5 * count * std::log2(static_cast<double>(shape.hidden)) +
                                                  (1 + operations_per_real(config_.coefficients)) *
                                                      static_cast<double>(shape.tokens * kept)),
                         .moved = Bytes(8 * elements(shape) + 4 * shape.tokens * kept + size(kept))};
    return Layout{.format = config_.coefficients,
                  .parameters = {static_cast<std::uint32_t>(kept), 0},
                  .payload = Bytes(size(kept)),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = work,
                  .decode = work};
  }

  Prepared& prepare(Shape shape, std::int64_t kept) {
    return prepared_.get(std::pair{shape, kept}, shape, [&] { return std::make_unique<Prepared>(shape, kept); });
  }

  /// Calls visit(real number of the spectrum, its place among the numbers) for all that are kept.
  template <class Visit>
  static void for_each_number(Prepared& prepared, Shape shape, std::int64_t kept, Visit visit) {
    const auto spectrum = prepared.transform.spectrum();
    const std::int64_t bins = shape.hidden / 2 + 1;
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t k = 0; k < kept; ++k) {
        auto& bin = reinterpret_cast<float(&)[2]>(spectrum[static_cast<std::size_t>(token * bins + (k + 1) / 2)]);
        visit(bin[k > 0 && k % 2 == 0 ? 1 : 0], prepared.numbers[static_cast<std::size_t>(k * shape.tokens + token)]);
      }
    }
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    const std::int64_t kept = layout.parameters[0];
    Prepared& prepared = prepare(shape, kept);
    prepared.transform.forward(values);
    const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.hidden)));
    for_each_number(prepared, shape, kept, [&](float part, float& number) { number = part * factor; });
    require_finite(prepared.numbers);
    const float scale = format_scale(layout.format, prepared.numbers);
    for (float& number : prepared.numbers) number /= scale;
    pack(layout.format, prepared.numbers, payload);
    return scale;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    const std::int64_t kept = header.parameters[0];
    if (kept < 1 || kept > header.shape.hidden || header.parameters[1] != 0)
      throw MalformedMessage("the message keeps no number of coefficients that its shape has");
    if (std::ssize(payload) != packed_size(header.format, header.shape.tokens * kept))
      throw MalformedMessage("the payload of the message does not have the length of its coefficients");
    require_proportion(header.shape, payload.size());
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const Shape shape = header.shape;
    Prepared& prepared = prepare(shape, header.parameters[0]);
    unpack(header.format, payload, prepared.numbers);
    std::ranges::fill(prepared.transform.spectrum(), std::complex<float>());
    const auto factor = static_cast<float>(header.scale / std::sqrt(static_cast<double>(shape.hidden)));
    for_each_number(prepared, shape, header.parameters[0], [&](float& part, float number) { part = number * factor; });
    prepared.transform.inverse(values);
  }

  TokenFourierCodec config_;
  PreparedShapes<std::pair<Shape, std::int64_t>, Prepared> prepared_;
};

}  // namespace

std::optional<std::string> problem(const TokenFourierCodec& config) {
  return budget_problem("token-fourier", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const TokenFourierCodec& config) { return std::make_unique<TokenFourier>(config); }

}  // namespace trilemma::codec_kinds
