#include "sim/trips.h"

#include <algorithm>

namespace trilemma {

Pass Trips::next() {
  Costs& costs = service_.costs;
  const Scenario& scenario = service_.scenario;
  if (is_speculative()) {
    if (done_ == 0) return costs.prefill(prompt_, output_);
    // The last token needs no draft.
    drafts_ = std::min(scenario.speculation->tokens, left_ - 1);
    return costs.round(context_, drafts_);
  }
  Pass pass = done_ == 0 ? costs.prefill(prompt_, output_) : costs.decode(prompt_ + Tokens(done_));
  pass.is_last = left_ == 1;
  const bool is_whole_answer = scenario.raw_input() && !scenario.workload.stream;
  if (is_whole_answer) pass.downlink = left_ == 1 ? costs.answer(output_) : Bytes(0);
  return pass;
}

std::optional<Tokens> Trips::finish() {
  if (!is_speculative()) {
    --left_;
    ++done_;
    return std::nullopt;
  }
  if (done_++ == 0) {
    --left_;
    context_ = prompt_;
    return std::nullopt;
  }
  std::int64_t accepted = 0;
  while (accepted < drafts_ && chance_->happens(service_.scenario.speculation->acceptance.value())) ++accepted;
  left_ -= accepted + 1;
  context_ += Tokens(accepted + 1);
  return context_;
}

}  // namespace trilemma
