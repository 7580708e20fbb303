#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace trilemma::test {

/// One row of a reference table: group (topic or model), params, quantity, value; further columns give the source.
struct ReferenceRow {
  std::string group;
  std::string params;
  std::string quantity;
  std::string value;

  /// The number behind `name=` in params.
  [[nodiscard]] double param(const std::string& name) const {
    const std::string text = " " + params;
    const std::size_t at = text.find(" " + name + "=");
    if (at == std::string::npos) throw std::runtime_error("no " + name + " in " + params);
    return std::stod(text.substr(at + name.size() + 2));
  }
  [[nodiscard]] double number() const { return std::stod(value); }
};

inline std::vector<std::string> split_csv(const std::string& line, char separator = ',') {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// All rows of `group` in tests/data/`file`; throws when there are none, so that no test passes by reading nothing.
inline std::vector<ReferenceRow> reference_rows(const std::string& file, const std::string& group) {
  std::ifstream table(std::string(TRILEMMA_TEST_DATA) + "/" + file);
  std::vector<ReferenceRow> rows;
  for (std::string line; std::getline(table, line);) {
    const auto cells = split_csv(line);
    if (cells.at(0) == group) rows.push_back({cells.at(0), cells.at(1), cells.at(2), cells.at(3)});
  }
  if (rows.empty()) throw std::runtime_error("no rows of " + group + " in " + file);
  return rows;
}

}  // namespace trilemma::test
