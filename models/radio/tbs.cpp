#include "models/radio/tbs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/ensure.h"
#include "models/radio/numerology.h"

namespace trilemma {
namespace {

// TS 38.214 table 5.1.3.2-1.
constexpr std::array<std::int64_t, 93> small_sizes = {
    24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,  128,  136,  144,  152,  160,  168,
    176,  184,  192,  208,  224,  240,  256,  272,  288,  304,  320,  336,  352,  368,  384,  408,  432,  456,  480,
    504,  528,  552,  576,  608,  640,  672,  704,  736,  768,  808,  848,  888,  928,  984,  1032, 1064, 1128, 1160,
    1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216,
    2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824};

constexpr std::int64_t largest_small_size = small_sizes.back();
constexpr std::int64_t long_crc = 24;
constexpr std::int64_t short_crc = 16;
constexpr std::int64_t subcarriers_per_block = 12;
constexpr std::int64_t rate_denominator = 2048;  // every R x 1024 of the tables is whole or a half

std::int64_t ceiling(std::int64_t numerator, std::int64_t denominator) {
  return (numerator + denominator - 1) / denominator;
}

std::int64_t rate_numerator(double code_rate) {
  const double scaled = code_rate * static_cast<double>(rate_denominator);
  TRILEMMA_ENSURE(scaled >= 1 && scaled == std::floor(scaled), "a code rate is a multiple of 1/2048");
  return static_cast<std::int64_t>(scaled);
}

/// 2^floor(log2(value)), and 0 for 0.
std::int64_t power_of_two_below(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

std::int64_t resource_elements(const TransportBlockShape& shape) {
  const std::int64_t per_block = subcarriers_per_block * shape.symbols - shape.dmrs_per_prb - shape.overhead_per_prb;
  TRILEMMA_ENSURE(per_block > 0 && shape.resource_blocks > 0, "a transport block has resource elements for user data");
  return std::min<std::int64_t>(156, per_block) * shape.resource_blocks;
}

/// Step 3; `information` is N_info in units of 1/2048 bit, as below. The step is 2^max(3, floor(log2 N_info) - 6).
std::int64_t small_block(std::int64_t information) {
  const std::int64_t step = std::max<std::int64_t>(8, power_of_two_below(information / rate_denominator) / 64);
  const std::int64_t quantised = std::max<std::int64_t>(24, step * (information / (rate_denominator * step)));
  return *std::lower_bound(small_sizes.begin(), small_sizes.end(), quantised);
}

/// Step 4. The step is 2^(floor(log2(N_info - 24)) - 5), which is 64 or more, since N_info > 3824.
std::int64_t large_block(std::int64_t information, std::int64_t rate) {
  const std::int64_t payload = information - long_crc * rate_denominator;
  const std::int64_t step = std::max<std::int64_t>(64, power_of_two_below(payload / rate_denominator) / 32);
  const std::int64_t unit = step * rate_denominator;
  const std::int64_t quantised = std::max<std::int64_t>(3840, step * ((payload + unit / 2) / unit));  // ties go up
  std::int64_t pieces = 1;
  if (4 * rate <= rate_denominator) {
    pieces = ceiling(quantised + long_crc, 3816);
  } else if (quantised > 8424) {
    pieces = ceiling(quantised + long_crc, 8424);
  }
  return 8 * pieces * ceiling(quantised + long_crc, 8 * pieces) - long_crc;
}

}  // namespace

std::int64_t transport_block_bits(const TransportBlockShape& shape, const Mcs& mcs) {
  TRILEMMA_ENSURE(1 <= shape.symbols && shape.symbols <= symbols_per_slot && shape.layers >= 1,
                  "a transport block has 1 to 14 symbols and a layer");
  const std::int64_t rate = rate_numerator(mcs.code_rate);
  const std::int64_t information = resource_elements(shape) * rate * mcs.modulation_order * shape.layers;
  const bool small = information <= largest_small_size * rate_denominator;
  return small ? small_block(information) : large_block(information, rate);
}

BaseGraph base_graph(std::int64_t transport_block_bits, double code_rate) {
  const bool short_block = transport_block_bits <= 292;
  const bool medium_block = transport_block_bits <= 3824 && code_rate <= 0.67;
  return short_block || medium_block || code_rate <= 0.25 ? BaseGraph::two : BaseGraph::one;
}

CodeBlocks code_blocks(std::int64_t transport_block_bits, double code_rate) {
  TRILEMMA_ENSURE(transport_block_bits > 0, "a transport block has bits");
  const std::int64_t longest = base_graph(transport_block_bits, code_rate) == BaseGraph::one ? 8448 : 3840;
  const std::int64_t total = transport_block_bits + (transport_block_bits > largest_small_size ? long_crc : short_crc);
  if (total <= longest) return {.count = 1, .bits = total};
  const std::int64_t count = ceiling(total, longest - long_crc);
  return {.count = count, .bits = ceiling(total + count * long_crc, count)};
}

BitRate peak_rate(const PeakRateInput& input) {
  constexpr double highest_code_rate = 948.0 / 1024;
  const double symbols_per_second = symbols_per_slot / to_seconds(slot_duration(input.mu));
  const double bits_per_element = input.layers * input.modulation_order * input.scaling * highest_code_rate;
  const auto elements_per_symbol = static_cast<double>(subcarriers_per_block * input.resource_blocks);
  return BitRate(bits_per_element * elements_per_symbol * symbols_per_second * (1 - input.overhead));
}

}  // namespace trilemma
