#pragma once

#include <optional>

#include "core/config/catalogue.h"
#include "models/accuracy/paper_codec.h"
#include "models/accuracy/published.h"
#include "sim/scenario.h"

namespace trilemma {

/// The published accuracies of the catalogue. Throws config::Error.
AccuracyTable read_accuracies(const config::Catalogue& catalogue);

/// How right the answers are with compression that the source would call `codec`. Requires a task.
AccuracyAnswer accuracy_with(const Scenario& scenario, const PaperCodec& codec);

/// How right the answers of a scenario are: measured on its model for the task `next-token`, else as far as somebody
/// published it for just this case; nothing without a task.
std::optional<AccuracyAnswer> accuracy_of(const Scenario& scenario);

}  // namespace trilemma
