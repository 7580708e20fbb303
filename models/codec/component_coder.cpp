#include "models/codec/component_coder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <zstd.h>

#include "models/codec/little_endian.h"
#include "models/codec/range_coder.h"
#include "models/codec/wire.h"

namespace trilemma {
namespace {

/// Class c: a standard deviation of 2^((c - 8) / 2) to 2^((c - 7) / 2) steps.
constexpr int classes = 48;
constexpr int class_of_one = 8;
/// A magnitude is a run of ones in units of 2^shift, at most this long, then a number of its own.
constexpr int longest_run = 15;
constexpr int largest_exponent = 30;
/// Components next to it in its token are small, as expected, or large.
constexpr std::size_t neighbourhoods = 3;

/// exp(-x), x >= 0, by products and sums alone, which are the same on every machine.
constexpr double exp_negative(double x) {
  constexpr int halvings = 10;
  constexpr int terms = 8;
  for (int i = 0; i < halvings; ++i) x /= 2;
  double sum = 1;
  for (int n = terms; n >= 1; --n) sum = 1 + x / n * sum;
  for (int i = 0; i < halvings; ++i) sum *= sum;
  return 1 / sum;
}

/// Bits of a magnitude that are coded as they are: half the steps of a standard deviation is one unit of the run.
constexpr int shift_of(int c) { return std::max(0, (c - class_of_one) / 2 - 1); }

/// Middle of a class, 2^((c - 7.5) / 2).
constexpr double middle_of(int c) {
  double middle = 1.189207115002721;  // 2^(1/4)
  for (int i = class_of_one; i < c; ++i) middle *= 1.4142135623730951;
  for (int i = c; i < class_of_one; ++i) middle /= 1.4142135623730951;
  return middle;
}

/// That a magnitude goes on, for a Laplace distribution: exp(-sqrt(2) distance / sigma). The quantiser rounds down
/// below 0.6 steps, so the first unit begins there.
constexpr std::uint16_t start_probability(int c, int run) {
  const double unit = static_cast<double>(1 << shift_of(c)) - (run == 0 ? 0.4 : 0.0);
  const double share = exp_negative(1.4142135623730951 * unit / middle_of(c));
  return static_cast<std::uint16_t>(std::clamp(share * 65536, 64.0, 65472.0));
}

struct Models {
  Models() {
    for (int c = 0; c < classes; ++c) {
      for (auto& neighbourhood : runs[static_cast<std::size_t>(c)]) {
        for (std::size_t run = 0; run < longest_run; ++run)
          neighbourhood[run] = AdaptiveBit(start_probability(c, run == 0 ? 0 : 1));
      }
    }
  }
  std::array<std::array<std::array<AdaptiveBit, longest_run>, neighbourhoods>, classes> runs;
  std::array<AdaptiveBit, largest_exponent + 1> exponents;
};

/// What came before in a token, in units of what was expected.
class Neighbours {
 public:
  [[nodiscard]] std::size_t state() const { return mean_ < 96 ? 0 : mean_ < 224 ? 1 : 2; }
  void add(std::uint32_t magnitude, int c) {
    // |level| / 2^((c - 8) / 2), times 256; rounded down to a power of two for odd classes, where both ends do the
    // same.
    const int halves = c - class_of_one;
    const std::uint64_t scaled = halves >= 0 ? (std::uint64_t{magnitude} << 8) >> (halves / 2)
                                             : (std::uint64_t{magnitude} << 8) << (-halves / 2);
    const std::uint64_t seen = std::min<std::uint64_t>(scaled, 1024);
    mean_ = (7 * mean_ + static_cast<std::uint32_t>(seen)) / 8;
  }

 private:
  std::uint32_t mean_ = 160;
};

void put_magnitude(RangeEncoder& encoder, Models& models, int c, std::size_t state, std::uint32_t magnitude) {
  const int shift = shift_of(c);
  const std::uint32_t units = magnitude >> shift;
  auto& run = models.runs[static_cast<std::size_t>(c)][state];
  for (std::uint32_t i = 0; i < longest_run; ++i) {
    encoder.put(units > i, run[i]);
    if (units <= i) break;
  }
  if (units >= longest_run) {
    const std::uint32_t rest = units - longest_run + 1;
    const int exponent = static_cast<int>(std::bit_width(rest)) - 1;
    for (int i = 0; i < exponent; ++i) encoder.put(true, models.exponents[static_cast<std::size_t>(i)]);
    if (exponent < largest_exponent) encoder.put(false, models.exponents[static_cast<std::size_t>(exponent)]);
    encoder.put_raw(rest, exponent);
  }
  encoder.put_raw(magnitude, shift);
}

std::uint32_t get_magnitude(RangeDecoder& decoder, Models& models, int c, std::size_t state) {
  const int shift = shift_of(c);
  auto& run = models.runs[static_cast<std::size_t>(c)][state];
  std::uint32_t units = 0;
  while (units < longest_run && decoder.get(run[units])) ++units;
  if (units == longest_run) {
    int exponent = 0;
    while (exponent < largest_exponent && decoder.get(models.exponents[static_cast<std::size_t>(exponent)])) ++exponent;
    units += (std::uint32_t{1} << exponent | decoder.get_raw(exponent)) - 1;
  }
  return units << shift | decoder.get_raw(shift);
}

std::optional<std::vector<std::byte>> range_code(std::span<const std::int32_t> levels, const ComponentClasses& known,
                                                 std::size_t room) {
  RangeEncoder encoder;
  Models models;
  Neighbours neighbours;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t component = i % known.components();
    if (component == 0) {
      neighbours = Neighbours();
      if (encoder.size() > room) return std::nullopt;
    }
    const int c = known.at(component);
    const auto magnitude = static_cast<std::uint32_t>(std::abs(levels[i]));
    put_magnitude(encoder, models, c, neighbours.state(), magnitude);
    if (magnitude != 0) encoder.put_raw(levels[i] < 0 ? 1 : 0, 1);
    neighbours.add(magnitude, c);
  }
  auto bytes = encoder.finish();
  if (bytes.size() > room) return std::nullopt;
  return bytes;
}

void range_decode(std::span<const std::byte> bytes, const ComponentClasses& known, std::span<std::int32_t> levels) {
  RangeDecoder decoder(bytes);
  Models models;
  Neighbours neighbours;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t component = i % known.components();
    if (component == 0) neighbours = Neighbours();
    const int c = known.at(component);
    const std::uint32_t magnitude = get_magnitude(decoder, models, c, neighbours.state()) & 0x7fffffffU;
    const bool negative = magnitude != 0 && decoder.get_raw(1) != 0;
    levels[i] = negative ? -static_cast<std::int32_t>(magnitude) : static_cast<std::int32_t>(magnitude);
    neighbours.add(magnitude, c);
  }
}

