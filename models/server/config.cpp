#include "models/server/config.h"

#include <fmt/format.h>

namespace trilemma {
namespace {

constexpr std::int64_t usual_batch = 256;    // vLLM's max_num_seqs
constexpr std::int64_t usual_tokens = 2048;  // and its max_num_batched_tokens with chunked prefill

}  // namespace

std::vector<config::FieldProblem> BatchingConfig::problems() const {
  std::vector<config::FieldProblem> found;
  const std::string name(config::name_of(kind));
  const auto has_no_effect = [&](const char* key, const std::string& where) {
    found.push_back({key, fmt::format("has no effect with kind {}; delete it, or write kind: {}", name, where)});
  };
  if (kind == Batching::none && max_batch) has_no_effect("max_batch", "dynamic");
  if (kind != Batching::dynamic && max_wait) has_no_effect("max_wait", "dynamic");
  if (kind != Batching::continuous && max_tokens) has_no_effect("max_tokens", "continuous");
  if ((kind == Batching::static_batch || kind == Batching::dynamic) && !max_batch)
    found.push_back({"max_batch", fmt::format("is missing for kind {}; write for example 'max_batch: 16'", name)});
  return found;
}

BatchRule rule_of(const BatchingConfig& config) {
  switch (config.kind) {
    case Batching::none:
      return {};
    case Batching::static_batch:
      return {.most = config.max_batch.value_or(1), .wait = std::nullopt};
    case Batching::dynamic:
      return {.most = config.max_batch.value_or(1), .wait = config.max_wait.value_or(Duration{0})};
    case Batching::continuous:
      break;
  }
  return {.join = BatchRule::Join::every_step,
          .most = config.max_batch.value_or(usual_batch),
          .tokens = config.max_tokens.value_or(usual_tokens)};
}

std::vector<config::FieldProblem> SiteConfig::site_problems() const {
  if (count % tensor_parallel != 0)
    return {{"count", fmt::format("is not a multiple of the {} processors that share a copy of the model; write one",
                                  tensor_parallel)}};
  if (tensor_parallel > 1 && !interconnect)
    return {{"interconnect",
             "is missing; write for example 'interconnect: {rate: 32 GB/s, latency: 10 us}'",
             {"tensor_parallel"}}};
  if (tensor_parallel == 1 && interconnect)
    return {{"interconnect", "has no effect on processors by themselves; delete it, or write tensor_parallel"}};
  return {};
}

}  // namespace trilemma
