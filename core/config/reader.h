#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>

#include "core/config/catalogue.h"
#include "core/config/concepts.h"
#include "core/config/problems.h"

namespace trilemma::config {

/// Places that values came from, by path ("workload.clients"). Paths that are not here have their built-in default.
using Origins = std::map<std::string, Origin>;

/// Fills structs from a tree, by their field lists. Collects every problem instead of stopping at the first; a value
/// with a problem keeps its default, so the result must not be used before Problems::throw_if_any().
class Reader {
 public:
  Reader(const Catalogue& catalogue, Problems& problems) : catalogue_(catalogue), problems_(problems) {}

  template <class T>
  T read(const Node& root) {
    T result{};
    read_value(root, "", result);
    return result;
  }

  [[nodiscard]] const Origins& origins() const { return origins_; }

 private:
  template <class T>
  void read_value(const Node& node, const std::string& path, T& out, const Bounds& bounds = unbounded) {
    if (node.kind == Node::Kind::null)
      return problems_.add(node.origin, path, "has no value; write one or delete the key");
    if constexpr (std::same_as<T, std::string>)
      read_string(node, path, out);
    else if constexpr (Leaf<T>)
      read_leaf(node, path, out, bounds);
    else if constexpr (Enumeration<T>)
      read_enum(node, path, out);
    else if constexpr (is_optional<T>)
      read_value(node, path, out.emplace(), bounds);
    else if constexpr (is_list<T>)
      read_list(node, path, out, bounds);
    else if constexpr (is_variant<T>)
      read_variant(node, path, out);
    else if constexpr (Catalogued<T>)
      read_catalogued(node, path, out);
    else
      read_struct(node, path, out);
  }

  void read_string(const Node& node, const std::string& path, std::string& out);

  template <class T>
  void read_leaf(const Node& given, const std::string& path, T& out, const Bounds& bounds) {
    Node node = given;
    if constexpr (requires { Text<T>::takes_lists; }) node = list_as_text(given);
    if (!require_scalar(node, path, Text<T>::what, Text<T>::example)) return;
    auto parsed = Text<T>::parse(node.scalar);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      return problems_.add_value(node.origin, path, node.scalar, *problem);
    }
    const T& value = *std::get_if<0>(&parsed);
    if constexpr (Bounded<T>) {
      if (const std::string problem = bounds_problem<T>(value, bounds); !problem.empty()) {
        return problems_.add_value(node.origin, path, node.scalar, problem);
      }
    }
    out = value;
    origins_[path] = node.origin;
  }

  /// A list of scalars as the text of its items, `[a, b]`; anything else as it is.
  static Node list_as_text(const Node& node);

  template <class T>
  static std::string bounds_problem(T value, const Bounds& bounds) {
    const double number = bounded_value(value);
    const bool low = number < bounds.min || (!bounds.min_allowed && number == bounds.min);
    const bool high = number > bounds.max || (!bounds.max_allowed && number == bounds.max);
    if (!low && !high) return {};
    const std::string relation =
        low ? (bounds.min_allowed ? "below " : "not above ") : (bounds.max_allowed ? "above " : "not below ");
    return "is " + relation + bound_text<T>(low ? bounds.min : bounds.max) + "; write for example '" +
           inside_example<T>(bounds, low) + "'";
  }

  /// The type's own example where the bounds allow it, else the bound nearest to the wrong value.
  template <class T>
  static std::string inside_example(const Bounds& bounds, bool low) {
    const auto parsed = Text<T>::parse(Text<T>::example);
    const double number = bounded_value(*std::get_if<0>(&parsed));
    if (number >= bounds.min && number <= bounds.max) return std::string(Text<T>::example);
    return bound_text<T>(bounds.min_allowed && (low || !bounds.max_allowed) ? bounds.min : bounds.max);
  }

  template <class T>
  void read_enum(const Node& node, const std::string& path, T& out) {
    if (!require_scalar(node, path, "a word", names<T>.front().text)) return;
    std::vector<std::string> known;
    for (const auto& name : names<T>) {
      if (name.text == node.scalar) {
        out = name.value;
        origins_[path] = node.origin;
        return;
      }
      known.emplace_back(name.text);
    }
    add_unknown(node.origin, path, node.scalar, "is not known here", known);
  }

