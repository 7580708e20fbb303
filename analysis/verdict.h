#pragma once

#include <cstdint>
#include <optional>

#include "core/units.h"

namespace trilemma {

enum class Verdict { holds, fails, undecided };

struct TargetVerdict {
  Verdict verdict;
  std::uint64_t violations;
  std::uint64_t requests;
  double lower;  // one-sided bounds on the violation probability, each at the confidence of the verdict
  double upper;
  std::optional<std::uint64_t> more_requests_needed;  // 0 when decided, empty when more of the same never decides
};

/// Whether a share of at least `reliability` of all requests meets the target, given how many of them violated it
/// (late or lost). holds: the one-sided upper bound on the violation probability is <= 1 - reliability; fails: the
/// one-sided lower bound is above it; otherwise undecided. So each verdict is wrong with probability at most
/// 1 - confidence. 300,000 requests without a violation hold 99.999 %, 299,000 leave it undecided.
///
/// Requires violations <= requests, 0 < reliability <= 1 and 0 < confidence < 1; both are taken as decimals, so that
/// 1 - 0.99999 is 1e-5. Assumes independent requests, see analysis/proportion.h.
TargetVerdict judge(std::uint64_t violations, std::uint64_t requests, Fraction reliability, double confidence = 0.95);

}  // namespace trilemma
