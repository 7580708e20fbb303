#include "models/workload/lengths.h"

#include <algorithm>
#include <cmath>

namespace trilemma {
namespace {

Tokens draw_one(const FixedLength& length, Rng& /*numbers*/) { return length.tokens; }

Tokens draw_one(const UniformLength& length, Rng& numbers) {
  const auto count = static_cast<double>((length.max - length.min).value() + 1);
  const auto more = static_cast<std::int64_t>(numbers.uniform() * count);
  return std::min(length.max, length.min + Tokens(more));
}

Tokens draw_one(const GeometricLength& length, Rng& numbers) {
  const double number = numbers.uniform();
  if (length.mean <= 1) return Tokens(1);
  const double further = std::log(number) / std::log1p(-1 / length.mean);
  if (further >= static_cast<double>(length.max.value())) return length.max;
  return std::min(length.max, Tokens(1 + static_cast<std::int64_t>(further)));
}

Tokens draw_one(const LogNormalLength& length, Rng& numbers) {
  const double tokens =
      std::ceil(static_cast<double>(length.median.value()) * std::exp(length.sigma * numbers.normal()));
  if (tokens >= static_cast<double>(length.max.value())) return length.max;
  return std::max(length.min, Tokens(static_cast<std::int64_t>(tokens)));
}

double mean_of(const FixedLength& length) { return static_cast<double>(length.tokens.value()); }

double mean_of(const UniformLength& length) { return static_cast<double>((length.min + length.max).value()) / 2; }

/// Sum of P(N > n) for n = 0 .. max - 1, a geometric series.
double mean_of(const GeometricLength& length) {
  if (length.mean <= 1) return 1;
  return -std::expm1(static_cast<double>(length.max.value()) * std::log1p(-1 / length.mean)) * length.mean;
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// The partial expectation of a log-normal variable between its limits, and the limits with what lies beyond.
double mean_of(const LogNormalLength& length) {
  const auto median = static_cast<double>(length.median.value());
  const auto min = static_cast<double>(length.min.value());
  const auto max = static_cast<double>(length.max.value());
  const double low = std::log(min / median) / length.sigma;
  const double high = std::log(max / median) / length.sigma;
  const double inside = median * std::exp(length.sigma * length.sigma / 2) *
                        (normal_cdf(high - length.sigma) - normal_cdf(low - length.sigma));
  const double rounded_up = (normal_cdf(high) - normal_cdf(low)) / 2;
  return std::clamp(inside + rounded_up + min * normal_cdf(low) + max * normal_cdf(-high), min, max);
}

std::vector<config::FieldProblem> order_problem(Tokens min, Tokens max) {
  if (min <= max) return {};
  return {{"min", "is above 'max'; write the smaller number first"}};
}

}  // namespace

std::vector<config::FieldProblem> UniformLength::problems() const { return order_problem(min, max); }
std::vector<config::FieldProblem> LogNormalLength::problems() const { return order_problem(min, max); }

Tokens draw(const LengthConfig& length, Rng& numbers) {
  return std::visit([&](const auto& one) { return draw_one(one, numbers); }, length);
}

Tokens longest(const LengthConfig& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* uniform = std::get_if<UniformLength>(&length)) return uniform->max;
  if (const auto* geometric = std::get_if<GeometricLength>(&length)) return geometric->max;
  return std::get<LogNormalLength>(length).max;
}

Tokens shortest(const LengthConfig& length) {
  if (const auto* fixed = std::get_if<FixedLength>(&length)) return fixed->tokens;
  if (const auto* uniform = std::get_if<UniformLength>(&length)) return uniform->min;
  if (const auto* lognormal = std::get_if<LogNormalLength>(&length)) return lognormal->min;
  return Tokens(1);
}

double mean(const LengthConfig& length) {
  return std::visit([](const auto& one) { return mean_of(one); }, length);
}

}  // namespace trilemma
