#include "models/radio/multipath.h"

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <vector>

#include "ns3/boolean.h"
#include "ns3/channel-condition-model.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/isotropic-antenna-model.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/three-gpp-antenna-model.h"
#include "ns3/three-gpp-channel-model.h"
#include "ns3/uinteger.h"
#include "ns3/uniform-planar-array.h"
#include <gtest/gtest.h>

#include "ns3_link.h"
#include "tests/support/estimate.h"

namespace trilemma {
namespace {

// The direct path of ns-3 turns by its length: 20 m are a whole number of its wavelengths, 1 cm.
TEST(Beamformed, HasTheAmplitudesOfNs3sChannelMatrixUnderIdealBeams) {
  for (const bool clear : {true, false}) {
    for (const ElementPattern element : {ElementPattern::isotropic, ElementPattern::tr38901}) {
      LinkGeometry link = geometry(Environment::umi, clear);
      link.distance = Metres(std::sqrt(20.0 * 20.0 - 8.5 * 8.5));
      const Ns3Link reference(Environment::umi, link, Frequency(30e9));
      const ArrayConfig large{.rows = 4, .columns = 4, .element = element};
      const ArrayConfig small{.rows = 2, .columns = 3, .element = element};
      const auto params = reference.channel->draw(reference.ends, link);
      const auto base_station = ns3_array(large, 0);
      const auto client = ns3_array(small, pi);
      const auto expected = ns3_amplitudes(
          reference.channel->matrix(params, reference.ends, link, base_station, client), base_station, client, link);
      const std::vector<Path> paths =
          beamformed(Ns3Channel::translated(*params, link), Beam(large, 0, direct_departure(link)),
                     Beam(small, pi, direct_arrival(link)));
      ASSERT_EQ(paths.size(), expected.size());
      for (std::size_t n = 0; n < paths.size(); ++n) {
        EXPECT_NEAR(std::abs(paths[n].amplitude - expected[n]), 0, 1e-6) << clear << " " << n;
      }
    }
  }
}

/// A figure of a realisation, over many.
test::Estimate figure(const std::vector<Multipath>& drawn, const std::function<double(const Multipath&)>& of) {
  std::vector<double> values;
  for (const Multipath& multipath : drawn) values.push_back(of(multipath));
  return test::estimate(values);
}

double power(const Multipath& multipath) {
  double sum = 0;
  for (const Cluster& cluster : multipath.clusters) sum += cluster.power;
  return sum;
}

/// lg of the root mean square delay of the scattered power.
double rms_delay(const Multipath& multipath) {
  double first = 0;
  double second = 0;
  for (const Cluster& cluster : multipath.clusters) {
    first += cluster.power * cluster.delay;
    second += cluster.power * cluster.delay * cluster.delay;
  }
  const double total = power(multipath);
  return std::log10(std::sqrt(second / total - first * first / total / total));
}

/// Power-weighted mean of an angle of the rays.
template <class Angle>
double mean_angle(const Multipath& multipath, Angle angle) {
  double sum = 0;
  for (const Cluster& cluster : multipath.clusters) {
    for (const Ray& ray : cluster.rays) sum += cluster.power / static_cast<double>(cluster.rays.size()) * angle(ray);
  }
  return sum / power(multipath);
}

double departure_width(const Multipath& multipath) {
  return mean_angle(multipath, [&](const Ray& ray) {
    return std::abs(std::remainder(ray.departure.azimuth - multipath.departure.azimuth, 2 * pi));
  });
}
double arrival_width(const Multipath& multipath) {
  return mean_angle(multipath, [&](const Ray& ray) {
    return std::abs(std::remainder(ray.arrival.azimuth - multipath.arrival.azimuth, 2 * pi));
  });
}
double departure_height(const Multipath& multipath) {
  return mean_angle(multipath, [&](const Ray& ray) { return std::cos(ray.departure.zenith); });
}
/// Downward or upward, whatever the sign, so that reflections of angles beyond the zenith do not matter.
double arrival_height(const Multipath& multipath) {
  return mean_angle(multipath, [&](const Ray& ray) { return std::abs(std::cos(ray.arrival.zenith)); });
}

// Without a line of sight, where both drop the same weak clusters (with one, ns-3 counts the direct path in).
TEST(Multipath, IsDistributedAsThatOfNs3) {
  constexpr int count = 400;
  for (const Environment environment : {Environment::umi, Environment::uma, Environment::inh}) {
    const LinkGeometry link = geometry(environment, false, 60);
    const Ns3Link reference(environment, link, Frequency(28e9));
    std::vector<Multipath> theirs;
    for (int i = 0; i < count; ++i) {
      theirs.push_back(Ns3Channel::translated(*reference.channel->draw(reference.ends, link), link));
    }
    const auto ours = realisations(cluster_statistics(environment, Frequency(28e9), link), link, count);
    const std::map<std::string, std::function<double(const Multipath&)>> figures{
        {"delay spread", [](const Multipath& multipath) { return std::log10(multipath.delay_spread); }},
        {"rms delay", rms_delay},
        {"power", power},
        {"clusters", [](const Multipath& multipath) { return static_cast<double>(multipath.clusters.size()); }},
        {"departure width", departure_width},
        {"arrival width", arrival_width},
        {"departure height", departure_height},
        {"arrival height", arrival_height}};
    for (const auto& [name, of] : figures) {
      const test::Estimate expected = figure(theirs, of);
      const test::Estimate found = figure(ours, of);
      EXPECT_NEAR(found.mean, expected.mean, 4 * std::hypot(found.error, expected.error))
          << name << " of " << config::name_of(environment);
    }
  }
}

// ---- What TR 38.901 says by itself ----------------------------------------------------------------------------------

struct Expected {
  Environment environment;
  bool line_of_sight;
  double delay_spread;  // mean of the decimal logarithm
  double deviation;
};

// Volume / surface is 72000 / 18000 m = 4 m in the small hall and 450000 / 99000 m in the large one (table 7.5-6).
TEST(Multipath, HasTheDelaySpreadOfItsHall) {
  constexpr int count = 400;
  const double large = 450000.0 / 99000;
  const std::array cases{
      Expected{Environment::inf_sl, true, std::log10(26 * 4 + 14) - 9.35, 0.15},
      Expected{Environment::inf_dl, true, std::log10(26 * large + 14) - 9.35, 0.15},
      Expected{Environment::inf_sh, false, std::log10(30 * large + 32) - 9.44, 0.19},
      Expected{Environment::inf_dh, false, std::log10(30 * 4 + 32) - 9.44, 0.19},
      Expected{Environment::inf_hh, true, std::log10(26 * 4 + 14) - 9.35, 0.15},
  };
  for (const Expected& expected : cases) {
    const LinkGeometry link = geometry(expected.environment, expected.line_of_sight);
    const auto drawn = realisations(cluster_statistics(expected.environment, Frequency(28e9), link), link, count);
    const test::Estimate found =
        figure(drawn, [](const Multipath& multipath) { return std::log10(multipath.delay_spread); });
    EXPECT_NEAR(found.mean, expected.delay_spread, 4 * found.error) << config::name_of(expected.environment);
    // The standard error of a standard deviation of n normal values is s / sqrt(2 (n - 1)).
    EXPECT_NEAR(found.error * std::sqrt(count), expected.deviation, 4 * expected.deviation / std::sqrt(2.0 * count))
        << config::name_of(expected.environment);
  }
}

// K is normal in dB: 7 +- 8 in a factory, where it has the correlation -0.7 with the logarithm of the delay spread.
TEST(Multipath, HasTheFactorKOfTheFactory) {
  constexpr int count = 1000;
  const LinkGeometry link = geometry(Environment::inf_dh, true);
  const auto drawn = realisations(cluster_statistics(Environment::inf_dh, Frequency(28e9), link), link, count);
  const auto k = [](const Multipath& multipath) { return 10 * std::log10(multipath.k_factor); };
  const test::Estimate found = figure(drawn, k);
  EXPECT_NEAR(found.mean, 7, 4 * found.error);
  EXPECT_NEAR(found.error * std::sqrt(count), 8, 4 * 8 / std::sqrt(2.0 * count));
  const double mean = std::log10(26 * 4 + 14) - 9.35;
  const test::Estimate correlation = figure(drawn, [&](const Multipath& multipath) {
    return (k(multipath) - 7) / 8 * (std::log10(multipath.delay_spread) - mean) / 0.15;
  });
  EXPECT_NEAR(correlation.mean, -0.7, 4 * correlation.error);
}

TEST(ClusterStatistics, RootOfTheFactoryGivesBackItsCorrelations) {
  const auto root =
      cluster_statistics(Environment::inf_sl, Frequency(28e9), geometry(Environment::inf_sl, true)).correlation_root;
  const auto correlation = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i) sum += root[a][i] * root[b][i];
    return sum;
  };
  for (std::size_t a = 0; a < 7; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const double expected = a == b ? 1 : (a == 2 && b == 1) ? -0.7 : (a == 3 && b == 1) ? -0.5 : 0;
      EXPECT_NEAR(correlation(a, b), expected, 1e-12) << a << " " << b;
    }
  }
}

