#include "models/radio/interference.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr ArrayConfig point{.rows = 1, .columns = 1};
constexpr ArrayConfig pair{.rows = 1, .columns = 2};
const Streams streams(1, 0);

/// Street canyon, always in line of sight, no shadowing, no arrays.
InterferenceSetup plain_setup() {
  return {.environment = Environment::umi,
          .carrier = Frequency(28e9),
          .line_of_sight = LineOfSight::always,
          .shadowing = Shadowing::off,
          .uplink_bandwidth = Frequency(50e6),
          .downlink_bandwidth = Frequency(400e6),
          .base_station = {.power = PowerLevel(30),
                           .array = point,
                           .extra = Decibels(5),
                           .noise_figure = Decibels(7),
                           .height = Metres(10)},
          .device = {.power = PowerLevel(20),
                     .array = point,
                     .extra = Decibels(2),
                     .noise_figure = Decibels(10),
                     .height = Metres(1.5)}};
}

/// An office whose stations all hang at the same height, so that all bearings are level.
InterferenceSetup level_setup() {
  InterferenceSetup setup = plain_setup();
  setup.environment = Environment::inh;
  setup.base_station.height = setup.device.height = Metres(2);
  return setup;
}

Position at(double x, double y, double z) { return {.x = Metres(x), .y = Metres(y), .z = Metres(z)}; }

double metres_between(const Position& a, const Position& b) {
  return std::hypot((a.x - b.x).value(), (a.y - b.y).value(), (a.z - b.z).value());
}

/// 10 lg(1 + I / N), all in dBm; the thermal noise has -174 dBm/Hz.
double rise(double interference, double bandwidth, double noise_figure) {
  const double noise = -174 + 10 * std::log10(bandwidth) + noise_figure;
  return 10 * std::log10(1 + std::pow(10, (interference - noise) / 10));
}

/// In line of sight at 28 GHz, before the breakpoint.
double street_loss(const Position& a, const Position& b) {
  return 32.4 + 21 * std::log10(metres_between(a, b)) + 20 * std::log10(28.0);
}
double office_loss(const Position& a, const Position& b) {
  return 32.4 + 17.3 * std::log10(metres_between(a, b)) + 20 * std::log10(28.0);
}

NeighbourField field(const InterferenceSetup& setup, double activity, std::vector<Neighbour> neighbours) {
  return {Fraction(activity), setup, std::move(neighbours), "cell 0", streams};
}

// Downlink: 30 dBm, gains 5 + 2 dB, over 400 MHz at a noise figure of 10 dB. Uplink: 20 dBm, 50 MHz, 7 dB. A quarter
// of the time is 6.02 dB less.
TEST(NeighbourField, HasTheRiseOfALinkBudgetToOneNeighbour) {
  const Position base = at(0, 0, 10);
  const Position far_base = at(100, 0, 10);
  const Position far_client = at(100, 40, 1.5);
  const Position victim = at(20, 30, 1.5);
  const NoiseRise found =
      field(plain_setup(), 0.25, {{.base_station = far_base, .clients = {far_client}}}).noise_rise("client 0", victim);
  const double quarter = 10 * std::log10(0.25);
  EXPECT_NEAR(found.downlink.value(), rise(30 + 7 - street_loss(far_base, victim) + quarter, 400e6, 10), 1e-6);
  EXPECT_NEAR(found.uplink.value(), rise(20 + 7 - street_loss(far_client, base) + quarter, 50e6, 7), 1e-6);
  EXPECT_GT(found.downlink, Decibels(1));  // neither is lost in the noise
  EXPECT_GT(found.uplink, Decibels(1));
}

