#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "core/config/field.h"
#include "core/units.h"
#include "models/radio/propagation.h"

namespace trilemma {

/// Radiation pattern of one element: 0 dBi in all directions, or TR 38.901 table 7.3-1 (8 dBi, 65 degrees, 30 dB).
enum class ElementPattern { isotropic, tr38901 };

namespace config {
template <>
inline constexpr auto names<ElementPattern> =
    std::array{Name{"isotropic", ElementPattern::isotropic}, Name{"tr38901", ElementPattern::tr38901}};
}  // namespace config

/// A uniform planar array, elements half a wavelength apart, one polarisation, fed by one beam at a time.
struct ArrayConfig {
  std::int64_t rows = 8;
  std::int64_t columns = 8;
  ElementPattern element = ElementPattern::isotropic;

  static constexpr auto fields() {
    return std::tuple{config::field("rows", &ArrayConfig::rows, "elements above one another", config::between(1, 64)),
                      config::field("columns", &ArrayConfig::columns, "elements side by side", config::between(1, 64)),
                      config::field("element", &ArrayConfig::element, "radiation pattern of an element")};
  }
};

using Degrees = Quantity<struct DegreeUnit>;

/// A direction in space: the components of a unit vector, z up.
struct Bearing {
  double x = 1;
  double y = 0;
  double z = 0;
};

/// From `zenith` (0 up, 90 the horizon, so 102 points 12 degrees down) and `azimuth` (0 along x, 90 along y).
Bearing bearing(Degrees zenith, Degrees azimuth);
/// From one place to another, which differs.
Bearing bearing(const Position& from, const Position& to);
/// The same without its vertical part: how a panel on a vertical wall faces. Requires places that differ on the ground.
Bearing level_bearing(const Position& from, const Position& to);

/// Gain of one element towards `toward`, in dBi. The element faces along x with z up. TR 38.901 V19.4.0 table 7.3-1:
/// A = 8 - min(Av + Ah, 30), Av = min(12 ((zenith - 90) / 65)^2, 30), Ah = min(12 (azimuth / 65)^2, 30).
Decibels element_gain(ElementPattern pattern, const Bearing& toward);

/// Gain of the whole array in the direction of its beam, when that is the one its elements face:
/// 10 lg(rows x columns) plus the element's largest gain.
Decibels peak_gain(const ArrayConfig& array);

/// An array on its mast. It faces `boresight`, with its rows level; the beam is steered by phases alone (DFT weights
/// of equal size, TR 36.897 and TR 38.901 clause 7.3), so the elements keep their own pattern:
///
///     G = G_element + 10 lg(rows x columns) + 20 lg|F(rows, u - u_beam)| + 20 lg|F(columns, v - v_beam)|,
///     F(n, d) = sin(n pi d / 2) / (n sin(pi d / 2)),
///
/// where u and v are the vertical and the sideways component of a direction in the frame of the array. Ignores coupling
/// between elements, errors of phase shifters, losses and polarisation. Half a wavelength between elements makes the
/// mean gain of a line of isotropic elements exactly 0 dBi; of isotropic elements in a plane there is a mirror image of
/// the beam behind the array, and of the elements of table 7.3-1 the gain is the report's, not a directivity.
class Antenna {
 public:
  Antenna(const ArrayConfig& array, const Bearing& boresight);

  /// In dBi, towards `toward`, while the beam points to `beam`; minus infinity in an exact null.
  [[nodiscard]] Decibels gain(const Bearing& beam, const Bearing& toward) const;

 private:
  [[nodiscard]] Bearing local(const Bearing& global) const;

  ArrayConfig array_;
  Bearing front_;
  Bearing side_;
  Bearing up_;
};

}  // namespace trilemma
