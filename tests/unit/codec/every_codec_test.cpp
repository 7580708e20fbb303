#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/codec/basis.h"
#include "models/codec/codec.h"
#include "tests/unit/codec/activations.h"

/// What holds for codecs of all kinds, on random shapes, ratios and formats, and on bytes that no encoder wrote.
namespace trilemma {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  double ratio(double high) { return std::exp(std::uniform_real_distribution<double>(0, std::log(high))(engine_)); }
  NumberFormat any() { return static_cast<NumberFormat>(whole(0, 5)); }
  NumberFormat floating() { return static_cast<NumberFormat>(whole(0, 2)); }
  NumberFormat integer() { return static_cast<NumberFormat>(whole(3, 5)); }
  Shape shape() { return {.tokens = whole(1, 40), .hidden = whole(1, 70)}; }

 private:
  std::mt19937 engine_;
};

constexpr std::size_t kinds = std::variant_size_v<CodecConfig>;

/// A configuration of the kind with this index in CodecConfig.
CodecConfig config_of(std::size_t kind, Random& random) {
  const double ratio = random.ratio(60);
  const NumberFormat reference = random.floating();
  const std::vector<CodecConfig> all{
      IdentityCodec{.format = reference},
      FourierCodec{.ratio = ratio, .coefficients = random.any(), .reference = reference},
      FourierPublishedCodec{.ratio = ratio, .coefficients = random.any(), .reference = reference},
      FourierTextCodec{.ratio = ratio,
                       .coefficients = random.any(),
                       .reference = reference,
                       .mid_band = Fraction(random.whole(0, 1) == 0 ? 0 : 0.01),
                       .window = random.whole(0, 1) == 0 ? Window::none : Window::hann},
      TokenFourierCodec{.ratio = ratio, .coefficients = random.any(), .reference = reference},
      DctCodec{.ratio = ratio, .coefficients = random.any(), .reference = reference},
      TopKCodec{.ratio = ratio, .values = random.any(), .reference = reference},
      SvdCodec{.ratio = ratio,
               .factors = random.any(),
               .reference = reference,
               .algorithm = random.whole(0, 1) == 0 ? SvdAlgorithm::exact : SvdAlgorithm::randomised},
      QrCodec{.ratio = ratio, .factors = random.any(), .reference = reference},
      QuantiseCodec{.format = random.integer(),
                    .axis = random.whole(0, 1) == 0 ? QuantisedAxis::token : QuantisedAxis::channel,
                    .reference = reference},
      DeltaCodec{.format = random.integer(), .reference = reference},
      TransformCodec{.ratio = ratio,
                     .reference = reference,
                     .outliers = random.whole(0, 2),
                     .coder = random.whole(0, 1) == 0 ? EntropyCoder::range : EntropyCoder::zstd}};
  return all.at(kind);
}

double ratio_of(const CodecConfig& config) {
  return std::visit(
      [](const auto& codec) {
        if constexpr (requires { codec.ratio; })
          return codec.ratio;
        else
          return 0.0;
      },
      config);
}

TEST(EveryKind, EncodesToExactlyTheAnnouncedSizeAndAtLeastItsRatio) {
  Random random(1);
  std::array<int, kinds> encoded{};
  for (int i = 0; i < 1200; ++i) {
    const std::size_t kind = static_cast<std::size_t>(i) % kinds;
    const CodecConfig config = config_of(kind, random);
    const Shape shape = random.shape();
    const auto codec = make_codec(config);
    if (codec->problem(shape)) continue;
    const auto message = codec->encode(test::random_activation(shape, 2), shape);
    EXPECT_EQ(Bytes(std::ssize(message)), codec->encoded_size(shape)) << kind;
    EXPECT_GE(codec->achieved_ratio(shape), ratio_of(config)) << kind;
    const auto restored = codec->decode(message);
    EXPECT_EQ(std::ssize(restored), elements(shape)) << kind;
    for (const float value : restored) EXPECT_TRUE(std::isfinite(value)) << kind;
    ++encoded[kind];
  }
  for (const int count : encoded) EXPECT_GE(count, 25);
}

