#include "core/config/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "core/ensure.h"

namespace trilemma::config {
namespace {

struct Unit {
  std::string_view name;
  long double factor;  // of the base unit
  bool shown = true;   // format() may choose it
};

// Largest first: format() takes the first unit that gives a number of at least one.
constexpr std::array duration_units{Unit{"h", 3600e9L}, Unit{"min", 60e9L}, Unit{"s", 1e9L},        Unit{"ms", 1e6L},
                                    Unit{"us", 1e3L},   Unit{"ns", 1.0L},   Unit{"µs", 1e3L, false}};
constexpr std::array byte_units{
    Unit{"TiB", 0x1p40L}, Unit{"GiB", 0x1p30L}, Unit{"MiB", 0x1p20L},    Unit{"KiB", 0x1p10L},    Unit{"TB", 1e12L},
    Unit{"GB", 1e9L},     Unit{"MB", 1e6L},     Unit{"kB", 1e3L, false}, Unit{"KB", 1e3L, false}, Unit{"B", 1.0L}};
constexpr std::array bit_rate_units{Unit{"Tbit/s", 1e12L}, Unit{"Gbit/s", 1e9L}, Unit{"Mbit/s", 1e6L},
                                    Unit{"kbit/s", 1e3L}, Unit{"bit/s", 1.0L}};
constexpr std::array byte_rate_units{Unit{"TB/s", 1e12L}, Unit{"GB/s", 1e9L}, Unit{"MB/s", 1e6L}, Unit{"kB/s", 1e3L},
                                     Unit{"B/s", 1.0L}};
constexpr std::array operation_units{Unit{"TOP", 1e12L}, Unit{"GOP", 1e9L}, Unit{"MOP", 1e6L}, Unit{"kOP", 1e3L},
                                     Unit{"OP", 1.0L}};
constexpr std::array operation_rate_units{
    Unit{"TOP/s", 1e12L},          Unit{"GOP/s", 1e9L},          Unit{"MOP/s", 1e6L},         Unit{"OP/s", 1.0L},
    Unit{"TFLOP/s", 1e12L, false}, Unit{"GFLOP/s", 1e9L, false}, Unit{"MFLOP/s", 1e6L, false}};
constexpr std::array frequency_units{Unit{"GHz", 1e9L}, Unit{"MHz", 1e6L}, Unit{"kHz", 1e3L}, Unit{"Hz", 1.0L}};
constexpr std::array event_rate_units{Unit{"/s", 1.0L}, Unit{"/min", 1.0L / 60, false}, Unit{"/h", 1.0L / 3600, false}};
constexpr std::array decibel_units{Unit{"dB", 1.0L}};
constexpr std::array power_level_units{Unit{"dBm", 1.0L}};
constexpr std::array watt_units{Unit{"kW", 1e3L}, Unit{"W", 1.0L}, Unit{"mW", 1e-3L}, Unit{"uW", 1e-6L}};
constexpr std::array metre_units{Unit{"km", 1e3L}, Unit{"m", 1.0L}, Unit{"cm", 1e-2L, false}};
constexpr std::array speed_units{Unit{"m/s", 1.0L}, Unit{"km/h", 5.0L / 18}};
constexpr std::array fraction_units{Unit{"%", 0.01L}};

constexpr std::string_view number_pattern = R"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)";

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Length of the longest prefix of the form -?digits(.digits)?([eE][+-]?digits)?; 0 when there is none.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > start;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (!digits()) return 0;
  if (std::size_t mark = at; at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) at = mark;
  }
  if (std::size_t mark = at; at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) at = mark;
  }
  return at;
}

struct Number {
  long double value;
  std::size_t length;
};

/// The number at the start of `text`, or what is wrong with it.
Parsed<Number> leading_number(std::string_view text, std::string_view example) {
  const std::size_t length = number_length(text);
  const std::string advice = fmt::format("; write for example '{}'", example);
  if (length == 0) return "is not a number" + advice;
  std::string_view digits = text.substr(0, length);
  if (digits.front() == '-') digits.remove_prefix(1);
  if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) {
    return "starts with a zero, which YAML 1.1 reads as octal; write the number without leading zeros";
  }
  if (text.size() > length &&
      (text[length] == 'x' || text[length] == '.' || text[length] == '_' || text[length] == ',')) {
    return "is not a plain decimal number" + advice;
  }
  long double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, value);
  if (error != std::errc{} || end != text.data() + length || !std::isfinite(value) ||
      std::abs(value) > static_cast<long double>(std::numeric_limits<double>::max())) {
    return "is too large or too small for a number" + advice;
  }
  return Number{value, length};
}

std::string unit_list(std::span<const Unit> units) {
  std::string list;
  for (const Unit& unit : units) list += (list.empty() ? "" : ", ") + std::string(unit.name);
  return list;
}

