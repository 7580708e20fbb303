#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/config/text.h"

namespace trilemma {

/// Where a model is cut: blocks on the device (0 = none: the raw input is sent; absent = the whole model), and the
/// block after which the cloud takes over (absent = never; the edge has all that is not on the device).
struct Cut {
  std::optional<std::int64_t> layers = 0;
  std::optional<std::int64_t> cloud = std::nullopt;
  bool operator==(const Cut&) const = default;
};

namespace config {

/// `3`, `all`, or `[3, 12]` for three tiers.
template <>
struct Text<Cut> {
  static constexpr std::string_view what = "a cut";
  static constexpr std::string_view example = "1";
  /// A list is read as the text `[a, b]`.
  static constexpr bool takes_lists = true;
  static Parsed<Cut> parse(std::string_view text);
  static std::string format(Cut cut);
  static std::string pattern();
};

}  // namespace config
}  // namespace trilemma
