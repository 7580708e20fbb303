#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"

namespace trilemma::config {

/// The user's mistake. what() holds one complete line per problem, "place: path: 'value' problem; what to write".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Collects every problem of an input, so that the user sees all of them at once.
class Problems {
 public:
  /// `path` may be empty (the whole file). `problem` says what is wrong and, after a semicolon, what to write.
  void add(const Origin& where, std::string_view path, std::string_view problem);
  /// The same with the offending value in quotes.
  void add_value(const Origin& where, std::string_view path, std::string_view value, std::string_view problem);

  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] std::size_t size() const { return found_.size(); }
  /// Throws config::Error with all lines, each source in reading order, when there is any.
  void throw_if_any() const;

 private:
  struct Problem {
    Origin where;
    std::string line;
  };
  std::vector<Problem> found_;  // each source in reading order
};

/// Text made fit for one line of a message: control characters escaped, cut after 60 characters.
std::string printable(std::string_view text);

/// The candidate that `word` abbreviates or is closest to by edit distance, or empty when none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace trilemma::config
