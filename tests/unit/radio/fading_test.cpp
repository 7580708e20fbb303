#include "models/radio/fading.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include <gtest/gtest.h>

#include "core/config/text.h"
#include "core/ensure.h"
#include "models/radio/multipath.h"
#include "tests/support/estimate.h"

namespace trilemma {
namespace {

using std::numbers::pi;

FadingSetup set_up(Environment environment) {
  return {.environment = environment, .heights = default_heights(environment)};
}

FadingSetup single_elements(Environment environment) {
  FadingSetup setup = set_up(environment);
  setup.base_station = {.rows = 1, .columns = 1};
  setup.client = {.rows = 1, .columns = 1};
  return setup;
}

std::vector<float> gains(Fading& fading, std::uint32_t client, bool line_of_sight, Instant t) {
  std::vector<float> values(fading.subbands());
  fading.gains(client, line_of_sight, Metres(20), t, values);
  return values;
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// ---- FadingLink -----------------------------------------------------------------------------------------------------

const std::vector<FadingLink::Path> two_paths{{.amplitude = 0.8, .delay = 10e-9, .doppler = Frequency(60)},
                                              {.amplitude = {0.3, 0.4}, .delay = 130e-9, .doppler = Frequency(-75)}};

/// The sum that FadingLink documents, in double precision.
double exact_gain(const std::vector<FadingLink::Path>& paths, double frequency, long double seconds) {
  std::complex<double> sum = 0;
  for (const FadingLink::Path& path : paths) {
    const long double turns = path.doppler.value() * seconds - static_cast<long double>(frequency * path.delay);
    sum += path.amplitude * std::polar(1.0, 2 * pi * static_cast<double>(turns - std::floor(turns)));
  }
  return std::norm(sum);
}

TEST(FadingLink, IsTheSumOfItsPathsInEverySubbandAtAnyTime) {
  const Frequency bandwidth(400e6);
  const FadingLink link(two_paths, {.lowest = Frequency(-187.5e6), .spacing = Frequency(25e6)});
  for (const Instant t : {0ns, 1ns, 3'217'000ns, 1'000'000'007ns, 36'000'000'000'001ns}) {
    std::vector<float> found(16);
    link.gains(t, found);
    for (std::size_t band = 0; band < found.size(); ++band) {
      const double frequency = -bandwidth.value() / 2 + (static_cast<double>(band) + 0.5) * 25e6;
      EXPECT_NEAR(found[band], exact_gain(two_paths, frequency, 1e-9L * static_cast<long double>(t.count())), 1e-5)
          << t.count() << " " << band;
    }
  }
}

TEST(FadingLink, HasRoomForAllPathsOfARealisation) {
  const std::vector<FadingLink::Path> most(FadingLink::most_paths, {.amplitude = 1.0 / FadingLink::most_paths});
  std::vector<float> found(1);
  FadingLink(most, {}).gains(0ns, found);
  EXPECT_NEAR(found[0], 1, 1e-6);
  const std::vector<FadingLink::Path> more(FadingLink::most_paths + 1);
  EXPECT_THROW(FadingLink(more, {}), InvariantViolation);
}

// ---- Level ----------------------------------------------------------------------------------------------------------

TEST(Fading, IsNeutralOnAverageForIsotropicElements) {
  for (const Environment environment : {Environment::umi, Environment::inf_dh}) {
    for (const bool clear : {true, false}) {
      Fading fading({.subbands = 1}, single_elements(environment), Streams(1, 0), "cell 0");
      std::vector<double> values;
      for (std::uint32_t client = 0; client < 1500; ++client) values.push_back(gains(fading, client, clear, 0ns)[0]);
      const test::Estimate found = test::estimate(values);
      EXPECT_NEAR(found.mean, 1, 4 * found.error) << config::name_of(environment) << " " << clear;
      EXPECT_LT(found.error, 0.04);
    }
  }
}

// Elements under the patterns of TR 38.901 that face one another at the same height gain 8 dBi each along the direct
// path: what there is besides, never adds as much.
TEST(Fading, OfAClearLinkIsClosestToTheIdealGainWithDirectionalElements) {
  FadingSetup isotropic = single_elements(Environment::inf_hh);
  FadingSetup directional = isotropic;
  directional.base_station.element = ElementPattern::tr38901;
  directional.client.element = ElementPattern::tr38901;
  Fading any({.subbands = 1}, isotropic, Streams(1, 0), "cell 0");
  Fading ahead({.subbands = 1}, directional, Streams(1, 0), "cell 0");
  double from_any = 0;
  double from_ahead = 0;
  for (std::uint32_t client = 0; client < 300; ++client) {
    from_any += std::abs(gains(any, client, true, 0ns)[0] - 1);
    from_ahead += std::abs(gains(ahead, client, true, 0ns)[0] - 1);
  }
  EXPECT_LT(from_ahead, from_any);
}

TEST(Fading, OfAnObstructedLinkLosesWhatBeamsMiss) {
  Fading beams({}, set_up(Environment::inf_dh), Streams(1, 0), "cell 0");
  std::vector<double> clear;
  std::vector<double> obstructed;
  for (std::uint32_t client = 0; client < 200; ++client) {
    clear.push_back(mean(gains(beams, client, true, 0ns)));
    obstructed.push_back(mean(gains(beams, client, false, 0ns)));
  }
  const test::Estimate with = test::estimate(clear);
  const test::Estimate without = test::estimate(obstructed);
  EXPECT_LT(without.mean + 4 * without.error, with.mean - 4 * with.error);
}

// ---- Time -----------------------------------------------------------------------------------------------------------

TEST(Fading, StandsStillWithoutMotion) {
  Fading fading({.speed = Speed(0)}, set_up(Environment::inf_dh), Streams(1, 0), "cell 0");
  const std::vector<float> first = gains(fading, 0, false, 0ns);
  EXPECT_EQ(gains(fading, 0, false, 1s), first);
  EXPECT_EQ(gains(fading, 0, false, std::chrono::hours(24 * 365)), first);
}

// 0.423 c / (v f) = 0.423 x 299792458 / (0.83 x 28e9) s = 5.45666... ms, rounded up to a nanosecond.
TEST(Fading, CoherenceTimeFollowsSpeedAndCarrier) {
  const Fading slow({}, set_up(Environment::umi), Streams(1, 0), "cell 0");
  EXPECT_NEAR(to_seconds(slow.coherence_time()), 0.423 * 299792458.0 / (0.83 * 28e9), 1e-9);
  const Fading fast({.speed = Speed(8.3)}, set_up(Environment::umi), Streams(1, 0), "cell 0");
  EXPECT_NEAR(to_seconds(fast.coherence_time()), to_seconds(slow.coherence_time()) / 10, 1e-9);
}

TEST(Fading, ChangesWithTheEpochOnly) {
  Fading fading({}, set_up(Environment::inf_dh), Streams(1, 0), "cell 0");
  const Instant second = 7 * fading.coherence_time();
  EXPECT_EQ(fading.epoch(second - 1ns), 6);
  EXPECT_EQ(fading.epoch(second), 7);
  const std::vector<float> at_start = gains(fading, 0, false, 6 * fading.coherence_time());
  EXPECT_EQ(gains(fading, 0, false, second - 1ns), at_start);
  EXPECT_NE(gains(fading, 0, false, second), at_start);
}

/// Correlation of the gain of one sub-band over `lag`, around the mean of each client over time.
double correlation(Duration lag) {
  FadingSetup setup = single_elements(Environment::inf_dh);
  const Fading fading({.subbands = 1}, setup, Streams(1, 0), "cell 0");
  double product = 0;
  double variance = 0;
  for (std::uint32_t client = 0; client < 60; ++client) {
    const FadingLink link = fading.draw(client, false, Metres(20));
    std::vector<double> now;
    std::vector<double> later;
    for (int i = 0; i < 300; ++i) {
      const Instant t = i * std::chrono::milliseconds(103);
      float gain = 0;
      link.gains(t, {&gain, 1});
      now.push_back(gain);
      link.gains(t + lag, {&gain, 1});
      later.push_back(gain);
    }
    const double centre = test::estimate(now).mean;
    for (std::size_t i = 0; i < now.size(); ++i) {
      product += (now[i] - centre) * (later[i] - centre);
      variance += (now[i] - centre) * (now[i] - centre);
    }
  }
  return product / variance;
}

// With waves from everywhere the correlation is J0(2 pi f_D lag)^2: 0.965 at a tenth of the coherence time, 0.02 at
// one. Waves from a sector keep it up for longer, never for shorter than their extremes allow: cos(2 pi 2 f_D lag) is
// above 0.8 at a tenth.
TEST(Fading, ForgetsOnTheScaleOfTheCoherenceTime) {
  const Duration coherence = Fading({}, set_up(Environment::inf_dh), Streams(1, 0), "cell 0").coherence_time();
  EXPECT_GT(correlation(coherence / 10), 0.8);
  EXPECT_LT(correlation(coherence), 0.8);
  EXPECT_NEAR(correlation(10 * coherence), 0, 0.2);
}

// ---- Frequency ------------------------------------------------------------------------------------------------------

/// Mean over clients of the variance of gains across sub-bands, over that of their mean.
double selectivity(Frequency bandwidth) {
  FadingSetup setup = single_elements(Environment::inf_dh);
  setup.bandwidth = bandwidth;
  Fading fading({}, setup, Streams(1, 0), "cell 0");
  double sum = 0;
  for (std::uint32_t client = 0; client < 200; ++client) {
    std::vector<double> across;
    for (const float gain : gains(fading, client, false, 0ns)) across.push_back(gain);
    const test::Estimate found = test::estimate(across);
    sum += found.error * found.error * static_cast<double>(across.size());
  }
  return sum / 200;
}

// A delay spread s of some 60 ns decorrelates frequencies 1 / (2 pi s) = 2.5 MHz apart: 100 kHz are flat (variance of
// the order (2 pi s x 0.1 MHz)^2 / 12 = 1e-4), 400 MHz hold the whole variance of Rayleigh fading, 1 less some for few
// paths.
TEST(Fading, GetsSelectiveWithTheBandwidth) {
  EXPECT_LT(selectivity(Frequency(100e3)), 0.005);
  const double some = selectivity(Frequency(2e6));
  EXPECT_GT(some, 0.01);
  const double all = selectivity(Frequency(400e6));
  EXPECT_GT(all, 2 * some);
  EXPECT_NEAR(all, 1, 0.35);
}

TEST(Fading, GetsSelectiveWithTheDelaySpread) {
  const LinkGeometry geometry{
      .heights = default_heights(Environment::inf_dh), .distance = Metres(20), .line_of_sight = false};
  ClusterStatistics statistics = cluster_statistics(Environment::inf_dh, Frequency(28e9), geometry);
  statistics.cluster_delay_spread = 0;
  double before = 0;
  for (const double delay_spread : {-10.0, -9.0, -8.0}) {
    statistics.delay_spread.mean = delay_spread;
    double sum = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      Rng rng(1, i, 0);
      const Beam point({.rows = 1, .columns = 1}, 0, {});
      std::vector<FadingLink::Path> paths;
      for (const Path& path : beamformed(draw_multipath(statistics, geometry, rng), point, point)) {
        paths.push_back({.amplitude = path.amplitude, .delay = path.delay, .doppler = Frequency(0)});
      }
      std::vector<float> found(16);
      FadingLink(paths, {.lowest = Frequency(-187.5e6), .spacing = Frequency(25e6)}).gains(0ns, found);
      const test::Estimate across = test::estimate(std::vector<double>(found.begin(), found.end()));
      sum += across.error * across.error;
    }
    EXPECT_GT(sum, 2 * before) << delay_spread;
    before = sum;
  }
}

// ---- Chance ---------------------------------------------------------------------------------------------------------

TEST(Fading, OfAClientDoesNotDependOnWhoElseIsAskedAndWhen) {
  Fading alone({}, set_up(Environment::umi), Streams(3, 2), "cell 0");
  const std::vector<float> clear = gains(alone, 5, true, 1s);
  const std::vector<float> obstructed = gains(alone, 5, false, 1s);

  Fading crowd({}, set_up(Environment::umi), Streams(3, 2), "cell 0");
  (void)gains(crowd, 9, false, 2s);
  EXPECT_EQ(gains(crowd, 5, false, 1s), obstructed);
  (void)gains(crowd, 0, true, 0ns);
  (void)gains(crowd, 5, true, 3s);
  EXPECT_EQ(gains(crowd, 5, true, 1s), clear);
  EXPECT_EQ(gains(crowd, 5, false, 1s), obstructed);
}

TEST(Fading, DiffersBetweenClientsStatesReplicationsSeedsAndCells) {
  Fading one({}, set_up(Environment::umi), Streams(3, 2), "cell 0");
  Fading replication({}, set_up(Environment::umi), Streams(3, 3), "cell 0");
  Fading seed({}, set_up(Environment::umi), Streams(4, 2), "cell 0");
  Fading cell({}, set_up(Environment::umi), Streams(3, 2), "cell 1");
  const std::vector<float> reference = gains(one, 5, true, 0ns);
  EXPECT_NE(gains(one, 6, true, 0ns), reference);
  EXPECT_NE(gains(one, 5, false, 0ns), reference);
  EXPECT_NE(gains(replication, 5, true, 0ns), reference);
  EXPECT_NE(gains(seed, 5, true, 0ns), reference);
  EXPECT_NE(gains(cell, 5, true, 0ns), reference);
}

TEST(Fading, LeavesNs3sEventListAndSettingsAlone) {
  ns3::RngSeedManager::SetSeed(77);
  ns3::RngSeedManager::SetRun(5);
  Fading fading({}, set_up(Environment::umi), Streams(3, 2), "cell 0");
  const std::vector<float> before = gains(fading, 0, true, 0ns);
  EXPECT_TRUE(ns3::Simulator::IsFinished());  // no event is pending
  EXPECT_EQ(ns3::RngSeedManager::GetSeed(), 77U);
  EXPECT_EQ(ns3::RngSeedManager::GetRun(), 5U);
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(1);
  ns3::Simulator::Destroy();
  Fading again({}, set_up(Environment::umi), Streams(3, 2), "cell 0");
  EXPECT_EQ(gains(again, 0, true, 0ns), before);
}

TEST(Fading, RefusesTheWrongNumberOfPlaces) {
  Fading fading({.subbands = 4}, set_up(Environment::umi), Streams(1, 0), "cell 0");
  std::vector<float> places(5);
  EXPECT_THROW(fading.gains(0, true, Metres(20), 0ns, places), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
