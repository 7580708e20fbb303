#pragma once

#include <cstdint>
#include <vector>

#include "models/server/roofline_step.h"

namespace trilemma {

/// What a replica can do when requests pile up: the step of a full batch, in which prompts and further tokens come in
/// the proportion in which they are asked for. Its size is the least of the largest batch, the tokens of a step and the
/// sequences whose keys and values fit. An average: batches of unlike requests do a little less.
class SaturatedStep {
 public:
  /// Requests of one kind: the first of their `passes` has the prompt, the others `fresh` tokens.
  struct Kind {
    std::size_t model = 0;
    double rate = 0;  // per second
    Tokens prompt{1};
    Tokens output{1};
    std::int64_t passes = 1;
    Tokens fresh{1};
    Duration before{0};  // of all passes, ahead of the model
  };

  SaturatedStep(const SiteConfig& site, const RooflineStep& step, std::int64_t blocks)
      : site_(site), step_(step), blocks_(blocks) {}

  void add(const Kind& kind);
  /// Replicas that full steps would keep busy.
  [[nodiscard]] double load() const;

 private:
  struct Share {
    double fresh = 0;  // per second
    double pairs = 0;
    double kept = 0;
    double heads = 0;
  };

  const SiteConfig& site_;
  const RooflineStep& step_;
  std::int64_t blocks_;
  std::vector<Share> models_;
  double passes_ = 0;  // per second
  double fresh_ = 0;   // tokens per second
  double held_ = 0;    // blocks, weighted by passes
  double before_ = 0;  // seconds per second
};

}  // namespace trilemma
