#include "core/config/node.h"

#include "core/config/problems.h"

namespace trilemma::config {

std::string Origin::text() const {
  if (line == 0) return source;
  return source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) {
  for (Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Node::shown() const {
  switch (kind) {
    case Kind::scalar:
      return "'" + printable(scalar) + "'";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
    case Kind::null:
      break;
  }
  return "nothing";
}

Node overlay(Node lower, const Node& upper) {
  if (lower.kind != Node::Kind::map || upper.kind != Node::Kind::map) return upper;
  for (const Entry& entry : upper.entries) {
    if (Node* existing = lower.find(entry.key)) {
      *existing = overlay(std::move(*existing), entry.value);
    } else {
      lower.entries.push_back(entry);
    }
  }
  lower.origin = upper.origin;
  return lower;
}

}  // namespace trilemma::config
