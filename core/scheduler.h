#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/action.h"
#include "core/block_pool.h"
#include "core/units.h"

namespace trilemma {

/// Bounds on the cost of one run; reaching one ends the run (exit code 4).
struct RunLimits {
  std::optional<Duration> wall;  // host time
  std::optional<Bytes> memory;   // resident set of the process
  std::optional<std::uint64_t> events;
};

enum class RunEnd { done, wall_limit, memory_limit, event_limit };

/// Watches a long run without taking part in it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Called now and then (every 16,384 events) during run().
  virtual void on_progress() = 0;
};

class ProcessLink;

/// The only owner of ns-3's event list: created empty at time 0, destroyed with all that is still on it, ns-3's nodes
/// included. One at a time in a process, since ns-3's simulator is a singleton (asserted). Events of equal time run in
/// the order in which they were scheduled, whether by at() or by ns-3's own models (ns3::Simulator::Schedule), which
/// are made after the scheduler and go with it. The simulated clock never reads the host clock; the wall limit only
/// stops a run.
class Scheduler {
 public:
  /// `observer`, if any, outlives the scheduler.
  explicit Scheduler(RunLimits limits = {}, RunObserver* observer = nullptr);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] Instant now() const { return now_; }
  /// Requires when >= now(). Throws OutOfRange beyond 100 years of simulated time.
  void at(Instant when, Action action);
  void after(Duration delay, Action action) { at(now_ + delay, action); }
  /// The same, of an event that is not worth a run of its own: when only such are left, and nobody holds the run, it
  /// ends at the event before.
  void at_background(Instant when, Action action);
  /// Asks `goes_on`, which outlives the run, whenever nothing is left but background events: true if the run shall go
  /// on with what it has scheduled, or with those.
  void when_idle(std::function<bool()> goes_on) { idle_questions_.push_back(std::move(goes_on)); }
  /// The run waits for as many let_go() as there were hold().
  void hold() { ++holds_; }
  void let_go() { --holds_; }

  /// Runs until no event is left or a limit is reached. Exceptions of actions come out of here.
  RunEnd run();
  /// Calls `work` from an event of ns-3's own, whose loop no exception may cross: what it throws ends the run and comes
  /// out of run(), like that of an action.
  template <class Work>
  void guard(Work&& work) {
    try {
      std::forward<Work>(work)();
    } catch (...) {
      fail(std::current_exception());
    }
  }
  /// Events run so far, those of ns-3's own models included.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// Memory for what lives on this scheduler: events and coroutine frames.
  [[nodiscard]] BlockPool& memory() { return memory_; }

  /// `co_await scheduler.delay(d)`: a zero delay does not suspend.
  auto delay(Duration duration) {
    struct Awaiter {
      Scheduler& scheduler;
      Duration duration;
      [[nodiscard]] bool await_ready() const { return duration == Duration{0}; }
      void await_suspend(std::coroutine_handle<> waiting) const { scheduler.after(duration, Action::resume(waiting)); }
      void await_resume() const {}
    };
    return Awaiter{*this, duration};
  }

 private:
  friend class SchedulerEvent;
  friend class OwnedSimulator;
  friend class ProcessLink;

  void schedule(Instant when, Action action, bool background);
  void begin_event(Instant when);
  /// Whether a background event, which begins now, has anything to run for.
  bool begin_background();
  bool goes_on();
  void fail(std::exception_ptr failure);
  void check_limits();

  BlockPool memory_;
  Instant now_{0};
  Instant before_{0};  // time of the event before this one
  std::uint64_t events_ = 0;
  std::int64_t pending_ = 0;     // on the event list
  std::int64_t background_ = 0;  // of them
  std::int64_t holds_ = 0;
  RunLimits limits_;
  RunObserver* observer_;
  RunEnd end_ = RunEnd::done;
  Instant wall_start_{0};
  std::vector<std::function<bool()>> idle_questions_;
  std::exception_ptr failure_;        // of the action that ended the run
  ProcessLink* processes_ = nullptr;  // all processes alive, destroyed with the scheduler
};

}  // namespace trilemma
