#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "models/codec/index_set.h"
#include "models/codec/number_format.h"
#include "tests/unit/codec/activations.h"

/// Each kind against what its mathematics promise.
namespace trilemma {
namespace {

std::vector<float> round_trip(const CodecConfig& config, const std::vector<float>& values, Shape shape) {
  const auto codec = make_codec(config);
  return codec->decode(codec->encode(values, shape));
}

TEST(IndexSet, ReadsWhatItWroteInTheBytesItAnnounced) {
  std::mt19937 engine(1);
  for (const std::int64_t universe : {1, 2, 7, 64, 1000, 40000}) {
    for (std::int64_t count = 1; count <= universe; count += 1 + universe / 17) {
      std::vector<std::uint32_t> all(static_cast<std::size_t>(universe));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
      std::ranges::shuffle(all, engine);
      all.resize(static_cast<std::size_t>(count));
      std::ranges::sort(all);
      std::vector<std::byte> bytes(static_cast<std::size_t>(index_set::size(count, universe)));
      index_set::write(all, universe, bytes);
      EXPECT_EQ(index_set::read(count, universe, bytes), all) << count << " of " << universe;
    }
  }
}

// The code of Elias and Fano wastes 0.56 bits an index of sparse sets and up to 0.7 of dense ones; a bitmap never needs
// more than a bit a place.
TEST(IndexSet, IsWithinSevenTenthsOfABitAnIndexOfTheLeastPossible) {
  for (const std::int64_t universe : {1000, 100000, 10000000}) {
    for (const std::int64_t count : {universe / 500 + 1, universe / 100, universe / 10, universe / 5}) {
      const double least = index_set::least_size(count, universe);
      const auto size = static_cast<double>(index_set::size(count, universe));
      EXPECT_GE(size + 1, least);
      EXPECT_LE(size, least + 0.7 * static_cast<double>(count) / 8 + 2) << count << " of " << universe;
    }
    EXPECT_LE(index_set::size(universe / 2, universe), universe / 8 + 1);
  }
}

TEST(TopK, KeepsTheLargestAndNothingElse) {
  const Shape shape{.tokens = 10, .hidden = 30};
  const auto values = test::random_activation(shape, 2);
  const auto restored = round_trip(TopKCodec{.ratio = 8, .values = NumberFormat::fp32}, values, shape);
  float smallest_kept = 1e9F;
  float largest_lost = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (restored[i] == 0)
      largest_lost = std::max(largest_lost, std::abs(values[i]));
    else
      smallest_kept = std::min(smallest_kept, std::abs(values[i]));
    EXPECT_TRUE(restored[i] == 0 || restored[i] == values[i]);
  }
  EXPECT_GE(smallest_kept, largest_lost);
}

// Eckart and Young: no matrix of rank r is closer, and the error is that of the singular values left out.
TEST(Svd, ReachesTheErrorOfEckartAndYoung) {
  const Shape shape{.tokens = 24, .hidden = 40};
  const auto values = test::random_activation(shape, 3);
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd matrix = Eigen::Map<const RowMajor>(values.data(), shape.tokens, shape.hidden).cast<double>();
  const Eigen::VectorXd sigma = Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues();
  // Rank 5: 5 (24 + 40) numbers of 4 bytes and the header, of 40 + 4 x 24 x 40.
  const double ratio = (40 + 4.0 * 24 * 40) / (40 + 4.0 * 5 * 64) * (1 - 1e-12);
  const double least = std::sqrt(sigma.tail(19).squaredNorm() / sigma.squaredNorm());
  const SvdCodec config{.ratio = ratio, .factors = NumberFormat::fp32};
  EXPECT_NEAR(test::relative_error(values, round_trip(config, values, shape)), least, 1e-5);
  SvdCodec randomised = config;
  randomised.algorithm = SvdAlgorithm::randomised;
  const double error = test::relative_error(values, round_trip(randomised, values, shape));
  EXPECT_GE(error, least - 1e-5);
  EXPECT_LT(error, least * 1.1);  // noise is its worst case: no gap between the singular values
  const double by_qr =
      test::relative_error(values, round_trip(QrCodec{.ratio = ratio, .factors = NumberFormat::fp32}, values, shape));
  EXPECT_GE(by_qr, least);
  EXPECT_LT(by_qr, 1);
}

TEST(LowRank, RestoresAMatrixOfItsRank) {
  const Shape shape{.tokens = 20, .hidden = 30};
  std::vector<float> values(static_cast<std::size_t>(elements(shape)));
  for (std::int64_t s = 0; s < shape.tokens; ++s) {
    for (std::int64_t d = 0; d < shape.hidden; ++d)
      values[static_cast<std::size_t>(s * shape.hidden + d)] =
          std::sin(0.3F * static_cast<float>(s)) * std::cos(0.2F * static_cast<float>(d)) +
          0.1F * static_cast<float>(s);
  }
  EXPECT_LT(
      test::relative_error(values, round_trip(SvdCodec{.ratio = 4, .factors = NumberFormat::fp32}, values, shape)),
      1e-5);
  EXPECT_LT(test::relative_error(values, round_trip(QrCodec{.ratio = 4, .factors = NumberFormat::fp32}, values, shape)),
            1e-5);
}

// C[u, v] = c(u) c(v) sum of x cos(pi (s + 1/2) u / S) cos(pi (d + 1/2) v / D), as written, and its inverse.
TEST(Dct, IsTheCosineTransformOfItsFormula) {
  for (const Shape shape : {Shape{8, 12}, Shape{7, 5}, Shape{1, 9}}) {
    const auto values = test::random_activation(shape, 4);
    const auto codec = make_codec(DctCodec{.ratio = 3});
    if (codec->problem(shape)) continue;
    const auto message = codec->encode(values, shape);
    const std::int64_t rows = std::to_integer<std::int64_t>(message[16]);
    const std::int64_t columns = std::to_integer<std::int64_t>(message[20]);
    const auto wave = [](std::int64_t i, std::int64_t k, std::int64_t side) {
      const double n = static_cast<double>(side);
      return std::sqrt((k == 0 ? 1 : 2) / n) *
             std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) * static_cast<double>(k) / n);
    };
    std::vector<float> expected(values.size());
    for (std::int64_t u = 0; u < rows; ++u) {
      for (std::int64_t v = 0; v < columns; ++v) {
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto index = static_cast<std::int64_t>(i);
          sum += static_cast<double>(values[i]) * wave(index / shape.hidden, u, shape.tokens) *
                 wave(index % shape.hidden, v, shape.hidden);
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto index = static_cast<std::int64_t>(i);
          expected[i] += static_cast<float>(sum * wave(index / shape.hidden, u, shape.tokens) *
                                            wave(index % shape.hidden, v, shape.hidden));
        }
      }
    }
    EXPECT_LT(test::relative_error(expected, codec->decode(message)), 1e-5);
  }
}

