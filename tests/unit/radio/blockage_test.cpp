#include "models/radio/blockage.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/text.h"
#include "core/ensure.h"
#include "tests/support/estimate.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

constexpr Frequency carrier{28e9};
constexpr double infinity = std::numeric_limits<double>::infinity();

Screen screen(double width, double height) { return {.width = Metres(width), .height = Metres(height)}; }

ScreenPlace place(double to_device, double to_base_station, double lateral = 0, double vertical = 0) {
  return {.to_device = Metres(to_device),
          .to_base_station = Metres(to_base_station),
          .lateral = Metres(lateral),
          .vertical = Metres(vertical)};
}

double loss(const Screen& blocker, const ScreenPlace& where) { return screen_loss(blocker, where, carrier).value(); }

// The vectors were computed from the formula of the TR by a program that shares nothing with this one.
TEST(ScreenLoss, IsThatOfEveryTestVector) {
  const std::map<std::string, Blocker> blockers = {{"human", Blocker::human},
                                                   {"vehicle", Blocker::vehicle},
                                                   {"AGV", Blocker::agv},
                                                   {"industrial robot", Blocker::robot}};
  int compared = 0;
  for (const test::Row& row : test::read_csv("blockage_B_test_vectors.csv")) {
    const Screen size = screen_of(blockers.at(row.at("blocker")));
    EXPECT_EQ(size.width, Metres(test::number(row, "w_m")));
    EXPECT_EQ(size.height, Metres(test::number(row, "h_m")));
    const ScreenPlace where = place(test::number(row, "d_rx_screen_m"), test::number(row, "d_tx_screen_m"),
                                    test::number(row, "lateral_offset_m"), test::number(row, "vertical_offset_m"));
    EXPECT_NEAR(screen_loss(size, where, Frequency(test::number(row, "f_GHz") * 1e9)).value(),
                test::number(row, "loss_dB"), 0.01)
        << row.at("blocker") << " at " << row.at("f_GHz") << " GHz, " << row.at("lateral_offset_m") << " m";
    ++compared;
  }
  EXPECT_EQ(compared, 192);
}

// Half of the wave passes a half-plane whose edge touches the ray: 20 lg 2.
TEST(ScreenLoss, IsSixDecibelsWhereAHalfPlaneTouchesTheRay) {
  EXPECT_NEAR(loss(screen(1e6, 2e6), place(3, 40, 0, 1e6)), 20 * std::log10(2.0), 1e-3);
  EXPECT_NEAR(loss(screen(2e6, 1e6), place(3, 40, -1e6, 0)), 20 * std::log10(2.0), 1e-3);
}

TEST(ScreenLoss, TreatsWidthAndHeightAlike) {
  for (const double across : {0.0, 0.1, 0.4, 0.9, 2.0}) {
    EXPECT_DOUBLE_EQ(loss(screen(0.3, 1.7), place(2, 18, across, 0.3)),
                     loss(screen(1.7, 0.3), place(2, 18, 0.3, across)));
  }
}

TEST(ScreenLoss, IsTheSameOnEitherSideOfTheRayAndFromEitherEnd) {
  for (const double lateral : {0.05, 0.15, 0.3, 1.0}) {
    for (const double vertical : {0.0, 0.5, 0.85, 1.2}) {
      const double expected = loss(screen(0.3, 1.7), place(2, 18, lateral, vertical));
      EXPECT_DOUBLE_EQ(loss(screen(0.3, 1.7), place(2, 18, -lateral, vertical)), expected);
      EXPECT_DOUBLE_EQ(loss(screen(0.3, 1.7), place(2, 18, lateral, -vertical)), expected);
      EXPECT_DOUBLE_EQ(loss(screen(0.3, 1.7), place(18, 2, lateral, vertical)), expected);
    }
  }
}

TEST(ScreenLoss, FallsTheFurtherTheScreenIsFromTheRay) {
  double before = infinity;
  for (double lateral = 0; lateral < 5; lateral += 0.05) {
    const double now = loss(screen(3, 1.5), place(5, 45, lateral));
    EXPECT_GT(now, 0);
    EXPECT_LT(now, before);
    before = now;
  }
}

// For paths other than the line of sight the TR has D1 - r', the limit for a base station that is far away.
TEST(ScreenLoss, TakesAPlaneWave) {
  EXPECT_NEAR(loss(screen(0.3, 1.7), place(2, infinity, 0.1)), loss(screen(0.3, 1.7), place(2, 1e9, 0.1)), 1e-6);
}

