#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/config/field.h"
#include "core/config/text.h"

/// How the reader, the writer and the schema tell the kinds of values apart.
namespace trilemma::config {

template <class T>
concept Leaf = requires(std::string_view text, T value) {
  { Text<T>::parse(text) } -> std::same_as<Parsed<T>>;
  { Text<T>::format(value) } -> std::convertible_to<std::string>;
};

template <class T>
concept Enumeration = std::is_enum_v<T> && !std::same_as<std::remove_const_t<decltype(names<T>)>, int>;

template <class T>
concept Struct = requires {
  T::fields();
};

/// A struct whose value may be the name of a catalogue entry.
template <class T>
concept Catalogued = Struct<T> && requires {
  std::string_view(T::catalogue);
};

/// An alternative of a variant, by its name.
template <class T>
concept HasKind = Struct<T> && !Catalogued<T> && requires {
  std::string_view(T::kind);
};

/// A struct that checks how its fields fit together.
struct FieldProblem {
  std::string key;      // the field that a message points at
  std::string problem;  // what is wrong; what to write
  /// The message points at the first of these that the file has, where it does not have `key`.
  std::vector<std::string> others = {};
};
template <class T>
concept SelfChecking = requires(const T& value) {
  { value.problems() } -> std::same_as<std::vector<FieldProblem>>;
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

/// The catalogue family whose entries a variant's `kind` may name; specialised beside the variant. Empty: none.
template <class Variant>
inline constexpr std::string_view variant_catalogue{};

template <class Variant>
inline std::vector<std::string> kinds_of() {
  return []<class... T>(std::type_identity<std::variant<T...>>) {
    return std::vector<std::string>{std::string(T::kind)...};
  }(std::type_identity<Variant>{});
}

/// Number that bounds are compared with, in the base unit of the quantity.
template <class T>
concept Bounded = std::same_as<T, double> || std::same_as<T, std::int64_t> || requires(T value) {
  value.value();
} || std::same_as<T, Duration>;

template <Bounded T>
constexpr double bounded_value(T value) {
  if constexpr (std::same_as<T, Duration>)
    return static_cast<double>(value.count());
  else if constexpr (requires { value.value(); })
    return static_cast<double>(value.value());
  else
    return static_cast<double>(value);
}

template <Bounded T>
std::string bound_text(double value) {
  if constexpr (std::same_as<T, Duration>)
    return Text<T>::format(Duration(static_cast<std::int64_t>(value)));
  else if constexpr (requires(T t) { t.value(); })
    return Text<T>::format(T(static_cast<typename T::Rep>(value)));
  else
    return Text<T>::format(static_cast<T>(value));
}

/// Joins "a" and "b" to "a.b".
inline std::string join_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

}  // namespace trilemma::config
