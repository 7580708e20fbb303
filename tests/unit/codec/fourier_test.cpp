#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "models/codec/low_pass.h"
#include "models/codec/number_format.h"
#include "tests/unit/codec/activations.h"

namespace trilemma {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

std::unique_ptr<Codec> fourier(double ratio, NumberFormat coefficients = NumberFormat::fp32) {
  return make_codec(FourierCodec{.ratio = ratio, .coefficients = coefficients});
}

std::vector<float> round_trip(Codec& codec, const std::vector<float>& values, Shape shape) {
  return codec.decode(codec.encode(values, shape));
}

/// exp(sign 2 pi i k / n), reduced first so that large products lose nothing.
Complex root(double sign, std::int64_t k, std::int64_t n) {
  return std::polar(1.0, sign * 2 * pi * static_cast<double>(k % n) / static_cast<double>(n));
}

/// Full S x D transform by the definition, one dimension after the other, in double precision.
std::vector<Complex> naive_transform(const std::vector<Complex>& input, Shape shape, double sign) {
  const auto [rows, columns] = shape;
  std::vector<Complex> half(input.size());
  std::vector<Complex> output(input.size());
  const auto at = [columns = columns](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * columns + column);
  };
  for (std::int64_t s = 0; s < rows; ++s) {
    for (std::int64_t v = 0; v < columns; ++v) {
      for (std::int64_t d = 0; d < columns; ++d) half[at(s, v)] += input[at(s, d)] * root(sign, v * d, columns);
    }
  }
  for (std::int64_t u = 0; u < rows; ++u) {
    for (std::int64_t v = 0; v < columns; ++v) {
      for (std::int64_t s = 0; s < rows; ++s) output[at(u, v)] += half[at(s, v)] * root(sign, u * s, rows);
    }
  }
  return output;
}

/// Low-pass of the full spectrum: |u| <= a and |v| <= b, all four corners.
std::vector<float> naive_low_pass(const std::vector<float>& values, Shape shape, std::int64_t a, std::int64_t b) {
  auto spectrum = naive_transform({values.begin(), values.end()}, shape, -1);
  for (std::int64_t u = 0; u < shape.tokens; ++u) {
    for (std::int64_t v = 0; v < shape.hidden; ++v) {
      const bool kept = std::min(u, shape.tokens - u) <= a && std::min(v, shape.hidden - v) <= b;
      if (!kept) spectrum[static_cast<std::size_t>(u * shape.hidden + v)] = 0;
    }
  }
  std::vector<float> restored;
  for (const Complex value : naive_transform(spectrum, shape, +1)) {
    restored.push_back(static_cast<float>(value.real() / static_cast<double>(elements(shape))));
  }
  return restored;
}

constexpr Shape awkward_shapes[] = {{7, 13}, {17, 31}, {1, 37}, {29, 1}, {1, 1},  {1, 16}, {16, 1},
                                    {2, 2},  {2, 5},   {5, 2},  {8, 12}, {9, 10}, {10, 9}, {32, 64}};

TEST(Fourier, EqualsTheNaiveTransformWithTheSameRetainedSet) {
  for (const Shape shape : awkward_shapes) {
    const auto values = test::random_activation(shape, 11);
    for (const double ratio : {1.0, 1.3, 2.0, 3.7}) {
      const auto codec = fourier(ratio);
      if (codec->problem(shape)) continue;  // 1 x 1 has nothing to leave out.
      const auto message = codec->encode(values, shape);
      const auto [kept_tokens, kept_hidden] = wire::open(message).parameters;
      const auto expected = naive_low_pass(values, shape, kept_tokens / 2, kept_hidden / 2);
      const auto error = std::sqrt(test::energy(test::difference(codec->decode(message), expected)));
      EXPECT_LT(error, 1e-6 * std::sqrt(test::energy(values)))
          << shape.tokens << " x " << shape.hidden << " / " << ratio;
    }
  }
}

