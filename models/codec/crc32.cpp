#include <cstring>
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "models/codec/wire.h"

namespace trilemma::wire {
namespace {

std::uint32_t by_table(std::span<const std::byte> bytes, std::uint32_t previous) {
  if (bytes.empty()) return previous;  // zlib takes a null pointer for a request to start anew
  return static_cast<std::uint32_t>(::crc32_z(previous, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

/// x^power modulo the polynomial of the checksum, its bits in reflected order in the lower 33 bits of a factor: the
/// product of two reflected numbers is one place short.
constexpr long long power_of_x(int power) {
  std::uint32_t remainder = 0x80000000U;  // 1
  for (int i = 0; i < power; ++i) remainder = remainder >> 1 ^ ((remainder & 1U) != 0 ? 0xedb88320U : 0U);
  return static_cast<long long>(remainder) << 1;
}

/// The 16 bytes that leave the same remainder `distance` bits further on.
template <int distance>
__attribute__((target("pclmul"))) __m128i moved(__m128i bytes) {
  const __m128i powers = _mm_set_epi64x(power_of_x(distance - 32), power_of_x(distance + 32));
  return _mm_xor_si128(_mm_clmulepi64_si128(bytes, powers, 0x00), _mm_clmulepi64_si128(bytes, powers, 0x11));
}

__attribute__((target("pclmul"))) __m128i sixteen(std::span<const std::byte> bytes, std::size_t at) {
  __m128i found;
  std::memcpy(&found, bytes.subspan(at, sizeof found).data(), sizeof found);
  return found;
}

/// Folds the message into 16 bytes by multiplication without carries (Gopal et al., Fast CRC Computation for Generic
/// Polynomials Using PCLMULQDQ, Intel 2009), four at a time, and leaves these and the rest to the table. Requires 64
/// bytes.
__attribute__((target("pclmul"))) std::uint32_t by_folding(std::span<const std::byte> bytes, std::uint32_t previous) {
  __m128i a = _mm_xor_si128(sixteen(bytes, 0), _mm_cvtsi32_si128(static_cast<int>(~previous)));
  __m128i b = sixteen(bytes, 16);
  __m128i c = sixteen(bytes, 32);
  __m128i d = sixteen(bytes, 48);
  std::size_t at = 64;
  for (; bytes.size() - at >= 64; at += 64) {
    a = _mm_xor_si128(moved<512>(a), sixteen(bytes, at));
    b = _mm_xor_si128(moved<512>(b), sixteen(bytes, at + 16));
    c = _mm_xor_si128(moved<512>(c), sixteen(bytes, at + 32));
    d = _mm_xor_si128(moved<512>(d), sixteen(bytes, at + 48));
  }
  b = _mm_xor_si128(b, moved<128>(a));
  c = _mm_xor_si128(c, moved<128>(b));
  d = _mm_xor_si128(d, moved<128>(c));
  const std::uint32_t folded = by_table(std::as_bytes(std::span(&d, 1)), 0xffffffffU);  // a register of zeros
  return by_table(bytes.subspan(at), folded);
}

#endif

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous) {
#if defined(__x86_64__)
  static const bool folds = __builtin_cpu_supports("pclmul") != 0;
  if (folds && bytes.size() >= 64) return by_folding(bytes, previous);
#endif
  return by_table(bytes, previous);
}

}  // namespace trilemma::wire