// Two columns have 3.01 dB along the beam and nothing to the side: of two clients, one where the victim stands and one
// at a right angle to it, seen from their base station, the mean gain is (2 + 0) / 2.
TEST(NeighbourField, AveragesOverTheBeamsOfANeighbour) {
  InterferenceSetup setup = level_setup();
  setup.base_station.array = pair;
  const Position far_base = at(40, 0, 2);
  const Position victim = at(10, 0, 2);
  const auto downlink = [&](const std::vector<Position>& clients) {
    return field(setup, 1, {{.base_station = far_base, .clients = clients}}).noise_rise("client 0", victim).downlink;
  };
  const double budget = 30 + 7 - office_loss(far_base, victim);
  EXPECT_NEAR(downlink({victim}).value(), rise(budget + 10 * std::log10(2.0), 400e6, 10), 1e-6);
  EXPECT_NEAR(downlink({victim, at(40, 20, 2)}).value(), rise(budget, 400e6, 10), 1e-6);
  EXPECT_NEAR(downlink({at(40, 20, 2)}).value(), 0, 1e-9);
}

TEST(NeighbourField, HearsNeighboursThroughItsOwnBeam) {
  InterferenceSetup setup = level_setup();
  setup.base_station.array = pair;
  const Position far_client = at(40, 0, 2);
  const NeighbourField neighbours = field(setup, 1, {{.base_station = at(50, 0, 2), .clients = {far_client}}});
  const double budget = 20 + 7 - office_loss(far_client, at(0, 0, 2));
  EXPECT_NEAR(neighbours.noise_rise("client 0", at(10, 0, 2)).uplink.value(),
              rise(budget + 10 * std::log10(2.0), 50e6, 7), 1e-6);
  EXPECT_NEAR(neighbours.noise_rise("client 1", at(0, 10, 2)).uplink.value(), 0, 1e-9);
}

// A device with two columns receives from its own base station at the origin and so is deaf to its sides; it sends
// to its own base station and is silent to its sides.
TEST(NeighbourField, PointsTheArraysOfDevicesAtTheirBaseStations) {
  InterferenceSetup setup = level_setup();
  setup.device.array = pair;
  const NeighbourField neighbours = field(setup, 1, {{.base_station = at(20, 30, 2), .clients = {at(20, 0, 2)}}});
  EXPECT_NEAR(neighbours.noise_rise("client 0", at(20, 0, 2)).downlink.value(), 0, 1e-9);
  EXPECT_GT(neighbours.noise_rise("client 0", at(20, 10, 2)).downlink, Decibels(0.1));
  EXPECT_NEAR(neighbours.noise_rise("client 0", at(20, 0, 2)).uplink.value(), 0, 1e-9);
}

// Everything on one line along y, where only an array that is turned to its peer shows its 8 dB; neighbour, its client,
// this client and this base station in this order, so that the arrays of both base stations see the interference along
// their beams, those of both devices behind them, 22 dB down.
TEST(NeighbourField, TurnsEveryArrayToItsPeer) {
  InterferenceSetup setup = level_setup();
  setup.base_station.array.element = ElementPattern::tr38901;
  const Position base = at(0, 0, 2);
  const Position far_base = at(0, 40, 2);
  const Position far_client = at(0, 30, 2);
  const Position victim = at(0, 10, 2);
  const auto found = [&] {
    return field(setup, 1, {{.base_station = far_base, .clients = {far_client}}}).noise_rise("client 0", victim);
  };
  const double downlink = 30 + 7 + 8 - office_loss(far_base, victim);
  const double uplink = 20 + 7 + 8 - office_loss(far_client, base);
  EXPECT_NEAR(found().downlink.value(), rise(downlink, 400e6, 10), 1e-6);
  EXPECT_NEAR(found().uplink.value(), rise(uplink, 50e6, 7), 1e-6);
  setup.device.array.element = ElementPattern::tr38901;
  EXPECT_NEAR(found().downlink.value(), rise(downlink - 22, 400e6, 10), 1e-6);
  EXPECT_NEAR(found().uplink.value(), rise(uplink - 22, 50e6, 7), 1e-6);
}

