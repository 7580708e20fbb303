#pragma once

#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/random.h"
#include "core/units.h"

/// How many tokens a prompt or an answer has.
namespace trilemma {

inline constexpr config::Bounds length_bounds = config::between(1, 1e9);

/// Always the same; a file may write the bare number.
struct FixedLength {
  static constexpr std::string_view kind = "fixed";
  Tokens tokens{1};
  static constexpr auto plain = &FixedLength::tokens;

  static constexpr auto fields() {
    return std::tuple{config::required("tokens", &FixedLength::tokens, "number of tokens", length_bounds)};
  }
};

/// Every number from `min` to `max` alike.
struct UniformLength {
  static constexpr std::string_view kind = "uniform";
  Tokens min{1};
  Tokens max{1};

  static constexpr auto fields() {
    return std::tuple{config::required("min", &UniformLength::min, "smallest number of tokens", length_bounds),
                      config::required("max", &UniformLength::max, "largest number of tokens", length_bounds)};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// After each token it ends with probability 1 / mean, and at `max` in any case: P(n) = (1 - p)^(n - 1) p below `max`.
/// The stop condition of a generation whose end has no memory, with an output limit.
struct GeometricLength {
  static constexpr std::string_view kind = "geometric";
  double mean = 1;
  Tokens max{1};

  static constexpr auto fields() {
    return std::tuple{
        config::required("mean", &GeometricLength::mean, "mean number of tokens without the limit",
                         config::between(1, 1e9)),
        config::required("max", &GeometricLength::max, "tokens after which it ends in any case", length_bounds)};
  }
};

/// exp of a normal variable, rounded up to whole tokens; what lies outside `min` to `max` is cut to them.
struct LogNormalLength {
  static constexpr std::string_view kind = "lognormal";
  Tokens median{1};
  double sigma = 1;
  Tokens min{1};
  Tokens max{1};

  static constexpr auto fields() {
    return std::tuple{
        config::required("median", &LogNormalLength::median, "median before the limits", length_bounds),
        config::required("sigma", &LogNormalLength::sigma, "standard deviation of the logarithm",
                         config::Bounds{.min = 0, .max = 10, .min_allowed = false}),
        config::field("min", &LogNormalLength::min, "what is shorter is as long as this", length_bounds),
        config::required("max", &LogNormalLength::max, "what is longer is as long as this", length_bounds)};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

using LengthConfig = std::variant<FixedLength, UniformLength, GeometricLength, LogNormalLength>;

/// A fixed length takes no number of the stream, a log-normal one two, the others one.
Tokens draw(const LengthConfig& length, Rng& numbers);
Tokens longest(const LengthConfig& length);
Tokens shortest(const LengthConfig& length);
/// Mean of what draw() gives, limits included; of a log-normal length with the rounding taken as half a token.
double mean(const LengthConfig& length);
inline bool is_fixed(const LengthConfig& length) { return std::holds_alternative<FixedLength>(length); }

}  // namespace trilemma
