#include "models/radio/multipath.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <span>

#include "core/ensure.h"

namespace trilemma {
namespace {

using std::numbers::pi;

constexpr double radian = pi / 180;
constexpr std::size_t rays_per_cluster = 20;

/// Table 7.5-3: offsets of the rays from the centre of a cluster of spread 1.
constexpr std::array<double, rays_per_cluster> offsets{0.0447,  -0.0447, 0.1413,  -0.1413, 0.2492,  -0.2492, 0.3715,
                                                       -0.3715, 0.5129,  -0.5129, 0.6797,  -0.6797, 0.8844,  -0.8844,
                                                       1.1481,  -1.1481, 1.5195,  -1.5195, 2.1551,  -2.1551};

/// Table 7.5-5: rays of the three parts of a strong cluster, from 0, and their delay in cluster delay spreads.
struct Part {
  std::span<const std::size_t> rays;
  double delay;
};
constexpr std::array<std::size_t, 10> first_rays{0, 1, 2, 3, 4, 5, 6, 7, 18, 19};
constexpr std::array<std::size_t, 6> second_rays{8, 9, 10, 11, 16, 17};
constexpr std::array<std::size_t, 4> third_rays{12, 13, 14, 15};
constexpr std::array parts{Part{first_rays, 0}, Part{second_rays, 1.28}, Part{third_rays, 2.56}};
constexpr std::array<std::size_t, rays_per_cluster> all_rays{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                                             10, 11, 12, 13, 14, 15, 16, 17, 18, 19};

/// Method of Box and Muller; always two numbers of the stream.
double normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(rng.uniform()));
  return radius * std::cos(2 * pi * rng.uniform());
}

double cubic(double x, const std::array<double, 4>& c) { return c[0] + x * (c[1] + x * (c[2] + x * c[3])); }

/// Tables 7.5-2 and 7.5-4, for the numbers of clusters that table 7.5-6 has.
struct AngleScaling {
  int clusters;
  double azimuth;
  double zenith;
};
AngleScaling angle_scaling(int clusters) {
  constexpr std::array known{AngleScaling{12, 1.146, 1.104}, AngleScaling{15, 1.211, 1.1088},
                             AngleScaling{19, 1.273, 1.184}, AngleScaling{20, 1.289, 1.178},
                             AngleScaling{25, 1.358, 1.282}};
  const auto* const found = std::find_if(known.begin(), known.end(),
                                         [&](const AngleScaling& scaling) { return scaling.clusters == clusters; });
  TRILEMMA_ENSURE(found != known.end(), "TR 38.901 scales the angles of that many clusters");
  return *found;
}

/// Large-scale parameters (step 4), in the units of ClusterStatistics.
struct Spreads {
  double k = 0;  // dB
  double delay;
  double departure_azimuth;
  double arrival_azimuth;
  double departure_zenith;
  double arrival_zenith;
};

Spreads draw_spreads(const ClusterStatistics& statistics, bool line_of_sight, Rng& rng) {
  std::array<double, 7> independent{};
  for (double& value : independent) value = normal(rng);
  std::array<double, 7> correlated{};
  for (std::size_t row = 0; row < correlated.size(); ++row) {
    const auto& weights = statistics.correlation_root[row];
    correlated[row] = std::inner_product(weights.begin(), weights.end(), independent.begin(), 0.0);
  }
  std::size_t next = 1;  // after the shadowing
  const double k = line_of_sight ? correlated[next++] * statistics.k_deviation + statistics.k_mean : 0;
  const auto power = [&](const LogNormal& law) { return std::pow(10, correlated[next++] * law.deviation + law.mean); };
  Spreads spreads{.k = k, .delay = power(statistics.delay_spread)};
  spreads.departure_azimuth = std::min(power(statistics.departure_azimuth), 104.0);
  spreads.arrival_azimuth = std::min(power(statistics.arrival_azimuth), 104.0);
  spreads.departure_zenith = std::min(power(statistics.departure_zenith), 52.0);
  spreads.arrival_zenith = std::min(power(statistics.arrival_zenith), 52.0);
  return spreads;
}

/// A cluster before its rays are laid out.
struct Outline {
  double delay;
  double power;
  double angle_power;  // with the direct path
};

