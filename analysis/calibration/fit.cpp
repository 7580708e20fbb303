#include "analysis/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Dense>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "analysis/calibration/least_squares.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::string name(Parameter parameter) { return std::string(config::name_of(parameter)); }

/// Parameters and the rows that decide them.
struct Group {
  std::span<const Parameter> parameters;
  std::span<const Measurement> rows;
};
/// What a group found.
struct GroupFit {
  PrecisionRate rate;
  Optimum optimum;
};

GroupFit fit_group(const ProcessorConfig& processor, const PrecisionRate& start, const Group& group) {
  const RateProblem problem(processor, start, group.parameters, group.rows);
  Optimum optimum = least_squares(problem);
  return {problem.rate(optimum.position), std::move(optimum)};
}

void refuse_too_few(const Group& group) {
  if (group.rows.size() > group.parameters.size()) return;
  std::vector<std::string_view> names;
  for (const Parameter parameter : group.parameters) names.push_back(config::name_of(parameter));
  throw FitProblem(
      fmt::format("has {} rows that could decide {}; write more rows than parameters, or give some of them a value",
                  group.rows.size(), fmt::join(names, ", ")));
}

/// Costs are as uncertain when they happen to be found small as when not: they are held against the times that they
/// are part of, since a limit on the share of themselves would keep those that happen to be found large.
void refuse_vague(const FittedParameter& found, double shortest_s) {
  constexpr double most_of_the_shortest = 0.3;
  if (!is_cost(found.parameter) && found.error > 1)
    throw FitProblem(
        fmt::format("the measurements leave {} uncertain by more than a factor of e; give it a value, or measure more",
                    config::name_of(found.parameter)));
  if (is_cost(found.parameter) && found.error > most_of_the_shortest * shortest_s)
    throw FitProblem(
        fmt::format("the measurements leave {} uncertain by {:.0f} % of the shortest row; give it a value, or measure "
                    "other models and lengths",
                    config::name_of(found.parameter), 100 * found.error / shortest_s));
}

/// Parameters at a bound count: where one slides along another to the end of its range, neither is known.
void refuse_unidentifiable(const RateProblem& problem, const Optimum& optimum) {
  constexpr double least_share = 3e-3;
  constexpr double part_of_it = 0.3;
  MatrixXd unit = problem.jacobian(optimum.position);
  for (Index k = 0; k < unit.cols(); ++k) {
    const double norm = unit.col(k).norm();
    if (norm < least_share)
      throw FitProblem(
          fmt::format("the measurements say nothing about {}; give it a value, or measure what depends on it",
                      config::name_of(problem.parameter(k))));
    unit.col(k) /= norm;
  }
  const Eigen::JacobiSVD<MatrixXd> svd(unit, Eigen::ComputeThinV);
  const Index last = unit.cols() - 1;
  if (svd.singularValues()[last] < least_share * svd.singularValues()[0]) {
    std::vector<std::string> alike;
    for (Index k = 0; k < unit.cols(); ++k) {
      if (std::abs(svd.matrixV()(k, last)) > part_of_it) alike.push_back(name(problem.parameter(k)));
    }
    throw FitProblem(
        fmt::format("the measurements cannot tell {} apart; give all but one of them a value, or measure other "
                    "models and lengths",
                    fmt::join(alike, " and ")));
  }
}

/// What the spread of few rows leaves unknown: the normal distribution of a parameter is made as wide as Student's t at
/// 95 %, so that two standard errors hold the truth as often with five rows as with fifty (Student, Biometrika 6,
/// 1908).
/// One row more than parameters counts as two, which holds it in 86 of 100: with 6.5 instead of 2.2 times the error,
/// nothing would be worth writing down.
double widening(double freedom) {
  constexpr double two_sided_95 = 0.975;
  constexpr double normal_95 = 1.959964;
  return boost::math::quantile(boost::math::students_t(std::max(freedom, 2.0)), two_sided_95) / normal_95;
}

/// Columns of the Jacobian per logarithm of an efficiency, per second of a cost, and of the overlap itself.
MatrixXd jacobian_in_units(const RateProblem& problem, const PrecisionRate& rate) {
  MatrixXd jacobian = problem.jacobian(problem.position(rate));
  for (Index i = 0; i < problem.size(); ++i) jacobian.col(i) *= problem.axes()[static_cast<std::size_t>(i)].scale;
  return jacobian;
}

