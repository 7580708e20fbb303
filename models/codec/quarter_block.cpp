#include "models/codec/quarter_block.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trilemma {
namespace {

std::int64_t mirrored(std::int64_t frequency, std::int64_t side) { return frequency == 0 ? 0 : side - frequency; }

std::size_t at(SpectrumPlace place, std::int64_t width) {
  return static_cast<std::size_t>(place.token * width + place.hidden);
}

/// Both sides times `share`, at least 1.
QuarterBlock scaled(Shape shape, double share) {
  const auto part = [&](std::int64_t side) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(side) * share));
  };
  return {.tokens = part(shape.tokens), .hidden = part(shape.hidden)};
}

}  // namespace

QuarterBlock block_of_share(Shape shape, double keep) {
  const double share = std::sqrt(keep);
  return {.tokens = static_cast<std::int64_t>(static_cast<double>(shape.tokens) * share),
          .hidden = static_cast<std::int64_t>(static_cast<double>(shape.hidden) * share)};
}

QuarterBlock block_within(Shape shape, std::int64_t most) {
  if (elements(shape) <= most) return scaled(shape, 1);
  constexpr int halvings = 60;
  double fits = 0;
  double too_large = 1;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (fits + too_large) / 2;
    (coefficients(scaled(shape, middle)) <= most ? fits : too_large) = middle;
  }
  return scaled(shape, fits);
}

std::vector<SpectrumPlace> places(Shape shape, QuarterBlock block) {
  std::vector<SpectrumPlace> found;
  for (std::int64_t u = 0; u < block.tokens; ++u) {
    for (std::int64_t v = 0; v < block.hidden; ++v) found.push_back({u, v});
  }
  if (block.extra == 0) return found;
  std::vector<std::tuple<double, std::int64_t, std::int64_t>> others;
  for (std::int64_t u = 0; 2 * u < shape.tokens; ++u) {
    for (std::int64_t v = u < block.tokens ? block.hidden : 0; 2 * v < shape.hidden; ++v) {
      const double token = static_cast<double>(u) / static_cast<double>(shape.tokens);
      const double hidden = static_cast<double>(v) / static_cast<double>(shape.hidden);
      others.emplace_back(token * token + hidden * hidden, u, v);
    }
  }
  std::ranges::sort(others);
  others.resize(std::min(others.size(), static_cast<std::size_t>(block.extra)));
  for (const auto& [frequency, u, v] : others) found.push_back({u, v});
  return found;
}

std::complex<float> coefficient(std::span<const std::complex<float>> half, Shape shape, SpectrumPlace place) {
  const std::int64_t width = shape.hidden / 2 + 1;
  if (place.hidden < width) return half[at(place, width)];
  return std::conj(half[at({mirrored(place.token, shape.tokens), shape.hidden - place.hidden}, width)]);
}

void take_real_part(std::span<const std::complex<float>> full, Shape shape, std::span<std::complex<float>> half) {
  const std::int64_t width = shape.hidden / 2 + 1;
  for (std::int64_t u = 0; u < shape.tokens; ++u) {
    for (std::int64_t v = 0; v < width; ++v) {
      const SpectrumPlace mirror{mirrored(u, shape.tokens), mirrored(v, shape.hidden)};
      half[at({u, v}, width)] = (full[at({u, v}, shape.hidden)] + std::conj(full[at(mirror, shape.hidden)])) / 2.0F;
    }
  }
}

}  // namespace trilemma
