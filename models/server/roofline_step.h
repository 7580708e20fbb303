#pragma once

#include <cstdint>
#include <vector>

#include "models/llm/work.h"
#include "models/processor/config.h"
#include "models/server/config.h"
#include "models/server/step_cost.h"

namespace trilemma {

/// A part of a model that a site runs.
struct ServedModel {
  LlmConfig llm;
  ModelPart part;
  bool operator==(const ServedModel&) const = default;
};

/// Steps by the calibrated roofline of a processor. The weights of a model are read once a step whatever its batch,
/// keys and values once for each sequence; models take turns. Processors whose runtime has passes of fixed size
/// (`chunk`, `cache_tokens`) take one sequence after the other.
///
/// On n processors that share a copy (tensor parallelism; Shoeybi et al., Megatron-LM, 2019) each has an n-th of the
/// matrices and heads; two all-reduces of the activations (16 bits a value) a block go around a ring:
///     2 blocks x (2 (n - 1) / n x bytes / rate + 2 (n - 1) x latency)
/// Ignores overlap of communication with computing, and the exchange of logits.
class RooflineStep final : public StepCost {
 public:
  /// All outlive the object; requires that the processor has a rate for the precision.
  RooflineStep(const ProcessorConfig& processor, Precision precision, const SiteConfig& site,
               std::vector<ServedModel> models);

  [[nodiscard]] Duration time(std::span<const StepPart> parts) const override;
  /// Of sequences of one model, added up; requires that they do not take turns.
  [[nodiscard]] Duration time(std::size_t model, const BatchTokens& tokens) const;
  /// Whether sequences go through one after the other.
  [[nodiscard]] bool takes_turns() const { return has_fixed_passes_; }

 private:
  [[nodiscard]] Duration in_turn(std::span<const StepPart> parts) const;
  [[nodiscard]] Duration exchange(const ServedModel& model, std::int64_t tokens) const;

  const ProcessorConfig& processor_;
  Precision precision_;
  const SiteConfig& site_;
  std::vector<ServedModel> models_;
  bool has_fixed_passes_;
};

/// Blocks of the KV cache that a copy of the models leaves room for, 0 if not even the models fit: memory of its
/// processors less runtime, weights and the activations of `step` tokens. A block holds the tokens of the model with
/// the largest keys and values.
std::int64_t blocks_that_fit(const ProcessorConfig& processor, Precision precision, const SiteConfig& site,
                             const std::vector<ServedModel>& models, Tokens step);

}  // namespace trilemma
