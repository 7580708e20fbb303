#include "models/radio/penetration.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/estimate.h"

namespace trilemma {
namespace {

constexpr Frequency carrier{28e9};

TEST(MaterialLoss, IsThatOfTheReport) {
  EXPECT_NEAR(material_loss(Material::glass, carrier).value(), 7.6, 1e-9);
  EXPECT_NEAR(material_loss(Material::concrete, carrier).value(), 117, 1e-9);
  EXPECT_NEAR(material_loss(Material::wood, carrier).value(), 8.21, 1e-9);
  EXPECT_NEAR(material_loss(Material::infrared_reflecting_glass, carrier).value(), 28.48, 1e-9);
}

TEST(MaterialLoss, OfReflectingGlassHasChangedWithTheReport) {
  const auto then = [](double gigahertz) {
    return material_loss(Material::infrared_reflecting_glass, Frequency(gigahertz * 1e9),
                         PenetrationRevision::calibration)
        .value();
  };
  EXPECT_NEAR(then(28), 31.4, 1e-9);
  EXPECT_NEAR(then(70), 44, 1e-9);
  EXPECT_EQ(material_loss(Material::glass, carrier),
            material_loss(Material::glass, carrier, PenetrationRevision::calibration));
}

// Nothing gets through the concrete at 28 GHz: 5 dB, the glass, and its share of the wall.
TEST(WallLoss, IsThatOfTheGlassAtHighFrequencies) {
  EXPECT_NEAR(wall_loss(Penetration::low, carrier).value(), 5 + 7.6 - 10 * std::log10(0.3), 1e-6);
  EXPECT_NEAR(wall_loss(Penetration::high, carrier).value(), 5 + 28.48 - 10 * std::log10(0.7), 1e-6);
  EXPECT_EQ(wall_loss(Penetration::none, carrier), Decibels(0));
}

// At 2 GHz glass has 2.4 dB, reflecting glass 25.62 dB, concrete 13 dB.
TEST(WallLoss, AddsThePowersOfItsMaterials) {
  const Frequency low(2e9);
  EXPECT_NEAR(wall_loss(Penetration::low, low).value(),
              5 - 10 * std::log10(0.3 * std::pow(10, -0.24) + 0.7 * std::pow(10, -1.3)), 1e-9);
  EXPECT_NEAR(wall_loss(Penetration::high, low).value(),
              5 - 10 * std::log10(0.7 * std::pow(10, -2.562) + 0.3 * std::pow(10, -1.3)), 1e-9);
}

// The smaller of two uniform numbers on (0, 25) has the mean 25/3 and a mean square of 25^2 / 6.
TEST(DrawPenetration, HasTheDepthAndTheDeviationOfTheReport) {
  Rng rng = Streams(1, 0).stream("test/building");
  for (const Penetration building : {Penetration::low, Penetration::high}) {
    std::vector<double> depths, depth_squares, deviations, deviation_squares;
    for (int i = 0; i < 20000; ++i) {
      const Indoors indoors = draw_penetration(building, carrier, rng);
      const double deviation = (indoors.loss - wall_loss(building, carrier)).value() - 0.5 * indoors.depth.value();
      depths.push_back(indoors.depth.value());
      depth_squares.push_back(depths.back() * depths.back());
      deviations.push_back(deviation);
      deviation_squares.push_back(deviation * deviation);
    }
    const auto expect_mean = [](const std::vector<double>& values, double mean) {
      const test::Estimate estimate = test::estimate(values);
      EXPECT_NEAR(estimate.mean, mean, 4 * estimate.error);
    };
    const double sigma = building == Penetration::low ? 4.4 : 6.5;
    EXPECT_EQ(penetration_deviation(building), Decibels(sigma));
    expect_mean(depths, 25 / 3.0);
    expect_mean(depth_squares, 625 / 6.0);
    expect_mean(deviations, 0);
    expect_mean(deviation_squares, sigma * sigma);
  }
}

TEST(DrawPenetration, TakesTheSameLuckForEveryBuilding) {
  const auto after = [](Penetration building) {
    Rng rng = Streams(1, 0).stream("test/building");
    (void)draw_penetration(building, carrier, rng);
    return rng.uniform();
  };
  EXPECT_EQ(after(Penetration::none), after(Penetration::low));
  EXPECT_EQ(after(Penetration::none), after(Penetration::high));
  Rng rng = Streams(1, 0).stream("test/building");
  const Indoors outdoors = draw_penetration(Penetration::none, carrier, rng);
  EXPECT_EQ(outdoors.loss, Decibels(0));
  EXPECT_EQ(outdoors.depth, Metres(0));
}

}  // namespace
}  // namespace trilemma