TEST(Fourier, IsLosslessAtRatioOneAndExactlyAsLongAsIdentity) {
  const auto codec = fourier(1);
  const auto identity = make_codec(IdentityCodec{.format = NumberFormat::fp32});
  for (const Shape shape : awkward_shapes) {
    const auto values = test::random_activation(shape, 12);
    const auto message = codec->encode(values, shape);
    EXPECT_EQ(message.size(), identity->encode(values, shape).size());
    EXPECT_LT(test::relative_error(values, codec->decode(message)), 1e-5);
    EXPECT_EQ(codec->achieved_ratio(shape), 1);
  }
}

TEST(Fourier, SplitsTheEnergyIntoKeptAndLost) {
  // The kept part is an orthogonal projection: ||x||^2 = ||kept||^2 + ||x - kept||^2 (Parseval).
  const Shape shape{.tokens = 48, .hidden = 81};
  const auto values = test::random_activation(shape, 13);
  for (const double ratio : {1.5, 4.0, 30.0}) {
    const auto kept = round_trip(*fourier(ratio), values, shape);
    const double lost = test::energy(test::difference(values, kept));
    EXPECT_NEAR(test::energy(kept) + lost, test::energy(values), 1e-5 * test::energy(values));
  }
}

TEST(Fourier, SendsOrthonormalCoefficients) {
  // Parseval on the wire: a complex bin stands for itself and its mirror, so it counts twice; a real one counts once.
  const Shape shape{.tokens = 6, .hidden = 10};
  const auto values = test::random_activation(shape, 14);
  const auto message = fourier(1)->encode(values, shape);
  std::vector<float> numbers(60);
  unpack(NumberFormat::fp32, wire::payload(message), numbers);
  double sum = 0;
  auto number = numbers.cbegin();
  for (const Bin bin : wire_order(shape, {6, 10})) {
    sum += (bin.is_real ? 1 : 2) * std::pow(*number++, 2);
    if (!bin.is_real) sum += 2 * std::pow(*number++, 2);
  }
  EXPECT_NEAR(sum, test::energy(values), 1e-5 * test::energy(values));
}

TEST(Fourier, ErrsLessWithMoreBytes) {
  const Shape shape{.tokens = 48, .hidden = 80};
  const auto values = test::random_activation(shape, 15);
  double last_error = 1;
  Bytes last_size(0);
  for (const double ratio : {64.0, 32.0, 16.0, 8.0, 6.0, 4.0, 3.0, 2.0, 1.5, 1.2, 1.0}) {
    const auto codec = fourier(ratio);
    const double error = test::relative_error(values, round_trip(*codec, values, shape));
    EXPECT_LT(error, last_error) << ratio;
    EXPECT_GT(codec->encoded_size(shape), last_size) << ratio;
    last_error = error;
    last_size = codec->encoded_size(shape);
  }
}

TEST(Fourier, LosesTheShareOfWhiteNoiseThatItDoesNotSend) {
  // White noise has equal energy in every real coefficient, so the relative error is sqrt(1 - kept / (S D)). The lost
  // energy is a chi-square sum with n = S D - kept terms; its standard error is sqrt(2 n), its mean n.
  const Shape shape{.tokens = 64, .hidden = 128};
  const auto values = test::random_activation(shape, 16);
  const auto codec = fourier(8);
  const auto message = codec->encode(values, shape);
  const auto [kept_tokens, kept_hidden] = wire::open(message).parameters;
  const double n = 64.0 * 128.0 - static_cast<double>(kept_tokens) * kept_hidden;
  const double lost = test::energy(test::difference(values, codec->decode(message)));
  EXPECT_NEAR(lost, n, 4 * std::sqrt(2 * n));
}

