#include "models/codec/range_coder.h"

namespace trilemma {

void RangeEncoder::put_raw(std::uint32_t bits, int count) {
  for (int i = count - 1; i >= 0; --i) {
    range_ >>= 1;
    if ((bits >> i & 1U) == 0) low_ += range_;
    while (range_ < least_range) shift();
  }
}

/// Moves the upper byte of `low_` out. A byte 0xff waits until it is known whether a carry passes through it.
void RangeEncoder::shift() {
  constexpr std::uint64_t carry = std::uint64_t{1} << 32;
  constexpr std::uint64_t all_ones = 0xff000000;
  if (low_ < all_ones || low_ >= carry) {
    const auto over = static_cast<std::uint8_t>(low_ >> 32);
    if (!first_) bytes_.push_back(static_cast<std::byte>(static_cast<std::uint8_t>(cache_ + over)));
    for (; pending_ > 1; --pending_) bytes_.push_back(static_cast<std::byte>(static_cast<std::uint8_t>(0xff + over)));
    pending_ = 0;
    first_ = false;
    cache_ = static_cast<std::uint8_t>(low_ >> 24);
  }
  ++pending_;
  low_ = (low_ & 0x00ffffff) << 8;
  range_ <<= 8;
}

std::vector<std::byte> RangeEncoder::finish() {
  // Any number in [low, low + range) will do: the one with most zeros at its end is shortest.
  const std::uint64_t high = low_ + range_ - 1;
  std::uint64_t mask = 0xffffffff;
  while (mask != 0 && ((high & ~mask) < low_)) mask >>= 1;
  low_ = high & ~mask;
  for (int i = 0; i < 5; ++i) shift();
  while (!bytes_.empty() && bytes_.back() == std::byte{0}) bytes_.pop_back();
  return bytes_;
}

RangeDecoder::RangeDecoder(std::span<const std::byte> bytes) : bytes_(bytes) {
  for (int i = 0; i < 4; ++i) shift();
  range_ = 0xffffffff;
}

void RangeDecoder::shift() {
  code_ <<= 8;
  range_ <<= 8;
  if (bytes_.empty()) return;
  code_ |= std::to_integer<std::uint32_t>(bytes_.front());
  bytes_ = bytes_.subspan(1);
}

std::uint32_t RangeDecoder::get_raw(int count) {
  std::uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    range_ >>= 1;
    const bool bit = code_ < range_;
    if (!bit) code_ -= range_;
    bits = bits << 1 | (bit ? 1U : 0U);
    while (range_ < least_range) shift();
  }
  return bits;
}

}  // namespace trilemma
