#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trilemma {

/// Writes the low `out.size()` bytes of `value`, least significant first.
inline void put_little_endian(std::span<std::byte> out, std::uint64_t value) {
  for (std::byte& byte : out) {
    byte = static_cast<std::byte>(value & 0xff);
    value >>= 8;
  }
}

/// Reads at most eight bytes, least significant first.
inline std::uint64_t get_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace trilemma
