#include "models/radio/motion.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/estimate.h"

namespace trilemma {
namespace {

const Position base_station{.x = Metres(5), .y = Metres(-3), .z = Metres(10)};

/// A place at a distance and an angle from the base station, 1.5 m up.
Position around(double distance, double angle = 0) {
  return {.x = base_station.x + Metres(distance * std::cos(angle)),
          .y = base_station.y + Metres(distance * std::sin(angle)),
          .z = Metres(1.5)};
}

double distance(const Position& a, const Position& b) { return std::hypot((a.x - b.x).value(), (a.y - b.y).value()); }
double distance(const Position& place) { return distance(place, base_station); }

Rng rng(int client) { return Streams(1, 1).stream("client " + std::to_string(client) + "/motion"); }

std::unique_ptr<Motion> motion(const MotionConfig& config, const Position& start, int client = 0) {
  return make_motion(config, {.start = start, .base_station = base_station}, rng(client));
}

const WalkMotion walk{.speed = Speed(2), .leg = Metres(15), .nearest = Metres(20), .farthest = Metres(60)};

TEST(Motion, OfAStaticClientIsNone) {
  const auto standing = motion(StaticMotion{}, around(30, 1));
  EXPECT_EQ(distance(standing->at(1'000s), around(30, 1)), 0);
  EXPECT_EQ(speed_of(StaticMotion{}), Speed(0));
  EXPECT_EQ(excursion(StaticMotion{}, Metres(30)).min, Metres(30));
  EXPECT_EQ(excursion(StaticMotion{}, Metres(30)).max, Metres(30));
}

// From 30 m outwards at 10 m/s: at 50 m after 2 s, back at 20 m after 5 s, at 30 m again after 6 s.
TEST(LineMotion, GoesBackAndForthBetweenItsEnds) {
  const LineMotion line{.speed = Speed(10), .nearest = Metres(20), .farthest = Metres(50)};
  const auto outward = motion(line, around(30, 2));
  for (const auto& [second, metres] : std::vector<std::pair<int, double>>{
           {0, 30}, {1, 40}, {2, 50}, {3, 40}, {4, 30}, {5, 20}, {6, 30}, {7, 40}, {606, 30}}) {
    EXPECT_NEAR(distance(outward->at(second * 1s), around(metres, 2)), 0, 1e-6) << second;
  }
  LineMotion back = line;
  back.heading = Heading::inward;
  const auto inward = motion(back, around(30, 2));
  EXPECT_NEAR(distance(inward->at(1s), around(20, 2)), 0, 1e-6);
  EXPECT_NEAR(distance(inward->at(2s), around(30, 2)), 0, 1e-6);
  EXPECT_EQ(inward->at(3s).z, Metres(1.5));
}

TEST(WalkMotion, StaysBetweenItsTwoCircles) {
  for (const double start : {20.0, 33.0, 60.0}) {
    for (int client = 0; client < 30; ++client) {
      const auto walker = motion(walk, around(start, client), client);
      for (int i = 1; i < 3000; ++i) {
        const double now = distance(walker->at(i * 333ms));
        ASSERT_GE(now, 20);
        ASSERT_LE(now, 60);
      }
    }
  }
}

// The chord of a second is as long as the way where the walker goes straight, and shorter where it turns. It turns
// after 15 m and at the walls, so that most of the seconds are straight.
TEST(WalkMotion, WalksAtItsSpeed) {
  const auto walker = motion(walk, around(40));
  Position before = walker->at(0s);
  int straight = 0;
  for (int i = 1; i <= 2000; ++i) {
    const Position now = walker->at(i * 1s);
    ASSERT_LE(distance(before, now), 2 + 1e-9);
    straight += distance(before, now) > 2 - 1e-9;
    before = now;
  }
  EXPECT_GT(straight, 1200);
  EXPECT_LT(straight, 1999);
}

// No wall is near: legs end at the rate speed / leg, so that a second is straight with probability exp(-2 / 15).
TEST(WalkMotion, TurnsAfterLegsOfTheMeanLength) {
  const WalkMotion wide{.speed = Speed(2), .leg = Metres(15), .nearest = Metres(1), .farthest = Metres(9000)};
  const auto walker = motion(wide, around(5000));
  constexpr int seconds = 4000;
  Position before = walker->at(0s);
  int straight = 0;
  for (int i = 1; i <= seconds; ++i) {
    const Position now = walker->at(i * 1s);
    straight += distance(before, now) > 2 - 1e-9;
    before = now;
  }
  const double expected = std::exp(-2.0 / 15);
  EXPECT_NEAR(straight / static_cast<double>(seconds), expected, 4 * std::sqrt(expected * (1 - expected) / seconds));
}

// A mirror leaves the sense of rotation about the base station as it is: within 500 m a walker meets a wall several
// times (no chord is longer than 114 m) and turns once in twenty.
TEST(WalkMotion, IsMirroredAtTheCircles) {
  const WalkMotion long_legs{.speed = Speed(2), .leg = Metres(10'000), .nearest = Metres(20), .farthest = Metres(60)};
  int flips = 0;
  for (int client = 0; client < 20; ++client) {
    const auto walker = motion(long_legs, around(40), client);
    bool left = false;
    for (int i = 0; i < 250; ++i) {
      const Position a = walker->at(i * 1s);
      const Position b = walker->at((i + 1) * 1s);
      const double spin =
          (a.x - base_station.x).value() * (b.y - a.y).value() - (a.y - base_station.y).value() * (b.x - a.x).value();
      flips += i > 0 && left != (spin > 0);
      left = spin > 0;
    }
  }
  EXPECT_LE(flips, 6);  // Poisson of mean 1, half of them: P(more) < 1e-5
}

/// Share of clients within the circle that halves the area between 20 and 60 m, after `t`.
double inner_half(Instant t, double (*start)(double uniform)) {
  constexpr int clients = 4000;
  int inside = 0;
  for (int client = 0; client < clients; ++client) {
    Rng place = Streams(1, 1).stream("client " + std::to_string(client) + "/place");
    const auto walker = motion(walk, around(start(place.uniform()), 6.28 * place.uniform()), client);
    inside += distance(walker->at(t)) < std::sqrt((20.0 * 20 + 60 * 60) / 2);
  }
  return inside / static_cast<double>(clients);
}

// Mirrors and new directions leave the uniform distribution as it is; a share of n has the error sqrt(1 / 4 n).
TEST(WalkMotion, KeepsTheUniformDistribution) {
  const auto by_area = [](double uniform) { return std::sqrt(20.0 * 20 + uniform * (60 * 60 - 20 * 20)); };
  for (const Instant t : {5s, 60s, 300s}) EXPECT_NEAR(inner_half(t, by_area), 0.5, 4 * std::sqrt(0.25 / 4000));
}

// After 1200 m it is forgotten where they started.
TEST(WalkMotion, TendsToTheUniformDistributionFromAnywhere) {
  const auto at_the_edge = [](double) { return 60.0; };
  EXPECT_GT(0.3, inner_half(5s, at_the_edge));
  EXPECT_NEAR(inner_half(600s, at_the_edge), 0.5, 4 * std::sqrt(0.25 / 4000));
}

TEST(WalkMotion, DependsOnItsStreamAndNotOnTheQuestions) {
  const auto often = motion(walk, around(40), 3);
  const auto seldom = motion(walk, around(40), 3);
  const auto other = motion(walk, around(40), 4);
  for (int i = 0; i < 1000; ++i) (void)often->at(i * 100ms);
  EXPECT_EQ(distance(often->at(100s), seldom->at(100s)), 0);
  EXPECT_GT(distance(often->at(100s), other->at(100s)), 0);
}

TEST(Motion, RefusesAStartOutsideItsRange) {
  EXPECT_THROW((void)motion(walk, around(19.9)), std::invalid_argument);
  EXPECT_THROW((void)motion(walk, around(60.1)), std::invalid_argument);
  try {
    (void)motion(walk, around(70));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "a client starts 70 m from its base station, but moves between 20 m and 60 m");
  }
}

TEST(Motion, NeedsRoomBetweenItsTwoDistances) {
  const auto problems = [](double nearest, double farthest) {
    return WalkMotion{.nearest = Metres(nearest), .farthest = Metres(farthest)}.problems().size() +
           LineMotion{.nearest = Metres(nearest), .farthest = Metres(farthest)}.problems().size();
  };
  EXPECT_EQ(problems(20, 21), 0U);
  EXPECT_EQ(problems(20, 20.9), 2U);
  EXPECT_EQ(problems(30, 20), 2U);
}

}  // namespace
}  // namespace trilemma
