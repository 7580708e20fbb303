#include "models/radio/large_scale.h"

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/support/estimate.h"

namespace trilemma {
namespace {

constexpr std::array all_environments = {Environment::umi,    Environment::uma,    Environment::inh,
                                         Environment::inf_sl, Environment::inf_dl, Environment::inf_sh,
                                         Environment::inf_dh, Environment::inf_hh};

Position base_station(Environment environment) { return {.z = default_heights(environment).base_station}; }
Position at_distance(Environment environment, double metres) {
  return {.x = Metres(metres), .z = default_heights(environment).ue};
}

const Streams streams(1, 1);

std::string name(int client, const char* what) { return "client " + std::to_string(client) + "/" + what; }

LargeScale large_scale(const Propagation& propagation, const MotionConfig& motion, double start, int client = 0) {
  const Environment environment = propagation.config().environment;
  return {propagation,
          {.motion = motion, .start = at_distance(environment, start), .base_station = base_station(environment)},
          streams.stream(name(client, "propagation")),
          streams.stream(name(client, "motion"))};
}

Propagation propagation_of(Environment environment, LineOfSight line_of_sight = LineOfSight::drawn) {
  return Propagation({.environment = environment, .line_of_sight = line_of_sight, .seed = 1, .replication = 1});
}

TEST(LargeScale, OfAStaticClientIsTheDrawOfItsPropagation) {
  for (const Environment environment : all_environments) {
    const Propagation propagation = propagation_of(environment);
    for (int client = 0; client < 100; ++client) {
      LargeScale channel = large_scale(propagation, StaticMotion{}, 30, client);
      const auto stream = static_cast<std::int64_t>(stream_number(name(client, "propagation")));
      const PathLoss drawn = propagation.draw(stream, at_distance(environment, 30), base_station(environment));
      for (const Instant t : {0s, 1s, 86'400s}) {
        EXPECT_EQ(channel.at(t).loss, drawn.loss);
        EXPECT_EQ(channel.at(t).line_of_sight, drawn.line_of_sight);
        EXPECT_EQ(channel.at(t).place.x, Metres(30));
      }
      EXPECT_EQ(channel.constant_until(5s), Instant::max());
    }
  }
}

TEST(LargeScale, OfAClientThatMovesStartsWithTheDrawOfItsPropagation) {
  const Propagation propagation = propagation_of(Environment::umi);
  for (int client = 0; client < 100; ++client) {
    LargeScale channel =
        large_scale(propagation, WalkMotion{.nearest = Metres(10), .farthest = Metres(100)}, 60, client);
    const auto stream = static_cast<std::int64_t>(stream_number(name(client, "propagation")));
    const PathLoss drawn = propagation.draw(stream, at_distance(Environment::umi, 60), base_station(Environment::umi));
    EXPECT_EQ(channel.at(0s).loss, drawn.loss);
    EXPECT_EQ(channel.at(0s).line_of_sight, drawn.line_of_sight);
  }
}

// A tenth of the smallest distance of correlation: 1 m in UMi, so that the state changes every second at 1 m/s.
TEST(LargeScale, ChangesAtItsStepsAndIsConstantInBetween) {
  const Propagation propagation = propagation_of(Environment::umi);
  LargeScale channel =
      large_scale(propagation, LineMotion{.speed = Speed(1), .nearest = Metres(20), .farthest = Metres(500)}, 30);
  const Decibels first = channel.at(0s).loss;
  EXPECT_EQ(channel.constant_until(0s), 1s);
  EXPECT_EQ(channel.at(1s - 1ns).loss, first);
  EXPECT_EQ(channel.constant_until(1s - 1ns), 1s);
  EXPECT_NE(channel.at(1s).loss, first);
  EXPECT_NEAR(channel.at(1s).place.x.value(), 31, 1e-6);
  EXPECT_EQ(channel.constant_until(1s), 2s);
  EXPECT_NEAR(channel.at(400s).place.x.value(), 430, 1e-6);
}

TEST(LargeScale, TakesItsStepFromTheConfiguration) {
  const Propagation propagation = propagation_of(Environment::umi);
  LargeScale channel(propagation,
                     {.motion = LineMotion{.speed = Speed(1), .nearest = Metres(20), .farthest = Metres(500)},
                      .start = at_distance(Environment::umi, 30),
                      .base_station = base_station(Environment::umi),
                      .step = Metres(4)},
                     streams.stream("a"), streams.stream("b"));
  EXPECT_EQ(channel.constant_until(3s), 4s);
  EXPECT_NEAR(channel.at(7s).place.x.value(), 34, 1e-6);
}

/// Shadowing over its standard deviation, with the state of the line of sight given.
double normalised(const Propagation& propagation, const LargeScale::State& state) {
  const Environment environment = propagation.config().environment;
  const ShadowingDeviations deviations = shadowing_deviations(environment);
  const Decibels deviation = state.line_of_sight ? deviations.line_of_sight : deviations.obstructed;
  return (state.loss - propagation.median(state.line_of_sight, state.place, base_station(environment))) / deviation;
}

constexpr int clients = 4000;
constexpr Duration begin = 20s;
constexpr std::array lags = {2s, 10s, 25s};

LargeScale straight_on(const Propagation& propagation, int client) {
  return large_scale(propagation, LineMotion{.speed = Speed(1), .nearest = Metres(20), .farthest = Metres(140)}, 30,
                     client);
}

/// The shadowing of clients that go straight on at 1 m/s: at 20 s and after each of the lags.
std::vector<std::array<double, 1 + lags.size()>> shadows(const Propagation& propagation) {
  std::vector<std::array<double, 1 + lags.size()>> found(clients);
  for (int client = 0; client < clients; ++client) {
    LargeScale channel = straight_on(propagation, client);
    auto& row = found[static_cast<std::size_t>(client)];
    row[0] = normalised(propagation, channel.at(begin));
    for (std::size_t i = 0; i < lags.size(); ++i) row[i + 1] = normalised(propagation, channel.at(begin + lags[i]));
  }
  return found;
}

/// A whole number of steps, the same for all of them: their length depends on the environment.
double metres_within(const Propagation& propagation, Duration lag) {
  LargeScale channel = straight_on(propagation, 0);
  const Metres start = channel.at(begin).place.x;
  return (channel.at(begin + lag).place.x - start).value();
}

// exp(-d / d_corr) with the distances of table 7.5-6.
TEST(LargeScale, ShadowingIsCorrelatedAlongTheWay) {
  struct Case {
    Environment environment;
    LineOfSight state;
    double distance;
  };
  for (const Case& c :
       {Case{Environment::umi, LineOfSight::always, 10}, Case{Environment::umi, LineOfSight::never, 13},
        Case{Environment::uma, LineOfSight::always, 37}, Case{Environment::uma, LineOfSight::never, 50},
        Case{Environment::inh, LineOfSight::always, 10}, Case{Environment::inh, LineOfSight::never, 6},
        Case{Environment::inf_sl, LineOfSight::never, 10}, Case{Environment::inf_dh, LineOfSight::always, 10}}) {
    const Propagation propagation = propagation_of(c.environment, c.state);
    const auto found = shadows(propagation);
    for (std::size_t i = 0; i < lags.size(); ++i) {
      std::vector<double> products;
      for (const auto& row : found) products.push_back(row[0] * row[i + 1]);
      const double way = metres_within(propagation, lags[i]);
      const test::Estimate measured = test::estimate(products);
      EXPECT_NEAR(way, to_seconds(lags[i]), 3.7 + 1e-6);
      EXPECT_NEAR(measured.mean, std::exp(-way / c.distance), 4 * measured.error)
          << config::name_of(c.environment) << " after " << way << " m";
    }
  }
}

// A step as long as the distance of correlation leaves 1/e, as ten steps of a tenth do.
TEST(LargeScale, ShadowingIsCorrelatedOverALongStepToo) {
  const Propagation propagation = propagation_of(Environment::umi, LineOfSight::always);
  std::vector<double> products;
  for (int client = 0; client < clients; ++client) {
    LargeScale channel(propagation,
                       {.motion = LineMotion{.speed = Speed(1), .nearest = Metres(20), .farthest = Metres(140)},
                        .start = at_distance(Environment::umi, 30),
                        .base_station = base_station(Environment::umi),
                        .step = Metres(10)},
                       streams.stream(name(client, "propagation")), streams.stream(name(client, "motion")));
    const double before = normalised(propagation, channel.at(0s));
    products.push_back(before * normalised(propagation, channel.at(10s)));
  }
  const test::Estimate measured = test::estimate(products);
  EXPECT_NEAR(measured.mean, std::exp(-1), 4 * measured.error);
}

// The mean of n draws has the error 1 / sqrt(n), their root mean square 1 / sqrt(2 n).
TEST(LargeScale, ShadowingKeepsItsDistribution) {
  for (const LineOfSight state : {LineOfSight::always, LineOfSight::never}) {
    const auto found = shadows(propagation_of(Environment::umi, state));
    for (std::size_t i = 0; i <= lags.size(); ++i) {
      double sum = 0;
      double squares = 0;
      for (const auto& row : found) {
        sum += row[i];
        squares += row[i] * row[i];
      }
      EXPECT_NEAR(sum / clients, 0, 4 / std::sqrt(clients));
      EXPECT_NEAR(std::sqrt(squares / clients), 1, 4 / std::sqrt(2 * clients));
    }
  }
}

// Table 7.6.3.4-2: nothing of the shadowing with a line of sight is left without one.
TEST(LargeScale, ShadowingOfTheTwoStatesIsIndependent) {
  const Propagation propagation = propagation_of(Environment::inf_dl);
  std::vector<double> products;
  for (int client = 0; client < clients; ++client) {
    LargeScale channel = large_scale(
        propagation, LineMotion{.speed = Speed(1), .nearest = Metres(2), .farthest = Metres(50)}, 2, client);
    const LargeScale::State first = channel.at(0s);
    const LargeScale::State second = channel.at(2s);
    if (first.line_of_sight == second.line_of_sight) continue;
    products.push_back(normalised(propagation, first) * normalised(propagation, second));
  }
  ASSERT_GT(products.size(), 500U);
  const test::Estimate mean = test::estimate(products);
  EXPECT_NEAR(mean.mean, 0, 4 * mean.error);
}

/// Clients with a line of sight, and what their places make one expect.
struct Views {
  double seen = 0;
  double expected = 0;
  double variance = 0;
};

// Independent clients, each with a chance of its own: the error of their number is sqrt(sum p (1 - p)).
TEST(LargeScale, HasALineOfSightAsOftenAsItsPlacesSay) {
  const WalkMotion walk{.speed = Speed(1.5), .leg = Metres(20), .nearest = Metres(12), .farthest = Metres(100)};
  constexpr std::array times = {3s, 20s};
  for (const Environment environment : all_environments) {
    const Propagation propagation = propagation_of(environment);
    std::array<Views, times.size()> views;
    for (int client = 0; client < clients / 2; ++client) {
      LargeScale channel = large_scale(propagation, walk, 30, client);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const LargeScale::State state = channel.at(times[i]);
        const double probability = line_of_sight_probability(environment, state.place, base_station(environment));
        views[i].seen += state.line_of_sight;
        views[i].expected += probability;
        views[i].variance += probability * (1 - probability);
      }
    }
    for (const Views& view : views) {
      EXPECT_NEAR(view.seen, view.expected, 4 * std::sqrt(view.variance)) << config::name_of(environment);
    }
  }
}

/// Standard normal distribution function, and its inverse by bisection.
double phi(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double quantile(double p) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 60; ++i) (phi((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return low;
}

/// P(X < a, Y < b) of standard normals with correlation rho: Phi(a) Phi(b) plus the integral of their density at (a, b)
/// over the correlation from 0 to rho (Plackett 1954), by the midpoint rule.
double both_below(double a, double b, double rho) {
  constexpr int pieces = 2000;
  double integral = 0;
  for (int i = 0; i < pieces; ++i) {
    const double r = rho * (i + 0.5) / pieces;
    integral += std::exp(-(a * a - 2 * r * a * b + b * b) / (2 * (1 - r * r))) / std::sqrt(1 - r * r);
  }
  return phi(a) * phi(b) + integral * rho / pieces / (2 * std::numbers::pi);
}

// How often there is a line of sight both at the start and further out, of a Gaussian copula with exp(-d / d_corr) and
// the distances of table 7.6.3.1-2. All clients walk the same
// whole number of steps, at 1 m/s.
TEST(LargeScale, StateOfTheLineOfSightIsCorrelatedAlongTheWay) {
  struct Case {
    Environment environment;
    double correlation;
    double start;
    int seconds;
  };
  constexpr int walkers = 4 * clients;
  for (const Case& c :
       {Case{Environment::umi, 50, 60, 5}, Case{Environment::umi, 50, 60, 25}, Case{Environment::uma, 50, 100, 38},
        Case{Environment::inh, 10, 60, 6}, Case{Environment::inf_sl, 5, 40, 5}, Case{Environment::inf_dh, 1, 2, 1},
        Case{Environment::inf_dl, 1, 2, 1}}) {
    const Propagation propagation = propagation_of(c.environment);
    int both = 0;
    double way = 0;
    for (int client = 0; client < walkers; ++client) {
      LargeScale channel = large_scale(
          propagation, LineMotion{.speed = Speed(1), .nearest = Metres(2), .farthest = Metres(140)}, c.start, client);
      const bool first = channel.at(0s).line_of_sight;
      const LargeScale::State then = channel.at(c.seconds * 1s);
      both += first && then.line_of_sight;
      way = then.place.x.value() - c.start;
    }
    const auto threshold = [&](double metres) {
      return quantile(
          line_of_sight_probability(c.environment, at_distance(c.environment, metres), base_station(c.environment)));
    };
    const double expected = both_below(threshold(c.start), threshold(c.start + way), std::exp(-way / c.correlation));
    EXPECT_NEAR(both / static_cast<double>(walkers), expected, 4 * std::sqrt(expected * (1 - expected) / walkers))
        << config::name_of(c.environment) << " after " << way << " m";
  }
}

TEST(LargeScale, KeepsToTheSettingsOfItsPropagation) {
  for (const LineOfSight setting : {LineOfSight::always, LineOfSight::never}) {
    const Propagation propagation(
        {.environment = Environment::umi, .line_of_sight = setting, .shadowing = Shadowing::off});
    LargeScale channel = large_scale(propagation, WalkMotion{.nearest = Metres(10), .farthest = Metres(100)}, 50);
    for (int i = 0; i < 200; ++i) {
      const LargeScale::State state = channel.at(i * 10s);
      EXPECT_EQ(state.line_of_sight, setting == LineOfSight::always);
      EXPECT_EQ(state.loss, propagation.median(state.line_of_sight, state.place, base_station(Environment::umi)));
    }
  }
}

TEST(LargeScale, DependsOnItsStreamsAndNotOnTheQuestions) {
  const Propagation propagation = propagation_of(Environment::umi);
  const WalkMotion walk{.speed = Speed(1), .nearest = Metres(10), .farthest = Metres(100)};
  LargeScale often = large_scale(propagation, walk, 50, 3);
  LargeScale seldom = large_scale(propagation, walk, 50, 3);
  LargeScale other = large_scale(propagation, walk, 50, 4);
  for (int i = 0; i < 1000; ++i) {
    const LargeScale::State state = often.at(i * 300ms);
    if (i % 50 != 0) continue;
    EXPECT_EQ(state.loss, seldom.at(i * 300ms).loss);
    EXPECT_EQ(state.line_of_sight, seldom.at(i * 300ms).line_of_sight);
    EXPECT_EQ(state.place.x, seldom.at(i * 300ms).place.x);
    EXPECT_NE(state.loss, other.at(i * 300ms).loss);
  }
}

TEST(LargeScale, StaysInItsRangeOnTheEdgeOfThePropagation) {
  for (const double start : {10.0, 11.0}) {
    const Propagation propagation = propagation_of(Environment::umi);
    LargeScale channel = large_scale(
        propagation, WalkMotion{.speed = Speed(1), .leg = Metres(5), .nearest = Metres(10), .farthest = Metres(11)},
        start);
    for (int i = 0; i < 2000; ++i) {
      const Position place = channel.at(i * 1s).place;
      const double distance = std::hypot(place.x.value(), place.y.value());
      ASSERT_GE(distance, 10);
      ASSERT_LE(distance, 11);
    }
  }
}

TEST(LargeScale, RefusesWhatThePropagationRefuses) {
  const Propagation propagation = propagation_of(Environment::inh);
  EXPECT_THROW((void)large_scale(propagation, StaticMotion{}, 200), std::invalid_argument);
  LargeScale runaway =
      large_scale(propagation, LineMotion{.speed = Speed(10), .nearest = Metres(20), .farthest = Metres(300)}, 30);
  EXPECT_NO_THROW((void)runaway.at(10s));
  EXPECT_THROW((void)runaway.at(15s), std::invalid_argument);
}

TEST(LargeScale, RefusesToGoBackInTime) {
  const Propagation propagation = propagation_of(Environment::umi);
  LargeScale channel = large_scale(propagation, LineMotion{.nearest = Metres(20), .farthest = Metres(300)}, 30);
  (void)channel.at(100s);
  EXPECT_THROW((void)channel.at(50s), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
