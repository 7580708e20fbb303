#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/units.h"

/// The text of a value, the same in files, options, messages and results. Numbers are plain decimals (no leading
/// zeros, hexadecimal, infinities or NaN); a dimensional value always carries its unit. parse(format(x)) == x
/// (times up to 146 years).
namespace trilemma::config {

/// A parsed value, or what is wrong with the text ("has no unit; write for example '100 Mbit/s'").
template <class T>
using Parsed = std::variant<T, std::string>;

/// Text of one leaf type: parse(), format(), what it is, an example, and a regular expression for the JSON Schema.
template <class T>
struct Text;

#define TRILEMMA_TEXT(Type, What, Example)               \
  template <>                                            \
  struct Text<Type> {                                    \
    static constexpr std::string_view what = What;       \
    static constexpr std::string_view example = Example; \
    static Parsed<Type> parse(std::string_view text);    \
    static std::string format(Type value);               \
    static std::string pattern();                        \
  }

TRILEMMA_TEXT(Duration, "a time", "0.5 ms");
TRILEMMA_TEXT(Bytes, "a size", "64 KiB");
TRILEMMA_TEXT(BitRate, "a bit rate", "100 Mbit/s");
TRILEMMA_TEXT(ByteRate, "a memory bandwidth", "76.8 GB/s");
TRILEMMA_TEXT(Operations, "a number of operations", "25 MOP");
TRILEMMA_TEXT(OperationRate, "an arithmetic rate", "45 TOP/s");
TRILEMMA_TEXT(Frequency, "a frequency", "28 GHz");
TRILEMMA_TEXT(EventRate, "a rate of events", "2 /s");
TRILEMMA_TEXT(Decibels, "a gain or loss", "7 dB");
TRILEMMA_TEXT(PowerLevel, "a power level", "23 dBm");
TRILEMMA_TEXT(Watts, "a power", "5 W");
TRILEMMA_TEXT(Metres, "a length", "20 m");
TRILEMMA_TEXT(Speed, "a speed", "3 km/h");
TRILEMMA_TEXT(Fraction, "a percentage", "99.9 %");
TRILEMMA_TEXT(Tokens, "a number of tokens", "128");
TRILEMMA_TEXT(std::int64_t, "a whole number", "100");
TRILEMMA_TEXT(double, "a number", "7.6");
TRILEMMA_TEXT(bool, "true or false", "true");
#undef TRILEMMA_TEXT

/// Shortest decimal that reads back as the same double, without an exponent where that stays readable.
std::string format_number(double value);

}  // namespace trilemma::config
