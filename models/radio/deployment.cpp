#include "models/radio/deployment.h"

#include <algorithm>
#include <cmath>

namespace trilemma {
namespace {

constexpr Metres outdoor_height{1.5};

Position operator+(const Position& a, const Position& b) { return {.x = a.x + b.x, .y = a.y + b.y, .z = a.z + b.z}; }
Position operator*(const Position& a, double factor) {
  return {.x = a.x * factor, .y = a.y * factor, .z = a.z * factor};
}

/// On the ground.
Position polar(Metres distance, Degrees azimuth) {
  const Bearing direction = bearing(Degrees(90), azimuth);
  return {.x = distance * direction.x, .y = distance * direction.y, .z = Metres(0)};
}

double ground_distance(const Position& a, const Position& b) {
  return std::hypot((a.x - b.x).value(), (a.y - b.y).value());
}

/// Uniform on low, low + 1, ... low + count - 1.
int uniform_integer(int low, int count, Rng& rng) {
  return low + std::min(static_cast<int>(rng.uniform() * count), count - 1);
}

}  // namespace

std::vector<Position> hexagonal_sites(Metres inter_site_distance, int rings, Metres height) {
  std::vector<Position> sites = {{.z = height}};
  for (int ring = 1; ring <= rings; ++ring) {
    // Along each side of the ring from the corner at 30, 90, ... degrees, which the sites of the side leave at 120
    // more.
    for (int side = 0; side < 6; ++side) {
      const Degrees azimuth(30.0 + 60.0 * side);
      const Position corner = polar(inter_site_distance * ring, azimuth);
      const Position step = polar(inter_site_distance, azimuth + Degrees(120));
      for (int k = 0; k < ring; ++k) sites.push_back(Position{.z = height} + corner + step * k);
    }
  }
  return sites;
}

Position uniform_in_hexagon(const Position& site, Metres inter_site_distance, Rng& rng) {
  // Three rhombi around the middle, between corners of the hexagon that are 120 degrees apart, cover it.
  const Metres corner = inter_site_distance / std::sqrt(3.0);
  const Degrees azimuth(120.0 * uniform_integer(0, 3, rng));
  const double along = rng.uniform();
  const double across = rng.uniform();
  return site + polar(corner, azimuth) * along + polar(corner, azimuth + Degrees(120)) * across;
}

HexagonalLayout::HexagonalLayout(Metres inter_site_distance, Metres height)
    : inter_site_distance_(inter_site_distance), sites_(hexagonal_sites(inter_site_distance, 2, height)) {
  // 19 = 3^2 + 3 x 2 + 2^2: copies of the two rings, three steps one way and two 60 degrees to the left, leave no gap.
  for (std::size_t k = 0; k < 6; ++k) {
    const Degrees azimuth(30.0 + 60.0 * static_cast<double>(k));
    shifts_[k + 1] = polar(inter_site_distance * 3, azimuth) + polar(inter_site_distance * 2, azimuth + Degrees(60));
  }
}

Position HexagonalLayout::nearest_image(std::size_t site, const Position& place) const {
  const auto nearer = [&](const Position& a, const Position& b) {
    return ground_distance(sites_[site] + a, place) < ground_distance(sites_[site] + b, place);
  };
  return sites_[site] + *std::min_element(shifts_.begin(), shifts_.end(), nearer);
}

Metres draw_storey_height(Rng& rng) {
  const int storeys = uniform_integer(4, 5, rng);
  const int storey = uniform_integer(1, storeys, rng);
  return Metres(3.0 * (storey - 1) + 1.5);
}

Drop drop_ue(const HexagonalLayout& layout, const DropRules& rules, Rng& rng) {
  const bool inside = rng.happens(rules.indoors.value());
  const Metres height = inside ? draw_storey_height(rng) : outdoor_height;
  const auto count = static_cast<int>(layout.sites().size());
  const Position& site = layout.sites()[static_cast<std::size_t>(uniform_integer(0, count, rng))];
  Position place = uniform_in_hexagon(site, layout.inter_site_distance(), rng);
  while (Metres(ground_distance(place, site)) < rules.nearest) {
    place = uniform_in_hexagon(site, layout.inter_site_distance(), rng);
  }
  place.z = height;
  return {.position = place, .whereabouts = inside ? Whereabouts::indoors : Whereabouts::outdoors};
}

std::vector<Position> office_sites() {
  std::vector<Position> sites;
  for (const double y : {15.0, 35.0}) {
    for (int k = 0; k < 6; ++k) sites.push_back({.x = Metres(10 + 20.0 * k), .y = Metres(y), .z = Metres(3)});
  }
  return sites;
}

Position drop_in_office(Rng& rng) {
  const double along = rng.uniform();
  return {.x = office_length * along, .y = office_width * rng.uniform(), .z = Metres(1)};
}

}  // namespace trilemma