/// One byte a level, those beyond a byte apart: 0x80 and four bytes at the end. Component by component, since those of
/// one component are alike.
std::vector<std::byte> plain(std::span<const std::int32_t> levels, std::size_t components) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> large;
  for (std::size_t component = 0; component < components; ++component) {
    for (std::size_t i = component; i < levels.size(); i += components) {
      const std::int32_t level = levels[i];
      const bool fits = level >= -127 && level <= 127;
      bytes.push_back(fits ? static_cast<std::byte>(static_cast<std::uint8_t>(level)) : std::byte{0x80});
      if (fits) continue;
      large.resize(large.size() + 4);
      put_little_endian(std::span(large).last(4), static_cast<std::uint32_t>(level));
    }
  }
  bytes.insert(bytes.end(), large.begin(), large.end());
  return bytes;
}

constexpr int zstd_level = 12;

std::optional<std::vector<std::byte>> zstd_code(std::span<const std::int32_t> levels, std::size_t components,
                                                std::size_t room) {
  const auto bytes = plain(levels, components);
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), zstd_level);
  if (ZSTD_isError(size) != 0 || size > room) return std::nullopt;
  packed.resize(size);
  return packed;
}

void zstd_decode(std::span<const std::byte> bytes, std::size_t components, std::span<std::int32_t> levels) {
  const std::size_t frame = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  std::vector<std::byte> unpacked(5 * levels.size());
  const std::size_t size =
      ZSTD_isError(frame) != 0 ? frame : ZSTD_decompress(unpacked.data(), unpacked.size(), bytes.data(), frame);
  if (ZSTD_isError(size) != 0 || size < levels.size())
    throw MalformedMessage("the payload of the message is no zstd frame of its shape");
  std::size_t next = 0;
  std::size_t large = levels.size();
  for (std::size_t component = 0; component < components; ++component) {
    for (std::size_t i = component; i < levels.size(); i += components, ++next) {
      const auto byte = std::to_integer<std::int32_t>(unpacked[next]);
      levels[i] = byte < 128 ? byte : byte - 256;
      if (unpacked[next] != std::byte{0x80}) continue;
      if (large + 4 > size) throw MalformedMessage("the payload of the message ends among its large levels");
      levels[i] = static_cast<std::int32_t>(get_little_endian(std::span(unpacked).subspan(large, 4)));
      large += 4;
    }
  }
}

}  // namespace

ComponentClasses::ComponentClasses(std::span<const float> variances, float step) {
  const double square = static_cast<double>(step) * static_cast<double>(step);
  for (const float variance : variances) {
    // floor(log2(variance / step^2)) by exponents: the quotient of doubles is the same on every machine.
    int exponent = 0;
    std::frexp(std::max(static_cast<double>(variance), 1e-30) / square, &exponent);
    classes_.push_back(static_cast<std::uint8_t>(std::clamp(exponent - 1 + class_of_one, 0, classes - 1)));
  }
}

std::optional<std::vector<std::byte>> code_components(EntropyCoder coder, std::span<const std::int32_t> levels,
                                                      const ComponentClasses& known, std::size_t room) {
  if (std::ranges::all_of(levels, [](std::int32_t level) { return level == 0; })) return std::vector<std::byte>{};
  auto bytes =
      coder == EntropyCoder::range ? range_code(levels, known, room) : zstd_code(levels, known.components(), room);
  if (bytes && bytes->empty()) return std::nullopt;  // no bytes mean zeros
  return bytes;
}

void decode_components(EntropyCoder coder, std::span<const std::byte> bytes, const ComponentClasses& known,
                       std::span<std::int32_t> levels) {
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; })) {
    std::ranges::fill(levels, 0);
    return;
  }
  if (coder == EntropyCoder::range) return range_decode(bytes, known, levels);
  zstd_decode(bytes, known.components(), levels);
}

}  // namespace trilemma
