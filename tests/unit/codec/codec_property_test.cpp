#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "tests/unit/codec/activations.h"

/// Properties that hold for every codec, on random shapes and configurations and on damaged messages.
namespace trilemma {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}

  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Log-uniform in low .. high.
  double ratio(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine_));
  }
  Shape shape() { return {.tokens = integer(1, 40), .hidden = integer(1, 70)}; }
  CodecConfig config() {
    const auto float_format = static_cast<NumberFormat>(integer(0, 2));
    if (integer(0, 4) == 0) return IdentityCodec{.format = float_format};
    return FourierCodec{.ratio = integer(0, 3) == 0 ? 1 : ratio(1, max_compression_ratio),
                        .coefficients = static_cast<NumberFormat>(integer(0, 4)),
                        .reference = float_format};
  }

 private:
  std::mt19937 engine_;
};

std::int64_t bytes_a_value(NumberFormat format) { return format == NumberFormat::fp32 ? 4 : 2; }

/// floor((40 + S D bytes) / ratio), the most that a message may take; identity has no limit but its own size.
std::int64_t budget(const CodecConfig& config, Shape shape) {
  if (const auto* identity = std::get_if<IdentityCodec>(&config)) {
    return 40 + elements(shape) * bytes_a_value(identity->format);
  }
  const auto& fourier = std::get<FourierCodec>(config);
  const std::int64_t reference = 40 + elements(shape) * bytes_a_value(fourier.reference);
  return static_cast<std::int64_t>(std::floor(static_cast<long double>(reference) / fourier.ratio));
}

std::int64_t smallest_message(const CodecConfig& config) {
  const auto* fourier = std::get_if<FourierCodec>(&config);
  const bool half = fourier != nullptr &&
                    (fourier->coefficients == NumberFormat::fp16 || fourier->coefficients == NumberFormat::bf16);
  return 40 + (half ? 2 : 4);  // DC travels as fp32 among integers
}

TEST(EveryCodec, EncodesToExactlyTheAnnouncedSizeWithinItsBudget) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Shape shape = random.shape();
    const CodecConfig config = random.config();
    const auto codec = make_codec(config);
    if (codec->problem(shape)) {
      EXPECT_LT(budget(config, shape), smallest_message(config));
      continue;
    }
    const auto message = codec->encode(test::random_activation(shape, 2), shape);
    EXPECT_EQ(Bytes(std::ssize(message)), codec->encoded_size(shape));
    EXPECT_LE(std::ssize(message), budget(config, shape));
    EXPECT_EQ(std::ssize(codec->decode(message)), elements(shape));
  }
}

TEST(EveryCodec, IsNeverRefusedByItsOwnDecoderHoweverHighTheRatio) {
  // Shapes so large that ratios up to 10,000 still leave a coefficient: the decoder's bound on the shape must not bite.
  Random random(3);
  int decoded = 0;
  for (int i = 0; i < 30; ++i) {
    const Shape shape{.tokens = random.integer(1, 6), .hidden = random.integer(50000, 200000)};
    const Shape turned = i % 2 == 0 ? shape : Shape{.tokens = shape.hidden, .hidden = shape.tokens};
    const auto codec = make_codec(FourierCodec{.ratio = random.ratio(1000, max_compression_ratio),
                                               .coefficients = static_cast<NumberFormat>(random.integer(0, 4)),
                                               .reference = NumberFormat::fp16});
    if (codec->problem(turned)) continue;
    const std::vector<float> values(static_cast<std::size_t>(elements(turned)), 1.0F);
    EXPECT_LT(test::relative_error(values, codec->decode(codec->encode(values, turned))), 0.01);
    ++decoded;
  }
  EXPECT_GE(decoded, 15);
}

TEST(EveryCodec, GivesTheSameBytesHoweverManyShapesItHasSeen) {
  // 50 shapes are more than a codec keeps prepared, so some are prepared twice.
  const auto veteran = make_codec(FourierCodec{.ratio = 2});
  for (const int round : {1, 2}) {
    for (std::int64_t tokens = 1; tokens <= 50; ++tokens) {
      const Shape shape{.tokens = tokens, .hidden = 40};
      const auto values = test::random_activation(shape, 10);
      const auto message = make_codec(FourierCodec{.ratio = 2})->encode(values, shape);
      EXPECT_EQ(veteran->encode(values, shape), message) << tokens << " in round " << round;
    }
  }
}

TEST(EveryCodec, AchievesAtLeastItsRatio) {
  Random random(4);
  for (int i = 0; i < 500; ++i) {
    const Shape shape = random.shape();
    const FourierCodec config{.ratio = random.ratio(1, 50),
                              .coefficients = static_cast<NumberFormat>(random.integer(0, 4))};
    const auto codec = make_codec(config);
    if (codec->problem(shape)) continue;
    EXPECT_GE(codec->achieved_ratio(shape), config.ratio);
  }
}

