#include "models/llm/binary_file.h"

#include <fstream>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "models/codec/little_endian.h"

namespace trilemma {

BinaryFile::BinaryFile(const std::filesystem::path& path) : shown_(path.string()) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 32;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) fail("cannot be read; name an existing file");
  if (size > largest) fail("has more than 4 GiB; this program reads small models");
  bytes_.resize(size);
  stream.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(size));
  if (stream.gcount() != static_cast<std::streamsize>(size)) fail("cannot be read to its end");
}

std::span<const std::byte> BinaryFile::take(std::size_t count) {
  if (count > left()) fail(fmt::format("ends after {} bytes, where {} more are expected", size(), count - left()));
  const auto taken = std::span(bytes_).subspan(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t BinaryFile::integer(std::size_t bytes) { return get_little_endian(take(bytes)); }

void BinaryFile::fail(const std::string& problem) const { throw config::Error(fmt::format("{}: {}", shown_, problem)); }

}  // namespace trilemma
