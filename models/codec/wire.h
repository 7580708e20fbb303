#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "models/codec/config.h"
#include "models/codec/shape.h"

/// Wire format of a compressed activation, version 1. All numbers are little-endian; the header is the same for every
/// codec, so that message sizes differ by their payloads only.
///
///     offset size
///          0    4  magic "TRLM"
///          4    1  version, 1
///          5    1  codec (CodecId)
///          6    1  number format of the payload (NumberFormat)
///          7    1  zero
///          8    4  tokens S, 1 .. 2^31 - 1
///         12    4  hidden D, 1 .. 2^31 - 1
///         16    8  two parameters of the codec, 4 bytes each (each codec says which)
///         24    8  payload length in bytes
///         32    4  scale, fp32, positive: decoded number = sent number x scale
///         36    4  CRC-32 (IEEE 802.3) of the bytes 0 .. 35 and the payload
///         40       payload
///
/// A CRC-32 finds every error burst of up to 32 bits, hence every single wrong byte; longer damage passes with
/// probability 2^-32. It is no defence against an adversary, so decoders also check what a right checksum covers.
namespace trilemma {

/// The bytes are no message of ours, or were damaged or cut; what() is one line that says what is wrong.
class MalformedMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace wire {

inline constexpr std::int64_t header_size = 40;       // bytes
inline constexpr std::int64_t max_side = 0x7fffffff;  // largest S and D

/// The numbers are part of the wire format: never renumber.
enum class CodecId : std::uint8_t {
  identity = 1,
  fourier = 2,
  fourier_published = 3,
  fourier_text = 4,
  token_fourier = 5,
  dct = 6,
  topk = 7,
  svd = 8,
  qr = 9,
  quantise = 10,
  delta = 11,
  transform = 12,
};

struct Header {
  CodecId codec = CodecId::identity;
  NumberFormat format = NumberFormat::fp32;
  Shape shape;
  std::array<std::uint32_t, 2> parameters{};
  float scale = 1;
};

/// CRC-32 of IEEE 802.3 (reflected polynomial 0xEDB88320); `previous` continues an earlier piece.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous = 0);

/// Writes the header in front of the payload that `message` already holds from `header_size` on, checksum last.
void seal(const Header& header, std::span<std::byte> message);

/// Checks length, magic, version, checksum and the range of every field of a whole message.
/// Throws MalformedMessage; allocates nothing else.
Header open(std::span<const std::byte> message);

/// The bytes behind the header of a message that `open` accepted.
inline std::span<const std::byte> payload(std::span<const std::byte> message) {
  return message.subspan(static_cast<std::size_t>(header_size));
}

}  // namespace wire
}  // namespace trilemma
