#include "core/scheduler.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "core/process.h"

namespace trilemma {
namespace {

/// Writes down when it is called.
struct Logger {
  Scheduler& scheduler;
  std::vector<std::pair<Instant, int>>& log;
  int name;
  void call() { log.emplace_back(scheduler.now(), name); }
  Action action() { return Action::call<&Logger::call>(*this); }
};

/// Does something for ever.
Process tick(Scheduler& scheduler, Duration gap) {
  while (true) co_await scheduler.delay(gap);
}

TEST(Scheduler, StartsEmptyAtZero) {
  Scheduler scheduler;
  EXPECT_EQ(scheduler.now(), 0ns);
  EXPECT_EQ(scheduler.events(), 0U);
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(scheduler.now(), 0ns);
}

TEST(Scheduler, RunsEventsByTime) {
  Scheduler scheduler;
  std::vector<std::pair<Instant, int>> log;
  Logger late{scheduler, log, 1};
  Logger early{scheduler, log, 2};
  scheduler.at(5ns, late.action());
  scheduler.after(4ns, early.action());
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(log, (std::vector<std::pair<Instant, int>>{{4ns, 2}, {5ns, 1}}));
  EXPECT_EQ(scheduler.events(), 2U);
  EXPECT_EQ(scheduler.now(), 5ns);
}

TEST(Scheduler, RunsEqualTimesInSchedulingOrder) {
  Scheduler scheduler;
  std::vector<std::pair<Instant, int>> log;
  std::vector<Logger> loggers;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) loggers.push_back({scheduler, log, i});
  // Two instants, scheduled in turn.
  for (int i = 0; i < count; ++i) scheduler.at(i % 2 == 0 ? 10ns : 5ns, loggers[static_cast<std::size_t>(i)].action());
  scheduler.run();
  ASSERT_EQ(log.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count / 2; ++i) {
    EXPECT_EQ(log[static_cast<std::size_t>(i)], std::pair(Instant(5ns), 2 * i + 1));
    EXPECT_EQ(log[static_cast<std::size_t>(i + count / 2)], std::pair(Instant(10ns), 2 * i));
  }
}

struct Later {
  Scheduler& scheduler;
  Logger& second;
  void call() { scheduler.after(0ns, second.action()); }
};

TEST(Scheduler, RunsAnEventForNowAfterThoseThatAlreadyWait) {
  Scheduler scheduler;
  std::vector<std::pair<Instant, int>> log;
  Logger waiting{scheduler, log, 1};
  Logger added{scheduler, log, 2};
  Later adding{scheduler, added};
  scheduler.at(5ns, Action::call<&Later::call>(adding));
  scheduler.at(5ns, waiting.action());
  scheduler.run();
  EXPECT_EQ(log, (std::vector<std::pair<Instant, int>>{{5ns, 1}, {5ns, 2}}));
}

TEST(Scheduler, TakesNoEventForThePastOrForTheNextCentury) {
  Scheduler scheduler;
  std::vector<std::pair<Instant, int>> log;
  Logger logger{scheduler, log, 1};
  scheduler.at(5ns, logger.action());
  scheduler.run();
  EXPECT_THROW(scheduler.at(4ns, logger.action()), InvariantViolation);
  EXPECT_NO_THROW(scheduler.at(5ns, logger.action()));
  const Instant century{100LL * 365 * 86'400 * 1'000'000'000};
  EXPECT_NO_THROW(scheduler.at(century, logger.action()));
  EXPECT_THROW(scheduler.at(century + 1ns, logger.action()), OutOfRange);
}

TEST(Scheduler, IsAloneInItsProcess) {
  Scheduler first;
  EXPECT_THROW(Scheduler(), InvariantViolation);
  std::vector<std::pair<Instant, int>> log;
  Logger logger{first, log, 1};
  first.after(1ns, logger.action());
  EXPECT_EQ(first.run(), RunEnd::done) << "the refused one leaves the first one as it was";
  EXPECT_EQ(log.size(), 1U);
}

TEST(Scheduler, StartsAnewAfterAnOldOneThatStillHadEvents) {
  std::vector<std::pair<Instant, int>> log;
  for (int i = 0; i < 3; ++i) {
    Scheduler scheduler(RunLimits{.events = 1});
    EXPECT_EQ(scheduler.now(), 0ns);
    Logger logger{scheduler, log, i};
    scheduler.after(7ns, logger.action());
    scheduler.after(8ns, logger.action());  // never runs
    EXPECT_EQ(scheduler.run(), RunEnd::event_limit);
    EXPECT_EQ(scheduler.now(), 7ns);
  }
  EXPECT_EQ(log, (std::vector<std::pair<Instant, int>>{{7ns, 0}, {7ns, 1}, {7ns, 2}}));
}

TEST(SchedulerLimits, EndARunAfterSoManyEvents) {
  Scheduler scheduler(RunLimits{.events = 10});
  tick(scheduler, 1ns);
  EXPECT_EQ(scheduler.run(), RunEnd::event_limit);
  EXPECT_EQ(scheduler.events(), 10U);
  EXPECT_EQ(scheduler.now(), 10ns);
}

TEST(SchedulerLimits, EndARunAfterSomeHostTime) {
  Scheduler scheduler(RunLimits{.wall = 20ms});
  tick(scheduler, 1ns);
  EXPECT_EQ(scheduler.run(), RunEnd::wall_limit);
}

TEST(SchedulerLimits, EndARunThatTakesTooMuchMemory) {
  Scheduler scheduler(RunLimits{.memory = Bytes(4096)});  // no process is that small
  tick(scheduler, 1ns);
  EXPECT_EQ(scheduler.run(), RunEnd::memory_limit);
}

TEST(SchedulerLimits, ThatAreWideDoNotMatter) {
  Scheduler scheduler(RunLimits{.wall = 3'600s, .memory = Bytes(std::int64_t{1} << 50U), .events = 1'000'000});
  std::vector<std::pair<Instant, int>> log;
  Logger logger{scheduler, log, 1};
  for (int i = 0; i < 50'000; ++i) scheduler.after(1ns, logger.action());
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(log.size(), 50'000U);
}

struct Thrower {
  void call() { throw std::runtime_error("from an event"); }
};

TEST(Scheduler, LetsExceptionsOfActionsOut) {
  Scheduler scheduler;
  Thrower thrower;
  scheduler.after(3ns, Action::call<&Thrower::call>(thrower));
  EXPECT_THROW(scheduler.run(), std::runtime_error);
  EXPECT_EQ(scheduler.now(), 3ns);
}

}  // namespace
}  // namespace trilemma
