#include "models/server/server.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/process.h"
#include "core/random.h"

namespace trilemma {
namespace {

struct Task {
  Instant arrival;
  Duration service;
  Duration waited{0};
  Instant finished{0};
};

Process work(Scheduler& scheduler, Server& server, Task& task) {
  co_await scheduler.delay(task.arrival - scheduler.now());
  task.waited = (co_await server.run(task.service)).waited;
  task.finished = scheduler.now();
}

/// Runs the tasks, which start in the order in which they are given.
std::vector<Task> served(std::int64_t executors, std::vector<Task> tasks) {
  Scheduler scheduler;
  Server server(scheduler, executors);
  for (Task& task : tasks) work(scheduler, server, task);
  scheduler.run();
  return tasks;
}

TEST(Server, OneExecutorServesInOrderOfArrival) {
  const auto tasks = served(1, {{0ns, 10ns}, {0ns, 20ns}, {0ns, 30ns}});
  EXPECT_EQ(tasks[0].waited, 0ns);
  EXPECT_EQ(tasks[0].finished, 10ns);
  EXPECT_EQ(tasks[1].waited, 10ns);
  EXPECT_EQ(tasks[1].finished, 30ns);
  EXPECT_EQ(tasks[2].waited, 30ns);
  EXPECT_EQ(tasks[2].finished, 60ns);
}

TEST(Server, AShortJobDoesNotJumpTheQueue) {
  const auto tasks = served(1, {{0ns, 100ns}, {10ns, 100ns}, {20ns, 1ns}});
  EXPECT_EQ(tasks[1].waited, 90ns);
  EXPECT_EQ(tasks[2].waited, 180ns);
  EXPECT_EQ(tasks[2].finished, 201ns);
}

TEST(Server, TheNextJobGoesToTheExecutorThatIsFreeFirst) {
  // Two executors: 0 .. 10 and 0 .. 20; the third job takes the first one at 10, the fourth the second one at 20.
  const auto tasks = served(2, {{0ns, 10ns}, {0ns, 20ns}, {0ns, 30ns}, {0ns, 5ns}});
  EXPECT_EQ(tasks[2].waited, 10ns);
  EXPECT_EQ(tasks[2].finished, 40ns);
  EXPECT_EQ(tasks[3].waited, 20ns);
  EXPECT_EQ(tasks[3].finished, 25ns);
}

TEST(Server, AnArrivalAtTheInstantOfADepartureDoesNotWait) {
  EXPECT_EQ(served(1, {{0ns, 10ns}, {9ns, 10ns}})[1].waited, 1ns);
  EXPECT_EQ(served(1, {{0ns, 10ns}, {10ns, 10ns}})[1].waited, 0ns);
  EXPECT_EQ(served(1, {{0ns, 10ns}, {11ns, 10ns}})[1].waited, 0ns);
}

TEST(Server, AJobWithoutWorkStillWaitsItsTurn) {
  const auto tasks = served(1, {{0ns, 10ns}, {0ns, 0ns}});
  EXPECT_EQ(tasks[1].waited, 10ns);
  EXPECT_EQ(tasks[1].finished, 10ns);
}

TEST(Server, CountsWaitingJobsAndFinishedWork) {
  Scheduler scheduler;
  Server server(scheduler, 2);
  std::vector<Task> tasks{{0ns, 10ns}, {0ns, 20ns}, {0ns, 30ns}, {0ns, 40ns}};
  for (Task& task : tasks) work(scheduler, server, task);
  EXPECT_EQ(server.waiting(), 2);
  EXPECT_EQ(server.busy(), 0ns);
  scheduler.run();
  EXPECT_EQ(server.waiting(), 0);
  EXPECT_EQ(server.busy(), 100ns);
}

/// First come, first served: a job starts when it is there and one of the executors has no earlier job left.
std::vector<Duration> waits_by_recursion(std::size_t executors, const std::vector<Task>& tasks) {
  std::vector<Instant> free_at(executors);
  std::vector<Duration> waits;
  for (const Task& task : tasks) {
    Instant& earliest = *std::min_element(free_at.begin(), free_at.end());
    waits.push_back(std::max(earliest - task.arrival, Duration{0}));
    earliest = std::max(earliest, task.arrival) + task.service;
  }
  return waits;
}

TEST(Server, AgreesWithTheRecursionOfKieferAndWolfowitz) {
  Rng rng(1, stream_number("jobs"), 0);
  for (const std::int64_t executors : {1, 2, 3, 8}) {
    std::vector<Task> tasks;
    Instant time{0};
    for (int i = 0; i < 2000; ++i) {
      time += rng.exponential(Duration(1'000 / executors));
      tasks.push_back({time, rng.exponential(900ns)});
    }
    const auto expected = waits_by_recursion(static_cast<std::size_t>(executors), tasks);
    const auto tasks_served = served(executors, tasks);
    Duration total{0};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_EQ(tasks_served[i].waited, expected[i]) << "job " << i << ", " << executors << " executors";
      total += expected[i];
    }
    EXPECT_GT(total, 0ns) << "the comparison has to meet waiting jobs";
  }
}

}  // namespace
}  // namespace trilemma
