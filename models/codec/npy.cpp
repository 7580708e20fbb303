#include "models/codec/npy.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/codec/little_endian.h"
#include "models/codec/number_format.h"

namespace trilemma {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::int64_t most_values = std::int64_t{1} << 30;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& problem) {
  throw NpyProblem(fmt::format("{}: {}", file.string(), problem));
}

std::string read_all(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file)) fail(file, "cannot be read; write the name of an .npy file");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// What stands behind `'key': ` in the header, a Python literal, up to the comma or bracket that ends it.
std::string_view entry(const std::filesystem::path& file, std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t start = header.find(quoted);
  if (start == std::string_view::npos) fail(file, fmt::format("has no '{}' in its header; it is no .npy file", key));
  std::string_view rest = header.substr(start + quoted.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest.substr(0, rest.find(rest.starts_with('(') ? ')' : ','));
}

std::vector<std::int64_t> shape_of(const std::filesystem::path& file, std::string_view text) {
  std::vector<std::int64_t> shape;
  if (text.starts_with('(')) text.remove_prefix(1);
  std::int64_t count = 1;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t side = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
    if (error != std::errc() || side < 1 || side > most_values / count)
      fail(file, "has no usable shape; every side is at least 1 and all values together at most 2^30");
    count *= side;
    shape.push_back(side);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return shape;
}

float value_at(std::span<const std::byte> bytes) {
  const std::uint64_t bits = get_little_endian(bytes);
  if (bytes.size() == 2) return from_fp16(static_cast<std::uint16_t>(bits));
  if (bytes.size() == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return static_cast<float>(std::bit_cast<double>(bits));
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& file) {
  const std::string all = read_all(file);
  if (!all.starts_with(magic) || all.size() < 12)
    fail(file, "does not start as an .npy file; write one with numpy.save");
  const std::size_t width = all[6] == 1 ? 2 : 4;
  const std::size_t length = get_little_endian(bytes_of(all).subspan(8, width));
  const std::size_t start = 8 + width;
  if (length > all.size() - start) fail(file, "ends within its header");
  const std::string_view header = std::string_view(all).substr(start, length);
  const std::string_view type = entry(file, header, "descr");
  const std::size_t size = type == "'<f2'" ? 2 : type == "'<f4'" ? 4 : type == "'<f8'" ? 8 : 0;
  if (size == 0) fail(file, fmt::format("has values of type {}; write '<f2', '<f4' or '<f8'", type));
  if (entry(file, header, "fortran_order") != "False")
    fail(file, "is in Fortran order; write it with numpy.ascontiguousarray");
  NpyArray array{.shape = shape_of(file, entry(file, header, "shape")), .values = {}};
  std::int64_t count = 1;
  for (const std::int64_t side : array.shape) count *= side;
  const std::span<const std::byte> values = bytes_of(all).subspan(start + length);
  if (values.size() != static_cast<std::size_t>(count) * size)
    fail(file, fmt::format("has {} bytes for {} values of {}", values.size(), count, size));
  array.values.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); i += size) array.values.push_back(value_at(values.subspan(i, size)));
  return array;
}

void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape, std::span<const float> values) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{}), }}",
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t fixed = 10;
  constexpr std::size_t alignment = 64;
  header.append(alignment - 1 - (fixed + header.size()) % alignment, ' ');
  header += '\n';
  std::string all(magic);
  all += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  all += header;
  for (const float value : values) {
    std::array<std::byte, 4> bytes{};
    put_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::ofstream out(file, std::ios::binary);
  out.write(all.data(), static_cast<std::streamsize>(all.size()));
  out.flush();
  if (!out) fail(file, "cannot be written");
}

}  // namespace trilemma
