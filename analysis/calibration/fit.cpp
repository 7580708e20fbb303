#include "analysis/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_efficiency = 1e-5;
constexpr double longest_cost_s = 100;

/// How a parameter is searched: efficiencies by their logarithm, costs in seconds times a scale, the overlap as it is.
struct Axis {
  Parameter parameter;
  double scale = 1;  // of costs: units in a second
  double low = 0;
  double high = 1;
};

bool is_efficiency(Parameter parameter) {
  return parameter == Parameter::compute_efficiency || parameter == Parameter::memory_efficiency ||
         parameter == Parameter::attention_efficiency || parameter == Parameter::cache_efficiency ||
         parameter == Parameter::convolution_efficiency;
}
bool is_cost(Parameter parameter) { return parameter == Parameter::per_call || parameter == Parameter::per_layer; }

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

class Problem {
 public:
  Problem(const ProcessorConfig& processor, PrecisionRate start, std::span<const Parameter> parameters,
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

  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(axes_.size()); }
  [[nodiscard]] double value(Eigen::Index i, double position) const {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    return is_efficiency(axis.parameter) ? std::exp(position) : position / axis.scale;
  }
  [[nodiscard]] PrecisionRate rate(const VectorXd& position) const {
    PrecisionRate rate = rate_;
    for (Eigen::Index i = 0; i < size(); ++i) {
      set(rate, axes_[static_cast<std::size_t>(i)].parameter, value(i, position[i]));
    }
    return rate;
  }
  [[nodiscard]] VectorXd residuals(const VectorXd& position) const {
    ProcessorConfig processor = processor_;
    processor.rates = {rate(position)};
    VectorXd found(static_cast<Eigen::Index>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      found[static_cast<Eigen::Index>(i)] =
          std::log(to_seconds(predicted(processor, rows_[i])) / to_seconds(rows_[i].time));
    }
    return found;
  }
  [[nodiscard]] VectorXd inside(VectorXd position) const {
    for (Eigen::Index i = 0; i < size(); ++i) {
      const Axis& axis = axes_[static_cast<std::size_t>(i)];
      position[i] = std::min(axis.high, std::max(axis.low, position[i]));
    }
    return position;
  }
  /// Central differences, one-sided at a bound; wide enough for times in whole nanoseconds.
  [[nodiscard]] MatrixXd jacobian(const VectorXd& position) const {
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
  /// Whether the cost falls only beyond the end of the range.
  [[nodiscard]] bool held(Eigen::Index i, double position, double gradient) const {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    return (position <= axis.low && gradient > 0) || (position >= axis.high && gradient < 0);
  }

 private:
  const ProcessorConfig& processor_;
  PrecisionRate rate_;
  std::span<const Measurement> rows_;
  std::vector<Axis> axes_;
};

struct Optimum {
  VectorXd position;
  double cost = 0;
  std::vector<Eigen::Index> free;  // not held by a bound
};

/// One search. Marquardt's damping on the diagonal of J^T J; steps are projected on the bounds.
Optimum descend(const Problem& problem, const VectorXd& position) {
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
std::vector<VectorXd> starts(const Problem& problem) {
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

std::string name(const Problem& problem, Eigen::Index i) {
  return std::string(config::name_of(problem.axes()[static_cast<std::size_t>(i)].parameter));
}

/// Columns of the Jacobian per unit of the logarithm (overlap: of itself), over the free parameters.
MatrixXd scaled_jacobian(const Problem& problem, const Optimum& optimum) {
  MatrixXd jacobian = problem.jacobian(optimum.position)(Eigen::all, optimum.free);
  for (std::size_t k = 0; k < optimum.free.size(); ++k) {
    const Eigen::Index i = optimum.free[k];
    if (is_cost(problem.axes()[static_cast<std::size_t>(i)].parameter)) {
      jacobian.col(static_cast<Eigen::Index>(k)) *= optimum.position[i];
    }
  }
  return jacobian;
}

void refuse_unidentifiable(const Problem& problem, const Optimum& optimum, const MatrixXd& jacobian) {
  constexpr double least_share = 3e-3;
  constexpr double part_of_it = 0.3;
  MatrixXd unit = jacobian;
  for (Eigen::Index k = 0; k < unit.cols(); ++k) {
    const double norm = unit.col(k).norm();
    if (norm < least_share) {
      throw FitProblem(
          fmt::format("the measurements say nothing about {}; give it a value, or measure what depends on it",
                      name(problem, optimum.free[static_cast<std::size_t>(k)])));
    }
    unit.col(k) /= norm;
  }
  const Eigen::JacobiSVD<MatrixXd> svd(unit, Eigen::ComputeThinV);
  const Eigen::Index last = unit.cols() - 1;
  if (svd.singularValues()[last] >= least_share * svd.singularValues()[0]) return;
  std::vector<std::string> alike;
  for (Eigen::Index k = 0; k < unit.cols(); ++k) {
    if (std::abs(svd.matrixV()(k, last)) > part_of_it)
      alike.push_back(name(problem, optimum.free[static_cast<std::size_t>(k)]));
  }
  throw FitProblem(
      fmt::format("the measurements cannot tell {} apart; give all but one of them a value, or measure other "
                  "models and lengths",
                  fmt::join(alike, " and ")));
}

void refuse_vague(const Problem& problem, const Optimum& optimum, const MatrixXd& covariance) {
  for (std::size_t k = 0; k < optimum.free.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    if (covariance(i, i) <= 1) continue;
    throw FitProblem(
        fmt::format("the measurements leave {} uncertain by more than a factor of e; give it a value, or "
                    "measure more",
                    name(problem, optimum.free[k])));
  }
}

}  // namespace

namespace {

/// Adds one fit to another of the same rate: what they found is independent of each other.
void append(RateFit& fit, const RateFit& more) {
  const std::size_t before = fit.rate.uncertain.size();
  PrecisionRate rate = more.rate;
  rate.uncertain = fit.rate.uncertain;
  rate.covariance = fit.rate.covariance;
  std::size_t next = 0;
  for (std::size_t k = 0; k < more.rate.uncertain.size(); ++k) {
    rate.uncertain.push_back(more.rate.uncertain[k]);
    rate.covariance.insert(rate.covariance.end(), before, 0);
    for (std::size_t j = 0; j <= k; ++j) rate.covariance.push_back(more.rate.covariance[next++]);
  }
  fit.rate = rate;
  fit.parameters.insert(fit.parameters.end(), more.parameters.begin(), more.parameters.end());
}

RateFit fit_at_once(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                    std::span<const Measurement> rows) {
  if (rows.size() <= parameters.size()) {
    std::vector<std::string_view> names;
    for (const Parameter parameter : parameters) names.push_back(config::name_of(parameter));
    throw FitProblem(
        fmt::format("has {} rows that could decide {}; write more rows than parameters, or give some of them a value",
                    rows.size(), fmt::join(names, ", ")));
  }
  const Problem problem(processor, start, parameters, rows);
  std::optional<Optimum> best;
  for (const VectorXd& from : starts(problem)) {
    const Optimum found = descend(problem, problem.inside(from));
    if (!best || found.cost < best->cost * (1 - 1e-9)) best = found;
  }
  const auto freedom = static_cast<double>(rows.size() - best->free.size());
  const double variance = best->cost / freedom;
  RateFit fit{.rate = problem.rate(best->position)};
  fit.rate.spread = Fraction(std::sqrt(variance));
  MatrixXd covariance(0, 0);
  if (!best->free.empty()) {
    const MatrixXd jacobian = scaled_jacobian(problem, *best);
    refuse_unidentifiable(problem, *best, jacobian);
    covariance = variance * (jacobian.transpose() * jacobian).inverse();
    refuse_vague(problem, *best, covariance);
  }
  Eigen::Index free = 0;
  for (Eigen::Index i = 0; i < problem.size(); ++i) {
    const bool at_bound = std::find(best->free.begin(), best->free.end(), i) == best->free.end();
    fit.parameters.push_back({.parameter = problem.axes()[static_cast<std::size_t>(i)].parameter,
                              .value = problem.value(i, best->position[i]),
                              .error = at_bound ? 0 : std::sqrt(covariance(free, free)),
                              .at_bound = at_bound});
    if (at_bound) continue;
    fit.rate.uncertain.push_back(name(problem, i));
    for (Eigen::Index j = 0; j <= free; ++j) fit.rate.covariance.push_back(covariance(free, j));
    ++free;
  }
  return fit;
}

PrecisionRate without_covariance(PrecisionRate rate) {
  rate.uncertain.clear();
  rate.covariance.clear();
  return rate;
}

/// Few tokens: the weight stream and the fixed costs are all there is.
bool is_stream(const Measurement& row) {
  constexpr Tokens few{2};
  if (row.is_network()) return false;
  return row.metric == Metric::decode ? row.batch <= few.value() : row.prompt * row.batch <= few;
}
bool is_of_stream(Parameter parameter) {
  return parameter == Parameter::memory_efficiency || parameter == Parameter::cache_efficiency || is_cost(parameter);
}

double residual_squares(const ProcessorConfig& hardware, const PrecisionRate& rate, std::span<const Measurement> rows) {
  ProcessorConfig processor = hardware;
  processor.rates = {rate};
  double sum = 0;
  for (const Measurement& row : rows) {
    const double error = std::log(to_seconds(predicted(processor, row)) / to_seconds(row.time));
    sum += error * error;
  }
  return sum;
}

}  // namespace

RateFit fit_rate(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                 std::span<const Measurement> rows) {
  std::vector<Measurement> ordered(rows.begin(), rows.end());
  const auto border = std::stable_partition(ordered.begin(), ordered.end(), is_stream);
  const std::span<const Measurement> all(ordered);
  const auto streams = all.subspan(0, static_cast<std::size_t>(border - ordered.begin()));
  std::vector<Parameter> sorted(parameters.begin(), parameters.end());
  const auto middle = std::stable_partition(sorted.begin(), sorted.end(), is_of_stream);
  const std::span<const Parameter> which(sorted);
  const auto of_stream = which.subspan(0, static_cast<std::size_t>(middle - sorted.begin()));
  if (streams.size() <= of_stream.size() || streams.size() == rows.size() || of_stream.empty() ||
      of_stream.size() == which.size()) {
    return fit_at_once(processor, start, which, all);
  }
  // Each half is fitted with what the other has found, until nothing moves.
  constexpr int most_rounds = 12;
  constexpr double least_change = 1e-9;
  const auto others = which.subspan(of_stream.size());
  const auto rest = all.subspan(streams.size());
  PrecisionRate known = start;
  RateFit fit;
  for (int round = 0; round < most_rounds; ++round) {
    fit = fit_at_once(processor, known, of_stream, streams);
    append(fit, fit_at_once(processor, without_covariance(fit.rate), others, rest));
    const double before = residual_squares(processor, known, rows);
    known = without_covariance(fit.rate);
    if (std::abs(residual_squares(processor, known, rows) - before) <= least_change * before) break;
  }
  const auto freedom = static_cast<double>(rows.size() - fit.rate.uncertain.size());
  fit.rate.spread = Fraction(std::sqrt(residual_squares(processor, fit.rate, rows) / freedom));
  return fit;
}

}  // namespace trilemma
