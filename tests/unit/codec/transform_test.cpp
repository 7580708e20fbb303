#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/codec/basis.h"
#include "models/codec/component_coder.h"
#include "models/codec/npy.h"
#include "models/codec/range_coder.h"
#include "tests/unit/codec/activations.h"

namespace trilemma {
namespace {

TEST(RangeCoder, ReadsWhatItWroteInTheBitsOfTheEntropy) {
  std::mt19937 engine(1);
  for (const double share : {0.5, 0.1, 0.01}) {
    std::bernoulli_distribution one(share);
    constexpr int count = 40000;
    std::vector<bool> bits;
    for (int i = 0; i < count; ++i) bits.push_back(one(engine));
    RangeEncoder encoder;
    AdaptiveBit model;
    for (const bool bit : bits) {
      encoder.put(bit, model);
      encoder.put_raw(bit ? 5 : 2, 3);
    }
    const auto bytes = encoder.finish();
    RangeDecoder decoder(bytes);
    AdaptiveBit same;
    for (const bool bit : bits) {
      ASSERT_EQ(decoder.get(same), bit);
      ASSERT_EQ(decoder.get_raw(3), bit ? 5U : 2U);
    }
    const double entropy = -share * std::log2(share) - (1 - share) * std::log2(1 - share);
    const double spent = 8 * static_cast<double>(bytes.size()) / count - 3;
    // 4 standard errors of the ones' number, and what learning and 12 bits of probability cost.
    const double noise = 4 * std::sqrt(share * (1 - share) / count) * std::abs(std::log2(share / (1 - share)));
    EXPECT_LT(spent, entropy + noise + 0.02 + 0.03 * entropy) << share;
    EXPECT_GT(spent, entropy - noise - 0.001) << share;
  }
}

// Carries run through any number of bytes 0xff: numbers near the upper end of every range make them.
TEST(RangeCoder, CarriesThroughManyBytes) {
  std::mt19937 engine(2);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < 50; ++i)
      numbers.push_back(engine() % 4 == 0 ? engine() & 0xffffU : engine() % 2 == 0 ? 0U : 0xffffU);
    RangeEncoder encoder;
    for (const std::uint32_t number : numbers) encoder.put_raw(number, 16);
    const auto bytes = encoder.finish();
    EXPECT_LE(bytes.size(), 2 * numbers.size() + 4);
    RangeDecoder decoder(bytes);
    for (const std::uint32_t number : numbers) ASSERT_EQ(decoder.get_raw(16), number);
  }
}

TEST(ComponentCoder, ReadsWhatItWroteHoweverLargeTheLevels) {
  std::mt19937 engine(3);
  for (const EntropyCoder coder : {EntropyCoder::range, EntropyCoder::zstd}) {
    for (const float step : {1e-3F, 0.1F, 1.0F, 30.0F, 1e6F}) {
      const std::vector<float> variances{900, 40, 1, 0.01F, 0};
      const ComponentClasses classes(variances, step);
      std::vector<std::int32_t> levels;
      for (int i = 0; i < 500; ++i)
        levels.push_back(i % 97 == 0 ? static_cast<std::int32_t>(engine() % (1U << 29)) - (1 << 28)
                                     : static_cast<std::int32_t>(engine() % 9) - 4);
      const auto bytes = code_components(coder, levels, classes, 1 << 20);
      ASSERT_TRUE(bytes);
      std::vector<std::int32_t> found(levels.size());
      decode_components(coder, *bytes, classes, found);
      EXPECT_EQ(found, levels);
      EXPECT_FALSE(code_components(coder, levels, classes, bytes->size() - 1));
    }
  }
}

