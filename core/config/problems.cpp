#include "core/config/problems.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

constexpr std::size_t longest_shown = 60;

/// Letters to insert, drop, replace or swap with their neighbour (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above = row;
  std::vector<std::size_t> two_above;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

void Problems::add(const Origin& where, std::string_view path, std::string_view problem) {
  const auto above = [&](const Problem& other) {
    return other.where.source == where.source &&
           std::pair(other.where.line, other.where.column) <= std::pair(where.line, where.column);
  };
  const auto same_source = [&](const Problem& other) { return other.where.source == where.source; };
  auto at = std::find_if(found_.rbegin(), found_.rend(), above).base();
  if (at == found_.begin()) at = std::find_if(found_.begin(), found_.end(), same_source);
  found_.insert(at, {where, path.empty() ? fmt::format("{}: {}", where.text(), problem)
                                         : fmt::format("{}: {}: {}", where.text(), path, problem)});
}

void Problems::add_value(const Origin& where, std::string_view path, std::string_view value, std::string_view problem) {
  add(where, path, fmt::format("'{}' {}", printable(value), problem));
}

void Problems::throw_if_any() const {
  if (found_.empty()) return;
  std::string text;
  for (const Problem& problem : found_) text += (text.empty() ? "" : "\n") + problem.line;
  throw Error(text);
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
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool abbreviation = word.size() > 2 && candidate.starts_with(word);
    const std::size_t distance = abbreviation ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace trilemma::config
