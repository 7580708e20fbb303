// A thousand random scenarios, each run twice, against everything that a run, its records and its summary promise.

#include <map>
#include <optional>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/config/reader.h"
#include "core/config/yaml.h"
#include "sim/experiment.h"
#include "tests/property/invariants.h"
#include "tests/property/random_scenario.h"

namespace trilemma::test {
namespace {

constexpr int scenarios_wanted = 1000;

/// Valid scenarios one after the other, with the number each was drawn from.
class Scenarios {
 public:
  std::pair<std::uint32_t, Scenario> next() {
    while (true) {
      ++number_;
      Scenario scenario = random_scenario(number_);
      if (problems_of(scenario).empty()) return {number_, std::move(scenario)};
    }
  }
  [[nodiscard]] std::uint32_t drawn() const { return number_; }

 private:
  std::uint32_t number_ = 0;
};

/// What a set of scenarios reached, so that a test that checks nothing cannot pass.
class Reached {
 public:
  void note(const Scenario& scenario, const Played& run) {
    std::visit([&](const auto& chosen) { ++seen_[fmt::format("radio {}", chosen.kind)]; }, scenario.radio);
    std::visit([&](const auto& chosen) { ++seen_[fmt::format("backhaul {}", chosen.kind)]; }, scenario.backhaul);
    std::visit([&](const auto& chosen) { ++seen_[fmt::format("codec {}", chosen.kind)]; }, scenario.codec);
    std::visit([&](const auto& chosen) { ++seen_[fmt::format("transport {}", chosen.kind)]; }, scenario.transport);
    std::visit([&](const auto& chosen) { ++seen_[fmt::format("arrivals {}", chosen.kind)]; },
               scenario.workload.arrivals);
    ++seen_[scenario.on_device() ? "cut all" : scenario.raw_input() ? "cut 0" : "cut inside"];
    if (const auto* radio = std::get_if<NrRadio>(&scenario.radio); radio != nullptr && !scenario.on_device()) {
      ++seen_[fmt::format("access {}", config::name_of(radio->access))];
      ++seen_[fmt::format("numerology {}", radio->numerology)];
      ++seen_[fmt::format("symbols {}", radio->symbols)];
      ++seen_[fmt::format("environment {}", config::name_of(radio->environment))];
    }
    if (run.replication.counts.failed > 0) ++seen_["failures"];
    if (run.replication.counts.failed > 0 && run.replication.counts.completed > 0) ++seen_["failures and answers"];
    if (run.replication.uplink.retransmissions > 0) ++seen_["uplink retransmissions"];
    if (run.replication.downlink.retransmissions > 0) ++seen_["downlink retransmissions"];
    requests_ += run.records.size();
    events_ += run.replication.events;
  }
  [[nodiscard]] int times(const std::string& what) const { return seen_.count(what) > 0 ? seen_.at(what) : 0; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{}; {} requests, {} events", seen_, requests_, events_);
  }
  [[nodiscard]] const std::map<std::string, int>& all() const { return seen_; }

 private:
  std::map<std::string, int> seen_;
  std::size_t requests_ = 0;
  std::uint64_t events_ = 0;
};

std::vector<std::string> broken_promises(const Scenario& scenario, const Played& run) {
  std::vector<std::string> broken = broken_by_records(scenario, run);
  for (const auto& check : {broken_by_counts, broken_by_floors}) {
    for (std::string& sentence : check(scenario, run)) broken.push_back(std::move(sentence));
  }
  return broken;
}

/// The summary of the run alone, and with a second replication for every other scenario.
std::vector<std::string> broken_by_summaries(const Scenario& scenario, const Played& once) {
  const std::uint32_t index = once.replication.index;
  if (index % 2 == 0) return broken_by_summary(scenario, {once});
  return broken_by_summary(scenario, {once, run(scenario, index + 1)});
}

struct Done {
  Scenario scenario;
  Played run;
};

TEST(RandomScenarios, KeepEveryPromiseOfRunsRecordsAndSummaries) {
  Scenarios scenarios;
  Reached reached;
  std::optional<Done> before;
  for (int i = 0; i < scenarios_wanted; ++i) {
    auto [number, scenario] = scenarios.next();
    SCOPED_TRACE(fmt::format("scenario {}:\n{}", number, as_yaml(scenario)));
    const std::uint32_t index = number % 4;
    Played once = run(scenario, index);
    ASSERT_EQ(broken_promises(scenario, once), std::vector<std::string>{});
    ASSERT_EQ(broken_by_summaries(scenario, once), std::vector<std::string>{});
    // The same again after another one ran: a replication is a function of its arguments.
    if (before) {
      ASSERT_TRUE(same(before->run, run(before->scenario, before->run.replication.index)))
          << "the scenario before this one ran differently:\n"
          << as_yaml(before->scenario);
    }
    reached.note(scenario, once);
    before = Done{std::move(scenario), std::move(once)};
  }
  for (const auto& [what, times] : reached.all()) EXPECT_GE(times, 20) << what;
  for (const char* what : {"failures", "failures and answers", "uplink retransmissions", "downlink retransmissions"}) {
    EXPECT_GE(reached.times(what), 20) << what;
  }
  EXPECT_GT(scenarios_wanted, static_cast<int>(scenarios.drawn()) / 3) << "most draws are valid scenarios";
  RecordProperty("reached", reached.text());
}

// What as_yaml prints is the scenario: the reader finds nothing wrong with it and understands the same values.
TEST(RandomScenarios, ReadBackFromTheirYaml) {
  const config::Catalogue nothing("no such folder");
  Scenarios scenarios;
  for (int i = 0; i < scenarios_wanted; ++i) {
    const auto [number, scenario] = scenarios.next();
    const std::string yaml = as_yaml(scenario);
    config::Problems problems;
    config::Reader reader(nothing, problems);
    const auto again = reader.read<Scenario>(config::read_yaml_text(yaml, {.source = "random.yaml", .line = 1}));
    ASSERT_NO_THROW(problems.throw_if_any()) << "scenario " << number << ":\n" << yaml;
    ASSERT_EQ(scenario_to_json(again).dump(1), scenario_to_json(scenario).dump(1)) << "scenario " << number;
  }
}

}  // namespace
}  // namespace trilemma::test