// At ratio 1 with numbers in fp32 nothing is lost but rounding, by codecs that can spend all bytes on values.
TEST(EveryKind, IsLosslessAtRatioOne) {
  for (const Shape shape : {Shape{32, 64}, Shape{31, 37}, Shape{1, 50}, Shape{7, 1}, Shape{1, 1}, Shape{12, 13}}) {
    const auto values = test::random_activation(shape, 3);
    const std::vector<CodecConfig> lossless{IdentityCodec{.format = NumberFormat::fp32}, FourierCodec{},
                                            TokenFourierCodec{}, DctCodec{}};
    for (const CodecConfig& config : lossless) {
      const auto codec = make_codec(config);
      EXPECT_LT(test::relative_error(values, codec->decode(codec->encode(values, shape))), 1e-6) << config.index();
    }
    const auto transform = make_codec(TransformCodec{});
    if (transform->problem(shape)) continue;
    EXPECT_LT(test::relative_error(values, transform->decode(transform->encode(values, shape))), 1e-5);
  }
}

/// Tokens that resemble each other, in a few directions: what all of these codecs gain from.
std::vector<float> smooth_activation(Shape shape, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(elements(shape)));
  for (int wave = 0; wave < 6; ++wave) {
    const float phase = normal(engine);
    const float size = normal(engine);
    for (std::int64_t s = 0; s < shape.tokens; ++s) {
      for (std::int64_t d = 0; d < shape.hidden; ++d)
        values[static_cast<std::size_t>(s * shape.hidden + d)] +=
            size * std::cos(phase + 0.1F * static_cast<float>(wave * s) + 0.07F * static_cast<float>((wave + 1) * d));
    }
  }
  for (float& value : values) value += 0.05F * normal(engine);
  return values;
}

TEST(EveryKind, HasLessErrorWithMoreBytes) {
  const Shape shape{.tokens = 32, .hidden = 48};
  const auto values = smooth_activation(shape, 4);
  const auto error = [&](const CodecConfig& config) {
    const auto codec = make_codec(config);
    return test::relative_error(values, codec->decode(codec->encode(values, shape)));
  };
  const auto falls = [&](auto config) {
    double before = 1e9;
    for (const double ratio : {20.0, 12.0, 8.0, 5.0, 3.0, 2.0, 1.0}) {
      config.ratio = ratio;
      if (make_codec(config)->problem(shape)) continue;
      const double now = error(config);
      EXPECT_LE(now, before * 1.0001) << config.kind << " at " << ratio;
      before = now;
    }
  };
  falls(DctCodec{});
  falls(TokenFourierCodec{});
  falls(TopKCodec{});
  falls(SvdCodec{.factors = NumberFormat::fp32});
  falls(QrCodec{.factors = NumberFormat::fp32});
  falls(TransformCodec{});
  falls(TransformCodec{.coder = EntropyCoder::zstd});
  for (const auto axis : {QuantisedAxis::token, QuantisedAxis::channel}) {
    EXPECT_LT(error(QuantiseCodec{.format = NumberFormat::int8, .axis = axis}),
              error(QuantiseCodec{.format = NumberFormat::int4, .axis = axis}));
    EXPECT_LT(error(QuantiseCodec{.format = NumberFormat::int4, .axis = axis}),
              error(QuantiseCodec{.format = NumberFormat::int2, .axis = axis}));
  }
  EXPECT_LT(error(DeltaCodec{.format = NumberFormat::int8}), error(DeltaCodec{.format = NumberFormat::int4}));
}

// A power of two changes nothing but the size, from the smallest normal numbers to the largest that transforms stand.
TEST(EveryKind, CodesSmallAndLargeValuesAlike) {
  const Shape shape{.tokens = 12, .hidden = 20};
  const auto values = smooth_activation(shape, 6);
  const std::vector<CodecConfig> all{FourierCodec{.ratio = 2},  DctCodec{.ratio = 2}, TopKCodec{.ratio = 2},
                                     SvdCodec{.ratio = 2},      QrCodec{.ratio = 2},  QuantiseCodec{},
                                     TransformCodec{.ratio = 2}};
  for (const CodecConfig& config : all) {
    const auto codec = make_codec(config);
    const double error = test::relative_error(values, codec->decode(codec->encode(values, shape)));
    for (const int exponent : {-90, -40, 30}) {
      auto scaled = values;
      for (float& value : scaled) value = std::ldexp(value, exponent);
      if (config.index() == 11 && exponent == -90) continue;  // its mean square is sent in fp32
      EXPECT_NEAR(test::relative_error(scaled, codec->decode(codec->encode(scaled, shape))), error, 1e-3 * error + 1e-7)
          << config.index() << " 2^" << exponent;
    }
  }
}

