#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/random.h"
#include "core/units.h"
#include "models/radio/antenna.h"
#include "models/radio/propagation.h"

/// Layouts and drops of the evaluation set-ups of 3GPP TR 38.901 clause 7.2 (tables 7.2-1 and 7.2-2).
namespace trilemma {

/// Azimuths that the three sectors of a site face. In the hexagonal layout each of them points at a neighbouring site.
inline constexpr std::array sector_azimuths = {Degrees(30), Degrees(150), Degrees(270)};

/// Sites of a hexagonal grid around the origin, itself first, then ring by ring; the nearest neighbours of a site lie
/// at 30, 90, ... 330 degrees. 1, 7, 19, 37 sites for 0, 1, 2, 3 rings.
std::vector<Position> hexagonal_sites(Metres inter_site_distance, int rings, Metres height);

/// A place on the ground, uniform over the hexagon of places that are nearer to `site` than to any other of the grid.
/// Takes three numbers of `rng`; z is that of `site`.
Position uniform_in_hexagon(const Position& site, Metres inter_site_distance, Rng& rng);

/// 19 sites whose far edges meet, so that every site is surrounded as the middle one is (wrap-around).
class HexagonalLayout {
 public:
  HexagonalLayout(Metres inter_site_distance, Metres height);

  [[nodiscard]] const std::vector<Position>& sites() const { return sites_; }
  [[nodiscard]] Metres inter_site_distance() const { return inter_site_distance_; }
  /// The copy of a site that is nearest to `place` on the ground.
  [[nodiscard]] Position nearest_image(std::size_t site, const Position& place) const;

 private:
  Metres inter_site_distance_;
  std::vector<Position> sites_;
  std::array<Position, 7> shifts_;  // z 0
};

enum class Whereabouts { outdoors, indoors };

struct Drop {
  Position position;
  Whereabouts whereabouts = Whereabouts::outdoors;
};

struct DropRules {
  Metres nearest{10};  // smallest distance to a site on the ground: UMi 10 m, UMa 35 m
  Fraction indoors{0.8};
};

/// Height of a UE in a building of N storeys, N uniform on 4 to 8, on a storey n uniform on 1 to N: 3 (n - 1) + 1.5 m.
Metres draw_storey_height(Rng& rng);

/// A UE, uniform over the whole layout but for the surroundings of the sites; outdoors at 1.5 m.
Drop drop_ue(const HexagonalLayout& layout, const DropRules& rules, Rng& rng);

/// The office of table 7.2-2: 120 m x 50 m from the origin along x and y, 12 base stations at 3 m, 20 m apart.
inline constexpr Metres office_length{120};
inline constexpr Metres office_width{50};
std::vector<Position> office_sites();
/// A UE at 1 m, uniform over the office.
Position drop_in_office(Rng& rng);

}  // namespace trilemma
