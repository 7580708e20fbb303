#include "analysis/verdict.h"

#include "analysis/proportion.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

Verdict verdict_of(BoundSide side) {
  switch (side) {
    case BoundSide::below:
      return Verdict::holds;
    case BoundSide::above:
      return Verdict::fails;
    case BoundSide::unknown:
      break;
  }
  return Verdict::undecided;
}

}  // namespace

TargetVerdict judge(std::uint64_t violations, std::uint64_t requests, Fraction reliability, double confidence) {
  TRILEMMA_ENSURE(reliability > Fraction(0) && reliability <= Fraction(1), "a reliability lies in (0, 1]");
  const double allowed = complement(reliability);
  return {.verdict = verdict_of(side_of(violations, requests, allowed, confidence)),
          .violations = violations,
          .requests = requests,
          .lower = lower_bound(violations, requests, confidence),
          .upper = upper_bound(violations, requests, confidence),
          .more_requests_needed = more_requests_to_decide(violations, requests, allowed, confidence)};
}

}  // namespace trilemma
