#include "models/server/saturated_step.h"

#include <algorithm>
#include <cmath>

namespace trilemma {

void SaturatedStep::add(const Kind& kind) {
  if (kind.passes == 0) return;
  if (models_.size() <= kind.model) models_.resize(kind.model + 1);
  Share& share = models_[kind.model];
  const auto count = [](Tokens tokens) { return static_cast<double>(tokens.value()); };
  const auto passes = static_cast<double>(kind.passes);
  const auto add = [&](Tokens fresh, Tokens cached, double times) {
    BatchTokens one;
    one.add(fresh, cached, 1);
    share.fresh += times * static_cast<double>(one.fresh);
    share.pairs += times * one.pairs;
    share.kept += times * static_cast<double>(one.kept);
    share.heads += times;
    fresh_ += times * static_cast<double>(one.fresh);
  };
  add(kind.prompt, Tokens(0), kind.rate);
  const Tokens middle(kind.prompt.value() + kind.output.value() / 2);
  if (kind.passes > 1) add(kind.fresh, middle, kind.rate * (passes - 1));
  passes_ += kind.rate * passes;
  held_ += kind.rate * passes * std::ceil(count(middle) / static_cast<double>(site_.kv_cache.block));
  before_ += kind.rate * to_seconds(kind.before);
}

double SaturatedStep::load() const {
  if (passes_ == 0) return 0;
  const BatchRule rule = site_.rule();
  auto members = static_cast<double>(rule.most);
  members = std::min(members, static_cast<double>(rule.tokens) * passes_ / fresh_);
  members = std::min(members, static_cast<double>(blocks_) * passes_ / held_);
  members = std::max(members, 1.0);
  double seconds = 0;
  for (std::size_t model = 0; model < models_.size(); ++model) {
    const Share& share = models_[model];
    const double each = members / passes_;
    const auto whole = [&](double per_second) { return std::max<std::int64_t>(1, std::llround(per_second * each)); };
    if (share.fresh == 0) continue;
    seconds += to_seconds(step_.time(model, BatchTokens{.fresh = whole(share.fresh),
                                                        .pairs = share.pairs * each,
                                                        .kept = whole(share.kept),
                                                        .heads = whole(share.heads)}));
  }
  return passes_ / members * seconds + before_;
}

}  // namespace trilemma
