#include "analysis/codec_report.h"

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "models/codec/wire.h"
#include "tests/unit/codec/activations.h"

namespace trilemma::test {
namespace {

ActivationWindows made(Shape shape, std::int64_t windows,
                       const std::function<double(std::int64_t, std::int64_t)>& value) {
  ActivationWindows activations{.shape = shape, .windows = windows, .values = {}};
  for (std::int64_t w = 0; w < windows; ++w) {
    for (std::int64_t s = 0; s < shape.tokens; ++s) {
      for (std::int64_t d = 0; d < shape.hidden; ++d) activations.values.push_back(static_cast<float>(value(s, d)));
    }
  }
  return activations;
}

ActivationWindows noise(Shape shape, std::int64_t windows) {
  return {.shape = shape, .windows = windows, .values = random_activation({shape.tokens * windows, shape.hidden}, 7)};
}

std::function<double(std::int64_t, std::int64_t)> wave(Shape shape, double u, double v) {
  return [=](std::int64_t s, std::int64_t d) {
    return std::cos(2 * std::numbers::pi *
                    (u * static_cast<double>(s) / static_cast<double>(shape.tokens) +
                     v * static_cast<double>(d) / static_cast<double>(shape.hidden)));
  };
}

std::vector<double> energies(const ActivationWindows& activations) {
  std::vector<double> found;
  for (const EnergyShare& share : energy_shares(activations)) found.push_back(share.energy->mean);
  return found;
}

CodecMeasurement measured(const CodecConfig& config, const ActivationWindows& activations,
                          Messages messages = Messages::whole) {
  const CodecRow row = measure_codec(config, activations, messages);
  EXPECT_EQ(row.refusal, "");
  return row.measured.value_or(CodecMeasurement{});
}

constexpr Shape shape{20, 30};
constexpr double rounding = 1e-6;  // of a transform in single precision

/// 20 x 30: the block keeps |u| <= 3 and |v| <= 4, the bands |u| <= 1 (three of 20 rows) and |v| <= 1 (three of 30
/// columns).
TEST(EnergyShares, OfAWaveAreWhereItsFrequencyIs) {
  using testing::DoubleNear;
  using testing::ElementsAre;
  const auto all = [](double x) { return DoubleNear(x, rounding); };
  const auto shares = [](double u, double v) { return energies(made(shape, 1, wave(shape, u, v))); };
  EXPECT_THAT(shares(1, 1), ElementsAre(all(1), all(1), all(1), all(1), all(0), all(0)));
  EXPECT_THAT(shares(0, 1), ElementsAre(all(1), all(1), all(1), all(1), all(1), all(0)));
  EXPECT_THAT(shares(3, 4), ElementsAre(all(0), all(1), all(0), all(0), all(0), all(0)));
  EXPECT_THAT(shares(4, 4), ElementsAre(all(0), all(0), all(0), all(0), all(0), all(0)));
  EXPECT_THAT(shares(3, 5), ElementsAre(all(0), all(0), all(0), all(0), all(0), all(0)));
  EXPECT_THAT(shares(10, 0), ElementsAre(all(0), all(0), all(0), all(1), all(0), all(1)));
  EXPECT_THAT(shares(2, 15), ElementsAre(all(0), all(0), all(0), all(0), all(0), all(0)));
}

/// A tenth of 3 x 3 values is 0.9 of a coefficient, and DC is one.
TEST(EnergyShares, CountTheFrequencyAtTheEdgeInPart) {
  const auto found = energies(made({3, 3}, 1, [](auto, auto) { return 2.0; }));
  EXPECT_NEAR(found[0], 0.9, rounding);
  EXPECT_NEAR(found[1], 1, rounding);
}

/// The energy of white Gaussian noise is spread evenly; each window is an independent draw.
TEST(EnergyShares, OfWhiteNoiseAreTheSharesOfCoefficients) {
  for (const Shape odd : {Shape{32, 48}, Shape{21, 35}, Shape{1, 64}, Shape{64, 1}}) {
    for (const EnergyShare& share : energy_shares(noise(odd, 64))) {
      EXPECT_NEAR(share.energy->mean, share.coefficients, std::max(4 * *share.energy->error, rounding))
          << share.name << " of " << odd.tokens << " x " << odd.hidden;
    }
  }
}

TEST(EnergyShares, OfZerosAreNone) {
  for (const EnergyShare& share : energy_shares(made(shape, 2, [](auto, auto) { return 0.0; })))
    EXPECT_FALSE(share.energy) << share.name;
}

/// By the definition: every coefficient of the full spectrum, one sum each.
double energy_at(std::span<const float> values, Shape of, std::int64_t u, std::int64_t v) {
  std::complex<double> sum;
  for (std::int64_t s = 0; s < of.tokens; ++s) {
    for (std::int64_t d = 0; d < of.hidden; ++d) {
      const double turns = static_cast<double>(u * s) / static_cast<double>(of.tokens) +
                           static_cast<double>(v * d) / static_cast<double>(of.hidden);
      sum += static_cast<double>(values[static_cast<std::size_t>(s * of.hidden + d)]) *
             std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return std::norm(sum);
}

/// Sides of both parities. The sum of all is the energy of the values (Parseval), so the shares are of all energy.
TEST(EnergyShares, AreThoseOfTheFullSpectrum) {
  for (const Shape any : {Shape{20, 30}, Shape{7, 9}, Shape{8, 9}, Shape{9, 8}}) {
    const auto values = random_activation(any, 3);
    double row = 0;
    double column = 0;
    double block = 0;
    const auto lowest = [](std::int64_t f, std::int64_t side) {
      return static_cast<double>(std::min(f, side - f)) <= std::sqrt(0.1) / 2 * static_cast<double>(side);
    };
    const double all = energy(values) * static_cast<double>(elements(any));
    for (std::int64_t u = 0; u < any.tokens; ++u) {
      for (std::int64_t v = 0; v < any.hidden; ++v) {
        const double share = energy_at(values, any, u, v) / all;
        row += u == 0 ? share : 0;
        column += v == 0 ? share : 0;
        block += lowest(u, any.tokens) && lowest(v, any.hidden) ? share : 0;
      }
    }
    const auto found = energies({.shape = any, .windows = 1, .values = values});
    EXPECT_NEAR(found[1], block, rounding);
    EXPECT_NEAR(found[4], row, rounding);
    EXPECT_NEAR(found[5], column, rounding);
  }
}

TEST(NeighbourCorrelation, IsOneOfARampAndMinusOneOfAnAlternation) {
  const auto ramp = neighbour_correlation(made(shape, 1, [](auto s, auto) { return static_cast<double>(s); }));
  EXPECT_NEAR(ramp.tokens->mean, 1, 1e-12);
  EXPECT_NEAR(ramp.hidden->mean, 1, 1e-12) << "the next hidden value is the same";
  const auto sign = neighbour_correlation(made(shape, 1, [](auto s, auto) { return s % 2 == 0 ? 1.0 : -1.0; }));
  EXPECT_NEAR(sign.tokens->mean, -1, 1e-2) << "19 pairs: the means of both ends differ";
  EXPECT_FALSE(neighbour_correlation(made({1, 5}, 1, [](auto, auto d) { return static_cast<double>(d); })).tokens);
  EXPECT_FALSE(neighbour_correlation(made(shape, 1, [](auto, auto) { return 0.1; })).hidden) << "nothing varies";
}

/// The estimate of N pairs of independent values has a standard deviation of 1 / sqrt(N).
TEST(NeighbourCorrelation, OfNoiseIsNone) {
  const auto found = neighbour_correlation(noise({64, 64}, 16));
  const double error = 1 / std::sqrt(16.0 * 63 * 64);
  EXPECT_NEAR(found.tokens->mean, 0, 4 * error);
  EXPECT_NEAR(found.hidden->mean, 0, 4 * error);
}

TEST(Entropy, OfKnownDistributions) {
  const auto bits = [](const std::vector<std::int64_t>& counts) { return entropy(counts); };
  EXPECT_DOUBLE_EQ(bits({5}), 0);
  EXPECT_DOUBLE_EQ(bits({3, 0, 3}), 1);
  EXPECT_DOUBLE_EQ(bits(std::vector<std::int64_t>(256, 2)), 8);
  EXPECT_DOUBLE_EQ(bits({4, 2, 1, 1}), 1.75);  // 1/2 1 + 1/4 2 + 2/8 3
}

/// Four values, equally often, one of them the largest of each token: patterns and levels are 2 bits. The transform of
/// rows that repeat four values is zero but for three columns of row u = 0: four reals that are not zero.
TEST(StageEntropies, OfARepeatedRow) {
  const auto activations = made({16, 4}, 3, [](auto, auto d) { return std::exp2(d); });
  const StageEntropies bits = stage_entropies(activations);
  EXPECT_EQ(bits.samples, 3 * 16 * 4);
  EXPECT_DOUBLE_EQ(bits.values, 2);
  EXPECT_DOUBLE_EQ(bits.levels, 2);
  // Row 1, 2, 4, 8: DC 15, v = 1: (1 - 4) + i (8 - 2), v = 2: 1 - 2 + 4 - 8; four values of 64, the others zero.
  EXPECT_NEAR(bits.coefficients, 60.0 / 64 * std::log2(64.0 / 60) + 4.0 / 64 * 6, 1e-12);
  EXPECT_FALSE(bits.ordered()) << "H(Z) < H(V) here";
}

TEST(StageEntropies, AreInOrderWhereIntegersAreCoarse) {
  const StageEntropies bits = stage_entropies(noise({64, 64}, 4));
  EXPECT_LT(bits.levels, 8);
  EXPECT_GT(bits.values, bits.levels);
  EXPECT_LE(bits.values, std::log2(static_cast<double>(bits.samples)));
}

TEST(CodecReport, OfIdentityIsExact) {
  const ActivationWindows activations = noise({5, 7}, 3);
  const CodecMeasurement m = measured(IdentityCodec{NumberFormat::fp32}, activations);
  EXPECT_EQ(m.wire.value(), 3 * (wire::header_size + 4 * 5 * 7));
  EXPECT_EQ(m.fp16.value(), 3 * (wire::header_size + 2 * 5 * 7));
  EXPECT_EQ(m.reference, m.wire);
  EXPECT_EQ(m.fp32, m.wire);
  EXPECT_EQ(m.relative_error, 0);
  EXPECT_EQ(m.psnr_db, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(m.coefficients);
  EXPECT_DOUBLE_EQ(m.bits_per_value, 8.0 * static_cast<double>(m.wire.value()) / (3 * 5 * 7));
}

/// INT8 rounds 126.5 to a whole level: with 127 and zeros beside it the only error is half a level.
TEST(CodecReport, ErrorsFollowFromTheValues) {
  const ActivationWindows activations{.shape = {1, 4}, .windows = 1, .values = {127, 0, 63.5F, 0}};
  const CodecMeasurement m = measured(QuantiseCodec{}, activations);
  const double energy = 127.0 * 127 + 63.5 * 63.5;
  EXPECT_DOUBLE_EQ(m.relative_error, 0.5 / std::sqrt(energy));
  EXPECT_DOUBLE_EQ(m.psnr_db, 20 * std::log10(127 / std::sqrt(0.25 / 4)));
}

TEST(CodecReport, OfZerosIsExact) {
  const ActivationWindows zeros = made(shape, 1, [](auto, auto) { return 0.0; });
  for (const CodecConfig& config : {CodecConfig{FourierCodec{.ratio = 4}}, CodecConfig{QuantiseCodec{}}})
    EXPECT_EQ(measured(config, zeros).relative_error, 0) << codec_label(config);
}

TEST(CodecReport, EachTokenIsAMessageInStreaming) {
  const ActivationWindows activations = noise({6, 64}, 2);
  const CodecMeasurement m = measured(IdentityCodec{}, activations, Messages::tokens);
  EXPECT_EQ(m.wire.value(), 2 * 6 * (wire::header_size + 2 * 64));
  EXPECT_EQ(m.fp32.value(), 2 * 6 * (wire::header_size + 4 * 64));
}

/// Token differences run on from message to message, but not from window to window: a window costs and errs the same
/// wherever it stands.
TEST(CodecReport, EachWindowBeginsAnew) {
  const ActivationWindows one = noise({6, 64}, 1);
  ActivationWindows two{.shape = one.shape, .windows = 2, .values = one.values};
  two.values.insert(two.values.end(), one.values.begin(), one.values.end());
  for (const Messages messages : {Messages::whole, Messages::tokens}) {
    const CodecMeasurement once = measured(DeltaCodec{.format = NumberFormat::int4}, one, messages);
    const CodecMeasurement twice = measured(DeltaCodec{.format = NumberFormat::int4}, two, messages);
    EXPECT_GT(once.relative_error, 0);
    EXPECT_DOUBLE_EQ(twice.relative_error, once.relative_error);
    EXPECT_EQ(twice.wire, 2 * once.wire);
  }
}

/// The published block keeps K_S K_D complex numbers, 8 bytes each, so the paper's ratio is twice that in bytes but for
/// the whole sides of the block.
TEST(CodecReport, ThePapersRatioIsThatOfTheKeptBlock) {
  const ActivationWindows activations = noise({64, 64}, 1);
  const CodecMeasurement published = measured(FourierPublishedCodec{.ratio = 4}, activations);
  const double kept = static_cast<double>(published.wire.value() - wire::header_size) / 8;
  EXPECT_DOUBLE_EQ(*published.coefficients, 64.0 * 64 / kept);
  const CodecMeasurement symmetric = measured(FourierCodec{.ratio = 4}, activations);
  const double reals = static_cast<double>(symmetric.wire.value() - wire::header_size) / 4;
  EXPECT_DOUBLE_EQ(*symmetric.coefficients, 64.0 * 64 / reals);
  EXPECT_FALSE(measured(DctCodec{.ratio = 4}, activations).coefficients);
  EXPECT_FALSE(measured(FourierTextCodec{.fallback = Fraction(0.01)}, activations).coefficients) << "sent uncompressed";
}

TEST(CodecReport, ARefusalIsInItsRow) {
  const CodecRow row = measure_codec(FourierCodec{.ratio = 5000}, noise(shape, 1), Messages::whole);
  EXPECT_FALSE(row.measured);
  EXPECT_THAT(row.refusal, testing::HasSubstr("choose a ratio of at most"));
  const CodecRow none = measure_codec(TransformCodec{.basis = "/nowhere.npy"}, noise(shape, 1), Messages::whole);
  EXPECT_THAT(none.refusal, testing::HasSubstr("/nowhere.npy: cannot be read"));
}

TEST(CodecSweep, HasEveryKindAndRatioOnce) {
  const auto configs = swept_codecs();
  std::set<std::string> labels;
  std::set<std::string> kinds;
  for (const CodecConfig& config : configs) {
    labels.insert(codec_label(config));
    kinds.insert(std::visit([](const auto& codec) { return std::string(codec.kind); }, config));
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<CodecConfig>);
  EXPECT_EQ(labels.size(), configs.size());
  EXPECT_EQ(configs.size(), 9U * 6 + 3U * 3) << "nine kinds with a ratio, three with a format";
}

TEST(CodecSweep, TakesOddShapesOneTokenAndOneHiddenValue) {
  for (const Shape odd : {Shape{1, 1}, Shape{1, 17}, Shape{9, 1}, Shape{7, 13}}) {
    for (const CodecRow& row : codec_report(swept_codecs(), noise(odd, 1), Messages::whole).rows) {
      EXPECT_EQ(row.measured.has_value(), row.refusal.empty()) << codec_label(row.config);
      EXPECT_TRUE(!row.measured || std::isfinite(row.measured->relative_error)) << codec_label(row.config);
    }
  }
}

/// The square of 3e38 is no FP32 number: `transform` sent an infinite mean square, which it could not decode.
TEST(CodecSweep, RefusesValuesNearTheEndOfFp32OrCodesThem) {
  for (const CodecConfig& config : swept_codecs()) {
    const CodecRow row = measure_codec(config, made({3, 5}, 1, [](auto, auto) { return 3e38; }), Messages::whole);
    EXPECT_EQ(row.measured.has_value(), row.refusal.empty()) << codec_label(config);
  }
}

TEST(CodecLabel, SaysWhatDiffersFromTheDefaults) {
  EXPECT_EQ(codec_label(FourierCodec{.ratio = 7.6, .coefficients = NumberFormat::int8}),
            "fourier ratio=7.6 coefficients=int8");
  EXPECT_EQ(codec_label(QuantiseCodec{}), "quantise format=int8");
}

/// 64 x 100 values and ratio 10.3: 621 complex numbers.
TEST(PublishedRatios, AreHalvedInBytesOfTheSameFormat) {
  const auto rows = published_ratios({64, 100});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].coefficients, 621);
  EXPECT_EQ(rows[2].fp32.value(), wire::header_size + 8 * 621);
  EXPECT_EQ(rows[2].fp16.value(), wire::header_size + 4 * 621);
  EXPECT_DOUBLE_EQ(rows[2].fp32_of_fp32, (wire::header_size + 4.0 * 6400) / (wire::header_size + 8.0 * 621));
  for (const PublishedRatio& row : rows) EXPECT_NEAR(row.fp32_of_fp32, row.ratio / 2, 0.02 * row.ratio);
}

TEST(CodecReport, TablesHaveARowForEachCodecOrRefusal) {
  const CodecReport report =
      codec_report({IdentityCodec{}, FourierCodec{.ratio = 5000}}, noise({4, 6}, 2), Messages::whole);
  const std::string csv = codec_report_to_csv(report);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const config::Json json = codec_report_to_json(report);
  EXPECT_EQ(json["codecs"][0]["measured"]["wire_bytes"], 2 * (wire::header_size + 2 * 24));
  EXPECT_TRUE(json["codecs"][1]["measured"].is_null());
  for (const std::string& text : {codec_report_to_text(report), codec_report_to_markdown(report)}) {
    EXPECT_THAT(text, testing::HasSubstr("identity format=fp16"));
    EXPECT_THAT(text, testing::HasSubstr("choose a ratio of at most"));
    EXPECT_THAT(text, testing::HasSubstr("H(V) <= H(Z) <= H(X)"));
  }
}

}  // namespace
}  // namespace trilemma::test
