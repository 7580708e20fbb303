#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/calibration/measurement.h"
#include "models/processor/config.h"
#include "models/processor/sheet.h"

namespace trilemma {

/// The measurements do not decide the parameters; the message says which, and what to do.
class FitProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A parameter that a fit found: efficiencies with the standard error of their logarithm, costs and the overlap with
/// their own.
struct FittedParameter {
  Parameter parameter;
  double value;           // efficiency or overlap as a fraction, cost in seconds
  double error = 0;       // of a cost in seconds
  bool at_bound = false;  // the best value is the end of its range
};

struct RateFit {
  PrecisionRate rate;
  std::vector<FittedParameter> parameters;
};

/// The `parameters` of `start` that make the sum of (ln predicted - ln measured)^2 over the rows least, efficiencies in
/// (0, 1], costs >= 0, overlap in [0, 1]: Levenberg-Marquardt with bounds (projected steps, free set), from several
/// starts, with central differences. Spread: root of the sum over degrees of freedom. Covariance: of all parameters,
/// those at the end of their range included; efficiencies in their logarithm, costs in seconds; as wide as Student's t
/// at 95 % for the degrees of freedom. `processor` gives the hardware.
///
/// Where at least three rows of at most two tokens stand behind each of them, memory efficiency and costs are fitted to
/// those rows, which are the weight stream and nothing else, and the others to the rest, in turn until nothing moves.
/// Prompts, whose kernels differ, do not spoil the time of a token that way. The covariance is that of both together.
///
/// Throws FitProblem with too few rows; when parameters cannot be told apart (a singular value of the scaled Jacobian
/// below 0.003 of the largest); when an efficiency is uncertain by more than a factor of e, or a cost by more than 30 %
/// of the shortest row; when the spread is beyond a factor of e.
RateFit fit_rate(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                 std::span<const Measurement> rows);

}  // namespace trilemma
