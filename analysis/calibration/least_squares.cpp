#include "analysis/calibration/least_squares.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_efficiency = 1e-5;
constexpr double longest_cost_s = 100;

void set(PrecisionRate& rate, Parameter parameter, double value) {
  switch (parameter) {
    case Parameter::compute_efficiency:
      rate.compute_efficiency = Fraction(value);
      break;
    case Parameter::memory_efficiency:
      rate.memory_efficiency = Fraction(value);
      break;
    case Parameter::attention_efficiency:
      rate.attention_efficiency = Fraction(value);
      break;
    case Parameter::cache_efficiency:
      rate.cache_efficiency = Fraction(value);
      break;
    case Parameter::convolution_efficiency:
      rate.convolution_efficiency = Fraction(value);
      break;
    case Parameter::overlap:
      rate.overlap = Fraction(value);
      break;
    case Parameter::per_call:
      rate.per_call = to_duration(value);
      break;
    case Parameter::per_layer:
      rate.per_layer = to_duration(value);
      break;
  }
}

double get(const PrecisionRate& rate, Parameter parameter) {
  switch (parameter) {
    case Parameter::compute_efficiency:
      return rate.compute_efficiency.value();
    case Parameter::memory_efficiency:
      return rate.memory_efficiency.value();
    case Parameter::attention_efficiency:
      return rate.attention_efficiency.value_or(rate.compute_efficiency).value();
    case Parameter::cache_efficiency:
      return rate.cache_efficiency.value_or(rate.memory_efficiency).value();
    case Parameter::convolution_efficiency:
      return rate.convolution_efficiency.value_or(rate.compute_efficiency).value();
    case Parameter::overlap:
      return rate.overlap.value();
    case Parameter::per_call:
      return to_seconds(rate.per_call);
    case Parameter::per_layer:
      return to_seconds(rate.per_layer);
  }
  TRILEMMA_ENSURE(false, "every parameter has a value");
  return 0;
}

}  // namespace

bool is_efficiency(Parameter parameter) {
  return parameter == Parameter::compute_efficiency || parameter == Parameter::memory_efficiency ||
         parameter == Parameter::attention_efficiency || parameter == Parameter::cache_efficiency ||
         parameter == Parameter::convolution_efficiency;
}
bool is_cost(Parameter parameter) { return parameter == Parameter::per_call || parameter == Parameter::per_layer; }

RateProblem::RateProblem(const ProcessorConfig& processor, PrecisionRate start, std::span<const Parameter> parameters,
                         std::span<const Measurement> rows)
    : processor_(processor), rate_(std::move(start)), rows_(rows) {
  double least_s = longest_cost_s;
  for (const Measurement& row : rows) least_s = std::min(least_s, to_seconds(row.time));
  for (const Parameter parameter : parameters) {
    if (is_efficiency(parameter))
      axes_.push_back({.parameter = parameter, .low = std::log(least_efficiency), .high = 0});
    else if (is_cost(parameter))
      axes_.push_back({.parameter = parameter, .scale = 1 / least_s, .low = 0, .high = longest_cost_s / least_s});
    else
      axes_.push_back({.parameter = parameter});
  }
}

double RateProblem::value(Eigen::Index i, double position) const {
  const Axis& axis = axes_[static_cast<std::size_t>(i)];
  return is_efficiency(axis.parameter) ? std::exp(position) : position / axis.scale;
}

VectorXd RateProblem::position(const PrecisionRate& rate) const {
  VectorXd found(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    const double value = get(rate, axis.parameter);
    found[i] = is_efficiency(axis.parameter) ? std::log(value) : value * axis.scale;
  }
  return inside(found);
}

PrecisionRate RateProblem::rate(const VectorXd& position) const {
  PrecisionRate rate = rate_;
  for (Eigen::Index i = 0; i < size(); ++i) {
    set(rate, axes_[static_cast<std::size_t>(i)].parameter, value(i, position[i]));
  }
  return rate;
}

