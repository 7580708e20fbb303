#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilemma::config {

/// Where a value was written: a place in a file, a --set option, or the built-in default.
struct Origin {
  std::string source;  // file name, "--set a.b=c" or "built-in"
  int line = 0;        // 1-based; 0 where the source has no lines
  int column = 0;      // 1-based, in bytes as compilers count

  /// "file:line:col", or the bare source where it has no lines.
  [[nodiscard]] std::string text() const;
};

struct Entry;

/// A YAML value with its place. Plain data: the tree that files, catalogue and --set are merged in.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string scalar;
  std::vector<Node> items;     // of a list
  std::vector<Entry> entries;  // of a map, in file order, keys unique
  Origin origin;

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// What a message calls this value: its text in quotes, or "a list", "a map", "nothing".
  [[nodiscard]] std::string shown() const;
};

struct Entry {
  std::string key;
  Origin key_origin;
  Node value;
};

/// Lays `upper` over `lower`: maps are merged key by key, anything else is replaced. The order of `lower` is kept.
Node overlay(Node lower, const Node& upper);

}  // namespace trilemma::config
