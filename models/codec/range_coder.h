#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Binary arithmetic coding with adaptive probabilities, in whole numbers only, so that both ends agree on every
/// machine: a range coder with carries (Martin 1979; as in LZMA), probabilities of 16 bits as the mean of a fast and a
/// slow estimate.
namespace trilemma {

/// Probability that a bit is 1, learnt while coding.
class AdaptiveBit {
 public:
  /// `probability` of a one in units of 2^-16, 1 .. 65535.
  explicit constexpr AdaptiveBit(std::uint16_t probability = 0x8000) : fast_(probability), slow_(probability) {}

  /// In units of 2^-12, 1 .. 4095.
  [[nodiscard]] std::uint32_t probability() const {
    const std::uint32_t mean = (static_cast<std::uint32_t>(fast_) + slow_) >> 5;
    return mean == 0 ? 1 : mean > 4095 ? 4095 : mean;
  }
  void learn(bool bit) {
    const std::uint32_t target = bit ? 0xffffU : 0;
    fast_ = static_cast<std::uint16_t>(fast_ + (static_cast<std::int32_t>(target) - fast_) / 16);
    slow_ = static_cast<std::uint16_t>(slow_ + (static_cast<std::int32_t>(target) - slow_) / 128);
  }

 private:
  std::uint16_t fast_;
  std::uint16_t slow_;
};

class RangeEncoder {
 public:
  void put(bool bit, AdaptiveBit& model) {
    const std::uint32_t bound = (range_ >> 12) * model.probability();
    if (bit) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    model.learn(bit);
    while (range_ < least_range) shift();
  }
  /// The lower `count` bits of `bits`, each as likely 0 as 1.
  void put_raw(std::uint32_t bits, int count);
  /// Bytes so far; the end adds at most five.
  [[nodiscard]] std::size_t size() const { return bytes_.size() + pending_; }
  /// All bytes. Zeros at the end are left out: the decoder reads zeros behind the end.
  [[nodiscard]] std::vector<std::byte> finish();

 private:
  static constexpr std::uint32_t least_range = std::uint32_t{1} << 24;
  void shift();

  std::uint64_t low_ = 0;
  std::uint32_t range_ = 0xffffffff;
  std::size_t pending_ = 1;  // the cached byte and bytes 0xff behind it, that a carry may still change
  std::uint8_t cache_ = 0;
  bool first_ = true;  // the byte cached at the start is no part of the code
  std::vector<std::byte> bytes_;
};

class RangeDecoder {
 public:
  explicit RangeDecoder(std::span<const std::byte> bytes);

  bool get(AdaptiveBit& model) {
    const std::uint32_t bound = (range_ >> 12) * model.probability();
    const bool bit = code_ < bound;
    if (bit) {
      range_ = bound;
    } else {
      code_ -= bound;
      range_ -= bound;
    }
    model.learn(bit);
    while (range_ < least_range) shift();
    return bit;
  }
  std::uint32_t get_raw(int count);

 private:
  static constexpr std::uint32_t least_range = std::uint32_t{1} << 24;
  void shift();

  std::span<const std::byte> bytes_;
  std::uint32_t code_ = 0;
  std::uint32_t range_ = 0xffffffff;
};

}  // namespace trilemma