TEST(Multipath, LosesLittlePowerWithItsWeakClusters) {
  for (const Environment environment : all_environments) {
    for (const bool clear : {true, false}) {
      const LinkGeometry link = geometry(environment, clear);
      for (const Multipath& multipath :
           realisations(cluster_statistics(environment, Frequency(28e9), link), link, 100)) {
        EXPECT_LE(power(multipath), 1 + 1e-12);
        // At most 24 clusters of less than 10^-2.5 of the strongest.
        EXPECT_GE(power(multipath), 1 - 24 * std::pow(10, -2.5));
        EXPECT_EQ(multipath.clusters.front().delay, 0);
        EXPECT_EQ(multipath.k_factor > 0, clear);
        EXPECT_LE(multipath.clusters.size(), 29U);
      }
    }
  }
}

TEST(Multipath, FirstClusterOfAClearLinkLiesInTheDirectPath) {
  const LinkGeometry link = geometry(Environment::inf_dh, true);
  const auto statistics = cluster_statistics(Environment::inf_dh, Frequency(28e9), link);
  for (const Multipath& multipath : realisations(statistics, link, 50)) {
    EXPECT_NEAR(multipath.clusters.front().arrival.azimuth, multipath.arrival.azimuth, 1e-12);
    EXPECT_NEAR(multipath.clusters.front().arrival.zenith, multipath.arrival.zenith, 1e-12);
  }
}

