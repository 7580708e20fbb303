#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// The reference tables of tests/data, by column name.
namespace trilemma::test {

using Row = std::map<std::string, std::string>;

/// Cells between commas; a quoted cell may hold commas, none holds a quote.
inline std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

/// Throws when the file is missing or empty, so that a test over its rows cannot pass by reading none.
inline std::vector<Row> read_csv(const std::string& name) {
  std::ifstream file(std::string(TRILEMMA_TEST_DATA) + "/" + name);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("cannot read " + name);
  const std::vector<std::string> header = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells.at(i);
  }
  if (rows.empty()) throw std::runtime_error(name + " has no rows");
  return rows;
}

inline double number(const Row& row, const std::string& column) { return std::stod(row.at(column)); }
inline int integer(const Row& row, const std::string& column) { return std::stoi(row.at(column)); }

}  // namespace trilemma::test