TEST(TokenFourier, CodesEachTokenAsItWouldAlone) {
  const Shape block{.tokens = 6, .hidden = 45};
  const auto values = test::random_activation(block, 5);
  // The same number of coefficients a token: 15, so that headers do not differ.
  const auto together = make_codec(TokenFourierCodec{.ratio = (40 + 4.0 * 6 * 45) / (40 + 4.0 * 6 * 15) * (1 - 1e-12)});
  const auto alone = make_codec(TokenFourierCodec{.ratio = (40 + 4.0 * 45) / (40 + 4.0 * 15) * (1 - 1e-12)});
  const auto restored = together->decode(together->encode(values, block));
  for (std::size_t token = 0; token < 6; ++token) {
    const std::vector<float> one(values.begin() + static_cast<std::ptrdiff_t>(45 * token),
                                 values.begin() + static_cast<std::ptrdiff_t>(45 * (token + 1)));
    const auto single = alone->decode(alone->encode(one, {.tokens = 1, .hidden = 45}));
    for (std::size_t d = 0; d < 45; ++d) EXPECT_NEAR(single[d], restored[45 * token + d], 1e-5);
  }
}

// A wave along the hidden values is one frequency.
TEST(TokenFourier, RestoresALowWaveExactly) {
  const Shape shape{.tokens = 3, .hidden = 64};
  std::vector<float> values;
  for (int s = 0; s < 3; ++s) {
    for (int d = 0; d < 64; ++d)
      values.push_back(1 + std::cos(static_cast<float>(2 * std::numbers::pi * 2 * d / 64) + static_cast<float>(s)));
  }
  EXPECT_LT(test::relative_error(values, round_trip(TokenFourierCodec{.ratio = 7}, values, shape)), 1e-5);
}

