#include "models/radio/beam.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ns3/angles.h"
#include "ns3/double.h"
#include "ns3/isotropic-antenna-model.h"
#include "ns3/pointer.h"
#include "ns3/three-gpp-antenna-model.h"
#include "ns3/uinteger.h"
#include "ns3/uniform-planar-array.h"
#include <gtest/gtest.h>

#include "core/random.h"

namespace trilemma {
namespace {

using std::numbers::pi;

std::complex<double> field(const Beam& beam, WaveAngles wave) {
  const Response response = beam.response(wave);
  return response.amplitude * std::polar(1.0, response.phase);
}

double power(const Beam& beam, WaveAngles wave) { return std::norm(field(beam, wave)); }

ns3::Ptr<ns3::UniformPlanarArray> ns3_array(const ArrayConfig& config, double facing) {
  ns3::Ptr<ns3::AntennaModel> element;
  if (config.element == ElementPattern::isotropic) {
    element = ns3::CreateObject<ns3::IsotropicAntennaModel>();
  } else {
    element = ns3::CreateObject<ns3::ThreeGppAntennaModel>();
  }
  auto array = ns3::CreateObject<ns3::UniformPlanarArray>();
  array->SetAttribute("NumRows", ns3::UintegerValue(static_cast<std::uint64_t>(config.rows)));
  array->SetAttribute("NumColumns", ns3::UintegerValue(static_cast<std::uint64_t>(config.columns)));
  array->SetAttribute("BearingAngle", ns3::DoubleValue(facing));
  array->SetAttribute("AntennaElement", ns3::PointerValue(element));
  return array;
}

ns3::Angles angles(WaveAngles bearing) { return {std::remainder(bearing.azimuth, 2 * pi), bearing.zenith}; }

/// What ns-3's array receives of a plane wave with these weights.
std::complex<double> ns3_field(const ns3::UniformPlanarArray& array, const std::vector<std::complex<double>>& weights,
                               WaveAngles wave) {
  const double x = std::sin(wave.zenith) * std::cos(wave.azimuth);
  const double y = std::sin(wave.zenith) * std::sin(wave.azimuth);
  const double z = std::cos(wave.zenith);
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const ns3::Vector place = array.GetElementLocation(i);
    sum += weights[i] * std::polar(1.0, 2 * pi * (x * place.x + y * place.y + z * place.z));
  }
  return sum * array.GetElementFieldPattern(angles(wave)).second;
}

std::vector<std::complex<double>> ideal_weights(const ns3::UniformPlanarArray& array, WaveAngles target) {
  std::vector<std::complex<double>> weights = array.GetSteeringVector(angles(target));
  for (auto& weight : weights) weight /= std::sqrt(static_cast<double>(weights.size()));
  return weights;
}

TEST(Beam, ReceivesAnyWaveAsNs3sPlanarArrayDoes) {
  Rng rng(1, 1, 0);
  const auto bearing = [&] {
    return WaveAngles{.azimuth = 2 * pi * (rng.uniform() - 0.5), .zenith = pi * rng.uniform()};
  };
  for (const ElementPattern element : {ElementPattern::isotropic, ElementPattern::tr38901}) {
    for (const auto& [rows, columns] : {std::pair{8, 8}, {4, 2}, {1, 5}, {1, 1}}) {
      const ArrayConfig config{.rows = rows, .columns = columns, .element = element};
      for (int i = 0; i < 50; ++i) {
        const double facing = 2 * pi * (rng.uniform() - 0.5);
        const WaveAngles target = bearing();
        const WaveAngles wave = bearing();
        const auto array = ns3_array(config, facing);
        const std::complex<double> expected = ns3_field(*array, ideal_weights(*array, target), wave);
        EXPECT_NEAR(std::abs(field(Beam(config, facing, target), wave) - expected), 0, 1e-9 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(Beam, HasTheGainOfAllElementsTowardsItsTarget) {
  for (const double azimuth : {-1.0, 0.0, 0.4}) {
    const WaveAngles target{.azimuth = azimuth, .zenith = 1.3};
    const Beam beam({.rows = 8, .columns = 4}, 0, target);
    EXPECT_NEAR(power(beam, target), 32, 1e-9);
    EXPECT_EQ(beam.ideal_gain(), 32);
  }
}

// Conjugate weights point the beam at the mirror image of an oblique target and receive little from the target itself:
// at least 10 dB less here, the level of the first side lobe being -13 dB.
TEST(Beam, IsNotTheConjugateBeamOfNs3) {
  const ArrayConfig config{.rows = 8, .columns = 8};
  const WaveAngles target{.azimuth = 0.7, .zenith = 1.2};
  const auto array = ns3_array(config, 0);
  const double conjugate = std::norm(ns3_field(*array, array->GetBeamformingVector(angles(target)), target));
  EXPECT_LT(conjugate, 0.1 * 64);
  EXPECT_NEAR(power(Beam(config, 0, target), target), 64, 1e-9);
}

TEST(Beam, ElementsAddTheirGainStraightAheadAndLoseItAside) {
  const ArrayConfig config{.rows = 2, .columns = 2, .element = ElementPattern::tr38901};
  const WaveAngles ahead{.azimuth = 0.5, .zenith = pi / 2};
  const Beam beam(config, 0.5, ahead);
  EXPECT_NEAR(beam.ideal_gain(), 4 * std::pow(10, 0.8), 1e-9);
  EXPECT_NEAR(power(beam, ahead), beam.ideal_gain(), 1e-9);
  // 65 degrees is the width at which the loss is 12 dB.
  const WaveAngles aside{.azimuth = 0.5 + 65 * pi / 180, .zenith = pi / 2};
  EXPECT_NEAR(power(Beam(config, 0.5, aside), aside), beam.ideal_gain() * std::pow(10, -1.2), 1e-9);
  const WaveAngles behind{.azimuth = 0.5 + pi, .zenith = pi / 2};
  EXPECT_NEAR(power(beam, behind), beam.ideal_gain() * 1e-3, 1e-9);
}

// Half a wavelength apart along y, waves from -y and +y differ by a whole turn from element to element.
TEST(Beam, CannotTellTheTwoEndsOfItsAxisApart) {
  for (const int columns : {7, 8}) {
    const ArrayConfig config{.rows = 1, .columns = columns};
    const WaveAngles left{.azimuth = pi / 2, .zenith = pi / 2};
    const WaveAngles right{.azimuth = -pi / 2, .zenith = pi / 2};
    const std::complex<double> response = field(Beam(config, 0, left), right);
    EXPECT_NEAR(std::abs(response - std::sqrt(columns)), 0, 1e-6) << columns;
  }
}

}  // namespace
}  // namespace trilemma
