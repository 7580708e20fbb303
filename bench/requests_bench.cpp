// Speed and memory of the whole chain (bench/speed.yaml), beside ns-3's bare event loop in the same run:
//     build/release/bench_requests
// All rates are by wall clock on one core: leave the machine alone. items_per_second is completed requests per second;
// `of_bare_loop` is the chain's events per second over those of a loop that only schedules its next event, with as many
// events pending and ns-3's fastest scheduler.

#include <chrono>
#include <filesystem>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include <benchmark/benchmark.h>

#include "analysis/collector.h"
#include "sim/experiment.h"
#include "sim/replicate.h"

namespace {

using namespace trilemma;

const std::filesystem::path source = TRILEMMA_SOURCE_DIR;

Scenario speed_scenario(std::int64_t requests, const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"requests=" + std::to_string(requests)};
  sets.insert(sets.end(), more.begin(), more.end());
  return read_experiment(source / "bench/speed.yaml", sets, config::Catalogue(source / "configs")).scenario;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// An event that schedules the next one after a delay from a table, so that only the event list is measured.
struct BareLoop {
  std::vector<std::uint64_t> delays;
  std::uint64_t left = 0;

  void step() {
    if (left == 0) return;
    --left;
    ns3::Simulator::Schedule(ns3::TimeStep(delays[left % delays.size()]), &BareLoop::step, this);
  }
};

double bare_events_per_second(std::uint64_t events, int pending) {
  BareLoop loop{.delays = std::vector<std::uint64_t>(4096), .left = events};
  std::mt19937_64 numbers(1);  // fixed seed: the same load in every run
  for (auto& delay : loop.delays) delay = numbers() % 2'000'000;
  ns3::ObjectFactory fastest;
  fastest.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(fastest);
  for (int i = 0; i < pending; ++i) loop.step();
  const auto start = std::chrono::steady_clock::now();
  ns3::Simulator::Run();
  const double rate = static_cast<double>(events) / seconds_since(start);
  ns3::Simulator::Destroy();
  return rate;
}

void measure(benchmark::State& state, const Scenario& scenario) {
  Replication replication;
  double wall = 0;
  for (auto _ : state) {
    Collector collector(scenario);
    const auto start = std::chrono::steady_clock::now();
    replication = replicate(scenario, 0, collector);
    wall += seconds_since(start);
  }
  // Pending: one arrival a client and one event a request in flight (Little's law).
  constexpr int pending = 156;
  const double runs = static_cast<double>(state.iterations());
  const double events_per_second = static_cast<double>(replication.events) * runs / wall;
  const double bare = bare_events_per_second(10'000'000, pending);
  state.SetItemsProcessed(static_cast<std::int64_t>(replication.counts.completed) * state.iterations());
  state.counters["events_per_request"] =
      static_cast<double>(replication.events) / static_cast<double>(replication.counts.completed);
  state.counters["events_per_s"] = events_per_second;
  state.counters["bare_loop_events_per_s"] = bare;
  state.counters["of_bare_loop"] = events_per_second / bare;
}

void requests_4_kb(benchmark::State& state) { measure(state, speed_scenario(1'000'000)); }
BENCHMARK(requests_4_kb)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

void requests_4_kb_configured_grant(benchmark::State& state) {
  measure(state, speed_scenario(1'000'000, {"radio.access=configured-grant", "radio.symbols=2", "edge.count=128"}));
}
BENCHMARK(requests_4_kb_configured_grant)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

/// Peak resident memory of a run in a process of its own.
double peak_mb(std::int64_t requests) {
  const pid_t child = fork();
  if (child == 0) {
    const Scenario scenario = speed_scenario(requests);
    Collector collector(scenario);
    (void)replicate(scenario, 0, collector);
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

void memory_1_against_10_million(benchmark::State& state) {
  for (auto _ : state) {
    const double one = peak_mb(1'000'000);
    const double ten = peak_mb(10'000'000);
    state.counters["peak_mb_1m"] = one;
    state.counters["peak_mb_10m"] = ten;
    state.counters["ratio"] = ten / one;
  }
}
BENCHMARK(memory_1_against_10_million)->Unit(benchmark::kSecond)->Iterations(1);

/// Reading, resolving and forecasting the quickstart, as `trilemma check` does.
void check_quickstart(benchmark::State& state) {
  for (auto _ : state) {
    const Scenario scenario =
        read_experiment(source / "scenarios/quickstart.yaml", {}, config::Catalogue(source / "configs")).scenario;
    benchmark::DoNotOptimize(preview(scenario));
  }
}
BENCHMARK(check_quickstart)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
