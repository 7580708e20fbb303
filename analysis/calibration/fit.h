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

/// A parameter that a fit found: efficiencies and costs with the standard error of their logarithm, the overlap with
/// its own.
struct FittedParameter {
  Parameter parameter;
  double value;  // efficiency or overlap as a fraction, cost in seconds
  double error;
  bool at_bound;  // the best value is the end of its range; no standard error then
};

struct RateFit {
  PrecisionRate rate;
  std::vector<FittedParameter> parameters;
};

/// The `parameters` of `start` that make the sum of (ln predicted - ln measured)^2 over the rows least, efficiencies in
/// (0, 1], costs >= 0, overlap in [0, 1]: Levenberg-Marquardt with bounds (projected steps, free set), from several
/// starts, with central differences. Spread: root of the sum over degrees of freedom. Covariance: spread^2 times the
/// inverse of J^T J over the parameters that are not at a bound. `processor` gives the hardware.
///
/// Where there are rows of both kinds, memory efficiency and costs are fitted first, to the rows of at most four
/// tokens, which are the weight stream and nothing else; then the others to the rest. Prompts, whose kernels differ, do
/// not spoil the time of a token that way.
///
/// Throws FitProblem with too few rows, or when parameters cannot be told apart: a singular value of the scaled
/// Jacobian below 0.003 of the largest, or a standard error beyond a factor of e.
RateFit fit_rate(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                 std::span<const Measurement> rows);

}  // namespace trilemma
