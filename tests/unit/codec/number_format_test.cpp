#include "models/codec/number_format.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The value of a binary16 pattern from its definition in IEEE 754 (3.4): (-1)^s 2^(e-15) 1.f, or 2^-14 0.f for e = 0.
double value_of_fp16(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1fU);
  const double fraction = static_cast<double>(bits & 0x3ffU) / 1024;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

bool is_fp16_nan(std::uint32_t bits) { return (bits & 0x7fffU) > 0x7c00U; }

std::vector<float> round_trip(NumberFormat format, const std::vector<float>& reals) {
  std::vector<std::byte> packed(static_cast<std::size_t>(packed_size(format, std::ssize(reals))));
  pack(format, reals, packed);
  std::vector<float> restored(reals.size());
  unpack(format, packed, restored);
  return restored;
}

TEST(Fp16, EveryPatternHasTheValueOfTheStandard) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = from_fp16(static_cast<std::uint16_t>(bits));
    if (is_fp16_nan(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else if ((bits & 0x7fffU) == 0x7c00U) {
      ASSERT_EQ(value, (bits & 0x8000U) != 0 ? -infinity : infinity);
    } else {
      ASSERT_EQ(static_cast<double>(value), value_of_fp16(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
    }
  }
}

TEST(Fp16, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_fp16(from_fp16(pattern)), pattern);
  }
}

TEST(Fp16, RoundsToTheNearestAndTiesToEven) {
  // Between neighbours p and p + 1 lies one midpoint; it is exact in fp32 and goes to the even pattern. The last pair
  // is 65504 and infinity, whose midpoint 65520 belongs to the would-be 65536 (IEEE 754, 4.3.1).
  for (std::uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    const double above = bits == 0x7bffU ? 65536.0 : value_of_fp16(bits + 1);
    const auto midpoint = static_cast<float>((value_of_fp16(bits) + above) / 2);
    ASSERT_EQ(to_fp16(midpoint), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(to_fp16(std::nextafter(midpoint, 0.0F)), bits) << bits;
    ASSERT_EQ(to_fp16(std::nextafter(midpoint, infinity)), bits + 1) << bits;
    ASSERT_EQ(to_fp16(-midpoint), 0x8000U | (bits % 2 == 0 ? bits : bits + 1)) << bits;
  }
}

TEST(Fp16, KeepsInfinitiesAndNans) {
  EXPECT_EQ(to_fp16(infinity), 0x7c00);
  EXPECT_EQ(to_fp16(-infinity), 0xfc00);
  EXPECT_EQ(to_fp16(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(to_fp16(std::numeric_limits<float>::denorm_min()), 0);
  // A NaN whose payload lies below the kept bits must not become an infinity.
  EXPECT_TRUE(is_fp16_nan(to_fp16(std::bit_cast<float>(0x7f800001U))));
}

TEST(Bf16, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(from_bf16(pattern)), bits << 16);
    ASSERT_EQ(to_bf16(from_bf16(pattern)), pattern);
  }
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  // bfloat16 is the upper half of binary32, so the midpoint behind pattern p is the fp32 pattern p 0x8000.
  for (std::uint32_t bits = 0; bits < 0x7f80U; ++bits) {
    const std::uint32_t midpoint = bits << 16 | 0x8000U;
    ASSERT_EQ(to_bf16(std::bit_cast<float>(midpoint)), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(to_bf16(std::bit_cast<float>(midpoint - 1)), bits);
    ASSERT_EQ(to_bf16(std::bit_cast<float>(midpoint + 1)), bits + 1);
  }
}

TEST(Bf16, KeepsNans) {
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0xffffffffU)))));
}

TEST(Fp32, SurvivesBitForBit) {
  const std::vector<float> reals{0.0F, -0.0F, 1.0F, -1e-45F, 3e38F, infinity};
  const auto restored = round_trip(NumberFormat::fp32, reals);
  for (std::size_t i = 0; i < reals.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(restored[i]), std::bit_cast<std::uint32_t>(reals[i]));
  }
}

TEST(PackedSize, CountsOneScalePerStartedBlock) {
  EXPECT_EQ(packed_size(NumberFormat::fp32, 3), 12);
  EXPECT_EQ(packed_size(NumberFormat::fp16, 3), 6);
  EXPECT_EQ(packed_size(NumberFormat::bf16, 3), 6);
  EXPECT_EQ(packed_size(NumberFormat::int8, 0), 0);
  EXPECT_EQ(packed_size(NumberFormat::int8, 64), 4 + 64);
  EXPECT_EQ(packed_size(NumberFormat::int8, 65), 4 + 64 + 4 + 1);
  EXPECT_EQ(packed_size(NumberFormat::int4, 64), 4 + 32);
  EXPECT_EQ(packed_size(NumberFormat::int4, 67), 4 + 32 + 4 + 2);  // three nibbles take two bytes
}

TEST(Int8, IsExactForMultiplesOfItsScale) {
  // A magnitude of 127 in each block of 64 makes its scale exactly 1.
  std::vector<float> reals;
  for (int level = -127; level <= 127; ++level) reals.push_back(static_cast<float>(level));
  for (const int block : {1, 2, 3}) reals.insert(reals.begin() + 64 * block, 127.0F);
  EXPECT_EQ(round_trip(NumberFormat::int8, reals), reals);
}

TEST(Int4, IsExactForMultiplesOfItsScaleAndOddCounts) {
  const std::vector<float> reals{-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(round_trip(NumberFormat::int4, reals), reals);
}

TEST(Integers, ErrAtMostHalfAScale) {
  for (const auto& [format, levels] : {std::pair{NumberFormat::int8, 127.0}, std::pair{NumberFormat::int4, 7.0}}) {
    std::vector<float> reals;
    for (int i = 0; i < 200; ++i) reals.push_back(static_cast<float>(std::sin(i) * std::pow(10, i / 64)));
    const auto restored = round_trip(format, reals);
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const double half_a_scale = std::pow(10, static_cast<double>(i / 64)) / levels / 2;
      EXPECT_NEAR(restored[i], reals[i], half_a_scale * (1 + 1e-5)) << i;
    }
  }
}

TEST(Integers, KeepABlockOfZeros) {
  const std::vector<float> zeros(65, 0.0F);
  EXPECT_EQ(round_trip(NumberFormat::int8, zeros), zeros);
  EXPECT_EQ(round_trip(NumberFormat::int4, zeros), zeros);
}

TEST(Integers, SurviveABlockSoSmallThatItsScaleVanishes) {
  const std::vector<float> tiny(3, std::numeric_limits<float>::denorm_min());
  for (const float value : round_trip(NumberFormat::int8, tiny)) EXPECT_EQ(value, 0.0F);
}

}  // namespace
}  // namespace trilemma