TEST(NeighbourField, AddsUpAllNeighboursAndTheirClients) {
  const InterferenceSetup setup = plain_setup();
  const NeighbourInterference config{.inter_site_distance = Metres(150), .activity = Fraction(0.5), .sites = 18};
  const std::vector<Neighbour> neighbours = draw_neighbours(config, setup, "cell 0", streams);
  const Position victim = at(30, -15, 1.5);
  double downlink = 0;
  double uplink = 0;
  for (const Neighbour& neighbour : neighbours) {
    downlink += 0.5 * std::pow(10, (37 - street_loss(neighbour.base_station, victim)) / 10);
    for (const Position& client : neighbour.clients) {
      uplink += 0.5 / 16 * std::pow(10, (27 - street_loss(client, at(0, 0, 10))) / 10);
    }
  }
  const NoiseRise found = Interference(config, setup, "cell 0", streams).noise_rise("client 0", victim);
  EXPECT_NEAR(found.downlink.value(), rise(10 * std::log10(downlink), 400e6, 10), 1e-6);
  EXPECT_NEAR(found.uplink.value(), rise(10 * std::log10(uplink), 50e6, 7), 1e-6);
}

TEST(DrawNeighbours, PutsClientsIntoTheCellsAround) {
  const NeighbourInterference config{.inter_site_distance = Metres(60), .sites = 18, .clients = 50};
  const std::vector<Neighbour> neighbours = draw_neighbours(config, plain_setup(), "cell 0", streams);
  ASSERT_EQ(neighbours.size(), 18U);
  for (const Neighbour& neighbour : neighbours) {
    ASSERT_EQ(neighbour.clients.size(), 50U);
    EXPECT_EQ(neighbour.base_station.z, Metres(10));
    for (const Position& client : neighbour.clients) {
      const Position below{.x = neighbour.base_station.x, .y = neighbour.base_station.y, .z = Metres(1.5)};
      EXPECT_EQ(client.z, Metres(1.5));
      EXPECT_GE(metres_between(client, below), 10);                   // of the environment
      EXPECT_LE(metres_between(client, below), 60 / std::sqrt(3.0));  // of the hexagon
      EXPECT_GE(metres_between(client, at(0, 0, 1.5)), 30);
    }
  }
}

/// Everything by chance, with arrays.
InterferenceSetup full_setup() {
  InterferenceSetup setup = plain_setup();
  setup.line_of_sight = LineOfSight::drawn;
  setup.shadowing = Shadowing::on;
  setup.base_station.array = {.rows = 8, .columns = 8, .element = ElementPattern::tr38901};
  setup.device.array = {.rows = 2, .columns = 2, .element = ElementPattern::tr38901};
  return setup;
}

NoiseRise rise_of(const NeighbourInterference& config, const InterferenceSetup& setup = full_setup()) {
  return Interference(config, setup, "cell 0", streams).noise_rise("client 0", at(25, 5, 1.5));
}

TEST(Interference, OfIdleNeighboursIsExactlyNothing) {
  const NoiseRise found = rise_of({.activity = Fraction(0)});
  EXPECT_EQ(found.uplink, Decibels(0));
  EXPECT_EQ(found.downlink, Decibels(0));
}

TEST(Interference, GrowsWithActivity) {
  NoiseRise before;
  for (const double activity : {0.01, 0.1, 0.5, 1.0}) {
    const NoiseRise found = rise_of({.activity = Fraction(activity)});
    EXPECT_GT(found.uplink, before.uplink);
    EXPECT_GT(found.downlink, before.downlink);
    before = found;
  }
}

TEST(Interference, ShrinksWithDistance) {
  NoiseRise before{.uplink = Decibels(1000), .downlink = Decibels(1000)};
  for (const double metres : {80.0, 160.0, 320.0, 640.0}) {
    const NoiseRise found = rise_of({.inter_site_distance = Metres(metres)}, plain_setup());
    EXPECT_LT(found.uplink, before.uplink);
    EXPECT_LT(found.downlink, before.downlink);
    before = found;
  }
}

TEST(Interference, OfTwoRingsExceedsThatOfOne) {
  const NoiseRise one = rise_of({.sites = 6});
  const NoiseRise two = rise_of({.sites = 18});
  EXPECT_GT(two.uplink, one.uplink);
  EXPECT_GT(two.downlink, one.downlink);
}

