#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "core/ensure.h"
#include "models/codec/basis.h"
#include "models/codec/budget.h"
#include "models/codec/component_coder.h"
#include "models/codec/kinds.h"
#include "models/codec/little_endian.h"
#include "models/codec/npy.h"
#include "models/codec/number_format.h"

namespace trilemma::codec_kinds {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Levels are rounded down below 0.6 steps: zeros are cheaper than they are far.
constexpr float rounding = 0.4F;
/// Steps are 2^(i / 64) times a power of two; index 0 is the finest, which keeps levels below 2^28.
constexpr int steps_per_octave = 64;
constexpr int octaves = 30;
constexpr int finest = -27;
constexpr std::size_t spread_size = 4;   // without a basis: the components' mean square, fp32
constexpr std::size_t channel_size = 4;  // which channel is apart
constexpr std::int64_t smallest_code = 8;

/// 2^(i / 64), i = 0 .. 63, by square roots, which are exact to the last bit everywhere.
std::array<double, steps_per_octave> fractions_of_an_octave() {
  std::array<double, steps_per_octave> found{};
  std::array<double, 6> roots{};
  double root = 2;
  for (double& one : roots) one = root = std::sqrt(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    double product = 1;
    for (std::size_t bit = 0; bit < roots.size(); ++bit) {
      if ((i >> (5 - bit) & 1U) != 0) product *= roots[bit];
    }
    found[i] = product;
  }
  return found;
}

/// The i-th step for values of at most `largest`.
float step_at(int i, float largest) {
  static const auto fractions = fractions_of_an_octave();
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = std::max(exponent, -90);
  return static_cast<float>(
      std::ldexp(fractions[static_cast<std::size_t>(i % steps_per_octave)], exponent + finest + i / steps_per_octave));
}

void quantise(std::span<const float> components, float step, std::span<std::int32_t> levels) {
  for (std::size_t i = 0; i < components.size(); ++i) {
    const float magnitude = std::floor(std::abs(components[i]) / step + rounding);
    levels[i] = static_cast<std::int32_t>(components[i] < 0 ? -magnitude : magnitude);
  }
}

/// Transform coding of each token (Huang and Schultheiss 1963). The components of an orthonormal basis are quantised
/// with one step for all, which is reverse water-filling (Cover and Thomas, section 10.3.3): components that vary less
/// than the step vanish, the others get the same error. Entropy coding spends on each what it is worth. The step is the
/// finest of 64 an octave whose code fits into the bytes of the ratio; the rest is zeros, so that the size is known
/// before. With a calibrated basis (Karhunen-Loeve, offline, part of the model and not of the message) the error is the
/// least that any linear transform reaches for activations like those of the calibration; without one the components
/// are those of a Hadamard rotation, whose mean square is sent.
///
/// Payload: channels apart (4 bytes each and S fp16 values), mean square (without basis), code. Header: scale = step,
/// parameters = number of channels apart, and the checksum of the basis (0 without).
/// Work: 2 S D^2 operations for a basis, S D log2 D for Hadamard, and 200 a value for some ten trials of the step.
class Transform final : public Codec {
 public:
  Transform(TransformCodec config, Basis basis)
      : Codec(wire::CodecId::transform), config_(std::move(config)), basis_(std::move(basis)) {}

 private:
  [[nodiscard]] bool has_basis() const { return basis_.hidden > 0; }
  [[nodiscard]] std::int64_t fixed_size(Shape shape) const {
    return config_.outliers * (static_cast<std::int64_t>(channel_size) + 2 * shape.tokens) +
           static_cast<std::int64_t>(has_basis() ? 0 : spread_size);
  }

  [[nodiscard]] std::variant<Layout, Refusal> layout(Shape shape) const override {
    if (has_basis() && shape.hidden != basis_.hidden)
      return Refusal{fmt::format("the basis is of {} hidden values, the activation has {}; calibrate one for it",
                                 basis_.hidden, shape.hidden)};
    if (config_.outliers > shape.hidden)
      return Refusal{fmt::format("outliers: there are {} channels; write at most as many", shape.hidden)};
    const std::int64_t room = payload_room(config_.reference, config_.ratio, shape);
    const std::int64_t least = fixed_size(shape) + smallest_code;
    if (room < least) return too_few_bytes(config_.reference, config_.ratio, shape, least, "the shortest code");
    const auto count = static_cast<double>(elements(shape));
    const auto side = static_cast<double>(shape.hidden);
    const double rotation = has_basis() ? 2 * count * side : count * std::log2(side);
    const Bytes basis(has_basis() ? 4 * shape.hidden * shape.hidden : 0);
    return Layout{.format = config_.coder == EntropyCoder::range ? NumberFormat::fp32 : NumberFormat::int8,
                  .parameters = {static_cast<std::uint32_t>(config_.outliers), basis_.checksum},
                  .payload = Bytes(room),
                  .reference = Bytes(reference_bytes(config_.reference, shape)),
                  .encode = {.operations = Operations(rotation + 200 * count),
                             .moved = Bytes(12 * elements(shape) + room) + basis},
                  .decode = {.operations = Operations(rotation + 20 * count),
                             .moved = Bytes(12 * elements(shape) + room) + basis}};
  }

