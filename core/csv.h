#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/field.h"

namespace trilemma {

/// The cells of one line of a CSV file (RFC 4180 without line breaks inside of quotes); a trailing carriage return
/// goes.
std::vector<std::string> csv_cells(std::string_view line);

/// What a CSV file may have, in any order.
struct CsvColumns {
  std::vector<std::string> required;
  std::vector<std::string> optional;
  std::string row;  // what one row is: "a measurement"

  [[nodiscard]] std::vector<std::string> all() const;
};

/// Goes through the rows of a CSV file with a header; blank lines and lines that begin with # are skipped. Every
/// problem throws config::Error, "file:line: ...".
class CsvReader {
 public:
  /// Opens the file and reads its header. `shown` is the path as the user knows it.
  CsvReader(const std::filesystem::path& path, std::string shown, CsvColumns columns);

  /// Goes to the next row; false at the end.
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }
  /// The text of the row in a column of the file's; empty in an optional column that it does not have.
  [[nodiscard]] std::string cell(const std::string& column) const;
  /// The cell as one of the names of an enumeration.
  template <class Enum>
  [[nodiscard]] Enum word(const std::string& column) const {
    std::vector<std::string> known;
    for (const auto& name : config::names<Enum>) {
      if (name.text == cell(column)) return name.value;
      known.emplace_back(name.text);
    }
    fail_unknown(column, known);
  }

  [[noreturn]] void fail(const std::string& problem) const;
  [[noreturn]] void fail_unknown(const std::string& column, const std::vector<std::string>& known) const;

 private:
  /// The next line that is neither blank nor a comment.
  bool next_cells();
  void refuse_other_text(std::string_view line) const;
  void read_header();

  std::string shown_;
  CsvColumns known_;
  std::ifstream stream_;
  std::int64_t line_ = 0;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::string> cells_;
};

}  // namespace trilemma
