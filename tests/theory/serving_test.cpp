#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/theory.h"
#include "core/process.h"
#include "core/random.h"
#include "models/server/site.h"
#include "tests/support/estimate.h"

/// A site against the closed forms of queueing theory. Every comparison is within four standard errors of a mean over
/// independent replications; the seeds are fixed.
namespace trilemma {
namespace {

using test::estimate;
using test::Estimate;

constexpr Duration mean_service = 1ms;
constexpr double loads[] = {0.3, 0.6, 0.9};

/// The models cost nothing: all work is ahead of them.
class NoCost final : public StepCost {
 public:
  [[nodiscard]] Duration time(std::span<const StepPart> /*parts*/) const override { return Duration{0}; }
};
/// Every sequence of a step takes a quantum, one after the other.
class Quanta final : public StepCost {
 public:
  explicit Quanta(Duration quantum) : quantum_(quantum) {}
  [[nodiscard]] Duration time(std::span<const StepPart> parts) const override { return std::ssize(parts) * quantum_; }

 private:
  Duration quantum_;
};
/// A step takes as long whatever takes part: the first part says how long, so that each batch draws anew.
class DrawnPerBatch final : public StepCost {
 public:
  explicit DrawnPerBatch(Rng& numbers) : numbers_(numbers) {}
  [[nodiscard]] Duration time(std::span<const StepPart> /*parts*/) const override {
    return numbers_.exponential(mean_service);
  }

 private:
  Rng& numbers_;
};

/// What an arrival asks for.
struct Order {
  Duration service{0};
  Tokens outputs{1};
  std::int64_t priority = 0;
  std::size_t group = 0;  // of the results
  Tokens longest{1};
};
struct Result {
  double wait;     // in mean service times
  double sojourn;  // likewise
  std::size_t group;
};

struct Experiment {
  SiteConfig config;
  double rate = 0.5;  // arrivals in a mean service time
  std::size_t skipped = 0;
  std::size_t counted = 0;
  std::function<Order(Rng&)> order = [](Rng& numbers) { return Order{.service = numbers.exponential(mean_service)}; };
  std::function<std::unique_ptr<StepCost>(Rng&)> cost = [](Rng&) { return std::make_unique<NoCost>(); };
  std::uint64_t replications = 24;
};

/// One run of a site; the streams of arrivals and services are apart.
struct Run {
  Run(const Experiment& its_experiment, std::uint64_t replication)
      : experiment(its_experiment),
        arrivals(Streams(1, replication).stream("arrivals")),
        services(Streams(1, replication).stream("services")),
        cost(experiment.cost(services)),
        site({events, experiment.config, *cost, std::int64_t{1} << 40, Pace(),
              Streams(1, replication).stream("balancer")}) {}
  Scheduler& scheduler() { return events; }

