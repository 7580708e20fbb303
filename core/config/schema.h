#pragma once

#include <algorithm>
#include <string>

#include "core/config/catalogue.h"
#include "core/config/writer.h"

namespace trilemma::config {

/// JSON Schema (draft 2020-12) fragment of a type, from the same field lists as the reader. `value` gives the defaults.
template <class T>
Json schema_of(const Catalogue& catalogue, const T& value = {}, const Bounds& bounds = unbounded);

namespace detail {

template <class T>
void add_bounds(Json& schema, const Bounds& bounds) {
  if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, double> || std::same_as<T, Tokens>) {
    const auto number = [](double bound) {
      return std::same_as<T, double> ? Json(bound) : Json(static_cast<std::int64_t>(bound));
    };
    if (bounds.min > -1e300) schema[bounds.min_allowed ? "minimum" : "exclusiveMinimum"] = number(bounds.min);
    if (bounds.max < 1e300) schema[bounds.max_allowed ? "maximum" : "exclusiveMaximum"] = number(bounds.max);
  } else if constexpr (Bounded<T>) {
    // JSON Schema cannot compare texts; the range is for the human reader.
    std::string range;
    if (bounds.min > -1e300) range += (bounds.min_allowed ? ">= " : "> ") + bound_text<T>(bounds.min);
    if (bounds.max < 1e300)
      range += (range.empty() ? "" : ", ") + std::string(bounds.max_allowed ? "<= " : "< ") + bound_text<T>(bounds.max);
    if (!range.empty()) schema["$comment"] = range;
  }
}

inline bool is_whole_number(std::string_view text) {
  return std::holds_alternative<std::int64_t>(Text<std::int64_t>::parse(text));
}

/// A word as YAML reads it: '1' is a number there, and our readers take it for the word.
inline void add_word(Json& words, std::string_view word) {
  words.push_back(std::string(word));
  if (is_whole_number(word)) words.push_back(std::get<std::int64_t>(Text<std::int64_t>::parse(word)));
}

template <class T>
Json leaf_schema(const Bounds& bounds) {
  Json schema;
  if constexpr (std::same_as<T, bool>)
    schema["type"] = "boolean";
  else if constexpr (std::same_as<T, double>)
    schema["type"] = "number";
  else if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, Tokens>)
    schema["type"] = "integer";
  else
    schema = Json{{"type", "string"}, {"pattern", Text<T>::pattern()}, {"examples", {std::string(Text<T>::example)}}};
  // A bare number among words, such as a cut, is no text for YAML.
  if (schema["type"] == "string" && is_whole_number(Text<T>::example)) schema["type"] = {"integer", "string"};
  add_bounds<T>(schema, bounds);
  return schema;
}

/// `named`: some fields may come from the catalogue, so none is required.
template <class T>
Json struct_schema(const Catalogue& catalogue, const T& value, bool named) {
  Json properties = Json::object();
  Json needed = Json::array();
  if constexpr (HasKind<T>) {
    properties["kind"] = Json{{"const", std::string(T::kind)}};
    needed.push_back("kind");
  }
  const auto add = [&](const auto& field) {
    Json schema = schema_of(catalogue, value.*field.member, field.bounds);
    schema["description"] = std::string(field.help);
    if (field.presence == Presence::required) {
      schema.erase("default");  // of its type, which does not stand in for it
      if (!named) needed.push_back(std::string(field.key));
    } else if (Json standard = to_json(value.*field.member);
               !standard.is_null() && standard != Json("") && !standard.is_object()) {
      schema["default"] = std::move(standard);
    }
    properties[std::string(field.key)] = std::move(schema);
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::fields());
  Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!needed.empty()) schema["required"] = std::move(needed);
  return schema;
}