/// Why a unit is none of `units`, for the mistakes that people make most.
std::string unit_problem(std::string_view unit, std::span<const Unit> units, std::string_view what,
                         std::string_view example) {
  const auto lower = [](char letter) { return std::tolower(static_cast<unsigned char>(letter)); };
  // Not for a letter b: a bit is no byte.
  const auto same_but_case = [&](const Unit& known) {
    return std::equal(known.name.begin(), known.name.end(), unit.begin(), unit.end(),
                      [&](char a, char b) { return a == b || (lower(a) == lower(b) && lower(a) != 'b'); });
  };
  const auto found = std::find_if(units.begin(), units.end(), same_but_case);
  if (found != units.end()) return fmt::format("has the unit '{}'; write '{}'", printable(unit), found->name);
  return fmt::format("has the unit '{}', but {} is written in {}; write for example '{}'", printable(unit), what,
                     unit_list(units), example);
}

/// `number unit` in base units.
Parsed<long double> scaled(std::string_view text, std::span<const Unit> units, std::string_view what,
                           std::string_view example) {
  auto parsed = leading_number(text, example);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  const Number number = std::get<Number>(parsed);
  std::string_view unit = text.substr(number.length);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (unit.empty()) return fmt::format("has no unit; write for example '{}'", example);
  for (const Unit& known : units) {
    if (known.name == unit) return number.value * known.factor;
  }
  return unit_problem(unit, units, what, example);
}

template <class T>
Parsed<T> real_quantity(std::string_view text, std::span<const Unit> units) {
  auto parsed = scaled(text, units, Text<T>::what, Text<T>::example);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  const auto value = static_cast<double>(std::get<long double>(parsed));
  if (!std::isfinite(value)) return fmt::format("is too large; write for example '{}'", Text<T>::example);
  return T(value);
}

/// A quantity that is a whole number of its base unit; the text may be fractional ('0.5 ms') if the result is whole.
template <class T>
Parsed<T> whole_quantity(std::string_view text, std::span<const Unit> units, std::string_view base) {
  auto parsed = scaled(text, units, Text<T>::what, Text<T>::example);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  const long double value = std::get<long double>(parsed);
  constexpr auto limit = static_cast<long double>(std::numeric_limits<std::int64_t>::max());
  if (std::abs(value) > limit) return fmt::format("is too large; write for example '{}'", Text<T>::example);
  const long double whole = std::round(value);
  const long double slack = std::max(1.0L, std::abs(value)) * 4e-19L;  // two roundings to 64 bits and some more
  if (std::abs(value - whole) > slack) {
    return fmt::format("is not a whole number of {}; write for example '{}'", base, Text<T>::example);
  }
  return T(static_cast<std::int64_t>(whole));
}

long double number_of(const std::string& text) {
  long double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// `base_value / factor` with the fewest digits that read back as the same value: 0.944 is '94.4 %'.
std::string number_in(double base_value, long double factor) {
  const long double number = static_cast<long double>(base_value) / factor;
  for (const int digits : {15, 16, 17}) {
    std::string text = format_number(static_cast<double>(number_of(fmt::format("{:.{}g}", number, digits))));
    if (static_cast<double>(number_of(text) * factor) == base_value) return text;
  }
  return fmt::format("{:.21g}", number);  // all that a long double knows
}

/// The number in the first unit that leaves it at least one and short.
std::string with_unit(double base_value, std::span<const Unit> units) {
  constexpr std::size_t short_number = 9;
  const Unit* smallest = nullptr;
  for (const Unit& unit : units) {
    if (!unit.shown) continue;
    smallest = &unit;
    if (base_value == 0 && unit.factor == 1.0L) break;  // no small unit for nothing
    if (std::abs(base_value) < static_cast<double>(unit.factor)) continue;
    const std::string number = number_in(base_value, unit.factor);
    if (number.size() <= short_number) return number + " " + std::string(unit.name);
  }
  TRILEMMA_ENSURE(smallest != nullptr, "every quantity has a unit to be shown in");
  return number_in(base_value, smallest->factor) + " " + std::string(smallest->name);
}

std::string unit_pattern(std::span<const Unit> units) {
  std::string alternatives;
  for (const Unit& unit : units) alternatives += (alternatives.empty() ? "" : "|") + std::string(unit.name);
  return fmt::format("^{} *({})$", number_pattern, alternatives);
}

}  // namespace

std::string format_number(double value) {
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  std::array<char, 400> buffer{};
  const auto style = magnitude >= 1e-7 && magnitude < 1e16 ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, style);
  TRILEMMA_ENSURE(error == std::errc{}, "a number fits its text buffer");
  return {buffer.data(), end};
}

