#include "core/random.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr int draws = 200'000;

std::vector<double> first_numbers(Rng rng) {
  std::vector<double> numbers(20);
  for (double& number : numbers) number = rng.uniform();
  return numbers;
}

/// MRG32k3a, L'Ecuyer (1999), table III: two recurrences of order three, combined.
double mrg32k3a(std::array<std::int64_t, 3>& one, std::array<std::int64_t, 3>& two) {
  constexpr std::int64_t m1 = 4294967087;
  constexpr std::int64_t m2 = 4294944443;
  const std::int64_t x = ((1403580 * one[1] - 810728 * one[0]) % m1 + m1) % m1;
  const std::int64_t y = ((527612 * two[2] - 1370589 * two[0]) % m2 + m2) % m2;
  one = {one[1], one[2], x};
  two = {two[1], two[2], y};
  constexpr double norm = 2.328306549295727688e-10;  // 1 / (m1 + 1)
  return static_cast<double>(x > y ? x - y : x - y + m1) * norm;
}

TEST(Random, IsTheGeneratorOfLEcuyer) {
  std::array<std::int64_t, 3> one{12345, 12345, 12345};
  std::array<std::int64_t, 3> two{12345, 12345, 12345};
  Rng rng(12345, 0, 0);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(rng.uniform(), mrg32k3a(one, two));
}

TEST(Random, NumbersItsStreamsByTheFnv1aHashOfTheirNames) {
  // Published test vectors of 64-bit FNV-1a, without the top bit.
  EXPECT_EQ(stream_number(""), 0xcbf29ce484222325U & 0x7fffffffffffffffU);
  EXPECT_EQ(stream_number("a"), 0xaf63dc4c8601ec8cU & 0x7fffffffffffffffU);
  EXPECT_EQ(stream_number("foobar"), 0x85944171f73967e8U & 0x7fffffffffffffffU);
}

TEST(Random, GivesTheSameNumbersForTheSameName) {
  const Streams streams(1, 0);
  EXPECT_EQ(first_numbers(streams.stream("client 7/arrivals")), first_numbers(streams.stream("client 7/arrivals")));
  EXPECT_EQ(first_numbers(streams.stream("client 7/arrivals")),
            first_numbers(Streams(1, 0).stream("client 7/arrivals")));
}

TEST(Random, GivesOtherNumbersForAnotherNameSeedOrReplication) {
  const auto numbers = first_numbers(Streams(1, 0).stream("client 7/arrivals"));
  for (const auto& other :
       {first_numbers(Streams(1, 0).stream("client 8/arrivals")), first_numbers(Streams(1, 0).stream("client 7/place")),
        first_numbers(Streams(2, 0).stream("client 7/arrivals")),
        first_numbers(Streams(1, 1).stream("client 7/arrivals"))}) {
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NE(other[i], numbers[i]);
  }
}

TEST(Random, DoesNotDependOnWhatElseIsDrawn) {
  const Streams streams(1, 0);
  Rng alone = streams.stream("a");
  Rng beside = streams.stream("a");
  Rng other = streams.stream("b");
  for (int i = 0; i < 100; ++i) {
    (void)other.uniform();
    EXPECT_EQ(alone.uniform(), beside.uniform());
  }
}

TEST(Random, IsUniformBetweenZeroAndOne) {
  Rng rng(1, 2, 3);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double number = rng.uniform();
    ASSERT_GT(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
    squares += (number - 0.5) * (number - 0.5);
  }
  // Variance 1/12; that of (u - 1/2)^2 is 1/80 - 1/144 = 1/180.
  EXPECT_NEAR(sum / draws, 0.5, 4 * std::sqrt(1.0 / 12 / draws));
  EXPECT_NEAR(squares / draws, 1.0 / 12, 4 * std::sqrt(1.0 / 180 / draws));
}

TEST(Random, StreamsAreNotCorrelated) {
  Rng a = Streams(1, 0).stream("client 1/arrivals");
  Rng b = Streams(1, 0).stream("client 2/arrivals");
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  // The product of two independent centred uniforms has variance 1/144.
  EXPECT_NEAR(sum / draws, 0, 4 * std::sqrt(1.0 / 144 / draws));
}

TEST(Random, ExponentialHasItsMeanAndVariance) {
  Rng rng(1, 2, 3);
  constexpr double mean = 1e6;  // ns
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const auto drawn = static_cast<double>(rng.exponential(1ms).count());
    ASSERT_GE(drawn, 0);
    sum += drawn;
    squares += (drawn - mean) * (drawn - mean);
  }
  // Standard deviation = mean; the fourth central moment is 9 mean^4, so that the squares deviate by sqrt(8) mean^2.
  EXPECT_NEAR(sum / draws, mean, 4 * mean / std::sqrt(draws));
  EXPECT_NEAR(squares / draws, mean * mean, 4 * std::sqrt(8.0) * mean * mean / std::sqrt(draws));
}

TEST(Random, ExponentialOfAFewNanosecondsIsNotBiased) {
  Rng rng(1, 2, 3);
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += static_cast<double>(rng.exponential(10ns).count());
  EXPECT_NEAR(sum / draws, 10, 4 * 10 / std::sqrt(draws));
}

TEST(Random, ExponentialTakesTheInverseOfTheUniformNumber) {
  Rng rng(1, 2, 3);
  Rng twin(1, 2, 3);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(rng.exponential(1s).count(), std::llround(-std::log(twin.uniform()) * 1e9)) << "one number a draw";
  EXPECT_EQ(rng.exponential(EventRate(4)).count(), std::llround(-std::log(twin.uniform()) * 0.25e9));
}

TEST(Random, UniformTimeStaysWithinItsRange) {
  Rng rng(1, 2, 3);
  std::vector<int> hits(5);
  for (int i = 0; i < draws; ++i) {
    const auto drawn = rng.uniform(5ns).count();
    ASSERT_GE(drawn, 0);
    ASSERT_LT(drawn, 5);
    ++hits[static_cast<std::size_t>(drawn)];
  }
  for (const int count : hits) EXPECT_NEAR(count, draws / 5, 4 * std::sqrt(draws * 0.2 * 0.8));
  EXPECT_EQ(rng.uniform(0ns), 0ns);
  EXPECT_EQ(rng.uniform(1ns), 0ns);
}

TEST(Random, HappensAsOftenAsItShould) {
  Rng rng(1, 2, 3);
  int hits = 0;
  for (int i = 0; i < draws; ++i) hits += rng.happens(0.3) ? 1 : 0;
  EXPECT_NEAR(hits, 0.3 * draws, 4 * std::sqrt(draws * 0.3 * 0.7));
}

TEST(Random, DrawsNothingForWhatIsCertain) {
  Rng rng(1, 2, 3);
  Rng twin(1, 2, 3);
  EXPECT_FALSE(rng.happens(0));
  EXPECT_TRUE(rng.happens(1));
  EXPECT_EQ(rng.uniform(), twin.uniform());
  (void)rng.happens(0.5);
  (void)twin.uniform();
  EXPECT_EQ(rng.uniform(), twin.uniform()) << "and one number for what is not";
}

}  // namespace
}  // namespace trilemma
