#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// The same for the number at place `i` of many equally wide ones, as one store or load where the machine's order
/// allows.
template <std::unsigned_integral Number>
void put_little_endian_at(std::span<std::byte> out, std::size_t i, Number number) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(out.data() + i * sizeof number, &number, sizeof number);
  } else {
    put_little_endian(out.subspan(i * sizeof number, sizeof number), number);
  }
}
template <std::unsigned_integral Number>
Number get_little_endian_at(std::span<const std::byte> bytes, std::size_t i) {
  Number number = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
  } else {
    number = static_cast<Number>(get_little_endian(bytes.subspan(i * sizeof number, sizeof number)));
  }
  return number;
}

}  // namespace trilemma
