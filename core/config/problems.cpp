#include "core/config/problems.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

constexpr std::size_t longest_shown = 60;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void Problems::add(const Origin& where, std::string_view path, std::string_view problem) {
  lines_.push_back(path.empty() ? fmt::format("{}: {}", where.text(), problem)
                                : fmt::format("{}: {}: {}", where.text(), path, problem));
}

void Problems::add_value(const Origin& where, std::string_view path, std::string_view value, std::string_view problem) {
  add(where, path, fmt::format("'{}' {}", printable(value), problem));
}

void Problems::throw_if_any() const {
  if (!lines_.empty()) throw Error(fmt::format("{}", fmt::join(lines_, "\n")));
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char character : text.substr(0, longest_shown)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += character;
    }
  }
  // A cut inside a UTF-8 sequence would print as rubbish: drop the incomplete tail.
  if (text.size() > longest_shown) {
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0U) == 0x80U) shown.pop_back();
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0U) shown.pop_back();
    shown += "...";
  }
  return shown;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > longest_shown) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace trilemma::config
