#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "core/config/field.h"
#include "core/units.h"

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

}  // namespace trilemma