/// Steps 5 and 6, (7.5-1) to (7.5-8).
std::vector<Outline> draw_outlines(const ClusterStatistics& statistics, const Spreads& spreads, double k, Rng& rng) {
  std::vector<Outline> outlines(static_cast<std::size_t>(statistics.clusters));
  for (Outline& outline : outlines) outline.delay = -statistics.delay_scaling * spreads.delay * std::log(rng.uniform());
  std::sort(outlines.begin(), outlines.end(), [](const Outline& a, const Outline& b) { return a.delay < b.delay; });
  const double earliest = outlines.front().delay;
  const double decay = (statistics.delay_scaling - 1) / (statistics.delay_scaling * spreads.delay);
  double total = 0;
  for (Outline& outline : outlines) {
    outline.delay -= earliest;
    outline.power = std::exp(-outline.delay * decay) * std::pow(10, -statistics.shadowing * normal(rng) / 10);
    total += outline.power;
  }
  double strongest = 0;
  for (Outline& outline : outlines) {
    outline.power /= total;
    outline.angle_power = outline.power / (k + 1);
    strongest = std::max(strongest, outline.power);
  }
  outlines.front().angle_power += k / (k + 1);
  const auto weak = [&](const Outline& outline) { return outline.power < strongest * std::pow(10, -2.5); };
  outlines.erase(std::remove_if(outlines.begin() + (k > 0 ? 1 : 0), outlines.end(), weak), outlines.end());
  return outlines;
}

/// Step 7, (7.5-11), (7.5-12), (7.5-16), (7.5-17) and (7.5-19): angles of the centres around the direct path, in
/// degrees. `deviations` are those of cluster powers for a spread of 1.
std::vector<double> draw_centres(const std::vector<double>& deviations, double spread, bool line_of_sight, Rng& rng) {
  std::vector<double> centres;
  for (const double deviation : deviations) {
    const double sign = rng.uniform() < 0.5 ? -1 : 1;
    centres.push_back(spread * (sign * deviation + normal(rng) / 7));
  }
  const double first = line_of_sight ? centres.front() : 0;
  for (double& centre : centres) centre -= first;
  return centres;
}

/// The centres of all clusters, in degrees relative to the direct path.
struct Centres {
  std::vector<double> departure_azimuth;
  std::vector<double> arrival_azimuth;
  std::vector<double> departure_zenith;
  std::vector<double> arrival_zenith;
};

Centres draw_all_centres(const std::vector<Outline>& outlines, const Spreads& spreads, const AngleScaling& scaling,
                         bool line_of_sight, Rng& rng) {
  const double azimuth = scaling.azimuth * (line_of_sight ? cubic(spreads.k, {1.1035, -0.028, -0.002, 0.0001}) : 1);
  const double zenith = scaling.zenith * (line_of_sight ? cubic(spreads.k, {1.3086, 0.0339, -0.0077, 0.0002}) : 1);
  double strongest = 0;
  for (const Outline& outline : outlines) strongest = std::max(strongest, outline.angle_power);
  std::vector<double> sideways;
  std::vector<double> upwards;
  for (const Outline& outline : outlines) {
    const double depth = -std::log(outline.angle_power / strongest);
    sideways.push_back(2 / 1.4 * std::sqrt(depth) / azimuth);  // (7.5-9)
    upwards.push_back(depth / zenith);                         // (7.5-14)
  }
  Centres centres;
  centres.departure_azimuth = draw_centres(sideways, spreads.departure_azimuth, line_of_sight, rng);
  centres.arrival_azimuth = draw_centres(sideways, spreads.arrival_azimuth, line_of_sight, rng);
  centres.departure_zenith = draw_centres(upwards, spreads.departure_zenith, line_of_sight, rng);
  centres.arrival_zenith = draw_centres(upwards, spreads.arrival_zenith, line_of_sight, rng);
  return centres;
}

/// Clause 7.5 after (7.5-18): an angle beyond straight up or down is its mirror image.
double folded(double zenith) { return std::abs(std::remainder(zenith, 2 * pi)); }

/// A bearing `azimuth` and `zenith` degrees away from `from`.
WaveAngles turned(WaveAngles from, double azimuth, double zenith) {
  return {.azimuth = from.azimuth + azimuth * radian, .zenith = folded(from.zenith + zenith * radian)};
}

struct Centre {
  WaveAngles departure;
  WaveAngles arrival;
};

/// Steps 7, 8 and 10 for the rays of a cluster or of a part of one.
std::vector<Ray> draw_rays(const ClusterStatistics& statistics, const Centre& centre,
                           std::span<const std::size_t> which, Rng& rng) {
  const auto shuffled = [&] {
    std::array<double, rays_per_cluster> order{};
    for (std::size_t i = 0; i < which.size(); ++i) {
      const auto j = static_cast<std::size_t>(rng.uniform() * static_cast<double>(i + 1));
      order[i] = order[j];
      order[j] = offsets[which[i]];
    }
    return order;
  };
  const double departure_zenith = 0.375 * std::pow(10, statistics.departure_zenith.mean);  // (7.5-20)
  const auto zenith_out = shuffled();
  const auto azimuth_in = shuffled();
  const auto zenith_in = shuffled();
  std::vector<Ray> rays(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    rays[i].departure = turned(centre.departure, statistics.cluster_departure_azimuth * offsets[which[i]],
                               departure_zenith * zenith_out[i]);
    rays[i].arrival = turned(centre.arrival, statistics.cluster_arrival_azimuth * azimuth_in[i],
                             statistics.cluster_arrival_zenith * zenith_in[i]);
    rays[i].phase = 2 * pi * rng.uniform();
  }
  return rays;
}

