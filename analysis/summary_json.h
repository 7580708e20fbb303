#pragma once

#include "analysis/summary.h"
#include "core/config/writer.h"

namespace trilemma {

/// The members of summary.json except `manifest`, in their documented order. Never NaN or infinity: what cannot be said
/// is null beside a reason.
config::Json summary_to_json(const Scenario& scenario, const Summary& summary);

std::string_view verdict_word(Verdict verdict);
std::string_view run_end_word(RunEnd end);
/// "done", "failed" where no request was answered, or the limit that ended the run.
std::string status_word(const Summary& summary);

}  // namespace trilemma
