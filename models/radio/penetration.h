#pragma once

#include <array>

#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"

/// Loss from outdoors into a building: 3GPP TR 38.901 V19.4.0 clause 7.4.3.1, for UMi and UMa (InF: high only),
///
///     PL = PL_outdoor + PL_wall + 0.5 d_in + N(0, sigma),
///
/// PL_wall = 5 - 10 lg sum of p_i 10^(-L_i / 10) over the materials of the wall: low loss 30 % glass and 70 % concrete,
/// high loss 70 % infrared-reflecting glass and 30 % concrete; d_in, in m, the smaller of two uniform on (0, 25); sigma
/// 4.4 dB (low) or 6.5 dB (high), a standard deviation. The loss belongs to the UE: the same towards every base
/// station. The outdoor path loss takes the whole length of the way, the line-of-sight probability only the part
/// outdoors, and shadowing has 7 dB (table 7.5-6, O2I) in place of the outdoor deviation. Ignores the angle of
/// incidence beyond the 5 dB, the storey and the walls inside.
namespace trilemma {

/// The building that a client is in.
enum class Penetration { none, low, high };

/// Of infrared-reflecting glass, in dB at f GHz: 23 + 0.3 f as published with the channel model (2016) and calibrated
/// against, 25.4 + 0.11 f in V19.4.0. The other materials have not changed.
enum class PenetrationRevision { calibration, v19_4 };

enum class Material { glass, infrared_reflecting_glass, concrete, wood };

namespace config {
template <>
inline constexpr auto names<Penetration> =
    std::array{Name{"none", Penetration::none}, Name{"low", Penetration::low}, Name{"high", Penetration::high}};
}  // namespace config

/// Table 7.4.3-1.
Decibels material_loss(Material material, Frequency carrier, PenetrationRevision revision = PenetrationRevision::v19_4);

/// PL_wall of table 7.4.3-2; 0 without a building.
Decibels wall_loss(Penetration building, Frequency carrier, PenetrationRevision revision = PenetrationRevision::v19_4);

/// sigma; 0 without a building.
Decibels penetration_deviation(Penetration building);

/// Shadowing between outdoors and indoors, in place of Propagation's, of either state of the line of sight.
inline constexpr Decibels indoor_shadowing_deviation{7};

/// What chance says about a UE in a building.
struct Indoors {
  Metres depth{0};   // d_in: way through the building, on the ground
  Decibels loss{0};  // PL_wall + 0.5 depth + N(0, sigma)
};

/// Takes four numbers of `rng`, also when there is no building, so that scenarios that differ in the building share the
/// rest of their luck.
Indoors draw_penetration(Penetration building, Frequency carrier, Rng& rng,
                         PenetrationRevision revision = PenetrationRevision::v19_4);

}  // namespace trilemma
