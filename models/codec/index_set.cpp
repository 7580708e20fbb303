#include "models/codec/index_set.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/ensure.h"
#include "models/codec/wire.h"

namespace trilemma::index_set {
namespace {

/// Code of Elias and Fano: bits of each lower part, and of all upper parts together.
struct Split {
  int lower = 0;
  std::int64_t upper = 0;
  [[nodiscard]] std::int64_t bits(std::int64_t count) const { return count * lower + upper; }
};

Split split_at(int lower, std::int64_t count, std::int64_t universe) {
  return {.lower = lower, .upper = count + ((universe - 1) >> lower) + 1};
}

/// The best is log2(universe / count) or next to it.
Split best_split(std::int64_t count, std::int64_t universe) {
  const int about = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(universe / count))) - 1;
  Split best = split_at(std::max(0, about - 1), count, universe);
  for (const int lower : {about, about + 1}) {
    const Split other = split_at(lower, count, universe);
    if (other.bits(count) < best.bits(count)) best = other;
  }
  return best;
}

bool bitmap_is_shorter(std::int64_t count, std::int64_t universe) {
  return universe <= best_split(count, universe).bits(count);
}

std::int64_t bytes(std::int64_t bits) { return (bits + 7) / 8; }

void set_bit(std::span<std::byte> out, std::int64_t bit) {
  out[static_cast<std::size_t>(bit / 8)] |= static_cast<std::byte>(1U << (bit % 8));
}

bool bit_at(std::span<const std::byte> in, std::int64_t bit) {
  return (std::to_integer<unsigned>(in[static_cast<std::size_t>(bit / 8)]) >> (bit % 8) & 1U) != 0;
}

/// Bits of the whole code, those that fill the last byte left out.
std::int64_t used_bits(std::int64_t count, std::int64_t universe) {
  return bitmap_is_shorter(count, universe) ? universe : best_split(count, universe).bits(count);
}

std::uint64_t lower_part(std::span<const std::byte> in, const Split& split, std::int64_t i) {
  std::uint64_t value = 0;
  for (int bit = 0; bit < split.lower; ++bit) {
    if (bit_at(in, split.upper + i * split.lower + bit)) value |= std::uint64_t{1} << bit;
  }
  return value;
}

}  // namespace

std::int64_t size(std::int64_t count, std::int64_t universe) { return bytes(used_bits(count, universe)); }

void write(std::span<const std::uint32_t> indices, std::int64_t universe, std::span<std::byte> out) {
  const std::int64_t count = std::ssize(indices);
  TRILEMMA_ENSURE(std::ssize(out) == size(count, universe), "the buffer has the size of the set");
  std::ranges::fill(out, std::byte{0});
  const Split split = best_split(count, universe);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t index = indices[static_cast<std::size_t>(i)];
    if (bitmap_is_shorter(count, universe)) {
      set_bit(out, index);
      continue;
    }
    set_bit(out, static_cast<std::int64_t>(index >> split.lower) + i);
    for (int bit = 0; bit < split.lower; ++bit) {
      if ((index >> bit & 1U) != 0) set_bit(out, split.upper + i * split.lower + bit);
    }
  }
}

std::vector<std::uint32_t> read(std::int64_t count, std::int64_t universe, std::span<const std::byte> in) {
  TRILEMMA_ENSURE(std::ssize(in) == size(count, universe), "the buffer has the size of the set");
  const bool bitmap = bitmap_is_shorter(count, universe);
  const Split split = best_split(count, universe);
  std::vector<std::uint32_t> found;
  for (std::int64_t bit = 0; bit < (bitmap ? universe : split.upper); ++bit) {
    if (!bit_at(in, bit)) continue;
    const std::int64_t i = std::ssize(found);
    const std::int64_t index =
        bitmap ? bit : ((bit - i) << split.lower) + static_cast<std::int64_t>(i < count ? lower_part(in, split, i) : 0);
    if (i == count || index >= universe || (i > 0 && index <= found.back()))
      throw MalformedMessage("the indices of the message do not rise, or are too many");
    found.push_back(static_cast<std::uint32_t>(index));
  }
  if (std::ssize(found) != count) throw MalformedMessage("the message has fewer indices than values");
  for (std::int64_t bit = used_bits(count, universe); bit < 8 * std::ssize(in); ++bit) {
    if (bit_at(in, bit)) throw MalformedMessage("bits after the indices of the message are set");
  }
  return found;
}

double least_size(std::int64_t count, std::int64_t universe) {
  const auto n = static_cast<double>(universe);
  const auto k = static_cast<double>(count);
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::numbers::ln2 / 8;
}

}  // namespace trilemma::index_set