std::vector<CodecConfig> examples() {
  return {IdentityCodec{.format = NumberFormat::fp32},
          IdentityCodec{.format = NumberFormat::fp16},
          FourierCodec{.ratio = 2},
          FourierCodec{.ratio = 3, .coefficients = NumberFormat::fp16},
          FourierCodec{.ratio = 4, .coefficients = NumberFormat::int8},
          FourierCodec{.ratio = 5, .coefficients = NumberFormat::int4}};
}

const Shape small{.tokens = 9, .hidden = 14};

TEST(DamagedMessage, IsRefusedWhicheverByteIsWrong) {
  for (const auto& config : examples()) {
    const auto codec = make_codec(config);
    const auto message = codec->encode(test::random_activation(small, 5), small);
    for (std::size_t i = 0; i < message.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        auto damaged = message;
        damaged[i] ^= static_cast<std::byte>(flip);
        EXPECT_THROW((void)codec->decode(damaged), MalformedMessage) << i;
      }
    }
    EXPECT_NO_THROW((void)codec->decode(message));
  }
}

TEST(DamagedMessage, IsRefusedWhereverItIsCut) {
  for (const auto& config : examples()) {
    const auto codec = make_codec(config);
    const auto message = codec->encode(test::random_activation(small, 6), small);
    for (std::size_t length = 0; length < message.size(); ++length) {
      EXPECT_THROW((void)codec->decode(std::span(message).first(length)), MalformedMessage) << length;
    }
  }
}

TEST(DamagedMessage, IsRefusedIfItIsGarbage) {
  Random random(7);
  for (const auto& config : examples()) {
    const auto codec = make_codec(config);
    const auto message = codec->encode(test::random_activation(small, 8), small);
    for (int i = 0; i < 2000; ++i) {
      std::vector<std::byte> garbage(static_cast<std::size_t>(random.integer(0, 300)));
      for (std::byte& byte : garbage) byte = static_cast<std::byte>(random.integer(0, 255));
      // Every other time it starts like a message, so that later checks see it too.
      if (i % 2 == 0) std::copy_n(message.begin(), std::min<std::size_t>(garbage.size(), 8), garbage.begin());
      EXPECT_THROW((void)codec->decode(garbage), MalformedMessage);
    }
  }
}

/// A message with a right checksum whose header was never written by an encoder.
std::vector<std::byte> forged(const wire::Header& header, std::size_t payload_size) {
  std::vector<std::byte> message(40 + payload_size);
  wire::seal(header, message);
  return message;
}

TEST(ForgedMessage, CannotClaimMoreValuesThanItsPayloadSupports) {
  const auto identity = make_codec(IdentityCodec{});
  const auto fourier = make_codec(FourierCodec{});
  const std::int64_t side = wire::max_side;
  for (const Shape shape : {Shape{side, side}, Shape{1 << 14, 1 << 14}, Shape{1, 1 << 28}, Shape{1 << 20, 1}}) {
    EXPECT_THROW((void)identity->decode(forged({.codec = wire::CodecId::identity, .shape = shape}, 4)),
                 MalformedMessage);
    EXPECT_THROW(
        (void)fourier->decode(forged({.codec = wire::CodecId::fourier, .shape = shape, .parameters = {1, 1}}, 4)),
        MalformedMessage);
  }
}

TEST(ForgedMessage, IsRefusedIfBlockFormatOrLengthDoNotFitTogether) {
  const auto fourier = make_codec(FourierCodec{});
  const auto decode = [&](std::array<std::uint32_t, 2> block, std::size_t payload_size) {
    return fourier->decode(
        forged({.codec = wire::CodecId::fourier, .shape = small, .parameters = block}, payload_size));
  };
  EXPECT_NO_THROW((void)decode({3, 5}, 60));
  EXPECT_THROW((void)decode({3, 5}, 61), MalformedMessage);
  EXPECT_THROW((void)decode({0, 0}, 0), MalformedMessage);
  EXPECT_THROW((void)decode({2, 5}, 40), MalformedMessage);
  EXPECT_THROW((void)decode({11, 1}, 44), MalformedMessage);
  EXPECT_THROW((void)decode({0xffffffffU, 0xffffffffU}, 4), MalformedMessage);
}

TEST(ForgedMessage, IsRefusedIfIdentityClaimsIntegersParametersOrAScale) {
  const auto identity = make_codec(IdentityCodec{});
  const Shape one{.tokens = 1, .hidden = 1};
  EXPECT_NO_THROW((void)identity->decode(forged({.shape = one}, 4)));
  EXPECT_THROW((void)identity->decode(forged({.format = NumberFormat::int8, .shape = one}, 5)), MalformedMessage);
  EXPECT_THROW((void)identity->decode(forged({.shape = one, .parameters = {1, 0}}, 4)), MalformedMessage);
  EXPECT_THROW((void)identity->decode(forged({.shape = one, .scale = 2}, 4)), MalformedMessage);
}

TEST(ForgedMessage, IsRefusedByAnotherKindOfCodec) {
  const auto message = make_codec(IdentityCodec{})->encode(test::random_activation(small, 9), small);
  EXPECT_THROW((void)make_codec(FourierCodec{})->decode(message), MalformedMessage);
}

}  // namespace
}  // namespace trilemma