/// A map that starts from a catalogue entry of one alternative and may override any of its fields.
template <class Alternative>
void add_named_choice(const Catalogue& catalogue, std::string_view family, Json& choices) {
  Json entries = Json::array();
  for (const std::string& name : catalogue.names(family)) {
    const Node entry = catalogue.read(family, name);
    const Node* kind = entry.find("kind");
    if (kind != nullptr && kind->scalar == Alternative::kind) entries.push_back(name);
  }
  if (entries.empty()) return;
  Json choice = struct_schema(catalogue, Alternative{}, true);
  choice["properties"]["kind"] = Json{{"enum", std::move(entries)}};
  choices.push_back(std::move(choice));
}

/// An alternative that needs nothing but its name.
template <class Alternative>
void add_bare_kind(const Catalogue& catalogue, Json& words) {
  const Json schema = struct_schema(catalogue, Alternative{}, false);
  if (schema["required"].size() == 1) words.push_back(std::string(Alternative::kind));
}

template <class... T>
Json variant_schema(const Catalogue& catalogue, const std::variant<T...>& value) {
  Json choices = Json::array();
  Json words = Json::array();
  (add_bare_kind<T>(catalogue, words), ...);
  if constexpr (!variant_catalogue<std::variant<T...>>.empty()) {
    for (const auto& name : catalogue.names(variant_catalogue<std::variant<T...>>)) words.push_back(name);
  }
  const std::string standard = std::visit([](const auto& chosen) { return std::string(chosen.kind); }, value);
  const bool bare = std::find(words.begin(), words.end(), Json(standard)) != words.end();
  if (!words.empty()) choices.push_back(Json{{"enum", std::move(words)}});
  using First = std::variant_alternative_t<0, std::variant<T...>>;
  if constexpr (requires { First::plain; })
    choices.push_back(schema_of(catalogue, First{}.*First::plain, std::get<0>(First::fields()).bounds));
  (choices.push_back(struct_schema(catalogue, T{}, false)), ...);
  if constexpr (!variant_catalogue<std::variant<T...>>.empty())
    (add_named_choice<T>(catalogue, variant_catalogue<std::variant<T...>>, choices), ...);
  Json schema{{"anyOf", std::move(choices)}};
  if (bare) schema["default"] = standard;  // an alternative with required fields is no default by its name
  return schema;
}

}  // namespace detail

template <class T>
Json schema_of(const Catalogue& catalogue, const T& value, const Bounds& bounds) {
  if constexpr (std::same_as<T, std::string>) {
    return Json{{"type", "string"}};
  } else if constexpr (Leaf<T> && requires { Text<T>::takes_lists; }) {
    const Json list{{"type", "array"}, {"items", Json{{"type", "integer"}}}};
    return Json{{"anyOf", Json::array({detail::leaf_schema<T>(bounds), list})}};
  } else if constexpr (Leaf<T>) {
    return detail::leaf_schema<T>(bounds);
  } else if constexpr (Enumeration<T>) {
    Json words = Json::array();
    for (const auto& name : names<T>) detail::add_word(words, name.text);
    return Json{{"enum", std::move(words)}};
  } else if constexpr (is_optional<T>) {
    return schema_of<typename T::value_type>(catalogue, {}, bounds);
  } else if constexpr (is_list<T>) {
    return Json{
        {"type", "array"}, {"items", schema_of<typename T::value_type>(catalogue, {}, bounds)}, {"minItems", 1}};
  } else if constexpr (is_variant<T>) {
    return detail::variant_schema(catalogue, value);
  } else if constexpr (Catalogued<T>) {
    const std::vector<std::string> entries = catalogue.names(T::catalogue);
    Json map = detail::struct_schema(catalogue, value, true);
    map["properties"]["kind"]["enum"] = entries;
    map["properties"]["kind"]["enum"].push_back("custom");
    return Json{{"anyOf", Json::array({Json{{"enum", entries}}, std::move(map)})}};
  } else {
    return detail::struct_schema(catalogue, value, false);
  }
}

/// A schema as a Markdown page: one table a map, a row a key.
std::string schema_to_markdown(const Json& schema, const std::string& title);

}  // namespace trilemma::config
