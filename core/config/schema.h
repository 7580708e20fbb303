#pragma once

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
  add_bounds<T>(schema, bounds);
  return schema;
}

/// `named`: some fields may come from the catalogue, so none is required.
template <class T>
Json struct_schema(const Catalogue& catalogue, const T& value, bool named) {
  Json properties = Json::object();
  Json needed = Json::array();
  if constexpr (requires { T::kind; } && !Catalogued<T>) {
    properties["kind"] = Json{{"const", std::string(T::kind)}};
    needed.push_back("kind");
  }
  const auto add = [&](const auto& field) {
    Json schema = schema_of(catalogue, value.*field.member, field.bounds);
    schema["description"] = std::string(field.help);
    if (field.presence == Presence::required) {
      if (!named) needed.push_back(std::string(field.key));
    } else if (Json standard = to_json(value.*field.member);
               !standard.is_null() && standard != "" && !standard.is_object()) {
      schema["default"] = std::move(standard);
    }
    properties[std::string(field.key)] = std::move(schema);
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::fields());
  Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!needed.empty()) schema["required"] = std::move(needed);
  return schema;
}

template <class... T>
Json variant_schema(const Catalogue& catalogue, const std::variant<T...>& value) {
  Json choices = Json::array();
  Json words = Json::array({std::string(T::kind)...});
  if constexpr (!variant_catalogue<std::variant<T...>>.empty()) {
    for (const auto& name : catalogue.names(variant_catalogue<std::variant<T...>>)) words.push_back(name);
  }
  const std::string standard = std::visit([](const auto& chosen) { return std::string(chosen.kind); }, value);
  choices.push_back(Json{{"enum", std::move(words)}});
  (choices.push_back(struct_schema(catalogue, T{}, false)), ...);
  return Json{{"anyOf", std::move(choices)}, {"default", standard}};
}

}  // namespace detail

template <class T>
Json schema_of(const Catalogue& catalogue, const T& value, const Bounds& bounds) {
  if constexpr (std::same_as<T, std::string>) {
    return Json{{"type", "string"}};
  } else if constexpr (Leaf<T>) {
    return detail::leaf_schema<T>(bounds);
  } else if constexpr (Enumeration<T>) {
    Json words = Json::array();
    for (const auto& name : names<T>) words.push_back(std::string(name.text));
    return Json{{"enum", std::move(words)}};
  } else if constexpr (is_optional<T>) {
    return schema_of<typename T::value_type>(catalogue, {}, bounds);
  } else if constexpr (is_list<T>) {
    return Json{
        {"type", "array"}, {"items", schema_of<typename T::value_type>(catalogue, {}, bounds)}, {"minItems", 1}};
  } else if constexpr (is_variant<T>) {
    return detail::variant_schema(catalogue, value);
  } else if constexpr (Catalogued<T>) {
    Json by_name{{"enum", catalogue.names(T::catalogue)}};
    return Json{{"anyOf", Json::array({by_name, detail::struct_schema(catalogue, value, true)})}};
  } else {
    return detail::struct_schema(catalogue, value, false);
  }
}

/// A schema as a Markdown page: one table a map, a row a key.
std::string schema_to_markdown(const Json& schema, const std::string& title);

}  // namespace trilemma::config