/// Tokens of a normal distribution with known variances in a known rotation.
struct Source {
  explicit Source(std::uint32_t seed) : engine(seed) {
    std::normal_distribution<float> normal;
    Eigen::MatrixXf random(width, width);
    for (Eigen::Index i = 0; i < random.size(); ++i) random.data()[i] = normal(engine);
    rotation = Eigen::HouseholderQR<Eigen::MatrixXf>(random).householderQ();
    for (int k = 0; k < width; ++k) deviations.push_back(std::pow(2.0F, 3 - 0.2F * static_cast<float>(k)));
  }
  std::vector<float> tokens(std::int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> values;
    for (std::int64_t token = 0; token < count; ++token) {
      Eigen::VectorXf components(width);
      for (int k = 0; k < width; ++k) components[k] = deviations[static_cast<std::size_t>(k)] * normal(engine);
      const Eigen::VectorXf one = rotation * components;
      for (int d = 0; d < width; ++d) values.push_back(one[d] + 0.5F);
    }
    return values;
  }
  static constexpr int width = 32;
  std::mt19937 engine;
  Eigen::MatrixXf rotation;
  std::vector<float> deviations;
};

/// Distortion of reverse water-filling at a rate in bits a component (Cover and Thomas, theorem 10.3.3), over the
/// energy.
double least_error(const std::vector<float>& deviations, double bits) {
  double low = 0;
  double high = 1e4;
  double distortion = 0;
  for (int i = 0; i < 200; ++i) {
    const double level = (low + high) / 2;
    double rate = 0;
    distortion = 0;
    for (const float deviation : deviations) {
      const double variance = static_cast<double>(deviation) * static_cast<double>(deviation);
      if (variance > level) rate += 0.5 * std::log2(variance / level);
      distortion += std::min(variance, level);
    }
    (rate / static_cast<double>(deviations.size()) > bits ? low : high) = level;
  }
  double energy = 0;
  for (const float deviation : deviations) energy += static_cast<double>(deviation) * static_cast<double>(deviation);
  return std::sqrt(distortion / (energy + 0.25 * static_cast<double>(deviations.size())));
}

// A uniform quantiser with an ideal entropy coder is 1.53 dB (a quarter of a bit, a factor of 1.19) off the theory.
TEST(Transform, IsWithinTheKnownLossOfReverseWaterFilling) {
  Source source(4);
  const Basis basis = calibrated_basis(source.tokens(4000), Source::width);
  const Shape shape{.tokens = 256, .hidden = Source::width};
  const auto values = source.tokens(shape.tokens);
  for (const double ratio : {4.0, 7.6, 12.0}) {
    const auto codec = make_transform({.ratio = ratio, .reference = NumberFormat::fp16}, basis);
    const double error = test::relative_error(values, codec->decode(codec->encode(values, shape)));
    const double least = least_error(source.deviations, 16 / ratio);
    EXPECT_GT(error, 0.98 * least) << ratio;
    EXPECT_LT(error, 1.3 * least) << ratio;  // with the header, 1 %, and what learning costs
    const auto hadamard = make_codec(TransformCodec{.ratio = ratio, .reference = NumberFormat::fp16});
    EXPECT_GT(test::relative_error(values, hadamard->decode(hadamard->encode(values, shape))), 1.3 * error);
  }
}

TEST(Transform, CodesASingleTokenWell) {
  Source source(5);
  const Basis basis = calibrated_basis(source.tokens(4000), Source::width);
  const auto codec = make_transform({.ratio = 1.5, .reference = NumberFormat::fp32}, basis);
  const Shape one{.tokens = 1, .hidden = Source::width};
  for (int i = 0; i < 20; ++i) {
    const auto values = source.tokens(1);
    EXPECT_LT(test::relative_error(values, codec->decode(codec->encode(values, one))), 0.1);
  }
}

TEST(Transform, SendsOutlierChannelsApart) {
  const Shape shape{.tokens = 40, .hidden = 64};
  auto values = test::random_activation(shape, 6);
  for (std::size_t token = 0; token < 40; ++token) values[64 * token + 11] *= 500;
  const auto error_elsewhere = [&](std::int64_t outliers) {
    const auto codec = make_codec(TransformCodec{.ratio = 8, .outliers = outliers});
    const auto restored = codec->decode(codec->encode(values, shape));
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += i % 64 == 11 ? 0 : std::pow(static_cast<double>(restored[i] - values[i]), 2);
    return std::sqrt(sum / (40 * 63));
  };
  EXPECT_LT(error_elsewhere(1), 0.3 * error_elsewhere(0));
}

