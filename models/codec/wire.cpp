#include "models/codec/wire.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

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

/// What has to be right before any other field means something.
void require_whole_message(std::span<const std::byte> message) {
  if (std::ssize(message) < header_size) {
    throw MalformedMessage(
        fmt::format("the message has {} bytes, fewer than its header of {}", message.size(), header_size));
  }
  if (get(message, magic_slot) != magic) throw MalformedMessage("the message does not start with 'TRLM'");
  if (const std::uint64_t found = get(message, version_slot); found != version) {
    throw MalformedMessage(fmt::format("the message has version {}, this program reads version 1", found));
  }
  const std::uint64_t announced = get(message, length_slot);
  const std::size_t present = payload(message).size();
  if (announced != present) {
    throw MalformedMessage(
        fmt::format("the header announces a payload of {} bytes, but {} follow", announced, present));
  }
  if (get(message, checksum_slot) != checksum(message)) throw MalformedMessage("the checksum of the message is wrong");
}

std::int64_t side(std::span<const std::byte> message, Slot slot, const char* name) {
  const auto value = static_cast<std::int64_t>(get(message, slot));
  if (value >= 1 && value <= max_side) return value;
  throw MalformedMessage(fmt::format("the message has {} {}", value, name));
}

/// The member of an enumeration with that number, if it is `first` to `last`.
template <class Choice>
Choice choice(std::uint64_t number, Choice first, Choice last, const char* name) {
  if (number >= static_cast<std::uint64_t>(first) && number <= static_cast<std::uint64_t>(last))
    return static_cast<Choice>(number);
  throw MalformedMessage(fmt::format("the message names the unknown {} {}", name, number));
}

}  // namespace

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
  const auto codec = choice(get(message, codec_slot), CodecId::identity, CodecId::transform, "codec");
  const auto format = choice(get(message, format_slot), NumberFormat::fp32, NumberFormat::int2, "number format");
  if (get(message, zero_slot) != 0) throw MalformedMessage("the reserved byte of the message is not zero");
  const auto scale = std::bit_cast<float>(get32(message, scale_slot));
  if (!std::isfinite(scale) || scale <= 0) throw MalformedMessage("the scale of the message is not a positive number");
  return {
      .codec = codec,
      .format = format,
      .shape = {.tokens = side(message, tokens_slot, "tokens"), .hidden = side(message, hidden_slot, "hidden values")},
      .parameters = {get32(message, parameter_slots[0]), get32(message, parameter_slots[1])},
      .scale = scale};
}

}  // namespace trilemma::wire