Parsed<Duration> Text<Duration>::parse(std::string_view text) {
  return whole_quantity<Duration>(text, duration_units, "nanoseconds");
}
std::string Text<Duration>::format(Duration value) {
  // Minutes and hours only where they are whole.
  const auto count = value.count();
  if (count != 0 && count % 3'600'000'000'000 == 0) return std::to_string(count / 3'600'000'000'000) + " h";
  if (count != 0 && count % 60'000'000'000 == 0) return std::to_string(count / 60'000'000'000) + " min";
  if (count == 0) return "0 s";
  // Integer split: a double would lose nanoseconds beyond 104 days.
  struct Step {
    std::string_view unit;
    std::int64_t size;
    int digits;
  };
  constexpr std::array steps{Step{"s", 1'000'000'000, 9}, Step{"ms", 1'000'000, 6}, Step{"us", 1'000, 3},
                             Step{"ns", 1, 0}};
  for (const auto& [unit, size, digits] : steps) {
    if (std::abs(count) < size) continue;
    if (count % size == 0) return fmt::format("{} {}", count / size, unit);
    std::string fraction = fmt::format("{:0{}}", std::abs(count % size), digits);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fmt::format("{}{}.{} {}", count < 0 ? "-" : "", std::abs(count) / size, fraction, unit);
  }
  TRILEMMA_ENSURE(false, "every duration is at least one nanosecond long");
  return {};
}
std::string Text<Duration>::pattern() { return unit_pattern(duration_units); }

Parsed<Bytes> Text<Bytes>::parse(std::string_view text) { return whole_quantity<Bytes>(text, byte_units, "bytes"); }
std::string Text<Bytes>::format(Bytes value) {
  std::string shortest = fmt::format("{} B", value.value());
  for (const Unit& unit : byte_units) {
    const auto size = static_cast<std::int64_t>(unit.factor);
    if (!unit.shown || value.value() == 0 || value.value() % size != 0) continue;
    std::string text = fmt::format("{} {}", value.value() / size, unit.name);
    if (text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}
std::string Text<Bytes>::pattern() { return unit_pattern(byte_units); }

#define TRILEMMA_REAL_TEXT(Type, units)                                                              \
  Parsed<Type> Text<Type>::parse(std::string_view text) { return real_quantity<Type>(text, units); } \
  std::string Text<Type>::format(Type value) { return with_unit(value.value(), units); }             \
  std::string Text<Type>::pattern() { return unit_pattern(units); }

TRILEMMA_REAL_TEXT(BitRate, bit_rate_units)
TRILEMMA_REAL_TEXT(ByteRate, byte_rate_units)
TRILEMMA_REAL_TEXT(Operations, operation_units)
TRILEMMA_REAL_TEXT(OperationRate, operation_rate_units)
TRILEMMA_REAL_TEXT(Frequency, frequency_units)
TRILEMMA_REAL_TEXT(EventRate, event_rate_units)
TRILEMMA_REAL_TEXT(Decibels, decibel_units)
TRILEMMA_REAL_TEXT(PowerLevel, power_level_units)
TRILEMMA_REAL_TEXT(Watts, watt_units)
TRILEMMA_REAL_TEXT(Metres, metre_units)
TRILEMMA_REAL_TEXT(Speed, speed_units)
TRILEMMA_REAL_TEXT(Fraction, fraction_units)
#undef TRILEMMA_REAL_TEXT

Parsed<double> Text<double>::parse(std::string_view text) {
  auto parsed = leading_number(text, example);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  const Number number = std::get<Number>(parsed);
  if (number.length != text.size()) {
    return fmt::format("has '{}' after the number; write for example '{}'", printable(text.substr(number.length)),
                       example);
  }
  double value = 0;  // rounded once: from a long double it would be rounded twice
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{}) return value;
  return fmt::format("is too large or too small for a number; write for example '{}'", example);
}
std::string Text<double>::format(double value) { return format_number(value); }
std::string Text<double>::pattern() { return fmt::format("^{}$", number_pattern); }

Parsed<std::int64_t> Text<std::int64_t>::parse(std::string_view text) {
  auto parsed = leading_number(text, example);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return "is too large for a whole number; write for example '100'";
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fmt::format("is not a whole number; write for example '{}'", example);
  }
  return value;
}
std::string Text<std::int64_t>::format(std::int64_t value) { return std::to_string(value); }
std::string Text<std::int64_t>::pattern() { return "^-?(0|[1-9][0-9]*)$"; }

Parsed<Tokens> Text<Tokens>::parse(std::string_view text) {
  auto parsed = Text<std::int64_t>::parse(text);
  if (auto* problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  return Tokens(std::get<std::int64_t>(parsed));
}
std::string Text<Tokens>::format(Tokens value) { return std::to_string(value.value()); }
std::string Text<Tokens>::pattern() { return Text<std::int64_t>::pattern(); }

Parsed<bool> Text<bool>::parse(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return "is neither true nor false; write 'true' or 'false'";
}
std::string Text<bool>::format(bool value) { return value ? "true" : "false"; }
std::string Text<bool>::pattern() { return "^(true|false)$"; }

}  // namespace trilemma::config
