#pragma once

#include <complex>
#include <vector>

#include "core/random.h"
#include "models/radio/beam.h"
#include "models/radio/cluster_statistics.h"

/// Channel realisations of TR 38.901 V19.4.0 clause 7.5, steps 4 to 11, for a link in vertical polarisation. Departure
/// means the base station's end and arrival the client's; the channel is the same both ways.
namespace trilemma {

struct Ray {
  WaveAngles departure;
  WaveAngles arrival;
  double phase;  // radians
};

/// Scattered rays of one delay. The two strongest clusters of clause 7.5 come as three of these each.
struct Cluster {
  double power;        // of the scattered power, shared equally by its rays
  double delay;        // seconds after the first
  WaveAngles arrival;  // of its centre
  std::vector<Ray> rays;
};

/// Everything that is random about a link, whatever its antennas.
struct Multipath {
  double k_factor = 0;      // power of the direct path over that of all clusters, linear; 0 without a line of sight
  double delay_spread = 0;  // seconds, as drawn in step 4
  WaveAngles departure;     // along the straight line between both ends
  WaveAngles arrival;
  std::vector<Cluster> clusters;  // the first one has delay 0
};

/// The base station stands at the origin and the client on the x axis.
WaveAngles direct_departure(const LinkGeometry& geometry);
WaveAngles direct_arrival(const LinkGeometry& geometry);

/// Steps 4 to 10. Shadowing, drawn elsewhere, is not correlated with the spreads. Step 9 (cross-polarisation) does not
/// apply. The first cluster of a link in line of sight, which has the direct path, is kept however weak it is; other
/// clusters more than 25 dB below the strongest are dropped, without scaling up the rest, so that the mean power is
/// within 1 % below one.
Multipath draw_multipath(const ClusterStatistics& statistics, const LinkGeometry& geometry, Rng& rng);

/// What beams make of a cluster.
struct Path {
  std::complex<double> amplitude;  // its square is a power gain, antennas included
  double delay;                    // seconds
  WaveAngles arrival;
};

/// Step 11, summed over antenna elements: one path per cluster; the first holds the direct path too, without the phase
/// of its length.
std::vector<Path> beamformed(const Multipath& multipath, const Beam& base_station, const Beam& client);

}  // namespace trilemma