TEST(Interference, OfAClientDependsOnItsNameAlone) {
  const Interference first(NeighbourInterference{}, full_setup(), "cell 0", streams);
  const Interference second(NeighbourInterference{}, full_setup(), "cell 0", streams);
  const Position place = at(25, 5, 1.5);
  (void)second.noise_rise("client 1", place);
  EXPECT_EQ(first.noise_rise("client 0", place).downlink, second.noise_rise("client 0", place).downlink);
  EXPECT_EQ(first.noise_rise("client 0", place).uplink, second.noise_rise("client 1", place).uplink);
  EXPECT_NE(first.noise_rise("client 0", place).downlink, second.noise_rise("client 1", place).downlink);
  const Interference elsewhere(NeighbourInterference{}, full_setup(), "cell 1", streams);
  EXPECT_NE(elsewhere.noise_rise("client 0", place).uplink, first.noise_rise("client 0", place).uplink);
}

TEST(Interference, AsAMarginIsTheSameForAll) {
  const Interference margin(MarginInterference{.uplink = Decibels(2), .downlink = Decibels(6)}, full_setup(), "cell 0",
                            streams);
  EXPECT_EQ(margin.noise_rise("client 0", at(25, 5, 1.5)).uplink, Decibels(2));
  EXPECT_EQ(margin.noise_rise("client 9", at(70, 5, 1.5)).downlink, Decibels(6));
  const Interference none(NoInterference{}, full_setup(), "cell 0", streams);
  EXPECT_EQ(none.noise_rise("client 0", at(25, 5, 1.5)).uplink, Decibels(0));
  EXPECT_EQ(none.noise_rise("client 0", at(25, 5, 1.5)).downlink, Decibels(0));
}

TEST(NeighbourInterference, ComesInWholeRings) {
  EXPECT_TRUE(NeighbourInterference{.sites = 6}.problems().empty());
  EXPECT_TRUE(NeighbourInterference{.sites = 18}.problems().empty());
  ASSERT_EQ(NeighbourInterference{.sites = 7}.problems().size(), 1U);
  EXPECT_EQ(NeighbourInterference{.sites = 7}.problems()[0].key, "sites");
}

// The farthest client of two rings is 2 + 1 / sqrt 3 grid steps away: 149.5 m of the 150 m of an office at 58 m.
TEST(NeighbourInterference, StaysWithinTheRangeOfTheModel) {
  const InterferenceSetup office = level_setup();
  const auto office_problem = [&](double grid) {
    return distance_problem({.inter_site_distance = Metres(grid), .sites = 18}, office, Metres(10));
  };
  EXPECT_EQ(office_problem(58), "");  // 58 (2 + 1 / sqrt 3) = 149.5 m
  EXPECT_NE(office_problem(59).find("beyond the 150 m"), std::string::npos);

  const auto street_problem = [&](double farthest) {
    return distance_problem({.inter_site_distance = Metres(200)}, plain_setup(), Metres(farthest));
  };
  EXPECT_EQ(street_problem(190), "");
  EXPECT_NE(street_problem(191).find("within 10 m"), std::string::npos);
  EXPECT_NE(street_problem(250).find("more than 260 m"), std::string::npos);
}

// What distance_problem lets through, Propagation takes: the farthest client on the worst side.
TEST(NeighbourInterference, WithoutProblemsCanBeSimulated) {
  InterferenceSetup setup = level_setup();
  const NeighbourInterference config{.inter_site_distance = Metres(58), .sites = 18, .clients = 200};
  const Interference interference(config, setup, "cell 0", streams);
  for (int azimuth = 0; azimuth < 360; azimuth += 15) {
    const Bearing away = bearing(Degrees(90), Degrees(azimuth));
    EXPECT_NO_THROW((void)interference.noise_rise("client 0", at(10 * away.x, 10 * away.y, 2)));
  }
}

}  // namespace
}  // namespace trilemma
