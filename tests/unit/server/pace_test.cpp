#include "models/server/pace.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

Rng noise() { return Streams(1, 1).stream("pace"); }

Pace throttled() {
  return {0, ThrottlingConfig{.onset = Duration(10s), .recovery = Duration(5s), .slowdown = 2}, noise()};
}

TEST(Pace, IsThatOfTheModelByDefault) { EXPECT_EQ(Pace().stretched(5s, 7s), 7s); }

TEST(Throttling, BeginsAfterItsOnsetOfWork) {
  Pace pace = throttled();
  EXPECT_EQ(pace.stretched(0s, 8s), 8s);
  // Two seconds until it is hot; the other two take twice as long.
  EXPECT_EQ(pace.stretched(8s, 4s), 6s);
  EXPECT_EQ(pace.stretched(14s, 1s), 2s);
}

TEST(Throttling, EndsWhenTheMachineIsCoolAndNotBefore) {
  Pace pace = throttled();
  EXPECT_EQ(pace.stretched(0s, 11s), 12s);
  // After a rest too short by a second it is still hot.
  EXPECT_EQ(pace.stretched(16s, 1s), 2s);
  Pace rested = throttled();
  EXPECT_EQ(rested.stretched(0s, 11s), 12s);
  EXPECT_EQ(rested.stretched(12s + 5s, 10s), 10s);
}

TEST(Throttling, RestBetweenWorkKeepsAMachineCool) {
  Pace pace = throttled();
  // One second of work heats by a tenth, half a second of rest cools by as much.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pace.stretched(i * 1500ms, 1s), 1s);
}

// Hot after ten seconds; then 10 ms of work, 30 ms hot, each half second heat by 0.003 and cool by 0.0235: cold
// after 48.
TEST(Throttling, AHotMachineCoolsBetweenShortWork) {
  const ThrottlingConfig config{.onset = 10s, .recovery = 20s, .slowdown = 3};
  Pace pace(0, config, noise());
  EXPECT_EQ(pace.stretched(Duration{0}, 11s), 13s);
  int hot = 0;
  for (int i = 0; i < 100; ++i) hot += pace.stretched(13s + i * 500ms, 10ms) == 30ms ? 1 : 0;
  EXPECT_EQ(hot, 49);
}

TEST(Noise, IsLogNormalOfMedianOne) {
  constexpr double spread = 0.2;
  constexpr int count = 20'000;
  Pace pace(spread, std::nullopt, noise());
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const Duration took = pace.stretched(Duration{0}, 1s);
    EXPECT_GE(took, Pace::least(1s, spread));
    const double logarithm = std::log(to_seconds(took));
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  EXPECT_NEAR(sum / count, 0, 4 * spread / std::sqrt(count));
  // The variance of a normal variable cut at 4 is 0.99946 of the whole.
  EXPECT_NEAR(squares / count / (spread * spread), 1, 4 * std::sqrt(2.0 / count) + 6e-4);
}

}  // namespace
}  // namespace trilemma
