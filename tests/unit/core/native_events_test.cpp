// Events that ns-3's own models schedule stand on the same list as ours.

#include <stdexcept>
#include <string>
#include <vector>

#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include <gtest/gtest.h>

#include "core/random.h"
#include "core/scheduler.h"

namespace trilemma {
namespace {

/// Writes down when it is called, whoever calls it.
struct Witness {
  Scheduler& scheduler;
  std::string name;
  std::vector<std::pair<Instant, std::string>>& log;
  void call() { log.emplace_back(scheduler.now(), name); }
  void ours(Instant when) { scheduler.at(when, Action::call<&Witness::call>(*this)); }
  void native(Instant when) {
    ns3::Simulator::Schedule(ns3::NanoSeconds((when - scheduler.now()).count()), &Witness::call, this);
  }
};

using Log = std::vector<std::pair<Instant, std::string>>;

TEST(NativeEvents, SeeTheTimeOfTheScheduler) {
  Scheduler scheduler;
  Log log;
  Witness native{scheduler, "native", log};
  native.native(7ns);
  native.native(9ns);
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(log, (Log{{7ns, "native"}, {9ns, "native"}}));
  EXPECT_EQ(scheduler.now(), 9ns);
  EXPECT_EQ(scheduler.now().count(), ns3::Simulator::Now().GetNanoSeconds());
}

TEST(NativeEvents, TakeTurnsWithOursByTimeAndThenBySchedulingOrder) {
  Scheduler scheduler;
  Log log;
  Witness native{scheduler, "native", log};
  Witness ours{scheduler, "ours", log};
  native.native(5ns);
  ours.ours(5ns);
  ours.ours(3ns);
  native.native(5ns);
  native.native(4ns);
  scheduler.run();
  EXPECT_EQ(log, (Log{{3ns, "ours"}, {4ns, "native"}, {5ns, "native"}, {5ns, "ours"}, {5ns, "native"}}));
}

/// A native event that asks the scheduler for one of ours `delay` later, and the other way round.
struct Bridge {
  Witness& next;
  Duration delay;
  void to_ours() { next.scheduler.after(delay, Action::call<&Witness::call>(next)); }
  void to_native() { next.native(next.scheduler.now() + delay); }
};

TEST(NativeEvents, ScheduleOursFromTheirOwnTime) {
  Scheduler scheduler;
  Log log;
  Witness ours{scheduler, "ours", log};
  Bridge bridge{ours, 3ns};
  ours.ours(1ns);  // an older time than that of the native event, which must not be taken for it
  ns3::Simulator::Schedule(ns3::NanoSeconds(5), &Bridge::to_ours, &bridge);
  scheduler.run();
  EXPECT_EQ(log, (Log{{1ns, "ours"}, {8ns, "ours"}}));
}

TEST(NativeEvents, AreScheduledByOursFromTheirOwnTime) {
  Scheduler scheduler;
  Log log;
  Witness native{scheduler, "native", log};
  Bridge bridge{native, 2ns};
  scheduler.at(5ns, Action::call<&Bridge::to_native>(bridge));
  scheduler.run();
  EXPECT_EQ(log, (Log{{7ns, "native"}}));
}

/// Schedules itself again for ever.
struct Clock {
  void tick() { ns3::Simulator::Schedule(ns3::NanoSeconds(1), &Clock::tick, this); }
};

TEST(NativeEvents, CountTowardsTheLimitOfEvents) {
  Scheduler scheduler(RunLimits{.events = 10});
  Clock clock;
  clock.tick();
  EXPECT_EQ(scheduler.run(), RunEnd::event_limit);
  EXPECT_EQ(scheduler.events(), 10U);
  EXPECT_EQ(scheduler.now(), 10ns);
}

TEST(NativeEvents, AreStoppedByTheLimitOfHostTime) {
  Scheduler scheduler(RunLimits{.wall = 20ms});
  Clock clock;
  clock.tick();
  EXPECT_EQ(scheduler.run(), RunEnd::wall_limit);
}

struct Thrower {
  Scheduler& scheduler;
  void call() {
    scheduler.guard([] { throw std::runtime_error("from a native event"); });
  }
};

TEST(NativeEvents, LetGuardedExceptionsOut) {
  Scheduler scheduler;
  Thrower thrower{scheduler};
  Log log;
  Witness later{scheduler, "later", log};
  ns3::Simulator::Schedule(ns3::NanoSeconds(3), &Thrower::call, &thrower);
  later.native(4ns);
  EXPECT_THROW(scheduler.run(), std::runtime_error);
  EXPECT_EQ(scheduler.now(), 3ns);
  EXPECT_TRUE(log.empty());
}

TEST(NativeEvents, LeaveNothingForTheNextScheduler) {
  Log log;
  for (int i = 0; i < 3; ++i) {
    Scheduler scheduler(RunLimits{.events = 1});
    EXPECT_EQ(scheduler.now(), 0ns);
    Witness native{scheduler, std::to_string(i), log};
    native.native(7ns);
    native.native(8ns);  // never runs
    EXPECT_EQ(scheduler.run(), RunEnd::event_limit);
  }
  EXPECT_EQ(log, (Log{{7ns, "0"}, {7ns, "1"}, {7ns, "2"}}));
}

TEST(NativeEvents, OfATimeWithoutAScheduleAreForgotten) {
  Log log;
  struct Early {
    static void call(Log* log) { log->emplace_back(0ns, "early"); }
  };
  ns3::Simulator::Schedule(ns3::NanoSeconds(1), &Early::call, &log);  // ns-3 makes itself a simulator
  Scheduler scheduler;
  EXPECT_EQ(scheduler.run(), RunEnd::done);
  EXPECT_EQ(scheduler.events(), 0U);
  EXPECT_TRUE(log.empty());
}

double native_draw(std::uint32_t seed, std::uint64_t replication) {
  Streams(seed, replication).seed_ns3();
  const auto variable = ns3::CreateObject<ns3::UniformRandomVariable>();
  variable->SetStream(static_cast<std::int64_t>(stream_number("native/draw")));
  return variable->GetValue(0, 1);
}

TEST(NativeRandomNumbers, AreThoseOfTheReplication) {
  EXPECT_EQ(native_draw(1, 2), native_draw(1, 2)) << "whatever was drawn in between";
  EXPECT_NE(native_draw(1, 2), native_draw(1, 3));
  EXPECT_NE(native_draw(1, 2), native_draw(2, 2));
  // ns-3 counts assigned streams from 2^63: the same generator as ours, and never the same stream.
  EXPECT_EQ(native_draw(5, 7), Rng(5, (std::uint64_t{1} << 63U) + stream_number("native/draw"), 7).uniform());
  EXPECT_NE(native_draw(5, 7), Streams(5, 7).stream("native/draw").uniform());
}

}  // namespace
}  // namespace trilemma