/// Sum over u < 4 and v < 8 of cosines in both diagonal directions, amplitudes U(0.3, 1), random phases.
std::vector<float> smooth_signal(Shape shape) {
  std::mt19937 engine(17);
  std::uniform_real_distribution<double> amplitude(0.3, 1);
  std::uniform_real_distribution<double> phase(0, 2 * pi);
  std::vector<double> sum(static_cast<std::size_t>(elements(shape)));
  for (int u = 0; u < 4; ++u) {
    for (int v = 0; v < 8; ++v) {
      for (const int direction : {+1, -1}) {
        const double height = amplitude(engine);
        const double shift = phase(engine);
        for (std::size_t i = 0; i < sum.size(); ++i) {
          const auto s = static_cast<double>(static_cast<std::int64_t>(i) / shape.hidden);
          const auto d = static_cast<double>(static_cast<std::int64_t>(i) % shape.hidden);
          const double turns =
              direction * u * s / static_cast<double>(shape.tokens) + v * d / static_cast<double>(shape.hidden);
          sum[i] += height * std::cos(2 * pi * turns + shift);
        }
      }
    }
  }
  return {sum.begin(), sum.end()};
}

TEST(Fourier, RestoresASmoothSignalFromItsLowFrequencies) {
  // Frequencies |u| <= 3 and |v| <= 7 need K_S >= 7 and K_D >= 15. A payload of 8 x 16 complex fp32 numbers is 1024
  // bytes or 256 reals, for which the proportional block is 11 x 23 (32 x 64 is 1 : 2): large enough. Header and
  // payload are 1064 bytes; (40 + 4 x 32 x 64) / 7.73 = 8232 / 7.73 = 1064.9 leaves exactly that many.
  const Shape shape{.tokens = 32, .hidden = 64};
  const auto values = smooth_signal(shape);
  const auto codec = fourier(7.73);
  const auto message = codec->encode(values, shape);
  const auto [kept_tokens, kept_hidden] = wire::open(message).parameters;
  EXPECT_GE(kept_tokens, 7U);
  EXPECT_GE(kept_hidden, 15U);
  EXPECT_LE(message.size(), 40U + 8 * 16 * 8);
  EXPECT_LT(test::relative_error(values, codec->decode(message)), 1e-6);
}

TEST(Fourier, KeepsFp16FromOverflowing) {
  // All 262,144 values 1e4: DC is 1e4 sqrt(S D) = 5.12e6, far beyond the 65504 of fp16. Other coefficients are zero up
  // to rounding; DC rounds by at most 2^-11.
  const Shape shape{.tokens = 128, .hidden = 2048};
  const std::vector<float> values(static_cast<std::size_t>(elements(shape)), 1e4F);
  EXPECT_LT(test::relative_error(values, round_trip(*fourier(8, NumberFormat::fp16), values, shape)), 0x1p-11);
}

TEST(Fourier, KeepsTinyActivationsInFp16) {
  const Shape shape{.tokens = 8, .hidden = 8};
  auto values = test::random_activation(shape, 18);
  for (float& value : values) value *= 1e-20F;
  EXPECT_LT(
      test::relative_error(
          values, round_trip(*make_codec(FourierCodec{.ratio = 1, .coefficients = NumberFormat::fp16}), values, shape)),
      0x1p-11);
}

TEST(Fourier, RoundsEachFormatByItsOwnPrecision) {
  // At full retention the transform is orthonormal, so the error is that of the coefficients. Gaussian blocks of 64
  // reach about 2.5 deviations, so a step is 2.5 / 127 or 2.5 / 7 and its rounding error step / sqrt(12): 0.6 % and 10
  // %.
  const Shape shape{.tokens = 32, .hidden = 64};
  const auto values = test::random_activation(shape, 19);
  const auto error = [&](NumberFormat format) {
    return test::relative_error(values, round_trip(*fourier(1, format), values, shape));
  };
  EXPECT_LT(error(NumberFormat::fp16), 0x1p-11);
  EXPECT_LT(error(NumberFormat::bf16), 0x1p-8);
  EXPECT_NEAR(error(NumberFormat::int8), 0.006, 0.002);
  EXPECT_NEAR(error(NumberFormat::int4), 0.10, 0.03);
}