  const Experiment& experiment;
  Scheduler events;
  Rng arrivals;
  Rng services;
  std::unique_ptr<StepCost> cost;
  Site site;
  std::size_t left = 0;
  std::vector<Result> results;
};

double in_services(Duration time) { return to_seconds(time) / to_seconds(mean_service); }

Process request(Run& run, Order order) {
  CachedSequence sequence{.priority = order.priority, .longest = order.longest};
  Visit visit{.sequence = &sequence, .outputs = order.outputs, .before = order.service};
  const Instant arrival = run.events.now();
  co_await run.site.serve(visit);
  run.site.leave(sequence);
  EXPECT_FALSE(run.site.wastes_time());
  if (++run.left > run.experiment.skipped && run.results.size() < run.experiment.counted) {
    run.results.push_back({in_services(visit.waited), in_services(run.events.now() - arrival), order.group});
  }
}

Process source(Run& run) {
  const Duration mean_gap(std::llround(static_cast<double>(mean_service.count()) / run.experiment.rate));
  while (run.results.size() < run.experiment.counted) {
    co_await run.events.delay(run.arrivals.exponential(mean_gap));
    request(run, run.experiment.order(run.services));
  }
}

/// Compares the mean of `figure` over the results of a group with theory. The standard error has to be small enough for
/// that to mean something: `precision` of the expected value.
struct Expectation {
  double value;
  double precision = 0.03;
  double Result::*figure = &Result::wait;
  std::size_t group = 0;
};
void expect_theory(const Experiment& experiment, const std::vector<Expectation>& expectations) {
  std::vector<std::vector<double>> means(expectations.size());
  for (std::uint64_t replication = 1; replication <= experiment.replications; ++replication) {
    Run run(experiment, replication);
    source(run);
    run.events.run();
    for (std::size_t e = 0; e < expectations.size(); ++e) {
      double sum = 0;
      std::size_t count = 0;
      for (const Result& result : run.results) {
        if (result.group != expectations[e].group) continue;
        sum += result.*expectations[e].figure;
        ++count;
      }
      means[e].push_back(sum / static_cast<double>(count));
    }
  }
  for (std::size_t e = 0; e < expectations.size(); ++e) {
    SCOPED_TRACE(::testing::Message() << "group " << expectations[e].group);
    const Estimate found = estimate(means[e]);
    EXPECT_NEAR(found.mean, expectations[e].value, 4 * found.error);
    EXPECT_LT(found.error, expectations[e].precision * expectations[e].value);
  }
}

/// A queue forgets that it started empty within some 1 / (1 - sqrt(load))^2 services: 380 at a load of 0.9. The length
/// for a mean wait that is right to about a percent grows with the same power.
Experiment at_load(double load, std::int64_t processors = 1) {
  Experiment experiment{.config = {.count = processors}, .rate = load * static_cast<double>(processors)};
  experiment.skipped = load < 0.5 ? 1'000 : load < 0.8 ? 2'000 : 8'000;
  experiment.counted = load < 0.5 ? 20'000 : load < 0.8 ? 30'000 : 100'000;
  return experiment;
}

TEST(Site, IsAnMMcQueue) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    for (const int processors : {1, 4}) {
      expect_theory(at_load(load, processors), {{theory::mmc_mean_wait(processors, load * processors, 1)}});
    }
  }
}

TEST(Site, IsAnMD1Queue) {
  for (const double load : loads) {
    SCOPED_TRACE(load);
    Experiment experiment = at_load(load);
    experiment.order = [](Rng&) { return Order{.service = mean_service}; };
    expect_theory(experiment, {{theory::md1_mean_wait(load, 1)}});
  }
}

TEST(Site, IsAnMG1Queue) {
  // Two exponential laws of mean 0.5 and 2.5, three to one: mean 1, E[S^2] = 2 (3 x 0.25 + 6.25) / 4 = 3.5, cv2 = 2.5.
  for (const double load : loads) {
    SCOPED_TRACE(load);
    Experiment experiment = at_load(load);
    experiment.order = [](Rng& numbers) {
      const Duration mean = numbers.happens(0.75) ? mean_service / 2 : 5 * mean_service / 2;
      return Order{.service = numbers.exponential(mean)};
    };
    expect_theory(experiment, {{theory::mg1_mean_wait(load, 1, 2.5), 0.05}});
  }
}

TEST(Site, ServesByPriority) {
  // A third of the arrivals goes first; group 0 is theirs.
  for (const double load : loads) {
    SCOPED_TRACE(load);
    Experiment experiment = at_load(load);
    experiment.config.scheduling = Scheduling::priority;
    experiment.order = [](Rng& numbers) {
      const bool first = numbers.happens(1.0 / 3);
      return Order{.service = numbers.exponential(mean_service), .priority = first ? 7 : -1, .group = first ? 0U : 1U};
    };
    const std::vector<double> rates{load / 3, load * 2 / 3};
    expect_theory(experiment,
                  {{.value = theory::mg1_priority_mean_wait(rates, 1, 1, 0)},
                   {.value = theory::mg1_priority_mean_wait(rates, 1, 1, 1), .precision = 0.05, .group = 1}});
  }
}

