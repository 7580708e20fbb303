#pragma once

#include <array>
#include <span>

#include "core/config/field.h"

namespace trilemma {

/// Modulation and coding tables 1, 2 and 3 of TS 38.214 V19.3.0 clause 5.1.3.1. The first two aim at a block error
/// rate of 10 %, the low-spectral-efficiency one is meant for URLLC.
enum class McsTable { qam64, qam256, qam64_low_se };

namespace config {
template <>
inline constexpr auto names<McsTable> = std::array{Name{"qam64", McsTable::qam64}, Name{"qam256", McsTable::qam256},
                                                   Name{"qam64-low-se", McsTable::qam64_low_se}};
}  // namespace config

/// One row of such a table.
struct Mcs {
  int modulation_order;  // coded bits a symbol carries: 2, 4, 6 or 8
  double code_rate;      // information bits / coded bits; the table's R x 1024 divided by 1024, exact in binary

  /// Information bits a resource element carries.
  [[nodiscard]] constexpr double spectral_efficiency() const { return modulation_order * code_rate; }
};

/// The rows of a table, by MCS index, without the reserved rows at its end (which only retransmissions use).
std::span<const Mcs> mcs_table(McsTable table);

/// The CQI table that goes with an MCS table, TS 38.214 V19.3.0 clause 5.2.2.1: 1, 2 and 3. Element i is CQI i + 1; CQI
/// 0 is out of range.
std::span<const Mcs> cqi_table(McsTable table);

/// Block error rate at which a UE reports a CQI of that table: 10 %, or 1e-5 (table 3).
double usual_target(McsTable table);

/// What link adaptation works from: the SINR itself, or the CQI that a UE reports of it.
enum class LinkFeedback { sinr, cqi };

namespace config {
template <>
inline constexpr auto names<LinkFeedback> =
    std::array{Name{"sinr", LinkFeedback::sinr}, Name{"cqi", LinkFeedback::cqi}};
}  // namespace config

}  // namespace trilemma