TEST(EveryKind, RefusesValuesThatAreNotFinite) {
  Random random(5);
  const Shape shape{.tokens = 6, .hidden = 40};
  for (std::size_t kind = 1; kind < kinds; ++kind) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      CodecConfig config = config_of(kind, random);
      std::visit(
          [](auto& codec) {
            if constexpr (requires { codec.ratio; }) codec.ratio = 2;
          },
          config);
      auto values = test::random_activation(shape, 6);
      values[17] = bad;
      EXPECT_THROW((void)make_codec(config)->encode(values, shape), std::invalid_argument) << kind;
    }
  }
}

TEST(EveryKind, RefusesEveryDamageAndEveryCut) {
  Random random(7);
  const Shape shape{.tokens = 9, .hidden = 14};
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    CodecConfig config = config_of(kind, random);
    std::visit(
        [](auto& codec) {
          if constexpr (requires { codec.ratio; }) codec.ratio = 2;
        },
        config);
    const auto codec = make_codec(config);
    ASSERT_FALSE(codec->problem(shape)) << kind;
    const auto message = codec->encode(test::random_activation(shape, 8), shape);
    for (std::size_t i = 0; i < message.size(); ++i) {
      auto damaged = message;
      damaged[i] ^= static_cast<std::byte>(1 << (i % 8));
      EXPECT_THROW((void)codec->decode(damaged), MalformedMessage) << kind << " byte " << i;
      EXPECT_THROW((void)codec->decode(std::span(message).first(i)), MalformedMessage) << kind << " cut at " << i;
    }
    EXPECT_NO_THROW((void)codec->decode(message)) << kind;
  }
}

// A right checksum around a random header and payload: a decoder gives as many values as the shape says, or refuses.
TEST(EveryKind, DecodesOrRefusesWhatHasARightChecksum) {
  Random random(9);
  int decoded = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::size_t kind = static_cast<std::size_t>(i) % kinds;
    const Shape shape{.tokens = random.whole(1, 6), .hidden = random.whole(1, 9)};
    const auto codec = make_codec(config_of(kind, random));
    std::vector<std::byte> message(40 + static_cast<std::size_t>(random.whole(0, 120)));
    if (i % 2 == 0 && !codec->problem(shape))
      message.resize(static_cast<std::size_t>(codec->encoded_size(shape).value()));
    for (std::byte& byte : message) byte = static_cast<std::byte>(random.whole(0, 255));
    const auto parameter = [&] { return static_cast<std::uint32_t>(random.whole(0, random.whole(0, 1) == 0 ? 9 : 0)); };
    wire::seal({.codec = static_cast<wire::CodecId>(kind + 1),
                .format = random.any(),
                .shape = shape,
                .parameters = {parameter(), parameter()},
                .scale = random.whole(0, 1) == 0 ? 1.0F : 0.37F},
               message);
    try {
      EXPECT_EQ(std::ssize(codec->decode(message)), elements(shape)) << kind;
      ++decoded;
    } catch (const MalformedMessage&) {
    }
  }
  EXPECT_GT(decoded, 100);
}

TEST(EveryKind, PlansSizesOfAnyShapeAtOnce) {
  Random random(11);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto codec = make_codec(config_of(kind, random));
    const Shape huge{.tokens = 1 << 19, .hidden = 1 << 20};
    if (codec->problem(huge)) continue;
    EXPECT_GT(codec->encoded_size(huge), Bytes(0)) << kind;
    EXPECT_GT(codec->encode_work(huge).operations.value(), -1.0) << kind;
  }
}

TEST(EveryKind, SaysWhatIsWrongWithItsKeys) {
  using testing::HasSubstr;
  EXPECT_THAT(*problem(QuantiseCodec{.format = NumberFormat::fp16}), HasSubstr("format: quantise sends int8"));
  EXPECT_THAT(*problem(DeltaCodec{.format = NumberFormat::fp16}), HasSubstr("format: delta sends int8"));
  EXPECT_THAT(*problem(TransformCodec{.basis = "/no/such/file"}), HasSubstr("basis: /no/such/file"));
  EXPECT_THAT(*problem(FourierTextCodec{.keep = Fraction(0.15), .task = TextTask::qa}),
              HasSubstr("keep: stands beside"));
  for (const CodecConfig& config : std::vector<CodecConfig>{DctCodec{.ratio = 0.5}, TopKCodec{.ratio = 2e4},
                                                            SvdCodec{.ratio = NAN}, QrCodec{.ratio = -1}})
    EXPECT_THAT(*problem(config), HasSubstr("ratio: "));
  EXPECT_THAT(*make_codec(SvdCodec{.ratio = 40})->problem({.tokens = 8, .hidden = 8}), HasSubstr("one rank take"));
}

}  // namespace
}  // namespace trilemma
