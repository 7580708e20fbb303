#include "core/process.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

using Log = std::vector<std::string>;

/// Counts itself, so that a test sees whether the locals of a process are destroyed.
class Counted {
 public:
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() { --alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int& alive_;
  std::unique_ptr<int> memory_ = std::make_unique<int>(1);  // the sanitizer's witness
};

Process walk(Scheduler& scheduler, Log& log, Duration step, std::string name) {
  log.push_back(name + " starts");
  co_await scheduler.delay(step);
  log.push_back(name + " at " + std::to_string(scheduler.now().count()));
  co_await scheduler.delay(step);
  log.push_back(name + " at " + std::to_string(scheduler.now().count()));
}

TEST(Process, StartsAtOnceAndGoesOnAfterItsDelays) {
  Scheduler scheduler;
  Log log;
  walk(scheduler, log, 3ns, "a");
  EXPECT_EQ(log, Log{"a starts"});
  walk(scheduler, log, 2ns, "b");
  scheduler.run();
  EXPECT_EQ(log, (Log{"a starts", "b starts", "b at 2", "a at 3", "b at 4", "a at 6"}));
  EXPECT_EQ(scheduler.events(), 4U) << "one event a delay";
}

TEST(Process, DoesNotSuspendForADelayOfZero) {
  Scheduler scheduler;
  Log log;
  walk(scheduler, log, 0ns, "a");
  EXPECT_EQ(log, (Log{"a starts", "a at 0", "a at 0"}));
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(scheduler.events(), 0U);
}

Process hold(Scheduler& scheduler, int& alive, Duration time) {
  const Counted local(alive);
  co_await scheduler.delay(time);
}

TEST(Process, DestroysItselfWhenItEnds) {
  Scheduler scheduler;
  int alive = 0;
  hold(scheduler, alive, 0ns);
  EXPECT_EQ(alive, 0);
  hold(scheduler, alive, 5ns);
  hold(scheduler, alive, 6ns);
  EXPECT_EQ(alive, 2);
  scheduler.run();
  EXPECT_EQ(alive, 0);
}

TEST(Process, IsDestroyedWithItsSchedulerWhenTheRunIsCutShort) {
  int alive = 0;
  {
    Scheduler scheduler(RunLimits{.events = 3});
    for (int i = 1; i <= 5; ++i) hold(scheduler, alive, Duration(i));
    EXPECT_EQ(scheduler.run(), RunEnd::event_limit);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Process, IsDestroyedWithASchedulerThatNeverRan) {
  int alive = 0;
  {
    Scheduler scheduler;
    hold(scheduler, alive, 5ns);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

Process fail(Scheduler& scheduler, int& alive, Duration time) {
  const Counted local(alive);
  co_await scheduler.delay(time);
  throw std::runtime_error("from a process");
}

TEST(Process, LetsItsExceptionOutOfTheRun) {
  int alive = 0;
  {
    Scheduler scheduler;
    fail(scheduler, alive, 5ns);
    hold(scheduler, alive, 9ns);
    EXPECT_THROW(scheduler.run(), std::runtime_error);
    EXPECT_EQ(scheduler.now(), 5ns);
    EXPECT_EQ(alive, 1) << "the locals of the failed one are gone, the other one waits";
  }
  EXPECT_EQ(alive, 0);
}

TEST(Process, LetsItsExceptionOutOfTheCallBeforeItFirstWaits) {
  int alive = 0;
  {
    Scheduler scheduler;
    EXPECT_THROW(fail(scheduler, alive, 0ns), std::runtime_error);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(scheduler.run(), RunEnd::done);
  }
  EXPECT_EQ(alive, 0);
}

struct World {
  Scheduler own;
  Scheduler& scheduler() { return own; }
};

Process live(World& world, int& steps) {
  for (; steps < 10; ++steps) co_await world.scheduler().delay(1ns);
}

TEST(Process, FindsTheSchedulerOfItsFirstParameter) {
  World world;
  int steps = 0;
  live(world, steps);
  world.own.run();
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(world.own.now(), 10ns);
}

TEST(Process, ComesInLargeNumbers) {
  Scheduler scheduler;
  int alive = 0;
  constexpr int count = 100'000;
  for (int i = 0; i < count; ++i) hold(scheduler, alive, Duration(1 + i % 97));
  EXPECT_EQ(alive, count);
  scheduler.run();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(scheduler.events(), static_cast<std::uint64_t>(count));
}

Process wait_for(Scheduler& scheduler, Signal& signal, Log& log) {
  co_await signal;
  log.push_back("woken at " + std::to_string(scheduler.now().count()));
}
Process fire_after(Scheduler& scheduler, Signal& signal, Log& log, Duration time) {
  co_await scheduler.delay(time);
  signal.fire();
  log.push_back("fired");
}

TEST(Signal, WakesTheOneThatWaitsWhenItFires) {
  Scheduler scheduler;
  Signal signal;
  Log log;
  wait_for(scheduler, signal, log);
  EXPECT_TRUE(log.empty());
  fire_after(scheduler, signal, log, 4ns);
  scheduler.run();
  EXPECT_EQ(log, (Log{"woken at 4", "fired"})) << "within fire()";
}

TEST(Signal, ThatHasFiredDoesNotSuspend) {
  Scheduler scheduler;
  Signal signal;
  Log log;
  signal.fire();
  wait_for(scheduler, signal, log);
  EXPECT_EQ(log, Log{"woken at 0"});
}

TEST(Signal, ThatNeverFiresLeavesNoLeak) {
  Signal signal;
  Log log;
  {
    Scheduler scheduler;
    wait_for(scheduler, signal, log);
    EXPECT_EQ(scheduler.run(), RunEnd::done);
  }
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace trilemma
