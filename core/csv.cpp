#include "core/csv.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/config/problems.h"

namespace trilemma {

std::vector<std::string> csv_cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += '"';
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

std::vector<std::string> CsvColumns::all() const {
  std::vector<std::string> names = required;
  names.insert(names.end(), optional.begin(), optional.end());
  return names;
}

CsvReader::CsvReader(const std::filesystem::path& path, std::string shown, CsvColumns columns)
    : shown_(std::move(shown)), known_(std::move(columns)) {
  if (std::filesystem::is_directory(path))
    throw config::Error(fmt::format("{}: is a folder; write the path of a CSV file", shown_));
  stream_.open(path);
  if (!stream_) throw config::Error(fmt::format("{}: cannot be read; write the path of a CSV file", shown_));
  if (!next_cells()) {
    line_ = std::max<std::int64_t>(1, line_);
    fail(fmt::format("is empty; write a header and one row {}", known_.row));
  }
  read_header();
}

bool CsvReader::next() {
  if (!next_cells()) return false;
  if (cells_.size() != columns_.size())
    fail(fmt::format("has {} cells where the header has {}; write one a column", cells_.size(), columns_.size()));
  return true;
}

bool CsvReader::next_cells() {
  std::string line;
  while (std::getline(stream_, line)) {
    ++line_;
    if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') continue;
    refuse_other_text(line);
    cells_ = csv_cells(line);
    return true;
  }
  return false;
}

std::string CsvReader::cell(const std::string& column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? "" : cells_[found->second];
}

void CsvReader::fail(const std::string& problem) const {
  throw config::Error(fmt::format("{}:{}: {}", shown_, line_, problem));
}

void CsvReader::fail_unknown(const std::string& column, const std::vector<std::string>& known) const {
  fail(fmt::format("{}: '{}' is not one of {}", column, config::printable(cell(column)), fmt::join(known, ", ")));
}

/// What is no CSV line of UTF-8 text would only give riddles.
void CsvReader::refuse_other_text(std::string_view line) const {
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) fail("is UTF-16 text; save it as UTF-8");
  if (line.substr(0, line.size() - 1).find('\r') != std::string_view::npos)
    fail("has a carriage return within a line; save it with line ends LF or CRLF");
  if (std::count(line.begin(), line.end(), '"') % 2 != 0)
    fail("has a quote that does not end; a cell in quotes ends on its line, write \"\" for a quote in it");
}

void CsvReader::read_header() {
  const std::vector<std::string> known = known_.all();
  for (const std::string& name : cells_) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string close = config::nearest(name, known);
      fail(fmt::format("column '{}' is not known; {}one of {}", config::printable(name),
                       close.empty() ? "write " : fmt::format("write '{}', or ", close), fmt::join(known, ", ")));
    }
    if (!columns_.emplace(name, columns_.size()).second)
      fail(fmt::format("column '{}' is there twice; remove one", name));
  }
  for (const std::string& name : known_.required) {
    if (!columns_.contains(name)) fail(fmt::format("column '{}' is missing; add it to the header", name));
  }
}

}  // namespace trilemma
