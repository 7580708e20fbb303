#include "cli/progress.h"

#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace trilemma::cli {
namespace {

volatile std::sig_atomic_t caught_signal = 0;  // all that a signal handler may touch

void on_signal(int signal) { caught_signal = signal; }

void catch_first_signal(int signal) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

std::string clock_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Duration wall_clock() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

ProgressDisplay::ProgressDisplay(ProgressMode mode, std::int64_t replications)
    : mode_(mode),
      replications_(replications),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(wall_clock()),
      shown_at_(start_) {
  catch_first_signal(SIGINT);
  catch_first_signal(SIGTERM);
}

ProgressDisplay::~ProgressDisplay() {
  if (bar_shown_) std::cerr << "\r\x1b[K";  // the result follows on a clean line
}

void ProgressDisplay::report(const Progress& progress) {
  if (caught_signal != 0) throw Interrupted(caught_signal);
  if (mode_ == ProgressMode::none) return;
  const Duration now = wall_clock();
  const Duration interval = mode_ == ProgressMode::json ? 1s : (terminal_ ? Duration(200ms) : Duration(60s));
  if (now - shown_at_ < interval) return;
  shown_at_ = now;
  const double fraction =
      (static_cast<double>(progress.replication) + progress.fraction) / static_cast<double>(replications_);
  const double elapsed = to_seconds(now - start_);
  const double left = fraction > 0 ? elapsed * (1 - fraction) / fraction : 0;
  if (mode_ == ProgressMode::json) {
    std::cerr
        << fmt::format(
               R"({{"replication":{},"replications":{},"fraction":{:.4f},"elapsed_s":{:.1f},"eta_s":{:.1f},"simulated_s":{:.6f},"offered":{},"in_flight":{}}})",
               progress.replication, replications_, fraction, elapsed, left, to_seconds(progress.simulated),
               progress.requests.offered, progress.requests.in_flight)
        << "\n";
    return;
  }
  const std::string line = fmt::format(
      "{:3.0f} %  about {} left, replication {} of {}, {:.3g} requests, {} in flight, {:.3g} s simulated",
      100 * fraction, clock_text(left), progress.replication + 1, replications_,
      static_cast<double>(progress.requests.offered), progress.requests.in_flight, to_seconds(progress.simulated));
  if (!terminal_) {
    std::cerr << line << "\n";
    return;
  }
  constexpr int cells = 20;
  const int full = static_cast<int>(fraction * cells);
  std::cerr << "\r\x1b[K[" << std::string(static_cast<std::size_t>(full), '#')
            << std::string(static_cast<std::size_t>(cells - full), '.') << "] " << line << std::flush;
  bar_shown_ = true;
}

}  // namespace trilemma::cli
