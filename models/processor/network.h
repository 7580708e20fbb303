#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// A small network beside the language model, such as a keyword spotter or an image encoder; a catalogue entry of
/// configs/networks. Microcontrollers run convolutions and fully connected layers at different rates.
struct NetworkConfig {
  static constexpr std::string_view catalogue = "networks";

  std::string kind = "custom";
  std::string title;
  Operations fully_connected{0};  // two a multiply-add
  Operations convolution{0};
  std::int64_t parameters = 0;
  std::string source;

  static constexpr auto fields() {
    using config::between, config::field, config::non_negative, config::required;
    return std::tuple{
        field("kind", &NetworkConfig::kind, "catalogue entry in configs/networks, or 'custom'"),
        field("title", &NetworkConfig::title, "full name"),
        field("fully_connected", &NetworkConfig::fully_connected,
              "operations of an inference in fully connected layers, two a multiply-add", between(0, 1e15)),
        field("convolution", &NetworkConfig::convolution, "operations in convolutions, depthwise ones too",
              between(0, 1e15)),
        required("parameters", &NetworkConfig::parameters, "weights, read once an inference", between(0, 1e12)),
        field("source", &NetworkConfig::source, "where the numbers come from"),
    };
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const {
    if (fully_connected + convolution > Operations(0)) return {};
    return {{"convolution", "is 0 as the operations of fully connected layers are; write what an inference takes"}};
  }
};

}  // namespace trilemma