/// Power from which on a cluster is one of the two strongest.
double second_strongest(const std::vector<Outline>& outlines) {
  double first = 0;
  double second = 0;
  for (const Outline& outline : outlines) {
    second = std::max(second, std::min(first, outline.power));
    first = std::max(first, outline.power);
  }
  return second;
}

/// Angle above the horizon under which the base station is seen from the client, radians.
double elevation(const LinkGeometry& geometry) {
  return std::atan2((geometry.heights.base_station - geometry.heights.ue).value(), geometry.distance.value());
}

}  // namespace

WaveAngles direct_departure(const LinkGeometry& geometry) {
  return {.azimuth = 0, .zenith = pi / 2 + elevation(geometry)};
}

WaveAngles direct_arrival(const LinkGeometry& geometry) {
  return {.azimuth = pi, .zenith = pi / 2 - elevation(geometry)};
}

Multipath draw_multipath(const ClusterStatistics& statistics, const LinkGeometry& geometry, Rng& rng) {
  const bool clear = geometry.line_of_sight;
  const Spreads spreads = draw_spreads(statistics, clear, rng);
  Multipath multipath{.k_factor = clear ? std::pow(10, spreads.k / 10) : 0,
                      .delay_spread = spreads.delay,
                      .departure = direct_departure(geometry),
                      .arrival = direct_arrival(geometry)};
  const std::vector<Outline> outlines = draw_outlines(statistics, spreads, multipath.k_factor, rng);
  const Centres centres = draw_all_centres(outlines, spreads, angle_scaling(statistics.clusters), clear, rng);
  const double offset = clear ? 0 : statistics.departure_zenith_offset;
  const double stretch = clear ? 1 / cubic(spreads.k, {0.7705, -0.0433, 0.0002, 0.000017}) : 1;  // (7.5-3), (7.5-4)
  const double strong = second_strongest(outlines);
  for (std::size_t n = 0; n < outlines.size(); ++n) {
    const Centre centre{
        .departure = turned(multipath.departure, centres.departure_azimuth[n], centres.departure_zenith[n] + offset),
        .arrival = turned(multipath.arrival, centres.arrival_azimuth[n], centres.arrival_zenith[n])};
    const auto add = [&](const Part& part) {
      const double share = static_cast<double>(part.rays.size()) / rays_per_cluster;
      multipath.clusters.push_back({.power = outlines[n].power * share,
                                    .delay = outlines[n].delay * stretch + part.delay * statistics.cluster_delay_spread,
                                    .arrival = centre.arrival,
                                    .rays = draw_rays(statistics, centre, part.rays, rng)});
    };
    if (outlines[n].power >= strong) {
      for (const Part& part : parts) add(part);
    } else {
      add({.rays = all_rays, .delay = 0});
    }
  }
  return multipath;
}

std::vector<Path> beamformed(const Multipath& multipath, const Beam& base_station, const Beam& client) {
  const auto through = [&](WaveAngles departure, WaveAngles arrival, double phase) {
    const Response out = base_station.response(departure);
    const Response in = client.response(arrival);
    const double turn = phase + out.phase + in.phase;
    return out.amplitude * in.amplitude * std::complex<double>(std::cos(turn), std::sin(turn));
  };
  std::vector<Path> paths;
  for (const Cluster& cluster : multipath.clusters) {
    std::complex<double> sum = 0;
    for (const Ray& ray : cluster.rays) sum += through(ray.departure, ray.arrival, ray.phase);
    const double ray_power = cluster.power / static_cast<double>(cluster.rays.size()) / (multipath.k_factor + 1);
    paths.push_back({.amplitude = sum * std::sqrt(ray_power), .delay = cluster.delay, .arrival = cluster.arrival});
  }
  const double direct = std::sqrt(multipath.k_factor / (multipath.k_factor + 1));  // (7.5-30)
  if (direct > 0) paths.front().amplitude += direct * through(multipath.departure, multipath.arrival, 0);
  return paths;
}

}  // namespace trilemma
