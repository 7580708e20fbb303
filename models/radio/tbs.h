#pragma once

#include <cstdint>

#include "core/units.h"
#include "models/radio/mcs.h"

/// Transport blocks of 5G NR: how many bits an allocation carries and how the channel code cuts them up.
namespace trilemma {

/// An allocation of resources within one slot.
struct TransportBlockShape {
  int resource_blocks = 0;   // at least 1
  int symbols = 14;          // 1..14
  int dmrs_per_prb = 12;     // resource elements that reference signals take from a resource block
  int overhead_per_prb = 0;  // xOverhead: 0, 6, 12 or 18
  int layers = 1;            // 1..4
};

/// Bits of the transport block (TBS, without CRC) that fills `shape` at `mcs`: TS 38.214 V19.3.0 clause 5.1.3.2,
/// without the scaling of paging and random access. Integer arithmetic throughout, so that ties round as the
/// standard says. Requires at least one resource element for user data.
std::int64_t transport_block_bits(const TransportBlockShape& shape, const Mcs& mcs);

/// LDPC base graph of TS 38.212 clause 6.2.2 / 7.2.2: two for short blocks and low rates.
enum class BaseGraph { one, two };
BaseGraph base_graph(std::int64_t transport_block_bits, double code_rate);

/// A transport block as the channel code sees it: TS 38.212 clause 5.2.2, after a CRC of 24 bits (16 up to 3824 bits)
/// and, when the block is cut, 24 more for each piece.
struct CodeBlocks {
  std::int64_t count;
  std::int64_t bits;  // of each, CRCs included, filler excluded; rounded up
};
CodeBlocks code_blocks(std::int64_t transport_block_bits, double code_rate);

/// What TS 38.306 clause 4.1.2 needs to know of one carrier.
struct PeakRateInput {
  int mu = 3;
  int resource_blocks = 0;
  int layers = 1;
  int modulation_order = 6;
  double scaling = 1;   // f: 1, 0.8, 0.75 or 0.4
  double overhead = 0;  // OH: FR2 0.18 down and 0.10 up, FR1 0.14 down and 0.08 up
};

/// Highest data rate that a UE is asked to support when every slot points its way (TS 38.306 V19.2.0 clause 4.1.2):
/// layers Qm f (948/1024) 12 N_RB / Ts (1 - OH) with symbols of Ts = 1 ms / (14 x 2^mu).
BitRate peak_rate(const PeakRateInput& input);

}  // namespace trilemma
