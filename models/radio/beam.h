#pragma once

#include "models/radio/antenna.h"

namespace trilemma {

/// Where a wave leaves to or comes from, in radians: azimuth in the ground plane, counted from the x axis towards y;
/// zenith angle from straight up (0) to straight down (pi).
struct WaveAngles {
  double azimuth = 0;
  double zenith = 0;
};

/// What an array under a beam makes of a plane wave: a complex field gain in polar form. The amplitude may be negative;
/// its square is the power gain over an isotropic element.
struct Response {
  double amplitude;
  double phase;  // radians, relative to the element in the lower corner
};

/// An array that stands upright, faces `facing` (an azimuth, radians) and points the ideal beam at `target`: elements
/// in phase for a wave of that bearing, unit power in all. Rows stack along z, columns follow the horizontal axis 90
/// degrees to the left of `facing`. Equal to ns-3's UniformPlanarArray with GetSteeringVector / sqrt(elements) as the
/// beam (not its GetBeamformingVector(Angles), which is conjugate), in closed form. Narrowband: the array steers
/// phases, not delays, and the beam does not squint.
class Beam {
 public:
  Beam(const ArrayConfig& array, double facing, WaveAngles target);

  [[nodiscard]] Response response(WaveAngles wave) const;
  /// Largest power gain that the array can reach, elements x element gain along its axis: what `gain` of a link budget
  /// counts. The beam reaches it at `target` only when `target` lies straight ahead or elements are isotropic.
  [[nodiscard]] double ideal_gain() const;

 private:
  ArrayConfig array_;
  double facing_;
  double row_phase_;     // of the target, from one row to the next
  double column_phase_;  // and from one column to the next
};

}  // namespace trilemma