TEST(ScreenLoss, RefusesAScreenBehindAnEnd) {
  EXPECT_THROW((void)loss(screen(0.3, 1.7), place(0, 10)), InvariantViolation);
  EXPECT_THROW((void)loss(screen(0.3, 1.7), place(1, -1)), InvariantViolation);
}

// For a screen of any height, any base station and any device that is at most so far away.
TEST(BlockageReach, LeavesNothingNoticeableBeyond) {
  for (const double ghz : {0.5, 6.0, 28.0, 100.0}) {
    for (const Blocker blocker : {Blocker::human, Blocker::vehicle, Blocker::agv, Blocker::robot}) {
      for (const double farthest : {0.1, 1.0, 10.0, 100.0}) {
        const Frequency frequency(ghz * 1e9);
        const double reach = blockage_reach(screen_of(blocker).width, Metres(farthest), frequency).value();
        for (const double near : {farthest, farthest / 2, farthest / 100}) {
          for (const double far : {0.1, 10.0, 1000.0}) {
            for (const double beyond : {1.0001, 1.5, 4.0}) {
              const Screen tall{.width = screen_of(blocker).width, .height = Metres(1e6)};
              EXPECT_LT(screen_loss(tall, place(near, far, reach * beyond), frequency), blockage_cutoff * 1.05)
                  << config::name_of(blocker) << " at " << ghz << " GHz, " << near << " and " << far << " m";
            }
          }
        }
      }
    }
  }
}

TEST(BlockageReach, IsWhereATallScreenLosesTheCutOff) {
  const double reach = blockage_reach(Metres(0.3), Metres(2), carrier).value();
  EXPECT_NEAR(loss(screen(0.3, 1e6), place(2, infinity, reach)), blockage_cutoff.value(), 1e-5);
}

TEST(CrossingBlockage, KnowsTheSpeedLimitsOfTheBlockers) {
  const auto problems = [](Blocker blocker, Speed speed) {
    return CrossingBlockage{.blocker = blocker, .rate = EventRate(0.01), .speed = speed, .centre = Metres(1)}
        .problems()
        .size();
  };
  const std::map<Blocker, std::string> limits = {
      {Blocker::human, "3 km/h"}, {Blocker::vehicle, "100 km/h"}, {Blocker::agv, "30 km/h"}, {Blocker::robot, "3 m/s"}};
  for (const auto& [blocker, text] : limits) {
    const Speed limit = std::get<Speed>(config::Text<Speed>::parse(text));
    EXPECT_EQ(problems(blocker, limit), 0U) << text;
    EXPECT_EQ(problems(blocker, limit * 1.001), 1U) << text;
  }
}

TEST(CrossingBlockage, SaysWhatToWriteInstead) {
  const CrossingBlockage runner{.rate = EventRate(0.1), .speed = Speed(3)};
  ASSERT_EQ(runner.problems().size(), 1U);
  EXPECT_EQ(runner.problems()[0].key, "speed");
  EXPECT_EQ(runner.problems()[0].problem, "is faster than a human in TR 38.901; write at most '3 km/h'");
  const CrossingBlockage arm{.blocker = Blocker::robot, .rate = EventRate(0.1)};
  ASSERT_EQ(arm.problems().size(), 1U);
  EXPECT_EQ(arm.problems()[0].key, "centre");
  // 0.3 m at 3 km/h take 0.36 s: 2.7 people a second fit, 2.8 do not.
  EXPECT_TRUE(CrossingBlockage{.rate = EventRate(2.7)}.problems().empty());
  ASSERT_EQ(CrossingBlockage{.rate = EventRate(2.8)}.problems().size(), 1U);
  EXPECT_EQ(CrossingBlockage{.rate = EventRate(2.8)}.problems()[0].key, "rate");
}

/// A device at 1.5 m and a base station 20 m away at 3 m.
const BlockageLink link{
    .carrier = carrier, .device = {.x = Metres(20), .z = Metres(1.5)}, .base_station = {.z = Metres(3)}};

Blockage blockage(const CrossingBlockage& config, int client, std::uint64_t replication = 1) {
  return {config, link, Streams(1, replication).stream("client " + std::to_string(client) + "/blockage")};
}

