#include "models/radio/fading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

using std::numbers::pi;

constexpr double speed_of_light = 299792458;  // m/s

/// Largest Doppler shift.
Frequency doppler_bound(Speed speed, Frequency carrier) {
  return Frequency(speed.value() * carrier.value() / speed_of_light);
}

Duration coherence_time_of(Speed speed, Frequency carrier) {
  const Frequency bound = doppler_bound(speed, carrier);
  if (bound == Frequency(0)) return Duration::max();
  constexpr double thirty_years = 9.4e8;  // s
  return to_duration(std::min(0.423 / bound.value(), thirty_years));
}

std::complex<float> turn(double turns) {
  const double angle = 2 * pi * (turns - std::floor(turns));
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

/// A power of two of lanes, so that sums are halved in the same order whatever the compiler makes of them.
using Lanes = std::array<float, FadingLink::most_paths>;

float sum(Lanes lanes) {
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace

FadingLink::FadingLink(std::span<const Path> paths, const Band& band) : paths_(paths.size()) {
  TRILEMMA_ENSURE(paths.size() <= most_paths, "a link has no more paths than clause 7.5 makes");
  for (std::size_t n = 0; n < paths.size(); ++n) {
    const std::complex<float> first =
        std::complex<float>(paths[n].amplitude) * turn(-band.lowest.value() * paths[n].delay);
    const std::complex<float> step = turn(-band.spacing.value() * paths[n].delay);
    doppler_[n] = paths[n].doppler.value();
    real_[n] = first.real();
    imaginary_[n] = first.imag();
    step_real_[n] = step.real();
    step_imaginary_[n] = step.imag();
  }
}

void FadingLink::gains(Instant t, std::span<float> gains) const {
  const double seconds = to_seconds(t);
  Lanes real{};
  Lanes imaginary{};
  for (std::size_t n = 0; n < paths_; ++n) {
    const double turns = doppler_[n] * seconds;
    const auto angle = static_cast<float>(2 * pi * (turns - static_cast<double>(static_cast<std::int64_t>(turns))));
    const float c = std::cos(angle);
    const float s = std::sin(angle);
    real[n] = real_[n] * c - imaginary_[n] * s;
    imaginary[n] = real_[n] * s + imaginary_[n] * c;
  }
  for (float& gain : gains) {
    const float in_phase = sum(real);
    const float quadrature = sum(imaginary);
    gain = in_phase * in_phase + quadrature * quadrature;
    for (std::size_t n = 0; n < most_paths; ++n) {
      const float before = real[n];
      real[n] = before * step_real_[n] - imaginary[n] * step_imaginary_[n];
      imaginary[n] = before * step_imaginary_[n] + imaginary[n] * step_real_[n];
    }
  }
}

Fading::Fading(const Tr38901Fading& config, const FadingSetup& setup, const Streams& streams, std::string_view who)
    : config_(config),
      setup_(setup),
      streams_(streams),
      who_(who),
      coherence_time_(coherence_time_of(config.speed, setup.carrier)) {}

namespace {

/// A pair of beams, one for each end.
struct BeamPair {
  WaveAngles departure;
  WaveAngles arrival;
};

WaveAngles mean_departure(const Cluster& cluster) {
  double sine = 0;
  double cosine = 0;
  double zenith = 0;
  for (const Ray& ray : cluster.rays) {
    sine += std::sin(ray.departure.azimuth);
    cosine += std::cos(ray.departure.azimuth);
    zenith += ray.departure.zenith;
  }
  return {.azimuth = std::atan2(sine, cosine), .zenith = zenith / static_cast<double>(cluster.rays.size())};
}

/// What a beam search may find: the straight line, and the strongest clusters.
std::vector<BeamPair> candidates(const Multipath& multipath) {
  constexpr std::size_t strongest = 4;
  std::vector<const Cluster*> clusters;
  for (const Cluster& cluster : multipath.clusters) clusters.push_back(&cluster);
  const std::size_t kept = std::min(strongest, clusters.size());
  std::partial_sort(clusters.begin(), clusters.begin() + static_cast<std::ptrdiff_t>(kept), clusters.end(),
                    [](const Cluster* a, const Cluster* b) { return a->power > b->power; });
  std::vector<BeamPair> pairs{{multipath.departure, multipath.arrival}};
  for (std::size_t i = 0; i < kept; ++i) pairs.push_back({mean_departure(*clusters[i]), clusters[i]->arrival});
  return pairs;
}

double power(std::span<const Path> paths) {
  double sum = 0;
  for (const Path& path : paths) sum += std::norm(path.amplitude);
  return sum;
}

}  // namespace

/// The paths through the best pair of beams; the arrays face each other.
std::vector<Path> Fading::through_best_beams(const Multipath& multipath) const {
  std::vector<Path> best;
  double best_power = -1;
  for (const BeamPair& pair : candidates(multipath)) {
    const Beam base_station(setup_.base_station, multipath.departure.azimuth, pair.departure);
    const Beam device(setup_.client, multipath.arrival.azimuth, pair.arrival);
    std::vector<Path> paths = beamformed(multipath, base_station, device);
    const double total = power(paths);
    if (total <= best_power) continue;
    best_power = total;
    best = std::move(paths);
  }
  return best;
}

FadingLink Fading::draw(std::uint32_t client, bool line_of_sight, Metres distance) const {
  Rng rng = streams_.stream(
      fmt::format("{}/fading of client {} {}", who_, client, line_of_sight ? "in line of sight" : "obstructed"));
  const LinkGeometry geometry{.heights = setup_.heights, .distance = distance, .line_of_sight = line_of_sight};
  const Multipath multipath =
      draw_multipath(cluster_statistics(setup_.environment, setup_.carrier, geometry), geometry, rng);
  const Beam base_station(setup_.base_station, multipath.departure.azimuth, multipath.departure);
  const Beam device(setup_.client, multipath.arrival.azimuth, multipath.arrival);
  const double ideal = std::sqrt(base_station.ideal_gain() * device.ideal_gain());
  std::vector<Path> through = through_best_beams(multipath);
  const double travel = 2 * pi * rng.uniform();  // on the ground
  const Frequency bound = doppler_bound(config_.speed, setup_.carrier);
  std::vector<FadingLink::Path> paths;
  for (const Path& path : through) {
    const double along = std::sin(path.arrival.zenith) * std::cos(path.arrival.azimuth - travel);
    paths.push_back({.amplitude = path.amplitude / ideal, .delay = path.delay, .doppler = bound * along});
  }
  const Frequency spacing = setup_.bandwidth / static_cast<double>(config_.subbands);
  return {paths, {.lowest = (spacing - setup_.bandwidth) / 2, .spacing = spacing}};
}

void Fading::gains(std::uint32_t client, bool line_of_sight, Metres distance, Instant t, std::span<float> gains) {
  TRILEMMA_ENSURE(gains.size() == subbands(), "every sub-band has a place for its gain");
  if (client >= clients_.size()) clients_.resize(client + std::size_t{1});
  auto& link = line_of_sight ? clients_[client].clear : clients_[client].obstructed;
  if (!link) link = std::make_unique<FadingLink>(draw(client, line_of_sight, distance));
  link->gains(epoch(t) * coherence_time_, gains);
}

}  // namespace trilemma
