#include "models/radio/penetration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr Metres deepest{25};
constexpr double loss_per_metre = 0.5;  // dB

}  // namespace

Decibels material_loss(Material material, Frequency carrier, PenetrationRevision revision) {
  const double gigahertz = carrier / Frequency(1e9);
  switch (material) {
    case Material::glass:
      return Decibels(2 + 0.2 * gigahertz);
    case Material::infrared_reflecting_glass:
      return Decibels(revision == PenetrationRevision::v19_4 ? 25.4 + 0.11 * gigahertz : 23 + 0.3 * gigahertz);
    case Material::concrete:
      return Decibels(5 + 4 * gigahertz);
    case Material::wood:
      return Decibels(4.85 + 0.12 * gigahertz);
  }
  TRILEMMA_ENSURE(false, "every material has a loss");
  return {};
}

Decibels wall_loss(Penetration building, Frequency carrier, PenetrationRevision revision) {
  if (building == Penetration::none) return Decibels(0);
  const bool low = building == Penetration::low;
  const Material window = low ? Material::glass : Material::infrared_reflecting_glass;
  const double window_share = low ? 0.3 : 0.7;
  const double through = window_share * linear(-material_loss(window, carrier, revision)) +
                         (1 - window_share) * linear(-material_loss(Material::concrete, carrier, revision));
  return Decibels(5) - decibels(through);
}

Decibels penetration_deviation(Penetration building) {
  if (building == Penetration::none) return Decibels(0);
  return Decibels(building == Penetration::low ? 4.4 : 6.5);
}

Indoors draw_penetration(Penetration building, Frequency carrier, Rng& rng, PenetrationRevision revision) {
  const Metres one = deepest * rng.uniform();
  const Metres depth = std::min(one, deepest * rng.uniform());
  // By the method of Box and Muller.
  const double radius = std::sqrt(-2 * std::log(rng.uniform()));
  const double normal = radius * std::cos(2 * std::numbers::pi * rng.uniform());
  if (building == Penetration::none) return {};
  return {.depth = depth,
          .loss = wall_loss(building, carrier, revision) + Decibels(loss_per_metre * depth.value()) +
                  penetration_deviation(building) * normal};
}

}  // namespace trilemma
