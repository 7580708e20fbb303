#include "models/radio/deployment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/estimate.h"

namespace trilemma {
namespace {

double ground(const Position& a, const Position& b) { return std::hypot((a.x - b.x).value(), (a.y - b.y).value()); }
Rng stream() { return Streams(1, 0).stream("test/places"); }

TEST(HexagonalSites, StandInRings) {
  const std::vector<Position> sites = hexagonal_sites(Metres(200), 2, Metres(10));
  ASSERT_EQ(sites.size(), 19U);
  std::map<long, int> rings;  // by distance from the middle, in m
  for (const Position& site : sites) {
    ++rings[std::lround(ground(site, sites[0]))];
    EXPECT_EQ(site.z, Metres(10));
  }
  EXPECT_EQ(rings, (std::map<long, int>{{0, 1}, {200, 6}, {346, 6}, {400, 6}}));
  EXPECT_EQ(hexagonal_sites(Metres(200), 0, Metres(10)).size(), 1U);
  EXPECT_EQ(hexagonal_sites(Metres(200), 3, Metres(10)).size(), 37U);
}

TEST(HexagonalSites, HaveANeighbourInFrontOfEverySector) {
  const std::vector<Position> sites = hexagonal_sites(Metres(200), 1, Metres(10));
  for (const Degrees azimuth : sector_azimuths) {
    const Bearing front = bearing(Degrees(90), azimuth);
    const Position ahead{.x = Metres(200) * front.x, .y = Metres(200) * front.y};
    EXPECT_TRUE(std::any_of(sites.begin(), sites.end(), [&](const Position& s) { return ground(s, ahead) < 1e-9; }));
  }
}

TEST(HexagonalLayout, SurroundsEverySiteAsTheMiddleOne) {
  const HexagonalLayout layout(Metres(200), Metres(10));
  for (const Position& site : layout.sites()) {
    std::map<long, int> rings;
    for (std::size_t other = 0; other < layout.sites().size(); ++other) {
      ++rings[std::lround(ground(layout.nearest_image(other, site), site))];
    }
    EXPECT_EQ(rings, (std::map<long, int>{{0, 1}, {200, 6}, {346, 6}, {400, 6}}));
  }
}

TEST(HexagonalLayout, DropsUsersWhereTheirSiteIsTheNearest) {
  const HexagonalLayout layout(Metres(200), Metres(10));
  Rng rng = stream();
  for (int i = 0; i < 2000; ++i) {
    const Position place = uniform_in_hexagon(layout.sites()[7], Metres(200), rng);
    for (std::size_t other = 0; other < layout.sites().size(); ++other) {
      EXPECT_LE(ground(place, layout.sites()[7]), ground(place, layout.nearest_image(other, place)) + 1e-9);
    }
  }
}

// Second moment of a regular hexagon of circumradius R: mean of x^2 + y^2 = 5 R^2 / 12; here R = 200 / sqrt 3 m.
TEST(UniformInHexagon, SpreadsOverTheWholeHexagon) {
  Rng rng = stream();
  std::vector<double> x, y, squares;
  for (int i = 0; i < 20000; ++i) {
    const Position place = uniform_in_hexagon({}, Metres(200), rng);
    x.push_back(place.x.value());
    y.push_back(place.y.value());
    squares.push_back(x.back() * x.back() + y.back() * y.back());
  }
  for (const auto& [values, mean] : {std::pair{x, 0.0}, std::pair{y, 0.0}, std::pair{squares, 5 * 40000 / 36.0}}) {
    const test::Estimate estimate = test::estimate(values);
    EXPECT_NEAR(estimate.mean, mean, 4 * estimate.error);
  }
}

// P(ground floor) = mean of 1/N = (1/4 + 1/5 + 1/6 + 1/7 + 1/8) / 5; P(8th) = 1/8/5.
TEST(StoreyHeight, IsThatOfARandomStoreyOfARandomBuilding) {
  Rng rng = stream();
  constexpr int draws = 20000;
  std::map<double, int> heights;
  for (int i = 0; i < draws; ++i) ++heights[draw_storey_height(rng).value()];
  EXPECT_EQ(heights.size(), 8U);
  const auto expect_share = [&](double height, double p) {
    EXPECT_NEAR(heights[height], p * draws, 4 * std::sqrt(p * (1 - p) * draws)) << height;
  };
  expect_share(1.5, (1 / 4.0 + 1 / 5.0 + 1 / 6.0 + 1 / 7.0 + 1 / 8.0) / 5);
  expect_share(22.5, 1 / 40.0);
}

TEST(DropUe, KeepsItsDistanceAndItsShareOfBuildings) {
  const HexagonalLayout layout(Metres(200), Metres(10));
  Rng rng = stream();
  constexpr int draws = 4000;
  int inside = 0;
  for (int i = 0; i < draws; ++i) {
    const Drop drop = drop_ue(layout, {.nearest = Metres(50), .indoors = Fraction(0.8)}, rng);
    for (const Position& site : layout.sites()) EXPECT_GE(ground(drop.position, site), 50);
    if (drop.whereabouts == Whereabouts::indoors) {
      ++inside;
    } else {
      EXPECT_EQ(drop.position.z, Metres(1.5));
    }
  }
  EXPECT_NEAR(inside, 0.8 * draws, 4 * std::sqrt(0.8 * 0.2 * draws));
}

TEST(Office, HoldsItsSitesAndUsers) {
  const std::vector<Position> sites = office_sites();
  ASSERT_EQ(sites.size(), 12U);
  for (const Position& site : sites) {
    double nearest = 1000;
    for (const Position& other : sites) {
      if (const double distance = ground(site, other); distance > 0) nearest = std::min(nearest, distance);
    }
    EXPECT_DOUBLE_EQ(nearest, 20);
    EXPECT_EQ(site.z, Metres(3));
  }
  Rng rng = stream();
  for (int i = 0; i < 1000; ++i) {
    const Position place = drop_in_office(rng);
    EXPECT_TRUE(Metres(0) < place.x && place.x < office_length && Metres(0) < place.y && place.y < office_width);
    EXPECT_EQ(place.z, Metres(1));
  }
}

}  // namespace
}  // namespace trilemma
