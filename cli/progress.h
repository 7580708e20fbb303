#pragma once

#include <cstdint>

#include "core/units.h"
#include "sim/replicate.h"

namespace trilemma::cli {

/// auto: a bar on a terminal, a line a minute elsewhere; json: a JSON object a second, one a line; none: silence.
enum class ProgressMode { automatic, json, none };

/// Shows on standard error how far a run has come.
class ProgressDisplay final : public ProgressSink {
 public:
  ProgressDisplay(ProgressMode mode, std::int64_t replications);
  ~ProgressDisplay() override;
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void report(const Progress& progress) override;

 private:
  ProgressMode mode_;
  std::int64_t replications_;
  bool terminal_;
  bool bar_shown_ = false;
  Duration start_;
  Duration shown_at_;
};

/// The host's clock, for display and speed only.
Duration wall_clock();

}  // namespace trilemma::cli
