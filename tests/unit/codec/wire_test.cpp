#include "models/codec/wire.h"

#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "models/codec/little_endian.h"

namespace trilemma::wire {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

const Header example{.codec = CodecId::fourier,
                     .format = NumberFormat::int8,
                     .shape = {.tokens = 0x01020304, .hidden = 7},
                     .parameters = {3, 5},
                     .scale = 0.25F};

std::vector<std::byte> sealed(const Header& header, std::size_t payload_size = 3) {
  std::vector<std::byte> message(static_cast<std::size_t>(header_size) + payload_size, std::byte{0xab});
  seal(header, message);
  return message;
}

/// Writes one field and repairs the checksum, as a sender with a bug or bad intentions would.
std::vector<std::byte> with_field(std::size_t offset, std::size_t size, std::uint64_t value) {
  auto message = sealed(example);
  const auto all = std::span(message);
  put_little_endian(all.subspan(offset, size), value);
  put_little_endian(all.subspan(36, 4), crc32(all.subspan(40), crc32(all.first(36))));
  return message;
}

TEST(Crc32, HasTheCheckValueOfIeee8023) {
  // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xcbf43926U);
}

TEST(Crc32, ContinuesAnEarlierPiece) {
  EXPECT_EQ(crc32(bytes_of("6789"), crc32(bytes_of("12345"))), crc32(bytes_of("123456789")));
}

/// By the definition: the remainder of a division by the polynomial, bit by bit.
std::uint32_t by_division(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xffffffffU;
  for (const std::byte byte : bytes) {
    remainder ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~remainder;
}

TEST(Crc32, IsTheRemainderForEveryLengthAndPlace) {
  std::mt19937 engine(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine());
  for (std::size_t length = 0; length <= 280; ++length) {
    const auto some = std::span(bytes).subspan(length % 17, length);
    ASSERT_EQ(crc32(some), by_division(some)) << length;
    ASSERT_EQ(crc32(some.subspan(length / 3), crc32(some.first(length / 3))), by_division(some)) << length;
  }
}

TEST(Header, SurvivesTheRoundTrip) {
  const Header header = open(sealed(example));
  EXPECT_EQ(header.codec, example.codec);
  EXPECT_EQ(header.format, example.format);
  EXPECT_EQ(header.shape, example.shape);
  EXPECT_EQ(header.parameters, example.parameters);
  EXPECT_EQ(header.scale, example.scale);
}

TEST(Header, IsLittleEndianAndStartsWithItsName) {
  const auto message = sealed(example);
  const std::vector<std::byte> start(message.begin(), message.begin() + 12);
  auto expected = bytes_of("TRLM");
  for (const int byte : {1, 2, 3, 0, 4, 3, 2, 1}) expected.push_back(static_cast<std::byte>(byte));
  EXPECT_EQ(start, expected);  // version 1, fourier 2, int8 3, zero, tokens 0x01020304
}

TEST(Header, RefusesTruncationAtEveryLength) {
  const auto message = sealed(example);
  for (std::size_t length = 0; length < message.size(); ++length) {
    EXPECT_THROW(open(std::span(message).first(length)), MalformedMessage) << length;
  }
}

TEST(Header, RefusesTrailingBytes) {
  auto message = sealed(example);
  message.push_back(std::byte{0});
  EXPECT_THROW(open(message), MalformedMessage);
}

TEST(Header, RefusesAWrongFieldUnderARightChecksum) {
  EXPECT_NO_THROW(open(with_field(4, 1, 1)));
  EXPECT_THROW(open(with_field(0, 1, 'X')), MalformedMessage);                 // magic
  EXPECT_THROW(open(with_field(4, 1, 2)), MalformedMessage);                   // version
  EXPECT_THROW(open(with_field(5, 1, 0)), MalformedMessage);                   // codec
  EXPECT_THROW(open(with_field(5, 1, 13)), MalformedMessage);                  // codec
  EXPECT_THROW(open(with_field(6, 1, 6)), MalformedMessage);                   // number format
  EXPECT_THROW(open(with_field(7, 1, 1)), MalformedMessage);                   // reserved
  EXPECT_THROW(open(with_field(8, 4, 0)), MalformedMessage);                   // tokens
  EXPECT_THROW(open(with_field(8, 4, 0x80000000U)), MalformedMessage);         // tokens
  EXPECT_THROW(open(with_field(12, 4, 0)), MalformedMessage);                  // hidden
  EXPECT_THROW(open(with_field(24, 8, ~std::uint64_t{0})), MalformedMessage);  // payload length
}

TEST(Header, RefusesAScaleThatIsNotAPositiveNumber) {
  for (const float scale :
       {0.0F, -1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(open(with_field(32, 4, std::bit_cast<std::uint32_t>(scale))), MalformedMessage) << scale;
  }
}

TEST(Header, SaysWhatIsWrong) {
  const auto message = sealed(example);
  try {
    open(std::span(message).first(12));
    FAIL() << "a message of 12 bytes was accepted";
  } catch (const MalformedMessage& error) {
    EXPECT_STREQ(error.what(), "the message has 12 bytes, fewer than its header of 40");
  }
}

}  // namespace
}  // namespace trilemma::wire
