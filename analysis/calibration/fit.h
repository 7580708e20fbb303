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
  double value;           // efficiency or overlap as a fraction, cost in seconds
  double error = 0;       // of a cost of 0: 0
  bool at_bound = false;  // the best value is the end of its range
};

struct RateFit {
  PrecisionRate rate;
  std::vector<FittedParameter> parameters;
};

/// The `parameters` of `start` that make the sum of (ln predicted - ln measured)^2 over the rows least, efficiencies in
/// (0, 1], costs >= 0, overlap in [0, 1]: Levenberg-Marquardt with bounds (projected steps, free set), from several
/// starts, with central differences. Spread: root of the sum over degrees of freedom. Covariance: of all parameters but
/// costs of 0, those at the end of their range included. `processor` gives the hardware.
///
/// Where there are rows of both kinds, memory efficiency and costs are fitted to the rows of at most two tokens, which
/// are the weight stream and nothing else, and the others to the rest, in turn until nothing moves. Prompts, whose
/// kernels differ, do not spoil the time of a token that way. The covariance is that of both fits together.
///
/// Throws FitProblem with too few rows; when parameters cannot be told apart (a singular value of the scaled Jacobian
/// below 0.003 of the largest) or are uncertain by more than a factor of e; when a cost of 0 may be as large as a third
/// of the shortest row; when the spread is beyond a factor of e.
RateFit fit_rate(const ProcessorConfig& processor, const PrecisionRate& start, std::span<const Parameter> parameters,
                 std::span<const Measurement> rows);

}  // namespace trilemma
