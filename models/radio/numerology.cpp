#include "models/radio/numerology.h"

#include <cmath>
#include <cstdint>

#include "core/ensure.h"

namespace trilemma {
namespace {

struct Carrier {
  int mu;
  int megahertz;
  int resource_blocks;
  bool millimetre_wave;  // FR2
};

constexpr bool fr1 = false;
constexpr bool fr2 = true;

constexpr std::array carriers = {
    // TS 38.101-1 table 5.3.2-1: 15, 30 and 60 kHz
    Carrier{0, 5, 25, fr1},
    Carrier{0, 10, 52, fr1},
    Carrier{0, 15, 79, fr1},
    Carrier{0, 20, 106, fr1},
    Carrier{0, 25, 133, fr1},
    Carrier{0, 30, 160, fr1},
    Carrier{0, 40, 216, fr1},
    Carrier{0, 50, 270, fr1},
    Carrier{1, 5, 11, fr1},
    Carrier{1, 10, 24, fr1},
    Carrier{1, 15, 38, fr1},
    Carrier{1, 20, 51, fr1},
    Carrier{1, 25, 65, fr1},
    Carrier{1, 30, 78, fr1},
    Carrier{1, 40, 106, fr1},
    Carrier{1, 50, 133, fr1},
    Carrier{1, 60, 162, fr1},
    Carrier{1, 70, 189, fr1},
    Carrier{1, 80, 217, fr1},
    Carrier{1, 90, 245, fr1},
    Carrier{1, 100, 273, fr1},
    Carrier{2, 10, 11, fr1},
    Carrier{2, 15, 18, fr1},
    Carrier{2, 20, 24, fr1},
    Carrier{2, 25, 31, fr1},
    Carrier{2, 30, 38, fr1},
    Carrier{2, 40, 51, fr1},
    Carrier{2, 50, 65, fr1},
    Carrier{2, 60, 79, fr1},
    Carrier{2, 70, 93, fr1},
    Carrier{2, 80, 107, fr1},
    Carrier{2, 90, 121, fr1},
    Carrier{2, 100, 135, fr1},
    // TS 38.101-2 table 5.3.2-1: 60 and 120 kHz (FR2-1), 480 and 960 kHz (FR2-2)
    Carrier{2, 50, 66, fr2},
    Carrier{2, 100, 132, fr2},
    Carrier{2, 200, 264, fr2},
    Carrier{3, 50, 32, fr2},
    Carrier{3, 100, 66, fr2},
    Carrier{3, 200, 132, fr2},
    Carrier{3, 400, 264, fr2},
    Carrier{5, 400, 66, fr2},
    Carrier{5, 800, 124, fr2},
    Carrier{5, 1600, 248, fr2},
    Carrier{6, 400, 33, fr2},
    Carrier{6, 800, 62, fr2},
    Carrier{6, 1600, 124, fr2},
    Carrier{6, 2000, 148, fr2},
};

constexpr std::array<ProcessingSymbols, 7> capability_one = {
    {{8, 10}, {10, 12}, {17, 23}, {20, 36}, {0, 0}, {80, 144}, {160, 288}}};
constexpr std::array<ProcessingSymbols, 7> capability_two = {
    {{3, 5}, {4.5, 5.5}, {9, 11}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}};

void require_numerology(int mu) { TRILEMMA_ENSURE(0 <= mu && mu <= numerology_max, "a numerology is 0 to 6"); }

}  // namespace

Frequency subcarrier_spacing(int mu) {
  require_numerology(mu);
  return Frequency(15e3 * (1 << mu));
}

Duration slot_duration(int mu) {
  require_numerology(mu);
  return Duration(1'000'000 >> mu);  // 10^6 = 2^6 x 15625
}

Duration symbol_start(int mu, int symbol) {
  TRILEMMA_ENSURE(0 <= symbol && symbol <= symbols_per_slot, "a symbol boundary is 0 to 14");
  return Duration((symbol * slot_duration(mu).count() + symbols_per_slot - 1) / symbols_per_slot);
}

std::optional<int> resource_blocks(Frequency bandwidth, int mu, Frequency carrier) {
  require_numerology(mu);
  for (const Carrier& row : carriers) {
    if (row.mu == mu && row.millimetre_wave == is_fr2(carrier) && Frequency(row.megahertz * 1e6) == bandwidth) {
      return row.resource_blocks;
    }
  }
  return std::nullopt;
}

std::vector<Frequency> channel_bandwidths(int mu, Frequency carrier) {
  require_numerology(mu);
  std::vector<Frequency> bandwidths;
  for (const Carrier& row : carriers) {
    if (row.mu == mu && row.millimetre_wave == is_fr2(carrier)) bandwidths.emplace_back(row.megahertz * 1e6);
  }
  return bandwidths;
}

std::optional<ProcessingSymbols> processing_symbols(int mu, UeCapability capability) {
  require_numerology(mu);
  const auto& table = capability == UeCapability::one ? capability_one : capability_two;
  const ProcessingSymbols symbols = table[static_cast<std::size_t>(mu)];
  if (symbols.pdsch == 0) return std::nullopt;
  return symbols;
}

Duration processing_time(double symbols, int mu) {
  // (2048 + 144) kappa 2^-mu Tc with kappa = 64 and Tc = 1 / (480e3 x 4096) s, in integers: N1, N2 and d1,1 are whole
  // or half symbols, their means quarters or so.
  constexpr std::int64_t basic_units_per_symbol = std::int64_t{2048 + 144} * 64;
  constexpr std::int64_t basic_units_per_second = std::int64_t{480'000} * 4096;
  constexpr std::int64_t parts = 5040;  // of a symbol
  const std::int64_t numerator = std::llround(symbols * parts) * basic_units_per_symbol;
  const auto exact = static_cast<__int128>(numerator) * 1'000'000'000;
  const auto units = static_cast<__int128>(basic_units_per_second * parts) << mu;
  return Duration(static_cast<std::int64_t>((exact + units - 1) / units));
}

std::optional<ProcessingTimes> processing_times(int mu, UeCapability capability) {
  const auto symbols = processing_symbols(mu, capability);
  if (!symbols) return std::nullopt;
  return ProcessingTimes{.pdsch = processing_time(symbols->pdsch, mu), .pusch = processing_time(symbols->pusch, mu)};
}

}  // namespace trilemma
