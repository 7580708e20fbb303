#include "models/radio/antenna.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

constexpr Degrees horizon{90};

Bearing along(double azimuth) { return bearing(horizon, Degrees(azimuth)); }
double element(const Bearing& toward) { return element_gain(ElementPattern::tr38901, toward).value(); }

TEST(ElementGain, FollowsTheParabolasOfTheReport) {
  EXPECT_NEAR(element(along(0)), 8, 1e-9);
  EXPECT_NEAR(element(along(32.5)), 5, 1e-9);   // half of 65 degrees: 12 / 4 = 3 dB
  EXPECT_NEAR(element(along(-65)), -4, 1e-9);   // 12 dB
  EXPECT_NEAR(element(along(180)), -22, 1e-9);  // 30 dB, front to back
  EXPECT_NEAR(element(bearing(Degrees(122.5), Degrees(0))), 5, 1e-9);
  // Both planes add up: 3 + 3 dB, and 23.0 (90 degrees aside) + 12 dB stop at 30.
  EXPECT_NEAR(element(bearing(Degrees(122.5), Degrees(32.5))), 2, 1e-9);
  EXPECT_NEAR(element(bearing(Degrees(155), Degrees(90))), -22, 1e-9);
}

TEST(ElementGain, OfAnIsotropicElementIsNothing) {
  EXPECT_EQ(element_gain(ElementPattern::isotropic, along(77)), Decibels(0));
}

// Ten elements, beam 12 degrees down: 10 dB of array and 8 - 12 (12 / 65)^2 dB of element.
TEST(Antenna, OfTheCalibrationHasItsGainAlongItsTilt) {
  const Antenna antenna({.rows = 10, .columns = 1, .element = ElementPattern::tr38901}, along(30));
  const Bearing beam = bearing(Degrees(102), Degrees(30));
  EXPECT_NEAR(antenna.gain(beam, beam).value(), 18 - 12 * 144 / 4225.0, 1e-9);
  // The horizon: |sin(5 pi d) / (10 sin(pi d / 2))| with d = cos 102 degrees.
  const double d = -std::cos(102 * std::numbers::pi / 180);
  const double factor = std::sin(5 * std::numbers::pi * d) / (10 * std::sin(std::numbers::pi * d / 2));
  EXPECT_NEAR(antenna.gain(beam, along(30)).value(), 18 + 20 * std::log10(std::abs(factor)), 1e-9);
}

TEST(Antenna, HasItsPeakWhereItFaces) {
  for (const ElementPattern pattern : {ElementPattern::isotropic, ElementPattern::tr38901}) {
    const ArrayConfig array{.rows = 4, .columns = 8, .element = pattern};
    const Bearing front = bearing(Degrees(110), Degrees(-140));
    const Antenna antenna(array, front);
    EXPECT_NEAR(antenna.gain(front, front).value(), peak_gain(array).value(), 1e-9);
    EXPECT_NEAR(peak_gain(array).value(), 10 * std::log10(32.0) + (pattern == ElementPattern::tr38901 ? 8 : 0), 1e-12);
  }
}

// The phases of a beam at 30 degrees on n columns cancel where sin v - sin 30 = 2 / n: for n = 4, along 90 degrees.
TEST(Antenna, HasItsFirstNullTwoOverNFromTheBeam) {
  const Antenna antenna({.rows = 1, .columns = 4}, along(0));
  EXPECT_LT(antenna.gain(along(30), along(90)).value(), -100);
  EXPECT_NEAR(antenna.gain(along(30), along(30)).value(), 10 * std::log10(4.0), 1e-9);
  // An isotropic array does not tell front from back.
  EXPECT_NEAR(antenna.gain(along(30), along(150)).value(), 10 * std::log10(4.0), 1e-9);
}

TEST(Antenna, FacesWhereItIsTurnedTo) {
  const ArrayConfig array{.rows = 4, .columns = 8, .element = ElementPattern::tr38901};
  const Antenna east(array, along(0));
  const Antenna turned(array, along(100));
  for (const double azimuth : {-70.0, 3.0, 44.0, 160.0}) {
    EXPECT_NEAR(turned.gain(along(120), along(azimuth + 100)).value(), east.gain(along(20), along(azimuth)).value(),
                1e-6);
  }
  const Antenna down({.rows = 4, .columns = 4, .element = ElementPattern::tr38901}, bearing(Degrees(180), Degrees(0)));
  EXPECT_NEAR(down.gain(bearing(Degrees(180), Degrees(0)), bearing(Degrees(180), Degrees(0))).value(),
              8 + 10 * std::log10(16.0), 1e-9);
}

// Half a wavelength apart, elements in a line radiate independently: what they concentrate in one direction they take
// from others. Midpoint rule over the sphere, in steps of equal area.
TEST(Antenna, RadiatesNoMoreThanItsPower) {
  const Antenna antenna({.rows = 10, .columns = 1}, along(0));
  const Bearing beam = bearing(Degrees(102), Degrees(0));
  constexpr int steps = 20000;
  double mean = 0;
  for (int i = 0; i < steps; ++i) {
    const double up = -1 + (2.0 * i + 1) / steps;
    mean += linear(antenna.gain(beam, {.x = std::sqrt(1 - up * up), .y = 0, .z = up})) / steps;
  }
  EXPECT_NEAR(mean, 1, 1e-4);
}

TEST(Bearing, LeadsFromOnePlaceToAnother) {
  const Bearing there = bearing({.x = Metres(1), .z = Metres(10)}, {.x = Metres(1), .y = Metres(30), .z = Metres(-30)});
  EXPECT_NEAR(there.x, 0, 1e-12);
  EXPECT_NEAR(there.y, 0.6, 1e-12);
  EXPECT_NEAR(there.z, -0.8, 1e-12);
  const Bearing level = level_bearing({.z = Metres(10)}, {.y = Metres(30), .z = Metres(-30)});
  EXPECT_NEAR(level.y, 1, 1e-12);
  EXPECT_EQ(level.z, 0);
}

}  // namespace
}  // namespace trilemma