TEST(Multipath, SeesTheBaseStationAboveAndTheClientBelow) {
  const LinkGeometry link = geometry(Environment::inf_dh, true, 6.5);  // 6.5 m apart and 6.5 m higher
  EXPECT_NEAR(direct_departure(link).zenith, pi * 3 / 4, 1e-12);
  EXPECT_NEAR(direct_arrival(link).zenith, pi / 4, 1e-12);
  EXPECT_EQ(direct_arrival(link).azimuth, pi);
}

std::vector<Path> through_arrays(const Multipath& multipath, const ArrayConfig& base_station,
                                 const ArrayConfig& client) {
  return beamformed(multipath, Beam(base_station, 0, multipath.departure),
                    Beam(client, multipath.arrival.azimuth, multipath.arrival));
}

// Over time phases of paths are independent: the mean gain is the sum of their powers.
double mean_gain(const std::vector<Path>& paths) {
  double sum = 0;
  for (const Path& path : paths) sum += std::norm(path.amplitude);
  return sum;
}

TEST(Beamformed, StrongDirectPathHasTheIdealArrayGain) {
  const LinkGeometry link = geometry(Environment::inh, true);
  ClusterStatistics statistics = cluster_statistics(Environment::inh, Frequency(28e9), link);
  statistics.k_mean = 15;
  statistics.k_deviation = 0;
  const auto found = figure(realisations(statistics, link, 200), [](const Multipath& multipath) {
    return 10 * std::log10(mean_gain(through_arrays(multipath, {.rows = 8, .columns = 8}, {.rows = 4, .columns = 4})));
  });
  EXPECT_NEAR(found.mean, 10 * std::log10(64 * 16), 1);
}

// The direct path alone has the gain K / (K + 1) of ideal and what is scattered into the beams adds to it.
TEST(Beamformed, DirectPathIsWhatTheBeamsPickUp) {
  const LinkGeometry link = geometry(Environment::umi, true);
  ClusterStatistics statistics = cluster_statistics(Environment::umi, Frequency(28e9), link);
  const auto drawn = realisations(statistics, link, 200);
  const test::Estimate excess = figure(drawn, [](const Multipath& multipath) {
    const double k = multipath.k_factor;
    return mean_gain(through_arrays(multipath, {.rows = 8, .columns = 8}, {.rows = 4, .columns = 4})) / 1024 -
           k / (k + 1);
  });
  EXPECT_GT(excess.mean, -4 * excess.error);
  const test::Estimate scattered =
      figure(drawn, [](const Multipath& multipath) { return 1 / (multipath.k_factor + 1); });
  EXPECT_LT(excess.mean, scattered.mean);  // the beams miss most of the rest
}

// |direct + scattered|^2 for isotropic elements and uniform phases of rays: the scattered field z of power s = sum of
// ray powers p has E|z|^4 = 2 s^2 - sum p^2, so the gain has variance 2 K s / (K + 1)^2 + (s^2 - sum p^2) / (K + 1)^2.
TEST(Beamformed, VariesAsKPredicts) {
  constexpr int count = 4000;
  for (const double k_decibels : {-10.0, 3.0, 10.0}) {
    const LinkGeometry link = geometry(Environment::inf_sl, true);
    ClusterStatistics statistics = cluster_statistics(Environment::inf_sl, Frequency(28e9), link);
    statistics.k_mean = k_decibels;
    statistics.k_deviation = 0;
    std::vector<double> surplus;  // squared deviation of a gain from its mean, above its expectation
    for (const Multipath& multipath : realisations(statistics, link, count)) {
      const double k = multipath.k_factor;
      std::complex<double> field = 0;
      for (const Path& path : through_arrays(multipath, {.rows = 1, .columns = 1}, {.rows = 1, .columns = 1})) {
        field += path.amplitude;
      }
      const double s = power(multipath);
      double squares = 0;
      for (const Cluster& cluster : multipath.clusters) {
        squares += cluster.power * cluster.power / static_cast<double>(cluster.rays.size());
      }
      const double mean = (k + s) / (k + 1);
      const double variance = (2 * k * s + s * s - squares) / (k + 1) / (k + 1);
      surplus.push_back(std::pow(std::norm(field) - mean, 2) - variance);
    }
    const test::Estimate found = test::estimate(surplus);
    EXPECT_NEAR(found.mean, 0, 4 * found.error) << k_decibels;
    // A tenth of the Rician variance (2 K + 1) / (K + 1)^2 would show.
    const double k = std::pow(10, k_decibels / 10);
    EXPECT_LT(4 * found.error, 0.25 * (2 * k + 1) / (k + 1) / (k + 1)) << k_decibels;
  }
}

}  // namespace
}  // namespace trilemma
