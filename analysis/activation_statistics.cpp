#include "analysis/activation_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <utility>

#include "models/codec/low_pass.h"
#include "models/codec/number_format.h"
#include "models/codec/real_transform.h"

namespace trilemma {
namespace {

constexpr double tenth = 0.1;

/// Sides of the half spectrum that are folded: how often |frequency| occurs in the full one.
std::int64_t occurrences(std::int64_t frequency, std::int64_t side) {
  return frequency == 0 || 2 * frequency == side ? 1 : 2;
}

/// Energy and number of the coefficients with the same |u| and |v|.
struct FrequencyEnergy {
  std::int64_t u = 0;
  std::int64_t v = 0;
  std::int64_t coefficients = 0;
  double energy = 0;
};

std::vector<FrequencyEnergy> folded(std::span<const std::complex<float>> half, Shape shape) {
  const std::int64_t width = shape.hidden / 2 + 1;
  std::vector<FrequencyEnergy> bins;
  const auto norm = [&](std::int64_t u, std::int64_t v) {
    return std::norm(std::complex<double>(half[static_cast<std::size_t>(u * width + v)]));
  };
  for (std::int64_t u = 0; 2 * u <= shape.tokens; ++u) {
    for (std::int64_t v = 0; v < width; ++v) {
      const std::int64_t rows = occurrences(u, shape.tokens);
      const std::int64_t columns = occurrences(v, shape.hidden);
      const double rows_energy = norm(u, v) + (rows == 2 ? norm(shape.tokens - u, v) : 0);
      bins.push_back(
          {.u = u, .v = v, .coefficients = rows * columns, .energy = static_cast<double>(columns) * rows_energy});
    }
  }
  return bins;
}

/// Share of the energy of the lowest tenth of `bins`; those of the frequency at the edge count in part.
double radial_energy(std::vector<FrequencyEnergy> bins, Shape shape) {
  const auto frequency = [&](const FrequencyEnergy& bin) {
    const std::int64_t u = bin.u * shape.hidden;
    const std::int64_t v = bin.v * shape.tokens;
    return u * u + v * v;
  };
  std::ranges::sort(bins, {}, frequency);
  double room = tenth * static_cast<double>(elements(shape));
  double energy = 0;
  for (auto bin = bins.begin(); bin != bins.end() && room > 0;) {
    FrequencyEnergy ring;
    for (const std::int64_t edge = frequency(*bin); bin != bins.end() && frequency(*bin) == edge; ++bin) {
      ring.coefficients += bin->coefficients;
      ring.energy += bin->energy;
    }
    const auto count = static_cast<double>(ring.coefficients);
    energy += ring.energy * std::min(1.0, room / count);
    room -= count;
  }
  return energy;
}

/// Largest frequency of the symmetric block that keeps a tenth of a square spectrum.
std::int64_t block_edge(std::int64_t side) {
  return static_cast<std::int64_t>(static_cast<double>(side) * std::sqrt(tenth) / 2);
}

/// Largest frequency of the narrowest band, 2 f + 1 wide, that has at least a tenth of the side.
std::int64_t band_edge(std::int64_t side) {
  std::int64_t edge = 0;
  while (static_cast<double>(2 * edge + 1) < tenth * static_cast<double>(side)) ++edge;
  return edge;
}

struct Region {
  const char* name;
  std::int64_t u_max;
  std::int64_t v_max;
};

std::array<Region, 5> regions(Shape shape) {
  return {{{"symmetric block of a tenth", block_edge(shape.tokens), block_edge(shape.hidden)},
           {"lowest tenth along tokens", band_edge(shape.tokens), shape.hidden},
           {"lowest tenth along hidden values", shape.tokens, band_edge(shape.hidden)},
           {"row u = 0 (mean of all tokens)", 0, shape.hidden},
           {"column v = 0 (mean of each token)", shape.tokens, 0}}};
}

std::int64_t band_width(std::int64_t edge, std::int64_t side) { return std::min(2 * edge + 1, side); }

double energy_within(std::span<const FrequencyEnergy> bins, const Region& region) {
  double energy = 0;
  for (const FrequencyEnergy& bin : bins) {
    if (bin.u <= region.u_max && bin.v <= region.v_max) energy += bin.energy;
  }
  return energy;
}

std::optional<WindowMean> mean_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  WindowMean result{.mean = sum / count, .error = std::nullopt};
  if (values.size() == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.error = std::sqrt(squares / (count - 1) / count);
  return result;
}

/// Pearson correlation of x[s, d] with x[s + down, d + right].
std::optional<double> correlation(std::span<const float> values, Shape shape, std::int64_t down, std::int64_t right) {
  const std::int64_t rows = shape.tokens - down;
  const std::int64_t columns = shape.hidden - right;
  const auto count = static_cast<double>(rows * columns);
  const auto for_pairs = [&](auto visit) {
    for (std::int64_t s = 0; s < rows; ++s) {
      for (std::int64_t d = 0; d < columns; ++d)
        visit(static_cast<double>(values[static_cast<std::size_t>(s * shape.hidden + d)]),
              static_cast<double>(values[static_cast<std::size_t>((s + down) * shape.hidden + d + right)]));
    }
  };
  double mean_a = 0;
  double mean_b = 0;
  for_pairs([&](double a, double b) {
    mean_a += a;
    mean_b += b;
  });
  mean_a /= count;  // exact where all values are equal
  mean_b /= count;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for_pairs([&](double a, double b) {
    aa += (a - mean_a) * (a - mean_a);
    bb += (b - mean_b) * (b - mean_b);
    ab += (a - mean_a) * (b - mean_b);
  });
  if (!(aa > 0 && bb > 0)) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

std::optional<WindowMean> mean_correlation(const ActivationWindows& activations, std::int64_t down,
                                           std::int64_t right) {
  std::vector<double> found;
  for (std::int64_t w = 0; w < activations.windows; ++w) {
    if (const auto value = correlation(activations.window(w), activations.shape, down, right)) found.push_back(*value);
  }
  return mean_of(found);
}

/// FP16 pattern, one for both zeros.
std::size_t pattern(float value) {
  constexpr std::uint16_t negative_zero = 0x8000;
  const std::uint16_t bits = to_fp16(value);
  return bits == negative_zero ? 0 : bits;
}

class PatternCounts {
 public:
  void add(std::size_t symbol) { ++counts_[symbol]; }
  [[nodiscard]] double entropy() const { return trilemma::entropy(counts_); }

 private:
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(std::size_t{1} << 16);
};

void count_levels(std::span<const float> token, PatternCounts& counts) {
  constexpr long offset = 128;
  constexpr long largest = 127;  // a scale below the normal numbers is rounded and may leave more
  const float scale = scale_for(NumberFormat::int8, largest_magnitude(token));
  for (const float value : token)
    counts.add(
        static_cast<std::size_t>((scale > 0 ? std::clamp(std::lrint(value / scale), -largest, largest) : 0) + offset));
}

}  // namespace

std::vector<EnergyShare> energy_shares(const ActivationWindows& activations) {
  const Shape shape = activations.shape;
  const auto areas = regions(shape);
  std::array<std::vector<double>, areas.size() + 1> shares;
  RealTransform transform(shape);
  for (std::int64_t w = 0; w < activations.windows; ++w) {
    std::ranges::copy(activations.window(w), transform.values().begin());
    transform.forward();
    const auto bins = folded(transform.spectrum(), shape);
    double all = 0;
    for (const FrequencyEnergy& bin : bins) all += bin.energy;
    if (!(all > 0 && std::isfinite(all))) continue;
    shares[0].push_back(radial_energy(bins, shape) / all);
    for (std::size_t i = 0; i < areas.size(); ++i) shares[i + 1].push_back(energy_within(bins, areas[i]) / all);
  }
  std::vector<EnergyShare> rows{
      {.name = "lowest tenth of all frequencies", .coefficients = tenth, .energy = mean_of(shares[0])}};
  for (std::size_t i = 0; i < areas.size(); ++i) {
    const auto kept =
        static_cast<double>(band_width(areas[i].u_max, shape.tokens) * band_width(areas[i].v_max, shape.hidden));
    rows.push_back({.name = areas[i].name,
                    .coefficients = kept / static_cast<double>(elements(shape)),
                    .energy = mean_of(shares[i + 1])});
  }
  return rows;
}

NeighbourCorrelation neighbour_correlation(const ActivationWindows& activations) {
  return {.tokens = mean_correlation(activations, 1, 0), .hidden = mean_correlation(activations, 0, 1)};
}

double entropy(std::span<const std::int64_t> counts) {
  double all = 0;
  for (const std::int64_t count : counts) all += static_cast<double>(count);
  double bits = 0;
  for (const std::int64_t count : counts) {
    const double share = static_cast<double>(count) / all;
    if (count > 0) bits -= share * std::log2(share);
  }
  return bits;
}

StageEntropies stage_entropies(const ActivationWindows& activations) {
  const Shape shape = activations.shape;
  const auto bins = wire_order(shape, {.tokens = shape.tokens, .hidden = shape.hidden});
  const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(elements(shape))));
  PatternCounts values;
  PatternCounts coefficients;
  PatternCounts levels;
  RealTransform transform(shape);
  for (std::int64_t w = 0; w < activations.windows; ++w) {
    const std::span<const float> window = activations.window(w);
    for (const float value : window) values.add(pattern(value));
    for (std::int64_t s = 0; s < shape.tokens; ++s)
      count_levels(window.subspan(static_cast<std::size_t>(s * shape.hidden), static_cast<std::size_t>(shape.hidden)),
                   levels);
    std::ranges::copy(window, transform.values().begin());
    transform.forward();
    for (const Bin bin : bins) {
      const std::complex<float> number = transform.spectrum()[bin.index] * factor;
      coefficients.add(pattern(number.real()));
      if (!bin.is_real) coefficients.add(pattern(number.imag()));
    }
  }
  return {.samples = activations.windows * elements(shape),
          .values = values.entropy(),
          .coefficients = coefficients.entropy(),
          .levels = levels.entropy()};
}

}  // namespace trilemma
