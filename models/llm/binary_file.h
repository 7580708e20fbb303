#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trilemma {

/// A small binary file read front to back, little endian. Every failure is a config::Error with the file's name.
class BinaryFile {
 public:
  explicit BinaryFile(const std::filesystem::path& path);

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  std::span<const std::byte> take(std::size_t count);
  std::uint64_t integer(std::size_t bytes);
  std::int32_t int32() { return static_cast<std::int32_t>(integer(sizeof(std::int32_t))); }
  float real() { return std::bit_cast<float>(static_cast<std::uint32_t>(integer(sizeof(float)))); }
  void rewind() { at_ = 0; }
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  std::string shown_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace trilemma
