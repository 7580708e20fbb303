#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/theory.h"
#include "core/process.h"
#include "core/random.h"
#include "models/server/server.h"
#include "tests/support/estimate.h"

/// The server against the closed forms of queueing theory. Every comparison is within four standard errors of a mean
/// over independent replications; the seeds are fixed.
namespace trilemma {
namespace {

using test::estimate;
using test::Estimate;

constexpr Duration mean_service = 1ms;
constexpr std::uint64_t replications = 24;

struct Queue {
  std::int64_t servers = 1;
  double load = 0.5;  // of each server
  bool exponential = true;
};

struct Visit {
  double wait;     // in mean service times
  double sojourn;  // likewise
};

/// `skipped` visits bring the queue from empty to its stationary law, `counted` ones follow.
struct Length {
  std::size_t skipped = 0;
  std::size_t counted = 0;
};

/// One run of a queue; the streams of arrivals and services are apart.
struct Run {
  Run(const Queue& its_queue, const Length& its_length, std::uint64_t replication)
      : queue(its_queue),
        length(its_length),
        server(events, its_queue.servers),
        arrivals(Streams(1, replication).stream("arrivals")),
        services(Streams(1, replication).stream("services")) {
    visits.reserve(length.counted);
  }
  Scheduler& scheduler() { return events; }

  Queue queue;
  Length length;
  Scheduler events;
  Server server;
  Rng arrivals;
  Rng services;
  std::size_t left = 0;
  std::vector<Visit> visits;
};

Process visit(Run& run, Duration service) {
  const Duration wait = (co_await run.server.run(service)).waited;
  ++run.left;
  const double waited = to_seconds(wait) / to_seconds(mean_service);
  const double served = to_seconds(service) / to_seconds(mean_service);
  if (run.left > run.length.skipped && run.visits.size() < run.length.counted) {
    run.visits.push_back({waited, waited + served});
  }
}

Process source(Run& run) {
  const double rate = run.queue.load * static_cast<double>(run.queue.servers);
  const Duration mean_gap(std::llround(static_cast<double>(mean_service.count()) / rate));
  while (run.visits.size() < run.length.counted) {
    co_await run.events.delay(run.arrivals.exponential(mean_gap));
    visit(run, run.queue.exponential ? run.services.exponential(mean_service) : mean_service);
  }
}

/// The value of `statistic` in each replication.
std::vector<double> replicate(const Queue& queue, const Length& length,
                              const std::function<double(std::vector<Visit>&)>& statistic) {
  std::vector<double> values;
  for (std::uint64_t replication = 1; replication <= replications; ++replication) {
    Run run(queue, length, replication);
    source(run);
    run.events.run();
    values.push_back(statistic(run.visits));
  }
  return values;
}

/// The standard error has to be small enough for the comparison to mean something: `precision` of the expected value.
void expect_theory(const std::vector<double>& values, double expected, double precision) {
  const Estimate found = estimate(values);
  EXPECT_NEAR(found.mean, expected, 4 * found.error);
  EXPECT_LT(found.error, precision * expected);
}

double mean_wait(std::vector<Visit>& visits) {
  double sum = 0;
  for (const Visit& one : visits) sum += one.wait;
  return sum / static_cast<double>(visits.size());
}

/// The queue forgets that it started empty within some 1 / (1 - sqrt(load))^2 services: 380 at a load of 0.9. The
/// length for a mean wait that is right to about a percent grows with the same power.
Length length_for(double load) {
  if (load < 0.5) return {.skipped = 1'000, .counted = 20'000};
  if (load < 0.8) return {.skipped = 2'000, .counted = 30'000};
  return {.skipped = 8'000, .counted = 100'000};
}

constexpr double loads[] = {0.3, 0.6, 0.9};

TEST(MM1, MeanWaitIsThatOfTheory) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    const auto waits = replicate({.load = load}, length_for(load), mean_wait);
    expect_theory(waits, theory::mm1_mean_wait(load, 1), 0.03);
  }
}

TEST(MD1, MeanWaitIsThatOfTheory) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    const auto waits = replicate({.load = load, .exponential = false}, length_for(load), mean_wait);
    expect_theory(waits, theory::md1_mean_wait(load, 1), 0.03);
  }
}

TEST(MMc, MeanWaitOfFourServersIsThatOfTheory) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    const auto waits = replicate({.servers = 4, .load = load}, length_for(load), mean_wait);
    expect_theory(waits, theory::mmc_mean_wait(4, 4 * load, 1), 0.03);
  }
}

TEST(MMc, TheShareThatWaitsIsErlangsSecondFormula) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    const auto shares = replicate({.servers = 4, .load = load}, length_for(load), [](std::vector<Visit>& visits) {
      const auto waited = std::count_if(visits.begin(), visits.end(), [](const Visit& one) { return one.wait > 0; });
      return static_cast<double>(waited) / static_cast<double>(visits.size());
    });
    expect_theory(shares, theory::erlang_c(4, 4 * load, 1), 0.03);
  }
}

TEST(MM1, TheNinetyNinthPercentileOfTheSojournIsThatOfTheory) {
  // The bias of an order statistic is of the order of 1 / n of the run, far below its standard error.
  const auto percentile = [](std::vector<Visit>& visits) {
    const auto rank = visits.begin() + static_cast<std::ptrdiff_t>(visits.size() * 99 / 100);
    std::nth_element(visits.begin(), rank, visits.end(),
                     [](const Visit& a, const Visit& b) { return a.sojourn < b.sojourn; });
    return rank->sojourn;
  };
  for (const double load : {0.3, 0.6}) {
    SCOPED_TRACE(load);
    const auto percentiles = replicate({.load = load}, length_for(load), percentile);
    expect_theory(percentiles, theory::mm1_sojourn_quantile(load, 1, 0.99), 0.02);
  }
}

TEST(MM1, OneSojournInAHundredIsBeyondTheNinetyNinthPercentileOfTheory) {
  // A share is free of the bias of an order statistic, which counts where sojourns hang together: at high loads.
  for (const double load : loads) {
    SCOPED_TRACE(load);
    const double bound = theory::mm1_sojourn_quantile(load, 1, 0.99);
    const auto shares = replicate({.load = load}, length_for(load), [&](std::vector<Visit>& visits) {
      const auto beyond =
          std::count_if(visits.begin(), visits.end(), [&](const Visit& one) { return one.sojourn > bound; });
      return static_cast<double>(beyond) / static_cast<double>(visits.size());
    });
    expect_theory(shares, 0.01, 0.2);
  }
}

TEST(MD1, WaitsAreDistributedAsTheorySays) {
  for (const double load : {0.3, 0.6}) {
    for (const double bound : {0.0, 0.5, 1.0, 2.0}) {
      SCOPED_TRACE(::testing::Message() << load << ", " << bound);
      const auto shares =
          replicate({.load = load, .exponential = false}, length_for(0.3), [&](std::vector<Visit>& visits) {
            const auto within =
                std::count_if(visits.begin(), visits.end(), [&](const Visit& one) { return one.wait <= bound; });
            return static_cast<double>(within) / static_cast<double>(visits.size());
          });
      expect_theory(shares, theory::md1_wait_cdf(load, 1, bound), 0.01);
    }
  }
}

}  // namespace
}  // namespace trilemma
