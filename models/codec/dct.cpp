#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "models/codec/budget.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"
#include "models/codec/prepared_shapes.h"
#include "models/codec/quarter_block.h"
#include "models/codec/real_transform.h"

namespace trilemma::codec_kinds {
namespace {

/// Places of a K_S x K_D block of an S x D matrix, row-major indices by rising frequency, ties by index.
std::vector<std::uint32_t> order_of(Shape shape, QuarterBlock block) {
  std::vector<std::tuple<std::int64_t, std::uint32_t>> ranked;
  for (std::int64_t u = 0; u < block.tokens; ++u) {
    for (std::int64_t v = 0; v < block.hidden; ++v) {
      const std::int64_t a = u * shape.hidden;
      const std::int64_t b = v * shape.tokens;
      ranked.emplace_back(a * a + b * b, static_cast<std::uint32_t>(u * shape.hidden + v));
    }
  }
  std::ranges::sort(ranked);
  std::vector<std::uint32_t> order;
  order.reserve(ranked.size());
  for (const auto& [frequency, index] : ranked) order.push_back(index);
  return order;
}

struct Prepared {
  Prepared(Shape shape, QuarterBlock block) : transform(shape), order(order_of(shape, block)), numbers(order.size()) {}

  CosineTransform transform;
  std::vector<std::uint32_t> order;
  std::vector<float> numbers;
};

/// Factor of row or column `i` that makes FFTW's DCT-II of length n orthonormal: 1 / sqrt(4 n) at 0, 1 / sqrt(2 n).
float weight(std::int64_t i, std::int64_t side) {
  return static_cast<float>(1 / std::sqrt((i == 0 ? 4.0 : 2.0) * static_cast<double>(side)));
}

float weight(Shape shape, std::uint32_t index) {
  return weight(index / shape.hidden, shape.tokens) * weight(index % shape.hidden, shape.hidden);
}

/// Two-dimensional cosine transform (DCT-II, Ahmed, Natarajan, Rao 1974), the top-left block of low frequencies with
/// the proportions of the matrix. Unlike the Fourier transform it does not take the last token for a neighbour of the
/// first.
class Dct final : public Codec {
 public:
  explicit Dct(const DctCodec& config) : Codec(wire::CodecId::dct), config_(config) {}

 private:
  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const NumberFormat format = config_.coefficients;
    const std::int64_t most = most_that_fit(payload_room(config_.reference, config_.ratio, shape), elements(shape),
                                            [&](std::int64_t count) { return coefficients_size(format, count); });
    if (most == 0)
      return too_few_bytes(config_.reference, config_.ratio, shape, coefficients_size(format, 1), "one coefficient");
    const QuarterBlock block = block_within(shape, most);
    const std::int64_t kept = coefficients(block);
    const auto count = static_cast<double>(elements(shape));
    const CodecWork work{.operations = Operations(2.5 * count * std::log2(count) +
                                                  (1 + operations_per_real(format)) * static_cast<double>(kept)),
                         .moved = Bytes(16 * elements(shape) + 4 * kept + coefficients_size(format, kept))};
    return Layout{.format = format,
                  .parameters = {static_cast<std::uint32_t>(block.tokens), static_cast<std::uint32_t>(block.hidden)},
                  .payload = Bytes(coefficients_size(format, kept)),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = work,
                  .decode = work};
  }

  static QuarterBlock block_of(const std::array<std::uint32_t, 2>& parameters) {
    return {.tokens = parameters[0], .hidden = parameters[1]};
  }

  Prepared& prepare(Shape shape, QuarterBlock block) {
    return prepared_.get(std::pair{shape, block}, shape, [&] { return std::make_unique<Prepared>(shape, block); });
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    Prepared& prepared = prepare(shape, block_of(layout.parameters));
    std::ranges::copy(values, prepared.transform.values().begin());
    prepared.transform.forward();
    for (std::size_t i = 0; i < prepared.order.size(); ++i)
      prepared.numbers[i] = prepared.transform.values()[prepared.order[i]] * weight(shape, prepared.order[i]);
    require_finite(prepared.numbers);
    const float scale = format_scale(layout.format, prepared.numbers);
    pack_scaled(layout.format, prepared.numbers, scale, payload);
    return scale;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    const QuarterBlock block = block_of(header.parameters);
    if (block.tokens < 1 || block.tokens > header.shape.tokens || block.hidden < 1 ||
        block.hidden > header.shape.hidden)
      throw MalformedMessage("the kept block of the message does not fit its shape");
    if (std::ssize(payload) != coefficients_size(header.format, coefficients(block)))
      throw MalformedMessage("the payload of the message does not have the length of its kept block");
    require_proportion(header.shape, payload.size());
  }

  /// FFTW's inverse of X is sum of X[0] + 2 X[k] cos: the transpose of an orthonormal transform is its inverse, so each
  /// number goes in times its weight, and halved again where FFTW counts it twice.
  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const Shape shape = header.shape;
    Prepared& prepared = prepare(shape, block_of(header.parameters));
    unpack_coefficients(header.format, payload, prepared.numbers);
    std::ranges::fill(prepared.transform.values(), 0.0F);
    for (std::size_t i = 0; i < prepared.order.size(); ++i) {
      const std::uint32_t index = prepared.order[i];
      const float twice = (index / shape.hidden == 0 ? 2.0F : 1.0F) * (index % shape.hidden == 0 ? 2.0F : 1.0F);
      prepared.transform.values()[index] = prepared.numbers[i] * header.scale * weight(shape, index) * twice;
    }
    prepared.transform.inverse();
    std::ranges::copy(prepared.transform.values(), values.begin());
  }

  DctCodec config_;
  PreparedShapes<std::pair<Shape, QuarterBlock>, Prepared> prepared_;
};

}  // namespace

std::optional<std::string> problem(const DctCodec& config) {
  return budget_problem("dct", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const DctCodec& config) { return std::make_unique<Dct>(config); }

}  // namespace trilemma::codec_kinds
