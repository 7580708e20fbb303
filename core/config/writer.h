#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "core/config/concepts.h"
#include "core/config/reader.h"

namespace trilemma::config {

using Json = nlohmann::ordered_json;

/// A struct as JSON, every field in the order of its list; dimensional values as text with their unit. What is absent,
/// and a list of nothing, is left out.
template <class T>
Json to_json(const T& value) {
  if constexpr (std::same_as<T, std::string> || std::same_as<T, bool> || std::same_as<T, double> ||
                std::same_as<T, std::int64_t>) {
    return value;
  } else if constexpr (std::same_as<T, Tokens>) {
    return value.value();
  } else if constexpr (Leaf<T>) {
    return Text<T>::format(value);
  } else if constexpr (Enumeration<T>) {
    return std::string(name_of(value));
  } else if constexpr (is_optional<T>) {
    return value ? to_json(*value) : Json(nullptr);
  } else if constexpr (is_list<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(to_json(item));
    return list;
  } else if constexpr (is_variant<T>) {
    return std::visit([](const auto& alternative) { return to_json(alternative); }, value);
  } else if constexpr (requires { T::plain; }) {
    return to_json(value.*T::plain);
  } else {
    Json map = Json::object();
    if constexpr (HasKind<T>) map["kind"] = std::string(T::kind);
    const auto add = [&](const auto& field) {
      Json member = to_json(value.*field.member);
      const bool nothing = member.is_null() || (member.is_array() && member.empty());
      if (!nothing) map[std::string(field.key)] = std::move(member);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, T::fields());
    return map;
  }
}

/// What a struct has where a file says nothing: the optional fields, maps without those of their keys that are
/// required.
template <class T>
Json defaults_to_json(const T& value = {}) {
  if constexpr (is_variant<T>) {
    return std::visit([](const auto& alternative) { return defaults_to_json(alternative); }, value);
  } else if constexpr (Struct<T> && !requires { T::plain; }) {
    Json map = Json::object();
    if constexpr (HasKind<T>) map["kind"] = std::string(T::kind);
    const auto add = [&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(value.*field.member)>;
      if (field.presence == Presence::required && !Struct<Member>) return;
      if (Json member = defaults_to_json(value.*field.member); !member.is_null())
        map[std::string(field.key)] = std::move(member);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, T::fields());
    return map;
  } else {
    return to_json(value);
  }
}

/// JSON as YAML text; every value is followed by a comment that says where it came from.
std::string to_yaml(const Json& value, const Origins& origins);

}  // namespace trilemma::config