/// From within reach to the centre on the ray. The centre of someone who stands on the ground is 0.65 m below the
/// device, sqrt(1 + 0.65^2) m away from it.
Duration half_passage(const CrossingBlockage& config) {
  return blockage_reach(screen_of(config.blocker).width, Metres(std::hypot(1, 0.65)), carrier) / config.speed;
}

const CrossingBlockage rare{.rate = EventRate(0.001)};
const CrossingBlockage busy{.rate = EventRate(0.2)};

TEST(Blockage, IsNothingWithoutBlockers) {
  Blockage none(NoBlockage{}, link, Streams(1, 1).stream("client 0/blockage"));
  EXPECT_EQ(none.loss(5s), Decibels(0));
  EXPECT_EQ(none.constant_until(5s), Instant::max());
}

TEST(Blockage, BeginsAndEndsWhenTheBlockerComesWithinReach) {
  Blockage crossing = blockage(rare, 0);
  const Instant begin = crossing.constant_until(0s);
  ASSERT_GT(begin, 0s);
  EXPECT_EQ(crossing.loss(begin - 1ns), Decibels(0));
  EXPECT_EQ(crossing.constant_until(begin - 1ns), begin);
  EXPECT_GT(crossing.loss(begin), Decibels(0));
  EXPECT_EQ(crossing.constant_until(begin), begin);
  const Instant end = begin + 2 * half_passage(rare);
  EXPECT_GT(crossing.loss(end), Decibels(0));
  EXPECT_EQ(crossing.loss(end + 1ns), Decibels(0));
  EXPECT_GT(crossing.constant_until(end + 1ns), end + 1ns);
}

// Height of the ray above the path of the blockers: 1.5 + 1.5 / 20 = 1.575 m, 0.725 m above their centres, seen at
// the slope 1.5 / 20.
TEST(Blockage, HasTheProfileOfOneScreenThatPasses) {
  Blockage crossing = blockage(rare, 0);
  const Instant centre = crossing.constant_until(0s) + half_passage(rare);
  const double length = std::hypot(20, 1.5);
  const double across = -0.725 * 20 / length;
  const double along = (1 * 20 - 0.65 * 1.5) / length;
  for (const Duration off : {-500ms, -100ms, -10ms, 0ms, 10ms, 100ms, 500ms}) {
    const double lateral = 3 / 3.6 * to_seconds(off);
    EXPECT_NEAR(crossing.loss(centre + off).value(),
                loss(screen(0.3, 1.7), place(along, length - along, lateral, across)), 1e-9)
        << off.count();
  }
}

TEST(Blockage, HasASymmetricProfile) {
  for (int client = 0; client < 20; ++client) {
    Blockage before = blockage(rare, client);
    const Instant centre = before.constant_until(0s) + half_passage(rare);
    for (Duration off = half_passage(rare); off > 0s; off -= 50ms) {
      Blockage after = blockage(rare, client);
      EXPECT_NEAR(before.loss(centre - off).value(), after.loss(centre + off).value(), 1e-9);
    }
  }
}

TEST(Blockage, CostsNothingWhereThePathIsNotBetweenTheAntennas) {
  Blockage crossing = blockage(rare, 0);
  const Instant centre = crossing.constant_until(0s) + half_passage(rare);
  EXPECT_GT(crossing.loss(centre), Decibels(1));
  crossing.move({.x = Metres(0.9), .z = Metres(1.5)});
  EXPECT_EQ(crossing.loss(centre), Decibels(0));
  crossing.move(link.device);
  EXPECT_GT(crossing.loss(centre), Decibels(1));
}

// A client that moves sees the same blockers under another angle.
TEST(Blockage, FollowsTheRayOfAClientThatMoves) {
  Blockage near = blockage(rare, 0);
  near.move({.x = Metres(3), .z = Metres(1.5)});
  Blockage there(rare,
                 {.carrier = carrier, .device = {.x = Metres(3), .z = Metres(1.5)}, .base_station = {.z = Metres(3)}},
                 Streams(1, 1).stream("client 0/blockage"));
  const Instant centre = there.constant_until(0s) + half_passage(rare);
  EXPECT_EQ(near.loss(centre), there.loss(centre));
  // The ray now rises 0.5 m a metre: 2 m above the path it passes over their heads.
  EXPECT_LT(near.loss(centre), blockage(rare, 0).loss(centre));
}

