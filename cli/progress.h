#pragma once

#include <cstdint>
#include <stdexcept>

#include "core/units.h"
#include "sim/replicate.h"

namespace trilemma::cli {

/// auto: a bar on a terminal, a line a minute elsewhere; json: a JSON object a second, one a line; none: silence.
enum class ProgressMode { automatic, json, none };

/// The user has stopped the run (Ctrl-C, or a polite kill); what() says so.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal) : std::runtime_error("interrupted; nothing was kept"), signal_(signal) {}
  /// 128 + signal, as shells have it.
  [[nodiscard]] int exit_code() const { return 128 + signal_; }

 private:
  int signal_;
};

/// Shows on standard error how far a run has come, and throws Interrupted once the first SIGINT or SIGTERM has come, so
/// that unfinished files are cleaned up. A second signal kills as usual.
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
