#include "analysis/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <Eigen/Dense>
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

/// Columns of the Jacobian per unit of the logarithm; of the overlap itself, and of a cost of 0 per shortest row.
MatrixXd log_jacobian(const RateProblem& problem, const VectorXd& position) {
  MatrixXd jacobian = problem.jacobian(position);
  for (Index i = 0; i < problem.size(); ++i) {
    if (is_cost(problem.parameter(i)) && position[i] > 0) jacobian.col(i) *= position[i];
  }
  return jacobian;
}

[[noreturn]] void fail_vague(Parameter parameter) {
  throw FitProblem(
      fmt::format("the measurements leave {} uncertain by more than a factor of e; give it a value, or measure more",
                  config::name_of(parameter)));
}

/// Parameters at a bound count: where one slides along another to the end of its range, neither is known.
void refuse_unidentifiable(const RateProblem& problem, const Optimum& optimum) {
  constexpr double least_share = 3e-3;
  constexpr double part_of_it = 0.3;
  const MatrixXd jacobian = log_jacobian(problem, optimum.position);
  MatrixXd unit = jacobian;
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
  // A cost of 0 has no logarithm and stays out of the covariance; it must not hide behind the others.
  constexpr double most_of_the_shortest = 0.3;
  const auto freedom = static_cast<double>(jacobian.rows() - jacobian.cols());
  const MatrixXd covariance = optimum.cost / freedom * (jacobian.transpose() * jacobian).inverse();
  for (Index k = 0; k < covariance.cols(); ++k) {
    const double error = std::sqrt(covariance(k, k));
    if (!is_cost(problem.parameter(k)) || optimum.position[k] > 0 || error < most_of_the_shortest) continue;
    throw FitProblem(
        fmt::format("the measurements leave {} between 0 and {:.0f} % of the shortest row; give it a value, or "
                    "measure other models and lengths",
                    config::name_of(problem.parameter(k)), 100 * error));
  }
}

/// Parameters with a standard error: all but costs of 0. One at the end of its range is as uncertain as the others.
std::vector<Index> uncertain(const RateProblem& problem, const Optimum& optimum) {
  std::vector<Index> found;
  for (Index k = 0; k < problem.size(); ++k) {
    if (!is_cost(problem.parameter(k)) || optimum.position[k] > 0) found.push_back(k);
  }
  return found;
}

/// Covariance of the uncertain parameters of all groups, in their order. Each group solves its own equations, given
/// what the others found: J_g^T r_g = 0, with J_g over the group's parameters and rows. To first order the errors e of
/// all satisfy A e = J^T noise with A = J_g^T J_all stacked, so that they are A^-1 B A^-T with B the groups' own
/// sigma_g^2 J_g^T J_g (M-estimators; Huber 1967). One group: sigma^2 (J^T J)^-1.
MatrixXd joint_covariance(const ProcessorConfig& processor, const PrecisionRate& rate, std::span<const Group> groups,
                          std::span<const GroupFit> fits) {
  std::vector<Parameter> all;
  std::vector<Index> sizes;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto known = uncertain(RateProblem(processor, rate, groups[g].parameters, groups[g].rows), fits[g].optimum);
    for (const Index k : known) all.push_back(groups[g].parameters[static_cast<std::size_t>(k)]);
    sizes.push_back(static_cast<Index>(known.size()));
  }
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
    const RateProblem problem(processor, rate, all, groups[g].rows);
    const MatrixXd jacobian = log_jacobian(problem, problem.position(rate));
    const MatrixXd own = jacobian.middleCols(first, sizes[g]);
    const auto freedom = static_cast<double>(static_cast<Index>(groups[g].rows.size()) - sizes[g]);
    bread.middleRows(first, sizes[g]) = own.transpose() * jacobian;
    // A few rows may lie close to their fit by chance: they are no better than all together.
    const double variance = std::max(fits[g].optimum.cost / freedom, pooled);
    meat.block(first, first, sizes[g], sizes[g]) = variance * own.transpose() * own;
    first += sizes[g];
  }
  const MatrixXd inverse = bread.inverse();
  return inverse * meat * inverse.transpose();
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
  std::vector<Group> groups{{which, all}};
  if (streams > of_stream && streams < all.size() && of_stream > 0 && of_stream < which.size())
    groups = {{which.first(of_stream), all.first(streams)}, {which.subspan(of_stream), all.subspan(streams)}};
  for (const Group& group : groups) refuse_too_few(group);

  const std::vector<GroupFit> fits = alternate(processor, start, groups, all);
  RateFit fit{.rate = fits.back().rate};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    refuse_unidentifiable(RateProblem(processor, fit.rate, groups[g].parameters, groups[g].rows), fits[g].optimum);
  }
  const MatrixXd covariance = joint_covariance(processor, fit.rate, groups, fits);
  Index next = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Optimum& optimum = fits[g].optimum;
    const RateProblem problem(processor, fit.rate, groups[g].parameters, groups[g].rows);
    const auto known = uncertain(problem, optimum);
    for (Index i = 0; i < problem.size(); ++i) {
      FittedParameter found{.parameter = problem.parameter(i), .value = problem.value(i, optimum.position[i])};
      found.at_bound = std::find(optimum.free.begin(), optimum.free.end(), i) == optimum.free.end();
      if (std::find(known.begin(), known.end(), i) != known.end()) {
        found.error = std::sqrt(covariance(next, next));
        if (found.error > 1) fail_vague(problem.parameter(i));
        fit.rate.uncertain.push_back(name(problem.parameter(i)));
        for (Index j = 0; j <= next; ++j) fit.rate.covariance.push_back(covariance(next, j));
        ++next;
      }
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
