#include <cmath>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "tests/unit/codec/activations.h"

namespace trilemma {
namespace {

const Shape shape{.tokens = 3, .hidden = 5};

TEST(Identity, SendsFourOrTwoBytesAValueBehindTheHeader) {
  EXPECT_EQ(make_codec(IdentityCodec{.format = NumberFormat::fp32})->encoded_size(shape), Bytes(40 + 15 * 4));
  EXPECT_EQ(make_codec(IdentityCodec{.format = NumberFormat::fp16})->encoded_size(shape), Bytes(40 + 15 * 2));
  EXPECT_EQ(make_codec(IdentityCodec{.format = NumberFormat::bf16})->encoded_size(shape), Bytes(40 + 15 * 2));
}

TEST(Identity, IsItsOwnReference) { EXPECT_EQ(make_codec(IdentityCodec{})->achieved_ratio(shape), 1); }

TEST(Identity, RestoresFp32BitForBit) {
  const auto codec = make_codec(IdentityCodec{.format = NumberFormat::fp32});
  auto values = test::random_activation(shape, 1);
  values[3] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(codec->decode(codec->encode(values, shape)), values);
}

TEST(Identity, RoundsHalfPrecisionByItsUnitRoundoff) {
  // Relative error of round-to-nearest: 2^-11 for the 11-bit significand of fp16, 2^-8 for the 8 bits of bf16.
  const auto values = test::random_activation(shape, 2);
  for (const auto& [format, roundoff] :
       {std::pair{NumberFormat::fp16, 0x1p-11}, std::pair{NumberFormat::bf16, 0x1p-8}}) {
    const auto codec = make_codec(IdentityCodec{.format = format});
    const auto restored = codec->decode(codec->encode(values, shape));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(restored[i], values[i], std::abs(values[i]) * roundoff);
    }
  }
}

TEST(Identity, KeepsNanInPlace) {
  const auto codec = make_codec(IdentityCodec{.format = NumberFormat::fp16});
  std::vector<float> values(15, 1.0F);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  const auto restored = codec->decode(codec->encode(values, shape));
  EXPECT_TRUE(std::isnan(restored[7]));
  EXPECT_EQ(restored[8], 1.0F);
}

TEST(Identity, WorkIsOneConversionAValueAndBothSidesOfMemory) {
  const auto half = make_codec(IdentityCodec{.format = NumberFormat::fp16});
  EXPECT_EQ(half->encode_work(shape).operations, Operations(15));
  EXPECT_EQ(half->encode_work(shape).moved, Bytes(15 * 4 + 15 * 2));
  EXPECT_EQ(half->decode_work(shape).moved, Bytes(15 * 4 + 15 * 2));
  EXPECT_EQ(make_codec(IdentityCodec{.format = NumberFormat::fp32})->encode_work(shape).operations, Operations(0));
}

TEST(Identity, RefusesIntegersWithAdvice) {
  const CodecConfig config = IdentityCodec{.format = NumberFormat::int8};
  EXPECT_EQ(problem(config), "identity sends fp32, fp16 or bf16; write for example 'fp16'");
  EXPECT_THROW(make_codec(config), std::invalid_argument);
  EXPECT_EQ(problem(IdentityCodec{}), std::nullopt);
}

TEST(Identity, RefusesEmptyAndHugeShapes) {
  const auto codec = make_codec(IdentityCodec{});
  for (const Shape bad : {Shape{0, 5}, Shape{5, 0}, Shape{-1, 5}, Shape{std::int64_t{1} << 31, 1},
                          Shape{(std::int64_t{1} << 21) + 1, std::int64_t{1} << 20}}) {
    EXPECT_TRUE(codec->problem(bad).has_value());
    EXPECT_THROW((void)codec->encoded_size(bad), std::invalid_argument);
  }
  EXPECT_EQ(codec->encoded_size({std::int64_t{1} << 20, std::int64_t{1} << 20}), Bytes(40 + (std::int64_t{1} << 41)));
  EXPECT_THROW((void)codec->encode_into({}, {std::int64_t{1} << 20, std::int64_t{1} << 20}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace trilemma
