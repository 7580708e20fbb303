#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "core/config/field.h"
#include "core/units.h"
#include "models/accuracy/published.h"
#include "models/llm/config.h"
#include "models/llm/cut.h"
#include "models/workload/lengths.h"
#include "models/workload/target.h"

namespace trilemma {

/// One kind of request in a mix. What it does not say is as in the rest of the scenario.
struct ClassConfig {
  std::string name;
  double share = 1;
  std::int64_t priority = 0;
  std::optional<LlmConfig> llm;
  std::optional<Cut> cut;
  std::optional<LengthConfig> prompt;
  std::optional<LengthConfig> output;
  std::optional<TaskConfig> task;
  std::optional<TargetConfig> target;

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{required("name", &ClassConfig::name, "what results call it"),
                      field("share", &ClassConfig::share, "weight among the requests",
                            config::Bounds{.min = 0, .max = 1e9, .min_allowed = false}),
                      field("priority", &ClassConfig::priority, "larger goes first, where a tier schedules by priority",
                            between(-1e9, 1e9)),
                      field("llm", &ClassConfig::llm, "language model"),
                      field("cut", &ClassConfig::cut, "blocks on the device"),
                      field("prompt", &ClassConfig::prompt, "tokens of a prompt"),
                      field("output", &ClassConfig::output, "tokens generated per request"),
                      field("task", &ClassConfig::task, "what the answers are scored on"),
                      field("target", &ClassConfig::target, "latency target")};
  }
};

}  // namespace trilemma
