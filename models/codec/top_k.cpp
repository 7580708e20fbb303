#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/codec/budget.h"
#include "models/codec/index_set.h"
#include "models/codec/kinds.h"
#include "models/codec/number_format.h"

namespace trilemma::codec_kinds {
namespace {

std::int64_t payload_size(NumberFormat format, std::int64_t count, std::int64_t universe) {
  return index_set::size(count, universe) + packed_size(format, count);
}

/// The k values of largest magnitude (of equal ones the first) and their indices; zeros elsewhere. Indices take about
/// 0.5 + log2(N / k) + 1.44 bits each (models/codec/index_set.h), which papers that count coefficients leave out.
/// Work: a selection in linear time, three comparisons a value on average (Floyd and Rivest 1975), and conversions.
class TopK final : public Codec {
 public:
  explicit TopK(const TopKCodec& config) : Codec(wire::CodecId::topk), config_(config) {}

 private:
  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    const std::int64_t all = elements(shape);
    const auto size = [&](std::int64_t count) { return payload_size(config_.values, count, all); };
    const std::int64_t most = most_that_fit(payload_room(config_.reference, config_.ratio, shape),
                                            std::min<std::int64_t>(all, 0xffffffff), size);
    if (most == 0) return too_few_bytes(config_.reference, config_.ratio, shape, size(1), "one value and its index");
    const double conversions = (1 + operations_per_real(config_.values)) * static_cast<double>(most);
    return Layout{.format = config_.values,
                  .parameters = {static_cast<std::uint32_t>(most), 0},
                  .payload = Bytes(size(most)),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = {.operations = Operations(3 * static_cast<double>(all) + conversions),
                             .moved = Bytes(12 * all + 8 * most + size(most))},
                  .decode = {.operations = Operations(conversions), .moved = Bytes(4 * all + 8 * most + size(most))}};
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& layout,
                       std::span<std::byte> payload) override {
    require_finite(values);
    const auto kept = largest(values, layout.parameters[0]);
    std::vector<float> numbers;
    numbers.reserve(kept.size());
    for (const std::uint32_t index : kept) numbers.push_back(values[index]);
    const float scale = format_scale(layout.format, numbers);
    for (float& number : numbers) number /= scale;
    const auto indices = static_cast<std::size_t>(index_set::size(std::ssize(kept), elements(shape)));
    index_set::write(kept, elements(shape), payload.first(indices));
    pack(layout.format, numbers, payload.subspan(indices));
    return scale;
  }

  static std::vector<std::uint32_t> largest(std::span<const float> values, std::uint32_t count) {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      const float x = std::abs(values[a]);
      const float y = std::abs(values[b]);
      return x != y ? x > y : a < b;
    };
    if (count < order.size())
      std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), before);
    order.resize(count);
    std::ranges::sort(order);
    return order;
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    const std::int64_t count = header.parameters[0];
    const std::int64_t all = elements(header.shape);
    if (count < 1 || count > all || header.parameters[1] != 0)
      throw MalformedMessage("the message has no number of values that its shape has");
    if (std::ssize(payload) != payload_size(header.format, count, all))
      throw MalformedMessage("the payload of the message does not have the length of its values");
    require_proportion(header.shape, payload.size());
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const std::int64_t count = header.parameters[0];
    const auto indices = static_cast<std::size_t>(index_set::size(count, elements(header.shape)));
    const auto kept = index_set::read(count, elements(header.shape), payload.first(indices));
    std::vector<float> numbers(kept.size());
    unpack(header.format, payload.subspan(indices), numbers);
    std::ranges::fill(values, 0.0F);
    for (std::size_t i = 0; i < kept.size(); ++i) values[kept[i]] = numbers[i] * header.scale;
  }

  TopKCodec config_;
};

}  // namespace

std::optional<std::string> problem(const TopKCodec& config) {
  return budget_problem("topk", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const TopKCodec& config) { return std::make_unique<TopK>(config); }

}  // namespace trilemma::codec_kinds
