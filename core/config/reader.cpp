#include "core/config/reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

Node with_kind(Node map, const Node& kind) {
  map.entries.insert(map.entries.begin(), {.key = "kind", .key_origin = kind.origin, .value = kind});
  return map;
}

Node without_kind(Node map) {
  std::erase_if(map.entries, [](const Entry& entry) { return entry.key == "kind"; });
  return map;
}

}  // namespace

void Reader::read_string(const Node& node, const std::string& path, std::string& out) {
  if (!require_scalar(node, path, "a text", "my text")) return;
  const bool plain = std::none_of(node.scalar.begin(), node.scalar.end(), [](unsigned char byte) {
    return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
  });
  if (!plain) return problems_.add_value(node.origin, path, node.scalar, "has a control character; write plain text");
  out = node.scalar;
  origins_[path] = node.origin;
}

Node Reader::list_as_text(const Node& node) {
  std::vector<std::string> items;
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::scalar) return node;
    items.push_back(item.scalar);
  }
  if (node.kind != Node::Kind::list) return node;
  return {.kind = Node::Kind::scalar, .scalar = fmt::format("[{}]", fmt::join(items, ", ")), .origin = node.origin};
}

std::string Reader::joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

bool Reader::require_scalar(const Node& node, const std::string& path, std::string_view what,
                            std::string_view example) {
  if (node.kind == Node::Kind::scalar) return true;
  if (node.kind == Node::Kind::null)
    problems_.add(node.origin, path, fmt::format("has no value; write for example '{}'", example));
  else
    problems_.add(node.origin, path, fmt::format("{} is not {}; write for example '{}'", node.shown(), what, example));
  return false;
}

void Reader::add_unknown(const Origin& where, const std::string& path, const std::string& word,
                         std::string_view problem, const std::vector<std::string>& known) {
  const std::string close = nearest(word, known);
  const std::string advice = close.empty() ? fmt::format("write one of {}", fmt::join(known, ", "))
                                           : fmt::format("write '{}' (of {})", close, fmt::join(known, ", "));
  problems_.add_value(where, path, word, fmt::format("{}; {}", problem, advice));
}

void Reader::add_field_problems(const Node& node, const std::string& path, const std::vector<FieldProblem>& found) {
  for (const FieldProblem& problem : found) {
    const Node* at = node.find(problem.key);
    std::string field_path = join_path(path, problem.key);
    for (auto other = problem.others.begin(); at == nullptr && other != problem.others.end(); ++other) {
      at = node.find(*other);
      if (at != nullptr) field_path = join_path(path, *other);
    }
    if (at != nullptr && at->kind == Node::Kind::scalar) {
      problems_.add_value(at->origin, field_path, at->scalar, problem.problem);
    } else {
      problems_.add(at != nullptr ? at->origin : node.origin, field_path, problem.problem);
    }
  }
}

Node Reader::catalogue_entry(const Node& name, const std::string& path, std::string_view family) {
  if (!require_scalar(name, path, "a name", "rtx-4090")) return {};
  if (catalogue_.contains(family, name.scalar)) {
    try {
      return catalogue_.read(family, name.scalar);
    } catch (const Error& error) {
      problems_.add_value(name.origin, path, name.scalar, fmt::format("cannot be read: {}", error.what()));
      return {};
    }
  }
  add_unknown(name.origin, path, name.scalar, fmt::format("is not in configs/{}", family), catalogue_.names(family));
  return {};
}

Node Reader::resolve(const Node& node, const std::string& path, std::string_view family) {
  if (node.kind == Node::Kind::scalar) {
    Node entry = catalogue_entry(node, path, family);
    return entry.kind == Node::Kind::map ? with_kind(std::move(entry), node) : Node{};
  }
  if (node.kind != Node::Kind::map) {
    problems_.add(node.origin, path,
                  fmt::format("{} is neither a name in configs/{} nor a map; write a name", node.shown(), family));
    return {};
  }
  const Node* kind = node.find("kind");
  if (kind == nullptr || kind->scalar == "custom") return node;
  Node entry = catalogue_entry(*kind, join_path(path, "kind"), family);
  if (entry.kind != Node::Kind::map) return {};
  return overlay(with_kind(std::move(entry), *kind), node);
}

Node Reader::resolve_variant(const Node& node, const std::string& path, const std::vector<std::string>& kinds,
                             std::string_view family) {
  const bool short_form = node.kind == Node::Kind::scalar;
  if (!short_form && node.kind != Node::Kind::map) {
    problems_.add(node.origin, path,
                  fmt::format("{} is neither a word nor a map; write one of {}", node.shown(), joined(kinds)));
    return {};
  }
  const Node* kind = short_form ? &node : node.find("kind");
  if (kind == nullptr) {
    problems_.add(node.origin, join_path(path, "kind"),
                  fmt::format("is missing; write one of {}", fmt::join(kinds, ", ")));
    return {};
  }
  const std::string kind_path = short_form ? path : join_path(path, "kind");
  if (!require_scalar(*kind, kind_path, "a word", kinds.front())) return {};
  const Node rest = short_form ? Node{.kind = Node::Kind::map, .origin = node.origin} : without_kind(node);
  if (std::find(kinds.begin(), kinds.end(), kind->scalar) != kinds.end()) return with_kind(rest, *kind);
  if (!family.empty() && catalogue_.contains(family, kind->scalar)) {
    Node entry = overlay(catalogue_entry(*kind, kind_path, family), rest);
    const Node* own_kind = entry.find("kind");
    if (own_kind != nullptr && std::find(kinds.begin(), kinds.end(), own_kind->scalar) != kinds.end()) return entry;
    problems_.add_value(kind->origin, kind_path, kind->scalar,
                        fmt::format("names a catalogue entry without a 'kind:' of {}", fmt::join(kinds, ", ")));
    return {};
  }
  std::vector<std::string> known = kinds;
  if (!family.empty()) {
    const auto entries = catalogue_.names(family);
    known.insert(known.end(), entries.begin(), entries.end());
  }
  add_unknown(kind->origin, kind_path, kind->scalar, "is not known here", known);
  return {};
}

}  // namespace trilemma::config