// Instants further apart than a passage see different blockers: independent draws. Nobody is within reach with the
// probability exp(-rate x passage) of an empty Poisson interval.
TEST(Blockage, TakesTheShareOfTimeThatThePoissonProcessGives) {
  constexpr int draws = 20000;
  Blockage crossing = blockage(busy, 0);
  const Duration passage = 2 * half_passage(busy);
  int blocked = 0;
  for (int i = 0; i < draws; ++i) blocked += crossing.loss(i * (passage + 1ms)) > Decibels(0);
  const double expected = 1 - std::exp(-busy.rate.value() * to_seconds(passage));
  EXPECT_GT(expected, 0.1);
  EXPECT_NEAR(blocked / static_cast<double>(draws), expected, 4 * std::sqrt(expected * (1 - expected) / draws));
}

// The same at time 0, over clients: a run starts in the middle of things.
TEST(Blockage, IsStationaryFromTheStart) {
  constexpr int clients = 4000;
  int blocked = 0;
  for (int client = 0; client < clients; ++client) blocked += blockage(busy, client).loss(0s) > Decibels(0);
  const double expected = 1 - std::exp(-busy.rate.value() * to_seconds(2 * half_passage(busy)));
  EXPECT_NEAR(blocked / static_cast<double>(clients), expected, 4 * std::sqrt(expected * (1 - expected) / clients));
}

// Campbell's theorem: the mean of a sum over a Poisson process is rate x integral of one profile, whatever overlaps.
TEST(Blockage, AddsUpTheDecibelsOfAllThatCross) {
  const CrossingBlockage crowd{.rate = EventRate(2)};
  const Duration passage = 2 * half_passage(crowd);
  Blockage profile = blockage(rare, 0);
  const Instant begin = profile.constant_until(0s);
  double integral = 0;  // dB s
  for (Duration at = 500us; at < passage; at += 1ms) integral += profile.loss(begin + at).value() * 1e-3;

  Blockage crossing = blockage(crowd, 0);
  std::vector<double> losses;
  for (int i = 0; i < 20000; ++i) losses.push_back(crossing.loss(i * (passage + 1ms)).value());
  const test::Estimate mean = test::estimate(losses);
  EXPECT_NEAR(mean.mean, 2 * integral, 4 * mean.error);
}

/// Times that somebody came within reach while nobody was.
double episodes(Blockage crossing, Instant end, Duration step) {
  double count = 0;
  for (Instant t{0}; t < end;) {
    const Instant until = crossing.constant_until(t);
    if (until == t) {
      t += step;
    } else {
      t = until;
      count += t < end ? 1 : 0;
    }
  }
  return count;
}

// Nobody is within reach with probability exp(-rate x passage); then somebody comes at `rate`. The error is that of
// the counts of independent clients. A step of 1 ms overlooks gaps of less: 0.02 % of them.
TEST(Blockage, BeginsAsOftenAsThePoissonProcessGives) {
  const Instant end = 2000s;
  std::vector<double> counts;
  for (int client = 0; client < 100; ++client) counts.push_back(episodes(blockage(busy, client), end, 1ms));
  const test::Estimate mean = test::estimate(counts);
  const double rate = busy.rate.value();
  EXPECT_NEAR(mean.mean, to_seconds(end) * rate * std::exp(-rate * to_seconds(2 * half_passage(busy))), 4 * mean.error);
}

TEST(Blockage, DependsOnItsStreamAndNotOnTheQuestions) {
  Blockage often = blockage(busy, 3);
  Blockage seldom = blockage(busy, 3);
  Blockage other = blockage(busy, 4);
  Blockage replication = blockage(busy, 3, 2);
  double difference = 0;
  double replicated = 0;
  for (int i = 0; i < 3000; ++i) {
    const Decibels now = often.loss(i * 100ms);
    (void)often.constant_until(i * 100ms);
    if (i % 7 == 0) {
      EXPECT_EQ(now, seldom.loss(i * 100ms));
    }
    difference += std::abs((now - other.loss(i * 100ms)).value());
    replicated += std::abs((now - replication.loss(i * 100ms)).value());
  }
  EXPECT_GT(difference, 0);
  EXPECT_GT(replicated, 0);
}

TEST(Blockage, RefusesToGoBackInTime) {
  Blockage crossing = blockage(busy, 0);
  (void)crossing.loss(2s);
  EXPECT_THROW((void)crossing.loss(1s), InvariantViolation);
  EXPECT_THROW((void)crossing.constant_until(1s), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
