#include <cmath>
#include <limits>
#include <random>
#include <regex>

#include <gtest/gtest.h>

#include "core/config/text.h"

/// parse(format(x)) == x, bit for bit, and the JSON Schema's pattern accepts what format() writes.
namespace trilemma::config {
namespace {

constexpr int draws = 20'000;

/// Every bit of the mantissa is drawn; magnitudes are spread evenly over the decades from `low` to `high`.
double any_double(std::mt19937_64& random, double low, double high) {
  const double magnitude = std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
  return random() % 2 == 0 ? magnitude : -magnitude;
}
/// Whole numbers of every length.
std::int64_t any_integer(std::mt19937_64& random) {
  return static_cast<std::int64_t>(random()) >> std::uniform_int_distribution<>(0, 62)(random);
}

template <class T>
T any(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, Duration>)
    return Duration(any_integer(random) / 2);  // 146 years: beyond it, a long double may be a nanosecond off
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return any_integer(random);
  else if constexpr (std::is_same_v<T, Bytes> || std::is_same_v<T, Tokens>)
    return T(any_integer(random));
  else if constexpr (std::is_same_v<T, double>)
    return any_double(random, 1e-300, 1e300);
  else
    return T(any_double(random, 1e-12, 1e18));
}

template <class T>
class TextProperty : public testing::Test {};

using Types = testing::Types<Duration, Bytes, BitRate, ByteRate, OperationRate, Frequency, EventRate, Decibels,
                             PowerLevel, Watts, Metres, Speed, Fraction, Tokens, std::int64_t, double>;
TYPED_TEST_SUITE(TextProperty, Types);

template <class T>
void expect_reads_back(T value) {
  const std::string text = Text<T>::format(value);
  const auto parsed = Text<T>::parse(text);
  ASSERT_EQ(parsed.index(), 0U) << text << " " << std::get<std::string>(parsed);
  ASSERT_EQ(*std::get_if<0>(&parsed), value) << text;
}

TYPED_TEST(TextProperty, WhatIsWrittenReadsBackAsTheSameValue) {
  std::mt19937_64 random(1);
  for (int i = 0; i < draws; ++i) expect_reads_back(any<TypeParam>(random));
  expect_reads_back(TypeParam{});
}

TYPED_TEST(TextProperty, RoundNumbersReadBackAsWell) {
  std::mt19937_64 random(2);
  for (int i = 0; i < draws; ++i) {
    const auto number = static_cast<double>(random() % 100'000) / std::pow(10, random() % 4);
    const auto parsed = Text<double>::parse(format_number(number));
    ASSERT_EQ(*std::get_if<0>(&parsed), number);
    if constexpr (requires(TypeParam value) { value.value(); })
      expect_reads_back(TypeParam(static_cast<decltype(TypeParam{}.value())>(number)));
  }
}

TYPED_TEST(TextProperty, ThePatternOfTheSchemaAcceptsWhatIsWritten) {
  std::mt19937_64 random(3);
  const std::regex pattern(Text<TypeParam>::pattern());
  for (int i = 0; i < 300; ++i) {
    const std::string text = Text<TypeParam>::format(any<TypeParam>(random));
    ASSERT_TRUE(std::regex_match(text, pattern)) << text;
  }
  EXPECT_TRUE(std::regex_match(std::string(Text<TypeParam>::example), pattern));
  EXPECT_EQ(Text<TypeParam>::parse(Text<TypeParam>::example).index(), 0U);
}

TEST(TextProperty, TheEndsOfTheRangeReadBack) {
  expect_reads_back(Duration(1));
  expect_reads_back(Duration::max() / 2);
  expect_reads_back(Bytes(std::numeric_limits<std::int64_t>::max()));
}

/// Any bytes are accepted or refused with one line that says what to write; nothing else happens.
TYPED_TEST(TextProperty, RubbishIsRefusedWithOneLine) {
  std::mt19937_64 random(4);
  constexpr std::string_view letters = "0123456789.-+eE_ /%KMGkmunsBbit\xc2\xb5\n\t\x01";
  for (int i = 0; i < draws; ++i) {
    std::string text;
    for (auto left = random() % 12; left > 0; --left) text += letters[random() % letters.size()];
    const auto parsed = Text<TypeParam>::parse(text);
    if (parsed.index() == 0) continue;
    const std::string problem = std::get<std::string>(parsed);
    ASSERT_EQ(problem.find('\n'), std::string::npos) << text;
    ASSERT_NE(problem.find("; write"), std::string::npos) << problem;
  }
}

}  // namespace
}  // namespace trilemma::config