TEST(Transform, RefusesAMessageOfAnotherBasis) {
  Source source(7);
  const auto first = make_transform({.ratio = 2}, calibrated_basis(source.tokens(100), Source::width));
  const auto second = make_transform({.ratio = 2}, calibrated_basis(source.tokens(100), Source::width));
  const Shape shape{.tokens = 9, .hidden = Source::width};
  EXPECT_THROW((void)second->decode(first->encode(source.tokens(9), shape)), MalformedMessage);
}

TEST(Basis, FindsDirectionsAndVariances) {
  Source source(8);
  constexpr int count = 20000;
  const Basis basis = calibrated_basis(source.tokens(count), Source::width);
  for (std::size_t k = 0; k < Source::width; ++k) {
    const double wanted = static_cast<double>(source.deviations[k]) * static_cast<double>(source.deviations[k]);
    EXPECT_NEAR(static_cast<double>(basis.variances[k]) / wanted, 1, 4 * std::sqrt(2.0 / count) + 0.01) << k;
  }
  EXPECT_THROW((void)calibrated_basis(source.tokens(1), Source::width), std::invalid_argument);
}

TEST(Basis, IsTheSameAfterWritingAndReading) {
  Source source(9);
  const Basis basis = calibrated_basis(source.tokens(50), Source::width);
  const auto file = std::filesystem::path(testing::TempDir()) / "basis.npy";
  write_basis(file, basis);
  EXPECT_EQ(read_basis(file).checksum, basis.checksum);
  const std::vector<std::int64_t> shape{4, 2};
  write_npy(file, shape, std::vector<float>{0, 0, 1, 1, 1, 0.5F, 0, 1});
  EXPECT_THROW((void)read_basis(file), NpyProblem) << "rows that are not orthogonal";
}

TEST(Basis, WithANaNAnywhereIsNone) {
  Source source(9);
  const Basis basis = calibrated_basis(source.tokens(50), Source::width);
  const auto file = std::filesystem::path(testing::TempDir()) / "not_a_basis.npy";
  for (std::size_t i = 0; i < basis.vectors.size(); i += 7) {
    Basis broken = basis;
    broken.vectors[i] = std::numeric_limits<float>::quiet_NaN();
    write_basis(file, broken);
    EXPECT_THROW((void)read_basis(file), NpyProblem) << i;
  }
}

TEST(Basis, HadamardIsItsOwnInverseAndKeepsEnergy) {
  for (const std::size_t width : {1U, 2U, 12U, 64U, 7U}) {
    auto values = test::random_activation({1, static_cast<std::int64_t>(width)}, 10);
    const auto before = values;
    hadamard(values);
    EXPECT_NEAR(test::energy(values), test::energy(before), 1e-4 * test::energy(before));
    hadamard(values);
    EXPECT_LT(test::relative_error(before, values), 1e-6);
  }
}

TEST(Npy, ReadsWhatItWrote) {
  const auto file = std::filesystem::path(testing::TempDir()) / "values.npy";
  const auto values = test::random_activation({3, 5}, 11);
  write_npy(file, std::vector<std::int64_t>{3, 5}, values);
  const NpyArray array = read_npy(file);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(array.values, values);
  EXPECT_THROW((void)read_npy(file.parent_path()), NpyProblem);
  EXPECT_THROW((void)read_npy("/no/such/file.npy"), NpyProblem);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THROW((void)read_npy(file), NpyProblem);
  std::filesystem::resize_file(file, 30);
  EXPECT_THROW((void)read_npy(file), NpyProblem);
}

}  // namespace
}  // namespace trilemma
