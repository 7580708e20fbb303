#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/codec/config.h"

/// Entropy coding of quantised components, tokens x components, whose spreads are known to both ends.
namespace trilemma {

/// What both ends know: the standard deviation of each component in quantiser steps, as powers of sqrt(2), and how many
/// components a token has.
class ComponentClasses {
 public:
  /// From variances in the unit of the values, and the step of the quantiser. Exact arithmetic: powers of two only.
  ComponentClasses(std::span<const float> variances, float step);

  [[nodiscard]] std::size_t components() const { return classes_.size(); }
  [[nodiscard]] int at(std::size_t component) const { return classes_[component]; }

 private:
  std::vector<std::uint8_t> classes_;
};

/// Codes levels, token by token, in at most `room` bytes; nothing if they do not fit. Zeros alone take no bytes.
/// |level| < 2^30.
std::optional<std::vector<std::byte>> code_components(EntropyCoder coder, std::span<const std::int32_t> levels,
                                                      const ComponentClasses& known, std::size_t room);

/// Restores levels from the bytes and any zeros behind them. Throws MalformedMessage if zstd cannot.
void decode_components(EntropyCoder coder, std::span<const std::byte> bytes, const ComponentClasses& known,
                       std::span<std::int32_t> levels);

}  // namespace trilemma