// A level is half a step off at most; the scale in fp16 is at most 2^-10 larger than needed.
TEST(Quantise, IsHalfAStepOffAtMost) {
  const Shape shape{.tokens = 20, .hidden = 33};
  const auto values = test::random_activation(shape, 6);
  for (const auto& [format, levels] : {std::pair{NumberFormat::int8, 127.0F}, std::pair{NumberFormat::int4, 7.0F},
                                       std::pair{NumberFormat::int2, 1.5F}}) {
    for (const auto axis : {QuantisedAxis::token, QuantisedAxis::channel}) {
      const auto restored = round_trip(QuantiseCodec{.format = format, .axis = axis}, values, shape);
      for (std::size_t i = 0; i < values.size(); ++i) {
        float largest = 0;
        for (std::size_t j = 0; j < values.size(); ++j) {
          if (axis == QuantisedAxis::token ? i / 33 == j / 33 : i % 33 == j % 33)
            largest = std::max(largest, std::abs(values[j]));
        }
        EXPECT_LE(std::abs(restored[i] - values[i]), largest / levels * 0.5F * 1.002F);
      }
    }
  }
}

// FP16 tokens of 256 values: 512 bytes; INT4 with an fp16 scale: 130.
TEST(Quantise, TakesTheBytesOfItsLevelsAndScales) {
  const Shape shape{.tokens = 100, .hidden = 256};
  EXPECT_EQ(make_codec(QuantiseCodec{.format = NumberFormat::int4})->encoded_size(shape), Bytes(40 + 100 * (2 + 128)));
  EXPECT_EQ(make_codec(QuantiseCodec{.format = NumberFormat::int2})->encoded_size(shape), Bytes(40 + 100 * (2 + 64)));
  EXPECT_EQ(
      make_codec(QuantiseCodec{.format = NumberFormat::int8, .axis = QuantisedAxis::channel})->encoded_size(shape),
      Bytes(40 + 256 * (2 + 100)));
}

TEST(Delta, GoesOnFromStepToStep) {
  const auto sender = make_codec(DeltaCodec{.format = NumberFormat::int4});
  const auto receiver = make_codec(DeltaCodec{.format = NumberFormat::int4});
  const Shape prompt{.tokens = 5, .hidden = 40};
  const Shape token{.tokens = 1, .hidden = 40};
  auto values = test::random_activation(prompt, 7);
  (void)receiver->decode(sender->encode(values, prompt));
  // The same token again and again: each step sends what the last left over, and the error dies out.
  std::vector<float> last(values.end() - 40, values.end());
  double before = 1;
  for (int step = 0; step < 6; ++step) {
    const double error = test::relative_error(last, receiver->decode(sender->encode(last, token)));
    EXPECT_LT(error, before * 0.5);
    before = error;
  }
  const auto lost = sender->encode(last, token);
  const auto next = sender->encode(last, token);
  EXPECT_THROW((void)receiver->decode(next), MalformedMessage) << "one message is missing";
  sender->restart();
  EXPECT_NO_THROW((void)receiver->decode(sender->encode(last, token)));
}

}  // namespace
}  // namespace trilemma
