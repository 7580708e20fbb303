#pragma once

#include <span>
#include <vector>

#include "models/radio/mcs.h"

/// Exponential effective SINR mapping (EESM): one SINR over a flat channel at which a code block fails as often as over
/// the SINRs of its parts of the band, -beta ln(mean(exp(-SINR / beta))). Linear SINRs throughout. Between the smallest
/// and the mean SINR; the smaller beta, the closer to the smallest.
namespace trilemma {

/// beta by MCS index. Tables 1 and 2: the values that Sionna SYS ships (esm_params/eesm_beta_table.json, Apache-2.0,
/// also those of 5G-LENA; how they were calibrated is not published). Table 3, for which there are none: that of the
/// row of table 1 with the same modulation and the nearest spectral efficiency. 23 of its 29 rows stand in table 1 as
/// they are; rows 0 to 5, less efficient than any of table 1, take the beta of its row 0.
std::vector<double> eesm_betas(McsTable table);

/// Requires at least one SINR, all >= 0, and beta > 0.
double effective_sinr(std::span<const float> sinrs, double beta);

}  // namespace trilemma
