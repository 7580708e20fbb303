#pragma once

#include <array>

#include "core/units.h"
#include "models/radio/propagation.h"

namespace trilemma {

/// Normal distribution of a decimal logarithm.
struct LogNormal {
  double mean;
  double deviation;
};

/// Statistics of the clusters of scatterers of a link: a column of TR 38.901 table 7.5-6 with its tables 7.5-7
/// to 7.5-11. Delays in seconds, angles in degrees, departure at the base station, arrival at the client.
struct ClusterStatistics {
  int clusters;        // of 20 rays each
  double k_mean;       // dB, direct path against all clusters; 0 without a line of sight
  double k_deviation;  // dB
  LogNormal delay_spread;
  LogNormal departure_azimuth;  // spreads
  LogNormal arrival_azimuth;
  LogNormal departure_zenith;
  LogNormal arrival_zenith;
  double departure_zenith_offset;
  double delay_scaling;  // r_tau
  double shadowing;      // zeta, dB, of one cluster
  double cluster_delay_spread;
  double cluster_departure_azimuth;
  double cluster_arrival_azimuth;
  double cluster_arrival_zenith;
  /// Lower triangular root of the correlation of shadowing, K, delay spread, departure and arrival azimuth, departure
  /// and arrival zenith; without the row and column of K when there is no line of sight.
  std::array<std::array<double, 7>, 7> correlation_root;
};

/// One end of the link seen from the other: the client `distance` along the ground.
struct LinkGeometry {
  Heights heights;
  Metres distance;
  bool line_of_sight;
};

/// UMi, UMa and InH (open office): the table of ns-3 3.37's ThreeGppChannelModel, which is that of TR 38.901 before V19
/// (V19 moves means of UMi and UMa by up to 0.4 in the logarithm). The five InF, which ns-3 lacks: TR 38.901 V19.4.0,
/// unchanged since V16.1.0, in a hall of 120 x 60 x 10 m (SL, DH, HH) or 300 x 150 x 10 m (DL, SH). Requires a carrier
/// of 0.5 to 100 GHz.
ClusterStatistics cluster_statistics(Environment environment, Frequency carrier, const LinkGeometry& geometry);

}  // namespace trilemma