TEST(Site, TakesTheShortestFirst) {
  // Two lengths, 0.5 and 1.5 services of two and six tokens, alike often: the short ones are a class of priority.
  // E[S] = 1, E[S^2] = 1.25.
  for (const double load : loads) {
    SCOPED_TRACE(load);
    Experiment experiment = at_load(load);
    experiment.config.scheduling = Scheduling::sjf;
    experiment.order = [](Rng& numbers) {
      const bool is_short = numbers.happens(0.5);
      return Order{.service = (is_short ? 1 : 3) * mean_service / 2,
                   .group = is_short ? 0U : 1U,
                   .longest = Tokens(is_short ? 2 : 6)};
    };
    // W = lambda E[S^2] / 2 / ((1 - load before) (1 - load up to)); the short ones are a quarter of the load.
    const double rest = load * 1.25 / 2;
    expect_theory(experiment, {{.value = rest / (1 - load / 4)},
                               {.value = rest / ((1 - load / 4) * (1 - load)), .precision = 0.05, .group = 1}});
  }
}

TEST(Site, ServesInBatches) {
  for (const double load : loads) {
    for (const int most : {1, 4}) {
      SCOPED_TRACE(::testing::Message() << load << ", " << most);
      Experiment experiment = at_load(load);
      experiment.rate = load * most;
      experiment.config.batching = BatchingConfig{.kind = Batching::dynamic, .max_batch = most};
      experiment.order = [](Rng&) { return Order{}; };
      experiment.cost = [](Rng& numbers) { return std::make_unique<DrawnPerBatch>(numbers); };
      expect_theory(experiment, {{theory::batch_mean_wait(most, experiment.rate, 1)}});
    }
  }
}

TEST(Site, SharesItsProcessorInContinuousBatches) {
  // A service is a geometric number of quanta of mean 50, and a step one quantum of each that is there, so that the
  // discipline is processor sharing but for the quantum: an arrival waits for the step under way, half of L quanta of a
  // fiftieth, which shares of the mean sojourn L / rate is load / 100.
  constexpr double quanta = 50;
  for (const double load : loads) {
    SCOPED_TRACE(load);
    Experiment experiment = at_load(load);
    experiment.counted /= 8;
    experiment.config.batching = BatchingConfig{.kind = Batching::continuous, .max_batch = 100'000};
    experiment.order = [](Rng& numbers) {
      return Order{.outputs =
                       Tokens(1 + static_cast<std::int64_t>(std::log(numbers.uniform()) / std::log1p(-1 / quanta)))};
    };
    experiment.cost = [](Rng&) { return std::make_unique<Quanta>(mean_service / static_cast<std::int64_t>(quanta)); };
    const double expected = theory::mg1_shared_mean_sojourn(load, 1);
    expect_theory(experiment, {{.value = expected, .precision = 0.06, .figure = &Result::sojourn}});
  }
}

TEST(Site, BalancesInTurn) {
  // Every second arrival of a Poisson stream: Erlang gaps of two phases. E2/M/1: with s the root in (0, 1) of
  // s = (2 a / (2 a + 1 - s))^2, a the rate at one server, the mean wait is s / (1 - s) (Kleinrock I, section 6.4).
  for (const double load : loads) {
    SCOPED_TRACE(load);
    double s = 0.5;
    for (int i = 0; i < 10'000; ++i) s = std::pow(2 * load / (2 * load + 1 - s), 2);
    Experiment experiment = at_load(load);
    experiment.rate = 2 * load;
    experiment.config.servers = 2;
    experiment.config.balancer = Balancer::round_robin;
    expect_theory(experiment, {{s / (1 - s)}});
  }
}

}  // namespace
}  // namespace trilemma
