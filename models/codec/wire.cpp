#include "models/codec/wire.h"

#include <bit>
#include <cmath>
#include <string>

#include "core/ensure.h"
#include "models/codec/little_endian.h"

namespace trilemma::wire {
namespace {

struct Slot {
  std::size_t offset;
  std::size_t size;
};

constexpr Slot magic_slot{0, 4};
constexpr Slot version_slot{4, 1};
constexpr Slot codec_slot{5, 1};
constexpr Slot format_slot{6, 1};
constexpr Slot zero_slot{7, 1};
constexpr Slot tokens_slot{8, 4};
constexpr Slot hidden_slot{12, 4};
constexpr std::array<Slot, 2> parameter_slots{{{16, 4}, {20, 4}}};
constexpr Slot length_slot{24, 8};
constexpr Slot scale_slot{32, 4};
constexpr Slot checksum_slot{36, 4};
static_assert(checksum_slot.offset + checksum_slot.size == header_size);

constexpr std::uint32_t magic = 0x4d4c5254;  // "TRLM"
constexpr std::uint8_t version = 1;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t remainder = i;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1U) != 0 ? 0xedb88320U : 0U);
    table[i] = remainder;
  }
  return table;
}();

void put(std::span<std::byte> message, Slot slot, std::uint64_t value) {
  put_little_endian(message.subspan(slot.offset, slot.size), value);
}

std::uint64_t get(std::span<const std::byte> message, Slot slot) {
  return get_little_endian(message.subspan(slot.offset, slot.size));
}

std::uint32_t get32(std::span<const std::byte> message, Slot slot) {
  return static_cast<std::uint32_t>(get(message, slot));
}

std::uint32_t checksum(std::span<const std::byte> message) {
  return crc32(payload(message), crc32(message.first(checksum_slot.offset)));
}

void require(bool condition, const std::string& otherwise) {
  if (!condition) throw MalformedMessage(otherwise);
}

/// What has to be right before any other field means something.
void require_whole_message(std::span<const std::byte> message) {
  require(std::ssize(message) >= header_size, "the message has " + std::to_string(message.size()) +
                                                  " bytes, fewer than its header of " + std::to_string(header_size));
  require(get(message, magic_slot) == magic, "the message does not start with 'TRLM'");
  require(get(message, version_slot) == version,
          "the message has version " + std::to_string(get(message, version_slot)) + ", this program reads version 1");
  const std::uint64_t announced = get(message, length_slot);
  const std::size_t present = payload(message).size();
  require(announced == present, "the header announces a payload of " + std::to_string(announced) + " bytes, but " +
                                    std::to_string(present) + " follow");
  require(get(message, checksum_slot) == checksum(message), "the checksum of the message is wrong");
}

std::int64_t side(std::span<const std::byte> message, Slot slot, const std::string& name) {
  const auto value = static_cast<std::int64_t>(get(message, slot));
  require(value >= 1 && value <= max_side, "the message has " + std::to_string(value) + " " + name);
  return value;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous) {
  std::uint32_t remainder = ~previous;
  for (const std::byte byte : bytes) {
    remainder = remainder >> 8 ^ crc_table[(remainder ^ std::to_integer<std::uint32_t>(byte)) & 0xffU];
  }
  return ~remainder;
}

void seal(const Header& header, std::span<std::byte> message) {
  TRILEMMA_ENSURE(std::ssize(message) >= header_size, "a message has room for its header");
  put(message, magic_slot, magic);
  put(message, version_slot, version);
  put(message, codec_slot, static_cast<std::uint64_t>(header.codec));
  put(message, format_slot, static_cast<std::uint64_t>(header.format));
  put(message, zero_slot, 0);
  put(message, tokens_slot, static_cast<std::uint64_t>(header.shape.tokens));
  put(message, hidden_slot, static_cast<std::uint64_t>(header.shape.hidden));
  for (std::size_t i = 0; i < parameter_slots.size(); ++i) put(message, parameter_slots[i], header.parameters[i]);
  put(message, length_slot, payload(message).size());
  put(message, scale_slot, std::bit_cast<std::uint32_t>(header.scale));
  put(message, checksum_slot, checksum(message));
}

Header open(std::span<const std::byte> message) {
  require_whole_message(message);
  const std::uint64_t codec = get(message, codec_slot);
  require(
      codec >= static_cast<std::uint64_t>(CodecId::identity) && codec <= static_cast<std::uint64_t>(CodecId::transform),
      "the message names the unknown codec " + std::to_string(codec));
  const std::uint64_t format = get(message, format_slot);
  require(format <= static_cast<std::uint64_t>(NumberFormat::int2),
          "the message names the unknown number format " + std::to_string(format));
  require(get(message, zero_slot) == 0, "the reserved byte of the message is not zero");
  const auto scale = std::bit_cast<float>(get32(message, scale_slot));
  require(std::isfinite(scale) && scale > 0, "the scale of the message is not a positive number");
  return {
      .codec = static_cast<CodecId>(codec),
      .format = static_cast<NumberFormat>(format),
      .shape = {.tokens = side(message, tokens_slot, "tokens"), .hidden = side(message, hidden_slot, "hidden values")},
      .parameters = {get32(message, parameter_slots[0]), get32(message, parameter_slots[1])},
      .scale = scale};
}

}  // namespace trilemma::wire
