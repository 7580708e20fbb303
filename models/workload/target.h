#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// A latency bound and the share of requests that must meet it.
struct TargetConfig {
  static constexpr std::string_view catalogue = "targets";
  std::string kind = "custom";
  std::string title;
  Duration latency{0};
  Fraction reliability{0.99};
  std::string scope;
  std::string source;

  static constexpr auto fields() {
    using config::field, config::required;
    return std::tuple{field("kind", &TargetConfig::kind, "catalogue entry in configs/targets, or 'custom'"),
                      field("title", &TargetConfig::title, "full name"),
                      required("latency", &TargetConfig::latency, "bound on the latency of a request",
                               config::positive_up_to_30_years),
                      required("reliability", &TargetConfig::reliability, "share of requests that must meet it",
                               config::Bounds{.min = 0, .max = 1, .min_allowed = false, .max_allowed = false}),
                      field("scope", &TargetConfig::scope, "what the bound covers in its source"),
                      field("source", &TargetConfig::source, "where the numbers come from")};
  }
};

}  // namespace trilemma