/// Covariance of the parameters of all groups, in their order; one at the end of its range is as uncertain as the
/// others. Each group solves its own equations, given what the others found: J_g^T r_g = 0, with J_g over the group's
/// parameters and rows. To first order the errors e of all satisfy A e = J^T noise with A = J_g^T J_all stacked, so
/// that they are A^-1 B A^-T with B the groups' own sigma_g^2 J_g^T J_g (M-estimators; Huber 1967). One group:
/// sigma^2 (J^T J)^-1. All of it widened for few rows.
MatrixXd joint_covariance(const ProcessorConfig& processor, const PrecisionRate& rate, std::span<const Group> groups,
                          std::span<const GroupFit> fits) {
  std::vector<Parameter> all;
  for (const Group& group : groups) all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  const auto count = static_cast<Index>(all.size());
  double pooled = 0;
  double all_freedom = -static_cast<double>(count);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    pooled += fits[g].optimum.cost;
    all_freedom += static_cast<double>(groups[g].rows.size());
  }
  pooled /= all_freedom;
  MatrixXd bread(count, count);
  MatrixXd meat = MatrixXd::Zero(count, count);
  Index first = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto size = static_cast<Index>(groups[g].parameters.size());
    const MatrixXd jacobian = jacobian_in_units(RateProblem(processor, rate, all, groups[g].rows), rate);
    const MatrixXd own = jacobian.middleCols(first, size);
    const auto freedom = static_cast<double>(groups[g].rows.size() - groups[g].parameters.size());
    bread.middleRows(first, size) = own.transpose() * jacobian;
    // A few rows may lie close to their fit by chance: they are no better than all together.
    const double variance = std::max(fits[g].optimum.cost / freedom, pooled);
    meat.block(first, first, size, size) = variance * own.transpose() * own;
    first += size;
  }
  const MatrixXd inverse = bread.inverse();
  return std::pow(widening(all_freedom), 2) * inverse * meat * inverse.transpose();
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
  return RateProblem(hardware, rate, {}, rows).residuals(VectorXd(0)).squaredNorm();
}

/// The groups' fits, each with what the others have found, until nothing moves.
std::vector<GroupFit> alternate(const ProcessorConfig& processor, const PrecisionRate& start,
                                std::span<const Group> groups, std::span<const Measurement> rows) {
  constexpr int most_rounds = 12;
  constexpr double least_change = 1e-9;
  std::vector<GroupFit> fits(groups.size());
  PrecisionRate known = start;
  for (int round = 0; round < most_rounds; ++round) {
    const double before = residual_squares(processor, known, rows);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      fits[g] = fit_group(processor, known, groups[g]);
      known = fits[g].rate;
    }
    if (groups.size() == 1 || std::abs(residual_squares(processor, known, rows) - before) <= least_change * before)
      break;
  }
  return fits;
}

void refuse_bad_fit(double spread) {
  constexpr double most_spread = 1;
  if (spread <= most_spread) return;
  throw FitProblem(
      fmt::format("the fit is off by a factor of {:.3g} on average; check the peaks, the given values and the rows",
                  std::exp(spread)));
}

}  // namespace

RateFit fit_rate(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                 std::span<const Measurement> rows) {
  std::vector<Measurement> ordered(rows.begin(), rows.end());
  const auto border = std::stable_partition(ordered.begin(), ordered.end(), is_stream);
  std::vector<Parameter> sorted(parameters.begin(), parameters.end());
  const auto middle = std::stable_partition(sorted.begin(), sorted.end(), is_of_stream);
  const std::span<const Measurement> all(ordered);
  const std::span<const Parameter> which(sorted);
  const auto streams = static_cast<std::size_t>(border - ordered.begin());
  const auto of_stream = static_cast<std::size_t>(middle - sorted.begin());
  // Few rows of the stream cannot tell a cost from the stream; then the others help.
  constexpr std::size_t rows_per_parameter = 3;
  std::vector<Group> groups{{which, all}};
  if (streams >= rows_per_parameter * of_stream && streams < all.size() && of_stream > 0 && of_stream < which.size())
    groups = {{which.first(of_stream), all.first(streams)}, {which.subspan(of_stream), all.subspan(streams)}};
  for (const Group& group : groups) refuse_too_few(group);

  const std::vector<GroupFit> fits = alternate(processor, start, groups, all);
  RateFit fit{.rate = fits.back().rate};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    refuse_unidentifiable(RateProblem(processor, fit.rate, groups[g].parameters, groups[g].rows), fits[g].optimum);
  }
  const MatrixXd covariance = joint_covariance(processor, fit.rate, groups, fits);
  double shortest_s = to_seconds(all.front().time);
  for (const Measurement& row : all) shortest_s = std::min(shortest_s, to_seconds(row.time));
  Index next = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Optimum& optimum = fits[g].optimum;
    const RateProblem problem(processor, fit.rate, groups[g].parameters, groups[g].rows);
    for (Index i = 0; i < problem.size(); ++i, ++next) {
      FittedParameter found{.parameter = problem.parameter(i), .value = problem.value(i, optimum.position[i])};
      found.error = std::sqrt(covariance(next, next));
      found.at_bound = std::find(optimum.free.begin(), optimum.free.end(), i) == optimum.free.end();
      refuse_vague(found, shortest_s);
      fit.rate.uncertain.push_back(name(found.parameter));
      for (Index j = 0; j <= next; ++j) fit.rate.covariance.push_back(covariance(next, j));
      fit.parameters.push_back(found);
    }
  }
  const auto freedom = static_cast<double>(rows.size() - parameters.size());
  const double spread = std::sqrt(residual_squares(processor, fit.rate, all) / freedom);
  refuse_bad_fit(spread);
  fit.rate.spread = Fraction(spread);
  return fit;
}

}  // namespace trilemma
