#include "models/processor/sheet.h"

#include <algorithm>

#include <fmt/format.h>

namespace trilemma {
namespace {

using config::FieldProblem;

bool is_given(const SheetRate& rate, Parameter parameter) {
  switch (parameter) {
    case Parameter::compute_efficiency:
      return rate.compute_efficiency.has_value();
    case Parameter::memory_efficiency:
      return rate.memory_efficiency.has_value();
    case Parameter::attention_efficiency:
      return rate.attention_efficiency.has_value();
    case Parameter::cache_efficiency:
      return rate.cache_efficiency.has_value();
    case Parameter::convolution_efficiency:
      return rate.convolution_efficiency.has_value();
    case Parameter::overlap:
      return rate.overlap.has_value();
    case Parameter::per_call:
      return rate.per_call.has_value();
    case Parameter::per_layer:
      return rate.per_layer.has_value();
  }
  return false;
}

/// Two peaks of one precision are two runtimes: each has a name and rows of its own.
std::string clash(const SheetRate& one, const SheetRate& other) {
  if (one.precision != other.precision) return {};
  const std::string_view precision = config::name_of(one.precision);
  if (one.runtime == other.runtime)
    return fmt::format("has {} with runtime '{}' twice; write each pair once", precision, one.runtime);
  for (const SheetRate* peak : {&one, &other}) {
    if (!peak->runtimes.empty()) continue;
    return fmt::format(
        "has several runtimes for {}, and '{}' does not say which rows belong to it; write 'runtimes: "
        "[...]' with what the column 'runtime' says",
        precision, peak->runtime);
  }
  for (const std::string& label : one.runtimes) {
    if (std::find(other.runtimes.begin(), other.runtimes.end(), label) == other.runtimes.end()) continue;
    return fmt::format("gives the rows of runtime '{}' to '{}' and to '{}'; write it in one", label, one.runtime,
                       other.runtime);
  }
  return {};
}

}  // namespace

std::vector<FieldProblem> SheetRate::problems() const {
  std::vector<FieldProblem> found;
  for (const auto& [name, parameter] : config::names<Parameter>) {
    const auto times = std::count(fit.begin(), fit.end(), parameter);
    if (times > 1) found.push_back({"fit", fmt::format("names {} twice; write it once", name)});
    if (times > 0 && is_given(*this, parameter))
      found.push_back({std::string(name), "is given and to be fitted; write it here or in 'fit'"});
  }
  for (const Parameter needed : {Parameter::compute_efficiency, Parameter::memory_efficiency}) {
    if (is_given(*this, needed) || std::find(fit.begin(), fit.end(), needed) != fit.end()) continue;
    const std::string name(config::name_of(needed));
    found.push_back(
        {name, fmt::format("is neither given nor to be fitted; write for example '{0}: 50 %', or {0} in 'fit'", name)});
  }
  return found;
}

std::vector<FieldProblem> HardwareSheet::problems() const {
  if (reserve >= memory) return {{"reserve", "leaves nothing of the memory; write less"}};
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (const std::string problem = clash(peaks[j], peaks[i]); !problem.empty()) return {{"peaks", problem}};
    }
  }
  return {};
}

}  // namespace trilemma
