#pragma once

#include "models/accuracy/published.h"
#include "sim/scenario.h"

namespace trilemma {

/// The task whose answers are measured: the next token of held-out text, by a model whose weights are at hand.
inline constexpr const char* measured_task = "next-token";

/// Held-out texts that are scored, and tokens of each.
inline constexpr std::size_t measured_windows = 40;
inline constexpr std::int64_t measured_tokens = 128;

/// Top-1 accuracy of the scenario's model on held-out text: pruned and rounded as the scenario says (INT8, INT4, INT2:
/// groups of 64), cut where it is cut, with the real messages of its codec in between; the baseline is the checkpoint
/// as it stands. Takes some seconds. NotPublished where the model has no checkpoint or is not that of it.
AccuracyAnswer measured_accuracy(const Scenario& scenario);

/// CRC-32 over the files that it reads; 0 without a checkpoint.
std::uint32_t checkpoint_checksum(const Scenario& scenario);

}  // namespace trilemma
