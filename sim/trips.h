#pragma once

#include <cstdint>
#include <optional>

#include "core/random.h"
#include "sim/service.h"

namespace trilemma {

/// The trips of one request, one after the other: the prompt, then a token each or, with speculative decoding, a round.
class Trips {
 public:
  /// `chance` decides which drafts are accepted; needed for speculation only.
  Trips(Service& service, Tokens prompt, Tokens output, Rng* chance)
      : service_(service), prompt_(prompt), output_(output), left_(service.costs.trips(output)), chance_(chance) {
    if (is_speculative()) left_ = output.value();
  }

  [[nodiscard]] bool more() const { return left_ > 0; }
  [[nodiscard]] bool is_speculative() const { return service_.scenario.speculation.has_value(); }
  /// The next trip; requires more().
  [[nodiscard]] Pass next();
  /// The trip is over. The context to keep where that is less than what went through the model.
  std::optional<Tokens> finish();

 private:
  Service& service_;
  Tokens prompt_;
  Tokens output_;
  std::int64_t left_;      // trips or, with speculation, tokens
  Tokens context_{0};      // behind the device, with speculation
  std::int64_t done_ = 0;  // trips
  std::int64_t drafts_ = 0;
  Rng* chance_;
};

}  // namespace trilemma
