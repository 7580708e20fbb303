#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/units.h"

namespace trilemma {

/// What one sequence sends through its model in a step.
struct StepPart {
  std::size_t model = 0;
  Tokens fresh{1};
  Tokens cached{0};        // tokens before them whose keys and values are held
  std::int64_t heads = 1;  // tokens whose successor is asked for
};

/// How long a step of a replica takes.
class StepCost {
 public:
  virtual ~StepCost() = default;
  /// Requires at least one part. No less for more parts, or for a part alone than in company.
  [[nodiscard]] virtual Duration time(std::span<const StepPart> parts) const = 0;
};

}  // namespace trilemma
