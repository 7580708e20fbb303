#include "models/radio/numerology.h"

#include <cstdint>

#include "core/ensure.h"

namespace trilemma {
namespace {

struct Carrier {
  int mu;
  int megahertz;
  int resource_blocks;
};

constexpr std::array carriers = {
    Carrier{2, 50, 66},  Carrier{2, 100, 132}, Carrier{2, 200, 264},                          // FR2-1, 60 kHz
    Carrier{3, 50, 32},  Carrier{3, 100, 66},  Carrier{3, 200, 132},  Carrier{3, 400, 264},   // FR2-1, 120 kHz
    Carrier{5, 400, 66}, Carrier{5, 800, 124}, Carrier{5, 1600, 248},                         // FR2-2, 480 kHz
    Carrier{6, 400, 33}, Carrier{6, 800, 62},  Carrier{6, 1600, 124}, Carrier{6, 2000, 148},  // FR2-2, 960 kHz
};

/// N1 and N2 in half symbols, because capability 2 knows 4.5 and 5.5; zero where the standard defines none.
struct ProcessingSymbols {
  int pdsch_halves;
  int pusch_halves;
};

constexpr std::array<ProcessingSymbols, 7> capability_one = {
    {{16, 20}, {20, 24}, {34, 46}, {40, 72}, {0, 0}, {160, 288}, {320, 576}}};
constexpr std::array<ProcessingSymbols, 7> capability_two = {
    {{6, 10}, {9, 11}, {18, 22}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}};

void require_numerology(int mu) { TRILEMMA_ENSURE(0 <= mu && mu <= numerology_max, "a numerology is 0 to 6"); }

/// (half symbols / 2) (2048 + 144) kappa 2^-mu Tc with kappa = 64 and Tc = 1 / (480e3 x 4096) s, in integers.
Duration processing_time(int half_symbols, int mu) {
  constexpr std::int64_t basic_units_per_symbol = std::int64_t{2048 + 144} * 64;
  constexpr std::int64_t basic_units_per_second = std::int64_t{480'000} * 4096;
  const std::int64_t numerator = half_symbols * basic_units_per_symbol * 1'000'000'000;
  const std::int64_t denominator = (2 * basic_units_per_second) << mu;
  return Duration((numerator + denominator - 1) / denominator);
}

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

std::optional<int> resource_blocks(Frequency bandwidth, int mu) {
  require_numerology(mu);
  for (const Carrier& carrier : carriers) {
    if (carrier.mu == mu && Frequency(carrier.megahertz * 1e6) == bandwidth) return carrier.resource_blocks;
  }
  return std::nullopt;
}

std::vector<Frequency> channel_bandwidths(int mu) {
  require_numerology(mu);
  std::vector<Frequency> bandwidths;
  for (const Carrier& carrier : carriers) {
    if (carrier.mu == mu) bandwidths.emplace_back(carrier.megahertz * 1e6);
  }
  return bandwidths;
}

std::optional<ProcessingTimes> processing_times(int mu, UeCapability capability) {
  require_numerology(mu);
  const auto& table = capability == UeCapability::one ? capability_one : capability_two;
  const ProcessingSymbols symbols = table[static_cast<std::size_t>(mu)];
  if (symbols.pdsch_halves == 0) return std::nullopt;
  return ProcessingTimes{.pdsch = processing_time(symbols.pdsch_halves, mu),
                         .pusch = processing_time(symbols.pusch_halves, mu)};
}

}  // namespace trilemma