  /// Channels of largest energy, rising.
  [[nodiscard]] std::vector<std::uint32_t> channels_apart(const Matrix& values) const {
    const Eigen::VectorXf energy = values.colwise().squaredNorm();
    std::vector<std::uint32_t> order(static_cast<std::size_t>(energy.size()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return energy[a] > energy[b]; });
    order.resize(static_cast<std::size_t>(config_.outliers));
    std::ranges::sort(order);
    return order;
  }

  /// Writes the channels apart and leaves their mean in the matrix.
  void take_channels(Matrix& values, std::span<std::byte> out) const {
    for (const std::uint32_t channel : channels_apart(values)) {
      put_little_endian(out.first(channel_size), channel);
      out = out.subspan(channel_size);
      for (Eigen::Index token = 0; token < values.rows(); ++token) {
        const std::uint16_t half = to_fp16(values(token, channel));
        if (!std::isfinite(from_fp16(half)))
          throw std::invalid_argument("the activation has a channel apart with values too large for fp16");
        put_little_endian(out.first(2), half);
        out = out.subspan(2);
      }
      values.col(channel).setConstant(has_basis() ? basis_.mean[channel] : 0.0F);
    }
  }

  static void put_channels(std::span<const std::byte> in, std::size_t count, Eigen::Map<Matrix> values) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t channel = get_little_endian(in.first(channel_size));
      if (channel >= static_cast<std::uint64_t>(values.cols()))
        throw MalformedMessage("the message has a channel that its shape has not");
      in = in.subspan(channel_size);
      for (Eigen::Index token = 0; token < values.rows(); ++token) {
        values(token, static_cast<Eigen::Index>(channel)) =
            from_fp16(static_cast<std::uint16_t>(get_little_endian(in.first(2))));
        in = in.subspan(2);
      }
    }
  }

  /// Tokens x components.
  [[nodiscard]] Matrix rotated(const Matrix& values) const {
    if (has_basis()) {
      const Eigen::Map<const Eigen::RowVectorXf> mean(basis_.mean.data(), basis_.hidden);
      const Eigen::Map<const Matrix> vectors(basis_.vectors.data(), basis_.hidden, basis_.hidden);
      return (values.rowwise() - mean) * vectors.transpose();
    }
    Matrix components = values;
    for (Eigen::Index token = 0; token < components.rows(); ++token)
      hadamard({components.data() + token * components.cols(), static_cast<std::size_t>(components.cols())});
    return components;
  }

  void rotate_back(Matrix& components, Eigen::Map<Matrix> values) const {
    if (has_basis()) {
      const Eigen::Map<const Eigen::RowVectorXf> mean(basis_.mean.data(), basis_.hidden);
      const Eigen::Map<const Matrix> vectors(basis_.vectors.data(), basis_.hidden, basis_.hidden);
      values = components * vectors;
      values.rowwise() += mean;
      return;
    }
    for (Eigen::Index token = 0; token < components.rows(); ++token)
      hadamard({components.data() + token * components.cols(), static_cast<std::size_t>(components.cols())});
    values = components;
  }

  [[nodiscard]] std::vector<float> variances(float mean_square, std::int64_t hidden) const {
    if (has_basis()) return basis_.variances;
    return std::vector<float>(static_cast<std::size_t>(hidden), mean_square);
  }

  float encode_payload(std::span<const float> values, Shape shape, const Layout& /*layout*/,
                       std::span<std::byte> payload) override {
    require_finite(values);
    Matrix matrix = Eigen::Map<const Matrix>(values.data(), shape.tokens, shape.hidden);
    std::ranges::fill(payload, std::byte{0});
    auto code = payload.subspan(static_cast<std::size_t>(fixed_size(shape)));
    take_channels(matrix, payload);
    const Matrix components = rotated(matrix);
    const std::span<const float> all(components.data(), static_cast<std::size_t>(components.size()));
    require_finite(all);
    const auto mean_square =
        static_cast<float>(components.cast<double>().squaredNorm() / static_cast<double>(components.size()));
    if (!has_basis()) {
      require_finite(std::span(&mean_square, 1));
      put_little_endian(payload.first(payload.size() - code.size()).last(spread_size),
                        std::bit_cast<std::uint32_t>(mean_square));
    }
    return finest_that_fits(all, variances(mean_square, shape.hidden), code);
  }

  /// Codes with the finest step that fits into `out` and returns it.
  [[nodiscard]] float finest_that_fits(std::span<const float> components, const std::vector<float>& variances,
                                       std::span<std::byte> out) const {
    const float largest = largest_magnitude(components);
    if (largest == 0) return 1;
    std::vector<std::int32_t> levels(components.size());
    const auto coded = [&](int i) {
      const float step = step_at(i, largest);
      quantise(components, step, levels);
      return code_components(config_.coder, levels, ComponentClasses(variances, step), out.size());
    };
    int too_fine = -1;
    int fits = octaves * steps_per_octave - 1;
    std::optional<std::vector<std::byte>> best = coded(fits);
    TRILEMMA_ENSURE(best.has_value(), "levels that are all zero fit into any code");
    while (fits - too_fine > 1) {
      const int middle = too_fine + (fits - too_fine) / 2;
      auto found = coded(middle);
      (found ? fits : too_fine) = middle;
      if (found) best = std::move(found);
    }
    std::ranges::copy(*best, out.begin());
    return step_at(fits, largest);
  }

  void check(const wire::Header& header, std::span<const std::byte> payload) const override {
    if (header.parameters[1] != basis_.checksum) throw MalformedMessage("the message was made with another basis");
    if (has_basis() && header.shape.hidden != basis_.hidden)
      throw MalformedMessage("the message has another width than its basis");
    const std::int64_t apart = header.parameters[0];
    const std::int64_t fixed = apart * (static_cast<std::int64_t>(channel_size) + 2 * header.shape.tokens) +
                               static_cast<std::int64_t>(has_basis() ? 0 : spread_size);
    if (apart > header.shape.hidden || std::ssize(payload) < fixed + smallest_code)
      throw MalformedMessage("the payload of the message is shorter than its channels apart");
    if (header.format != NumberFormat::fp32 && header.format != NumberFormat::int8)
      throw MalformedMessage("the message names no entropy coder");
    require_proportion(header.shape, payload.size());
  }

  void decode_payload(const wire::Header& header, std::span<const std::byte> payload,
                      std::span<float> values) override {
    const Shape shape = header.shape;
    const std::size_t apart = header.parameters[0];
    const std::size_t channels = apart * (channel_size + 2 * static_cast<std::size_t>(shape.tokens));
    auto code = payload.subspan(channels);
    float mean_square = 0;
    if (!has_basis()) {
      mean_square = std::bit_cast<float>(static_cast<std::uint32_t>(get_little_endian(code.first(spread_size))));
      if (!(mean_square >= 0) || !std::isfinite(mean_square))
        throw MalformedMessage("the mean square of the message is no number of 0 or more");
      code = code.subspan(spread_size);
    }
    std::vector<std::int32_t> levels(values.size());
    const EntropyCoder coder = header.format == NumberFormat::fp32 ? EntropyCoder::range : EntropyCoder::zstd;
    decode_components(coder, code, ComponentClasses(variances(mean_square, shape.hidden), header.scale), levels);
    Matrix components(shape.tokens, shape.hidden);
    for (std::size_t i = 0; i < levels.size(); ++i) components.data()[i] = static_cast<float>(levels[i]) * header.scale;
    const Eigen::Map<Matrix> restored(values.data(), shape.tokens, shape.hidden);
    rotate_back(components, restored);
    put_channels(payload, apart, restored);
  }

  TransformCodec config_;
  Basis basis_;
};

}  // namespace

std::optional<std::string> problem(const TransformCodec& config) {
  if (!config.basis.empty()) {
    try {
      static_cast<void>(read_basis(config.basis));
    } catch (const NpyProblem& problem) {
      return fmt::format("basis: {}", problem.what());
    }
  }
  return budget_problem("transform", config.ratio, config.reference);
}

std::unique_ptr<Codec> make(const TransformCodec& config) {
  return std::make_unique<Transform>(config, config.basis.empty() ? Basis{} : read_basis(config.basis));
}

}  // namespace trilemma::codec_kinds

namespace trilemma {

std::unique_ptr<Codec> make_transform(const TransformCodec& config, Basis basis) {
  return std::make_unique<codec_kinds::Transform>(config, std::move(basis));
}

}  // namespace trilemma