TEST(Fourier, KeepsIntegersFineBesideALargeDc) {
  // Mean 1e4 on unit noise: an int8 step that had to span DC (1e4 x 45) would be 3563 and would erase the noise.
  const Shape shape{.tokens = 32, .hidden = 64};
  auto values = test::random_activation(shape, 20);
  auto shifted = values;
  for (float& value : shifted) value += 1e4F;
  auto restored = round_trip(*fourier(1, NumberFormat::int8), shifted, shape);
  for (float& value : restored) value -= 1e4F;
  EXPECT_LT(test::relative_error(values, restored), 0.01);
}

TEST(Fourier, KeepsIntegersFineBesideAnOutlierUnit) {
  // One hidden unit that is 1000 for every token, as in real language models, fills row u = 0 of the spectrum and
  // nothing else. That row (1 of 32) has its own blocks, so the noise elsewhere keeps the error of plain int8.
  const Shape shape{.tokens = 32, .hidden = 256};
  auto values = test::random_activation(shape, 21);
  auto spiked = values;
  for (std::size_t token = 0; token < 32; ++token) spiked[token * 256 + 100] += 1000;
  auto restored = round_trip(*fourier(1, NumberFormat::int8), spiked, shape);
  // Row u = 0 holds magnitudes of 1000 sqrt(32 / 256) = 354 everywhere: step 354 / 127 = 2.8, error step / sqrt(12) =
  // 0.8 in the real and the imaginary part of 1/32 of all bins, whose noise has energy 1: sqrt(2 x 0.8^2 / 32) = 0.20.
  // Spread over all blocks it would be sqrt(2 x 0.8^2) = 1.1.
  EXPECT_NEAR(test::relative_error(values, test::difference(restored, test::difference(spiked, values))), 0.20, 0.03);
}

TEST(Fourier, RefusesValuesThatAreNotFinite) {
  const Shape shape{.tokens = 4, .hidden = 4};
  const auto codec = fourier(1);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
    EXPECT_THROW((void)codec->encode(std::vector<float>(16, bad), shape), std::invalid_argument);
  }
  EXPECT_NO_THROW((void)codec->encode(std::vector<float>(16, 1e37F), shape));
}

TEST(Fourier, RefusesARatioThatLeavesNoRoomForOneCoefficient) {
  // 4 x 8 in fp32 is 40 + 128 = 168 bytes; header and DC take 44, so the largest ratio is 168 / 44 = 3.818.
  const Shape shape{.tokens = 4, .hidden = 8};
  EXPECT_EQ(fourier(3.81)->problem(shape), std::nullopt);
  EXPECT_EQ(fourier(3.82)->problem(shape),
            "ratio 3.82 leaves 43 bytes for an activation of 4 x 8, but a header and one coefficient take 44; choose a "
            "ratio of at most 3.81");
  EXPECT_THROW((void)fourier(3.82)->encoded_size(shape), std::invalid_argument);
}

TEST(Fourier, FillsABudgetThatDividesExactly) {
  // 1 x 16 in fp32 is 104 bytes. Half of it, 52 bytes, is the header and three reals; one byte less has room for two,
  // and the widest block of at most two reals is DC alone.
  const Shape shape{.tokens = 1, .hidden = 16};
  EXPECT_EQ(fourier(2)->encoded_size(shape), Bytes(52));
  EXPECT_EQ(fourier(std::nextafter(2.0, 3.0))->encoded_size(shape), Bytes(44));
}

TEST(Fourier, WorkFollowsTheStatedFormula) {
  // N = 32 x 64 = 2048 = 2^11: 2.5 N 11 = 56320 operations, plus scaling of N reals; 16 N + 4 N + 4 N bytes.
  const Shape shape{.tokens = 32, .hidden = 64};
  const CodecWork work = fourier(1)->encode_work(shape);
  EXPECT_DOUBLE_EQ(work.operations.value(), 56320 + 2048);
  EXPECT_EQ(work.moved, Bytes(24 * 2048));
  EXPECT_EQ(fourier(1)->decode_work(shape).moved, Bytes(28 * 2048));
  // int8: four more operations a real; the payload is DC (4 bytes), 2047 bytes and 32 scales.
  const CodecWork small = fourier(1, NumberFormat::int8)->encode_work(shape);
  EXPECT_DOUBLE_EQ(small.operations.value(), 56320 + 5 * 2048);
  EXPECT_EQ(small.moved, Bytes(20 * 2048 + 4 + 2047 + 4 * 32));
}