VectorXd RateProblem::residuals(const VectorXd& position) const {
  ProcessorConfig processor = processor_;
  processor.rates = {rate(position)};
  VectorXd found(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    found[static_cast<Eigen::Index>(i)] =
        std::log(to_seconds(predicted(processor, rows_[i])) / to_seconds(rows_[i].time));
  }
  return found;
}

VectorXd RateProblem::inside(VectorXd position) const {
  for (Eigen::Index i = 0; i < size(); ++i) {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    position[i] = std::min(axis.high, std::max(axis.low, position[i]));
  }
  return position;
}

MatrixXd RateProblem::jacobian(const VectorXd& position) const {
  constexpr double step = 3e-3;
  MatrixXd found(static_cast<Eigen::Index>(rows_.size()), size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    VectorXd up = position;
    VectorXd down = position;
    const double width =
        is_cost(axes_[static_cast<std::size_t>(i)].parameter) ? step * std::max(1.0, position[i]) : step;
    up[i] += width;
    down[i] -= width;
    up = inside(up);
    down = inside(down);
    found.col(i) = (residuals(up) - residuals(down)) / (up[i] - down[i]);
  }
  return found;
}

bool RateProblem::held(Eigen::Index i, double position, double gradient) const {
  const Axis& axis = axes_[static_cast<std::size_t>(i)];
  return (position <= axis.low && gradient > 0) || (position >= axis.high && gradient < 0);
}

namespace {

/// One search. Marquardt's damping on the diagonal of J^T J; steps are projected on the bounds.
Optimum descend(const RateProblem& problem, const VectorXd& position) {
  constexpr int most_steps = 200;
  constexpr double least_gain = 1e-10;
  VectorXd residuals = problem.residuals(position);
  Optimum best{.position = position, .cost = residuals.squaredNorm()};
  double damping = 1e-3;
  for (int step = 0; step < most_steps && damping < 1e10; ++step) {
    const MatrixXd jacobian = problem.jacobian(best.position);
    const VectorXd gradient = jacobian.transpose() * residuals;
    best.free.clear();
    for (Eigen::Index i = 0; i < problem.size(); ++i) {
      if (!problem.held(i, best.position[i], gradient[i])) best.free.push_back(i);
    }
    if (best.free.empty()) break;
    const MatrixXd part = jacobian(Eigen::all, best.free);
    const MatrixXd normal = part.transpose() * part;
    bool better = false;
    double gain = 0;
    while (!better && damping < 1e10) {
      MatrixXd damped = normal;
      damped.diagonal() += damping * (normal.diagonal().array() + 1e-12).matrix();
      const VectorXd move = damped.ldlt().solve(-gradient(best.free));
      VectorXd next = best.position;
      next(best.free) += move;
      next = problem.inside(next);
      const VectorXd there = problem.residuals(next);
      better = there.squaredNorm() < best.cost;
      if (better) {
        gain = best.cost - there.squaredNorm();
        best.position = next;
        best.cost = there.squaredNorm();
        residuals = there;
      }
      damping = better ? damping / 5 : damping * 4;
    }
    if (gain < least_gain * best.cost) break;
  }
  return best;
}

/// Efficiencies of a half, costs of nothing and of a part of the shortest row, overlaps at both ends.
std::vector<VectorXd> starts(const RateProblem& problem) {
  std::vector<VectorXd> found;
  for (const double cost : {0.02, 0.3}) {
    for (const double overlap : {0.9, 0.1}) {
      VectorXd start(problem.size());
      for (Eigen::Index i = 0; i < problem.size(); ++i) {
        const Parameter parameter = problem.axes()[static_cast<std::size_t>(i)].parameter;
        start[i] = is_efficiency(parameter) ? std::log(0.4) : parameter == Parameter::overlap ? overlap : cost;
      }
      found.push_back(start);
    }
  }
  return found;
}

}  // namespace

Optimum least_squares(const RateProblem& problem) {
  std::optional<Optimum> best;
  for (const VectorXd& from : starts(problem)) {
    const Optimum found = descend(problem, problem.inside(from));
    if (!best || found.cost < best->cost * (1 - 1e-9)) best = found;
  }
  return *best;
}

}  // namespace trilemma