  template <class T>
  void read_list(const Node& node, const std::string& path, std::vector<T>& out, const Bounds& bounds) {
    if (node.kind != Node::Kind::list) {
      return problems_.add(node.origin, path, node.shown() + " is not a list; write '[..., ...]' or one '- ' a line");
    }
    if (node.items.empty()) return problems_.add(node.origin, path, "is an empty list; write at least one item");
    out.clear();
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      read_value(node.items[i], path + "[" + std::to_string(i) + "]", out.emplace_back(), bounds);
    }
  }

  template <class T>
  void read_catalogued(const Node& node, const std::string& path, T& out) {
    Node resolved = resolve(node, path, T::catalogue);
    if (resolved.kind == Node::Kind::map) read_struct(resolved, path, out);
  }

  template <class T>
  void read_variant(const Node& node, const std::string& path, T& out) {
    if constexpr (requires { std::variant_alternative_t<0, T>::plain; }) {
      if (is_plain(node)) return read_plain(node, path, out);
    }
    const Node resolved = resolve_variant(node, path, kinds_of<T>(), variant_catalogue<T>);
    if (resolved.kind != Node::Kind::map) return;
    const std::string& kind = resolved.find("kind")->scalar;
    origins_[join_path(path, "kind")] = resolved.find("kind")->origin;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (try_alternative<std::variant_alternative_t<I, T>>(kind, resolved, path, out) || ...);
    }
    (std::make_index_sequence<std::variant_size_v<T>>{});
  }

  /// Whether a node is a bare value rather than the name of a kind, which begins with a letter.
  static bool is_plain(const Node& node) {
    return node.kind == Node::Kind::scalar && !node.scalar.empty() &&
           std::isalpha(static_cast<unsigned char>(node.scalar.front())) == 0;
  }

  /// A bare value stands for the first alternative.
  template <class T>
  void read_plain(const Node& node, const std::string& path, T& out) {
    using First = std::variant_alternative_t<0, T>;
    First first{};
    read_value(node, path, first.*First::plain, std::get<0>(First::fields()).bounds);
    out = first;
  }

  template <class Alternative, class T>
  bool try_alternative(const std::string& kind, const Node& node, const std::string& path, T& out) {
    if (kind != Alternative::kind) return false;
    Alternative alternative{};
    read_struct(node, path, alternative);
    out = std::move(alternative);
    return true;
  }

  template <class T>
  void read_struct(const Node& node, const std::string& path, T& out) {
    if (node.kind != Node::Kind::map) {
      return problems_.add(node.origin, path, node.shown() + " is not a map; write 'key: value' lines below it");
    }
    const std::size_t problems_before = problems_.size();
    std::vector<std::string> known;
    std::apply([&](const auto&... field) { (known.emplace_back(field.key), ...); }, T::fields());
    if constexpr (HasKind<T>) known.emplace_back("kind");
    for (const Entry& entry : node.entries) {
      if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
        add_unknown(entry.key_origin, path, entry.key, "is not a known key", known);
      }
    }
    std::apply([&](const auto&... field) { (read_field(node, path, out, field), ...); }, T::fields());
    if constexpr (SelfChecking<T>) {
      if (problems_.size() == problems_before) add_field_problems(node, path, out.problems());
    }
  }

  template <class T, class Class, class Member>
  void read_field(const Node& node, const std::string& path, T& out, const Field<Class, Member>& field) {
    const std::string field_path = join_path(path, field.key);
    if (const Node* child = node.find(field.key))
      return read_value(*child, field_path, out.*field.member, field.bounds);
    if (field.presence == Presence::optional) return;
    problems_.add(node.origin, field_path, "is missing; " + example_line<Member>(field.key));
  }

  template <class Member>
  static std::string example_line(std::string_view key) {
    if constexpr (Leaf<Member>)
      return "write for example '" + std::string(key) + ": " + std::string(Text<Member>::example) + "'";
    else if constexpr (Enumeration<Member>)
      return "write for example '" + std::string(key) + ": " + std::string(names<Member>.front().text) + "'";
    else if constexpr (Catalogued<Member>)
      return "write '" + std::string(key) + ":' with a name in configs/" + std::string(Member::catalogue);
    else if constexpr (is_variant<Member>)
      return "write '" + std::string(key) + ":' with one of " + joined(kinds_of<Member>());
    else
      return "write '" + std::string(key) + ":' with its value";
  }

  static std::string joined(const std::vector<std::string>& words);
  bool require_scalar(const Node& node, const std::string& path, std::string_view what, std::string_view example);
  void add_unknown(const Origin& where, const std::string& path, const std::string& word, std::string_view problem,
                   const std::vector<std::string>& known);
  void add_field_problems(const Node& node, const std::string& path, const std::vector<FieldProblem>& found);
  /// The map that a name, a map with a `kind:` or an inline map stands for; null after a problem.
  Node resolve(const Node& node, const std::string& path, std::string_view family);
  Node resolve_variant(const Node& node, const std::string& path, const std::vector<std::string>& kinds,
                       std::string_view family);
  Node catalogue_entry(const Node& name, const std::string& path, std::string_view family);

  const Catalogue& catalogue_;
  Problems& problems_;
  Origins origins_;
};

}  // namespace trilemma::config
