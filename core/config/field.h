#pragma once

#include <limits>
#include <string_view>
#include <tuple>

/// A struct describes itself once, as a tuple of fields; the reader, the writer, the JSON Schema and the documentation
/// page all walk that list:
///
///     struct FibreConfig {
///       static constexpr std::string_view kind = "fibre";
///       Metres length{0};
///       static constexpr auto fields() {
///         return std::tuple{field("length", &FibreConfig::length, "length of the fibre", non_negative)};
///       }
///     };
namespace trilemma::config {

/// Allowed range of a number, in the base unit of its quantity.
struct Bounds {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_allowed = true;
  bool max_allowed = true;
};

inline constexpr Bounds unbounded{};
inline constexpr Bounds non_negative{.min = 0};
inline constexpr Bounds positive{.min = 0, .min_allowed = false};
/// Of durations: what is added up by the thousand, and the time scale of a whole run.
inline constexpr Bounds up_to_an_hour{.min = 0, .max = 3.6e12};
inline constexpr Bounds up_to_30_years{.min = 0, .max = 9.4608e17};
inline constexpr Bounds positive_up_to_30_years{.min = 0, .max = 9.4608e17, .min_allowed = false};
constexpr Bounds at_least(double min) { return {.min = min}; }
constexpr Bounds between(double min, double max) { return {.min = min, .max = max}; }

enum class Presence { optional, required };

template <class Class, class T>
struct Field {
  std::string_view key;
  T Class::*member;
  std::string_view help;
  Bounds bounds;
  Presence presence;
};

/// A field that keeps the struct's own default when the file does not mention it.
template <class Class, class T>
constexpr Field<Class, T> field(std::string_view key, T Class::*member, std::string_view help,
                                Bounds bounds = unbounded) {
  return {key, member, help, bounds, Presence::optional};
}

/// A field that the file (or the catalogue) has to give.
template <class Class, class T>
constexpr Field<Class, T> required(std::string_view key, T Class::*member, std::string_view help,
                                   Bounds bounds = unbounded) {
  return {key, member, help, bounds, Presence::required};
}

/// The names of an enumeration as a file spells them; specialised next to the enumeration:
///     template <> inline constexpr auto config::names<Access> = std::array{Name{"dynamic", Access::dynamic}, ...};
template <class Enum>
struct Name {
  std::string_view text;
  Enum value;
};
template <class Enum>
Name(std::string_view, Enum) -> Name<Enum>;

template <class Enum>
inline constexpr int names = 0;  // no names: not an enumeration of ours

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& name : names<Enum>) {
    if (name.value == value) return name.text;
  }
  return "?";
}

}  // namespace trilemma::config
