#pragma once

#include <span>
#include <vector>

#include <Eigen/Dense>

#include "analysis/calibration/measurement.h"
#include "models/processor/sheet.h"

/// Bounded non-linear least squares of a rate against measurements.
namespace trilemma {

/// How a parameter is searched: efficiencies by their logarithm, costs in seconds times a scale, the overlap as it is.
struct Axis {
  Parameter parameter;
  double scale = 1;  // of costs: units in a second
  double low = 0;
  double high = 1;
};

bool is_efficiency(Parameter parameter);
bool is_cost(Parameter parameter);

/// Parameters of a rate against rows: residuals ln(model / measured) as a function of a position, one number an axis.
class RateProblem {
 public:
  RateProblem(const ProcessorConfig& processor, PrecisionRate start, std::span<const Parameter> parameters,
              std::span<const Measurement> rows);

  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(axes_.size()); }
  [[nodiscard]] Parameter parameter(Eigen::Index i) const { return axes_[static_cast<std::size_t>(i)].parameter; }
  [[nodiscard]] double value(Eigen::Index i, double position) const;
  /// Where the start is, or another rate.
  [[nodiscard]] Eigen::VectorXd position(const PrecisionRate& rate) const;
  [[nodiscard]] PrecisionRate rate(const Eigen::VectorXd& position) const;
  [[nodiscard]] Eigen::VectorXd residuals(const Eigen::VectorXd& position) const;
  [[nodiscard]] Eigen::VectorXd inside(Eigen::VectorXd position) const;
  /// Central differences, one-sided at a bound; wide enough for times in whole nanoseconds.
  [[nodiscard]] Eigen::MatrixXd jacobian(const Eigen::VectorXd& position) const;
  /// Whether the cost falls only beyond the end of the range.
  [[nodiscard]] bool held(Eigen::Index i, double position, double gradient) const;

 private:
  const ProcessorConfig& processor_;
  PrecisionRate rate_;
  std::span<const Measurement> rows_;
  std::vector<Axis> axes_;
};

struct Optimum {
  Eigen::VectorXd position;
  double cost = 0;
  std::vector<Eigen::Index> free;  // not held by a bound
};

/// The best of searches from several starts: Levenberg-Marquardt, Marquardt's damping on the diagonal of J^T J, steps
/// projected on the bounds.
Optimum least_squares(const RateProblem& problem);

}  // namespace trilemma
