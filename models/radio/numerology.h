#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/config/field.h"
#include "core/units.h"

/// Time and frequency grid of 5G NR (TS 38.211, TS 38.101-2) and the UE's processing times (TS 38.214).
/// Every function requires a numerology mu of 0..6.
namespace trilemma {

inline constexpr int symbols_per_slot = 14;  // normal cyclic prefix
inline constexpr int numerology_max = 6;

/// 15 kHz x 2^mu (TS 38.211 table 4.2-1).
Frequency subcarrier_spacing(int mu);

/// 1 ms / 2^mu; exact in nanoseconds for every mu.
Duration slot_duration(int mu);

/// Offset of the boundary in front of `symbol` (0..14; 14 is the end of the slot) from the start of its slot: a
/// fourteenth of a slot each, as TR 37.910 counts, rounded up. The 16 kappa Tc by which the first cyclic prefix of
/// every half millisecond is longer are spread evenly, which misplaces a boundary by at most 521 ns.
Duration symbol_start(int mu, int symbol);

/// Whether a carrier lies in frequency range 2, which starts at 24.25 GHz; what lies between the ranges counts as FR1.
constexpr bool is_fr2(Frequency carrier) { return carrier.value() >= 24.25e9; }

/// Resource blocks of a carrier of `bandwidth`: TS 38.101-2 V19.4.0 table 5.3.2-1 in FR2 (60, 120, 480 and 960 kHz), TS
/// 38.101-1 table 5.3.2-1 in FR1 (15, 30 and 60 kHz; recalled); nothing for a bandwidth that the table does not allow
/// at this numerology, so always nothing at mu 4.
std::optional<int> resource_blocks(Frequency bandwidth, int mu, Frequency carrier);

/// The bandwidths that resource_blocks() knows at this numerology, ascending.
std::vector<Frequency> channel_bandwidths(int mu, Frequency carrier);

/// UE processing capability of TS 38.214 clauses 5.3 and 6.4.
enum class UeCapability { one, two };

namespace config {
template <>
inline constexpr auto names<UeCapability> = std::array{Name{"1", UeCapability::one}, Name{"2", UeCapability::two}};
}  // namespace config

/// The longest a UE may take to decode a downlink block and to prepare an uplink block. TR 37.910 charges half of
/// each to the UE and lets the base station take as long.
struct ProcessingTimes {
  Duration pdsch;  // Tproc,1 = N1 (2048 + 144) kappa 2^-mu Tc
  Duration pusch;  // Tproc,2 = N2 (2048 + 144) kappa 2^-mu Tc
};

/// The same in symbols: N1 and N2.
struct ProcessingSymbols {
  double pdsch;
  double pusch;
};

/// TS 38.214 V19.3.0 tables 5.3-1, 5.3-2, 6.4-1 and 6.4-2, front-loaded DM-RS only, rounded up to nanoseconds. The
/// extra symbols d1,1 and d2,1 are 0: a PDSCH of at least seven symbols, and a first PUSCH symbol of DM-RS only.
/// Nothing where the capability is not defined: mu 4, and capability 2 above mu 2 (where it is an FR1 feature).
std::optional<ProcessingSymbols> processing_symbols(int mu, UeCapability capability);
std::optional<ProcessingTimes> processing_times(int mu, UeCapability capability);

/// `symbols` (2048 + 144) kappa 2^-mu Tc, rounded up to nanoseconds.
Duration processing_time(double symbols, int mu);

}  // namespace trilemma