TEST(Fourier, WorkAlongTokensIsThatOfTheKeptColumns) {
  // 2048 values through 6 levels along hidden; 32 K_D values through 5 levels along tokens; K fp32 reals.
  const Shape shape{.tokens = 32, .hidden = 64};
  const auto codec = fourier(4);
  const auto [kept_tokens, kept_hidden] =
      wire::open(codec->encode(test::random_activation(shape, 16), shape)).parameters;
  const double kept = static_cast<double>(kept_tokens) * kept_hidden;
  ASSERT_LT(kept_hidden, 64);
  const CodecWork work = codec->encode_work(shape);
  EXPECT_DOUBLE_EQ(work.operations.value(), 2.5 * 2048 * 6 + 2.5 * 32 * kept_hidden * 5 + kept);
  EXPECT_EQ(work.moved, Bytes(8 * 2048 + 8 * 32 * std::int64_t{kept_hidden} + 8 * static_cast<std::int64_t>(kept)));
}

TEST(Fourier, PlansShapesTooLargeToEncode) {
  const Shape shape{.tokens = 131072, .hidden = 16384};
  const auto codec = fourier(8);
  EXPECT_LE(codec->encoded_size(shape), Bytes((40 + 4 * elements(shape)) / 8));
  EXPECT_THROW(codec->encode_into({}, shape, {}), std::invalid_argument);
}

TEST(Fourier, NamesTheFieldThatMakesNoSense) {
  EXPECT_EQ(problem(FourierCodec{.ratio = 0.5}), "ratio: fourier compresses by 1 to 10000; write for example '8'");
  EXPECT_EQ(problem(FourierCodec{.ratio = std::numeric_limits<double>::quiet_NaN()}),
            "ratio: fourier compresses by 1 to 10000; write for example '8'");
  EXPECT_EQ(problem(FourierCodec{.reference = NumberFormat::int4}),
            "reference: an uncompressed message is fp32, fp16 or bf16; write for example 'fp32'");
  EXPECT_EQ(problem(FourierCodec{}), std::nullopt);
}

TEST(Fourier, DecodesMessagesOfAnyRatioAndFormat) {
  const Shape shape{.tokens = 16, .hidden = 24};
  const auto values = test::random_activation(shape, 22);
  const auto sender = fourier(4, NumberFormat::int8);
  const auto message = sender->encode(values, shape);
  EXPECT_EQ(fourier(1)->decode(message), sender->decode(message));
}

TEST(Fourier, GivesTheSameBytesAgainAndInABufferOfTheCaller) {
  const Shape shape{.tokens = 16, .hidden = 24};
  const auto values = test::random_activation(shape, 23);
  const auto codec = fourier(3);
  const auto message = codec->encode(values, shape);
  (void)codec->decode(message);
  std::vector<std::byte> again(message.size());
  codec->encode_into(values, shape, again);
  EXPECT_EQ(again, message);
}

TEST(FourierCodec, CodesValuesAtAnyAddressAlikeAndLeavesThemAlone) {
  const Shape shape{.tokens = 24, .hidden = 40};
  const auto values = test::random_activation(shape, 1);
  const auto codec = make_codec(FourierCodec{.ratio = 3});
  const auto expected = codec->encode(values, shape);
  const auto restored = codec->decode(expected);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    std::vector<float> moved(values.size() + offset);
    const auto some = std::span(moved).subspan(offset);
    std::ranges::copy(values, some.begin());
    EXPECT_EQ(codec->encode(some, shape), expected) << offset;
    EXPECT_TRUE(std::ranges::equal(some, values)) << offset;
    codec->decode_into(expected, some);
    EXPECT_TRUE(std::ranges::equal(some, restored)) << offset;
  }
}

}  // namespace
}  // namespace trilemma
