#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "tests/unit/codec/activations.h"

/// The two codecs that are kept for the audit, against the formulas of their texts, and on the smooth signal on which
/// they should be at their best.
namespace trilemma {
namespace {

using Complex = std::complex<double>;

/// sum of x[s, d] exp(sign 2 pi i (u s / S + v d / D)), as written.
std::vector<Complex> naive(const std::vector<Complex>& values, Shape shape, double sign) {
  std::vector<Complex> found(values.size());
  for (std::int64_t u = 0; u < shape.tokens; ++u) {
    for (std::int64_t v = 0; v < shape.hidden; ++v) {
      Complex sum;
      for (std::int64_t s = 0; s < shape.tokens; ++s) {
        for (std::int64_t d = 0; d < shape.hidden; ++d) {
          const double turns = static_cast<double>(u * s % shape.tokens) / static_cast<double>(shape.tokens) +
                               static_cast<double>(v * d % shape.hidden) / static_cast<double>(shape.hidden);
          sum += values[static_cast<std::size_t>(s * shape.hidden + d)] *
                 std::polar(1.0, sign * 2 * std::numbers::pi * turns);
        }
      }
      found[static_cast<std::size_t>(u * shape.hidden + v)] = sum;
    }
  }
  return found;
}

/// The paper's restoration, or that of the second text with its mirror image, by the formulas.
std::vector<float> by_formula(const std::vector<float>& values, Shape shape, std::int64_t rows, std::int64_t columns,
                              bool mirror) {
  const auto spectrum = naive({values.begin(), values.end()}, shape, -1);
  std::vector<Complex> kept(spectrum.size());
  for (std::int64_t u = 0; u < rows; ++u) {
    for (std::int64_t v = 0; v < columns; ++v) {
      const Complex number = spectrum[static_cast<std::size_t>(u * shape.hidden + v)];
      kept[static_cast<std::size_t>(u * shape.hidden + v)] = number;
      if (mirror && u >= 1 && v >= 1)
        kept[static_cast<std::size_t>((shape.tokens - u) * shape.hidden + shape.hidden - v)] = std::conj(number);
    }
  }
  const auto restored = naive(kept, shape, 1);
  std::vector<float> real;
  for (const Complex& number : restored)
    real.push_back(static_cast<float>(number.real() / static_cast<double>(elements(shape))));
  return real;
}

TEST(AuditCodec, RestoresWhatTheFormulasOfItsTextGive) {
  for (const Shape shape : {Shape{12, 20}, Shape{9, 15}, Shape{16, 7}}) {
    const auto values = test::random_activation(shape, 1);
    const Fraction keep(0.25);  // S / 2 and D / 2, cut
    const std::int64_t rows = shape.tokens / 2;
    const std::int64_t columns = shape.hidden / 2;
    const auto text = make_codec(FourierTextCodec{.keep = keep});
    EXPECT_LT(
        test::relative_error(by_formula(values, shape, rows, columns, true), text->decode(text->encode(values, shape))),
        1e-5);
    // The published codec takes a ratio: the one at which 2 K_S K_D numbers of four bytes just fit.
    const double reference = 40 + 4.0 * static_cast<double>(elements(shape));
    const auto published = make_codec(
        FourierPublishedCodec{.ratio = reference / (40 + 8.0 * static_cast<double>(rows * columns)) * (1 - 1e-12)});
    const auto message = published->encode(values, shape);
    ASSERT_LE(std::ssize(message), 40 + 8 * rows * columns);
    const std::int64_t sent_rows = std::to_integer<std::int64_t>(message[16]);
    const std::int64_t sent_columns = std::to_integer<std::int64_t>(message[20]);
    EXPECT_LT(
        test::relative_error(by_formula(values, shape, sent_rows, sent_columns, false), published->decode(message)),
        1e-5);
  }
}

constexpr Shape smooth_shape{.tokens = 32, .hidden = 64};

/// Sum over u < 4, v < 8 of cosines in both diagonal directions, amplitudes U(0.3, 1), random phases.
std::vector<float> smooth_signal(std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> amplitude(0.3, 1);
  std::uniform_real_distribution<double> phase(0, 2 * std::numbers::pi);
  std::vector<double> values(static_cast<std::size_t>(elements(smooth_shape)));
  for (int u = 0; u < 4; ++u) {
    for (int v = 0; v < 8; ++v) {
      for (const int direction : {1, -1}) {
        const double size = amplitude(engine);
        const double start = phase(engine);
        for (std::int64_t s = 0; s < smooth_shape.tokens; ++s) {
          for (std::int64_t d = 0; d < smooth_shape.hidden; ++d) {
            const double turns = static_cast<double>(u * s) / static_cast<double>(smooth_shape.tokens) +
                                 direction * static_cast<double>(v * d) / static_cast<double>(smooth_shape.hidden);
            values[static_cast<std::size_t>(s * smooth_shape.hidden + d)] +=
                size * std::cos(2 * std::numbers::pi * turns + start);
          }
        }
      }
    }
  }
  return {values.begin(), values.end()};
}

struct Spread {
  double mean = 0;
  double error = 0;  // standard error of the mean
};

Spread error_over_seeds(const CodecConfig& config) {
  constexpr int seeds = 20;
  double sum = 0;
  double squares = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const auto values = smooth_signal(seed);
    const auto codec = make_codec(config);
    const double error = test::relative_error(values, codec->decode(codec->encode(values, smooth_shape)));
    sum += error;
    squares += error * error;
  }
  const double mean = sum / seeds;
  return {.mean = mean, .error = std::sqrt((squares / seeds - mean * mean) / (seeds - 1))};
}

// Half the waves run along the other diagonal: their frequencies (u, -v) are outside the block, except on its edges
// u = 0 or v = 0, where both directions have the same pair of frequencies up to the sign. A wave inside has its pair at
// (u, v) and (-u, -v); the block has one of the two, and the real part of it alone is half the wave.
//   Inside: 31 waves of one direction, and of the other the 7 with u = 0, whose frequencies are (0, +-v), and the 3
//   with v = 0. Outside: the 21 others. (0, 0) is a constant and exact, twice. Waves of one frequency have random
//   phases, so that their energies add.
// Every wave has the same energy on average, the two constants a cos(p) included, so that 31 + 10 of 64 lose a quarter
// and 21 all: error^2 = (41/4 + 21) / 64, with the root taken of each seed's own.
TEST(AuditCodec, LosesMostOfASmoothSignal) {
  const double published = std::sqrt((41 / 4.0 + 21) / 64);
  // 8 x 16 complex numbers: 16 times fewer coefficients, 8 times fewer bytes.
  const double bytes = 40 + 4 * 32 * 64;
  const double ratio = bytes / (40 + 8 * 8 * 16);
  const Spread as_published = error_over_seeds(FourierPublishedCodec{.ratio = ratio});
  EXPECT_NEAR(as_published.mean, published, 4 * as_published.error + 0.003);  // mean of roots, root of means
  EXPECT_NEAR(as_published.mean, 0.70, 4 * as_published.error);

  // The mirror image restores waves with u > 0 and v > 0: 21 are exact, 20 of the edges keep 1/4, 21 are lost.
  const double text = std::sqrt((20 / 4.0 + 21) / 64);
  const Spread as_text = error_over_seeds(FourierTextCodec{.keep = Fraction(1 / 16.0)});
  EXPECT_NEAR(as_text.mean, text, 4 * as_text.error + 0.003);
  EXPECT_NEAR(as_text.mean, 0.64, 4 * as_text.error);

  // All four corners in the same number of bytes: 11 x 23 real numbers, of which 7 x 15 would do.
  EXPECT_LT(error_over_seeds(FourierCodec{.ratio = ratio}).mean, 1e-6);
  EXPECT_LE(make_codec(FourierCodec{.ratio = ratio})->encoded_size(smooth_shape),
            make_codec(FourierPublishedCodec{.ratio = ratio})->encoded_size(smooth_shape));
}

TEST(AuditCodec, DividesItsWindowOut) {
  const auto values = test::random_activation({16, 16}, 3);
  const auto whole = make_codec(FourierTextCodec{.keep = Fraction(1), .window = Window::hann});
  EXPECT_LT(test::relative_error(values, whole->decode(whole->encode(values, {16, 16}))), 1e-3);
}

TEST(AuditCodec, FallsBackWhenTheEnergyIsElsewhere) {
  const Shape shape{.tokens = 32, .hidden = 64};
  const auto noise = test::random_activation(shape, 4);
  const auto smooth = smooth_signal(5);
  const auto codec = make_codec(FourierTextCodec{.keep = Fraction(1 / 16.0), .fallback = Fraction(0.6)});
  EXPECT_EQ(Bytes(std::ssize(codec->encode(noise, shape))), codec->reference_size(shape));
  EXPECT_EQ(codec->decode(codec->encode(noise, shape)), noise);
  EXPECT_EQ(Bytes(std::ssize(codec->encode(smooth, shape))), codec->encoded_size(shape));
}

TEST(AuditCodec, HasNoBlockForASingleTokenAsTheTextWritesIt) {
  EXPECT_TRUE(make_codec(FourierTextCodec{.keep = Fraction(0.15)})->problem({.tokens = 1, .hidden = 2048}));
  EXPECT_TRUE(make_codec(FourierTextCodec{.keep = Fraction(0.15)})->problem({.tokens = 2, .hidden = 2048}));
  EXPECT_FALSE(make_codec(FourierTextCodec{.keep = Fraction(0.15)})->problem({.tokens = 3, .hidden = 2048}));
}

TEST(AuditCodec, SpendsTheSameBytesOnAMidBand) {
  const Shape shape{.tokens = 32, .hidden = 64};
  const auto plain = make_codec(FourierTextCodec{.ratio = 8});
  const auto with = make_codec(FourierTextCodec{.ratio = 8, .mid_band = Fraction(0.01)});
  EXPECT_LE(with->encoded_size(shape), Bytes(static_cast<std::int64_t>((40 + 4 * 32 * 64) / 8)));
  const auto values = smooth_signal(6);
  EXPECT_NE(plain->decode(plain->encode(values, shape)), with->decode(with->encode(values, shape)));
}

}  // namespace
}  // namespace trilemma
