#include "models/radio/propagation.h"

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ns3/boolean.h"
#include "ns3/channel-condition-model.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/three-gpp-propagation-loss-model.h"
#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

constexpr std::array all_environments = {Environment::umi,    Environment::uma,    Environment::inh,
                                         Environment::inf_sl, Environment::inf_dl, Environment::inf_sh,
                                         Environment::inf_dh, Environment::inf_hh};

/// Both ends at the heights of the environment, `metres` apart on the ground.
struct Pair {
  Position ue;
  Position base_station;
};

Pair pair_at(Environment environment, double metres) {
  const Heights heights = default_heights(environment);
  return {.ue = {Metres(metres), Metres(0), heights.ue}, .base_station = {Metres(0), Metres(0), heights.base_station}};
}

Environment environment_of(const std::string& scenario) {
  static const std::map<std::string, Environment> scenarios = {{"UMi-StreetCanyon", Environment::umi},
                                                               {"UMi", Environment::umi},
                                                               {"UMa", Environment::uma},
                                                               {"InH", Environment::inh},
                                                               {"InH-open", Environment::inh},
                                                               {"InF-SL", Environment::inf_sl},
                                                               {"InF-DL", Environment::inf_dl},
                                                               {"InF-SH", Environment::inf_sh},
                                                               {"InF-DH", Environment::inf_dh},
                                                               {"InF-HH", Environment::inf_hh}};
  return scenarios.at(scenario);
}

TEST(Propagation, HasThePathLossOfEveryTestVector) {
  for (const test::Row& row : test::read_csv("pathloss_test_vectors.csv")) {
    const bool clear = row.at("condition") == "LOS";
    const Propagation propagation({.environment = environment_of(row.at("scenario")),
                                   .carrier = Frequency(test::number(row, "f_GHz") * 1e9),
                                   .line_of_sight = clear ? LineOfSight::always : LineOfSight::never,
                                   .shadowing = Shadowing::off});
    const PathLoss link =
        propagation.draw(0, {Metres(test::number(row, "d2D_m")), Metres(0), Metres(test::number(row, "hUT_m"))},
                         {Metres(0), Metres(0), Metres(test::number(row, "hBS_m"))});
    EXPECT_NEAR(link.loss.value(), test::number(row, "pathloss_dB_formula"), 0.01)
        << row.at("scenario") << " at " << row.at("d2D_m") << " m, " << row.at("condition");
    EXPECT_EQ(link.line_of_sight, clear);
  }
}

TEST(LineOfSightProbability, IsThatOfEveryTestVector) {
  int compared = 0;
  for (const test::Row& row : test::read_csv("los_probability_test_vectors.csv")) {
    if (row.at("scenario") == "InH-mixed") continue;  // InH is the open office here
    const Environment environment = environment_of(row.at("scenario"));
    const auto [ue, base_station] = pair_at(environment, test::number(row, "d2D_m"));
    EXPECT_NEAR(line_of_sight_probability(environment, ue, base_station), test::number(row, "P_LOS"), 1e-6)
        << row.at("scenario") << " at " << row.at("d2D_m") << " m";
    ++compared;
  }
  EXPECT_EQ(compared, 58);
}

TEST(LineOfSightProbability, IsCertainAboveTheClutter) {
  const auto [ue, base_station] = pair_at(Environment::inf_hh, 500);
  EXPECT_EQ(line_of_sight_probability(Environment::inf_hh, ue, base_station), 1);
}

// A proportion of n draws has the standard error sqrt(p (1 - p) / n).
TEST(Propagation, DrawsTheLineOfSightAsOftenAsItsProbabilitySays) {
  constexpr int draws = 4000;
  for (const Environment environment : all_environments) {
    const auto [ue, base_station] = pair_at(environment, 30);
    const Propagation propagation({.environment = environment});
    int clear = 0;
    for (int stream = 0; stream < draws; ++stream) clear += propagation.draw(stream, ue, base_station).line_of_sight;
    const double probability = line_of_sight_probability(environment, ue, base_station);
    EXPECT_NEAR(static_cast<double>(clear) / draws, probability,
                4 * std::sqrt(probability * (1 - probability) / draws) + 1.0 / draws)
        << config::name_of(environment);
  }
}

struct Moments {
  double mean;
  double deviation;
};

Moments moments(const std::vector<double>& sample) {
  const auto n = static_cast<double>(sample.size());
  double sum = 0;
  double squares = 0;
  for (const double value : sample) sum += value;
  for (const double value : sample) squares += (value - sum / n) * (value - sum / n);
  return {.mean = sum / n, .deviation = std::sqrt(squares / (n - 1))};
}

Moments shadowed_loss(Environment environment, LineOfSight line_of_sight, int draws) {
  const auto [ue, base_station] = pair_at(environment, 30);
  const Propagation propagation({.environment = environment, .line_of_sight = line_of_sight});
  std::vector<double> losses;
  losses.reserve(static_cast<std::size_t>(draws));
  for (int stream = 0; stream < draws; ++stream) {
    losses.push_back(propagation.draw(stream, ue, base_station).loss.value());
  }
  return moments(losses);
}

double median_loss(Environment environment, LineOfSight line_of_sight) {
  const auto [ue, base_station] = pair_at(environment, 30);
  return Propagation({.environment = environment, .line_of_sight = line_of_sight, .shadowing = Shadowing::off})
      .draw(0, ue, base_station)
      .loss.value();
}

// The mean of n normal draws has the standard error s / sqrt(n), their standard deviation s / sqrt(2 (n - 1)).
TEST(Propagation, ShadowingIsNormalAroundTheMedian) {
  constexpr int draws = 4000;
  for (const Environment environment : all_environments) {
    for (const LineOfSight state : {LineOfSight::always, LineOfSight::never}) {
      if (environment == Environment::inf_hh && state == LineOfSight::never) continue;
      const ShadowingDeviations deviations = shadowing_deviations(environment);
      const double expected = (state == LineOfSight::always ? deviations.line_of_sight : deviations.obstructed).value();
      const Moments drawn = shadowed_loss(environment, state, draws);
      EXPECT_NEAR(drawn.deviation, expected, 4 * expected / std::sqrt(2.0 * (draws - 1)));
      EXPECT_NEAR(drawn.mean, median_loss(environment, state), 4 * expected / std::sqrt(draws));
    }
  }
}

/// ns-3's own draws of the same link, for which it needs nodes.
class Ns3Link {
 public:
  explicit Ns3Link(Environment environment) : environment_(environment) {
    const auto [ue, base_station] = pair_at(environment, 30);
    ue_ = end(ue);
    base_station_ = end(base_station);
  }
  ~Ns3Link() { ns3::Simulator::Destroy(); }

  struct Draw {
    double loss;
    bool clear;
  };

  /// Fresh models for each draw, because ns-3 keeps what it drew for a pair of nodes.
  [[nodiscard]] Draw draw(std::int64_t stream) const {
    const auto condition = make_condition();
    condition->AssignStreams(10 * stream);
    const auto loss = make_loss();
    loss->SetAttribute("Frequency", ns3::DoubleValue(28e9));
    loss->SetChannelConditionModel(condition);
    loss->AssignStreams(10 * stream + 5);
    const double drawn = -loss->CalcRxPower(0, ue_, base_station_);
    return {.loss = drawn, .clear = condition->GetChannelCondition(ue_, base_station_)->IsLos()};
  }

 private:
  static ns3::Ptr<ns3::MobilityModel> end(const Position& position) {
    const auto place = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
    place->SetPosition({position.x.value(), position.y.value(), position.z.value()});
    ns3::CreateObject<ns3::Node>()->AggregateObject(place);
    return place;
  }
  [[nodiscard]] ns3::Ptr<ns3::ChannelConditionModel> make_condition() const {
    if (environment_ == Environment::umi) return ns3::CreateObject<ns3::ThreeGppUmiStreetCanyonChannelConditionModel>();
    if (environment_ == Environment::uma) return ns3::CreateObject<ns3::ThreeGppUmaChannelConditionModel>();
    return ns3::CreateObject<ns3::ThreeGppIndoorOpenOfficeChannelConditionModel>();
  }
  [[nodiscard]] ns3::Ptr<ns3::ThreeGppPropagationLossModel> make_loss() const {
    if (environment_ == Environment::umi) return ns3::CreateObject<ns3::ThreeGppUmiStreetCanyonPropagationLossModel>();
    if (environment_ == Environment::uma) return ns3::CreateObject<ns3::ThreeGppUmaPropagationLossModel>();
    return ns3::CreateObject<ns3::ThreeGppIndoorOfficePropagationLossModel>();
  }

  Environment environment_;
  ns3::Ptr<ns3::MobilityModel> ue_;
  ns3::Ptr<ns3::MobilityModel> base_station_;
};

// Our draws replace ns-3's, so they must come from the same distribution where ns-3 has the environment.
TEST(Propagation, DrawsFromTheDistributionsOfNs3) {
  constexpr int draws = 4000;
  for (const Environment environment : {Environment::umi, Environment::uma, Environment::inh}) {
    const Ns3Link link(environment);
    std::vector<double> clear;
    std::vector<double> obstructed;
    for (int stream = 0; stream < draws; ++stream) {
      const auto [loss, is_clear] = link.draw(stream);
      (is_clear ? clear : obstructed).push_back(loss);
    }
    const auto [ue, base_station] = pair_at(environment, 30);
    const double probability = line_of_sight_probability(environment, ue, base_station);
    EXPECT_NEAR(static_cast<double>(clear.size()) / draws, probability,
                4 * std::sqrt(probability * (1 - probability) / draws));

    const ShadowingDeviations ours = shadowing_deviations(environment);
    const auto error = [](Decibels deviation, const std::vector<double>& sample) {
      return 4 * deviation.value() / std::sqrt(2.0 * static_cast<double>(sample.size() - 1));
    };
    EXPECT_NEAR(moments(clear).deviation, ours.line_of_sight.value(), error(ours.line_of_sight, clear));
    EXPECT_NEAR(moments(obstructed).deviation, ours.obstructed.value(), error(ours.obstructed, obstructed));
  }
}

TEST(Propagation, ADrawDependsOnNothingButItsArguments) {
  const auto [ue, base_station] = pair_at(Environment::umi, 60);
  const PropagationConfig config{.environment = Environment::umi, .seed = 7, .replication = 3};
  const Propagation fresh(config);
  const PathLoss first = fresh.draw(42, ue, base_station);

  const Propagation used(config);
  for (int stream = 0; stream < 50; ++stream) (void)used.draw(stream, ue, base_station);
  ns3::RngSeedManager::SetSeed(99);
  const PathLoss again = used.draw(42, ue, base_station);
  ns3::RngSeedManager::SetSeed(1);
  EXPECT_EQ(first.loss, again.loss);
  EXPECT_EQ(first.line_of_sight, again.line_of_sight);
}

TEST(Propagation, StreamSeedAndReplicationEachChangeTheDraw) {
  const Pair pair = pair_at(Environment::umi, 60);
  const auto loss = [&](std::uint32_t seed, std::uint64_t replication, std::int64_t stream) {
    return Propagation({.line_of_sight = LineOfSight::always, .seed = seed, .replication = replication})
        .draw(stream, pair.ue, pair.base_station)
        .loss;
  };
  EXPECT_NE(loss(1, 0, 0), loss(2, 0, 0));
  EXPECT_NE(loss(1, 0, 0), loss(1, 1, 0));
  EXPECT_NE(loss(1, 0, 0), loss(1, 0, 1));
}

TEST(Propagation, ScenariosThatDifferInOneSettingShareTheRestOfTheirLuck) {
  const auto [ue, base_station] = pair_at(Environment::umi, 60);
  const Propagation drawn({.environment = Environment::umi});
  const Propagation given({.environment = Environment::umi, .line_of_sight = LineOfSight::always});
  const Propagation median({.environment = Environment::umi, .shadowing = Shadowing::off});
  int clear = 0;
  for (int stream = 0; stream < 100; ++stream) {
    const PathLoss link = drawn.draw(stream, ue, base_station);
    EXPECT_EQ(link.line_of_sight, median.draw(stream, ue, base_station).line_of_sight);
    if (!link.line_of_sight) continue;
    EXPECT_EQ(link.loss, given.draw(stream, ue, base_station).loss);
    ++clear;
  }
  EXPECT_GT(clear, 0);
}

TEST(Propagation, LeavesTheEventListAloneAndSurvivesItsEnd) {
  ns3::Simulator::Destroy();
  const auto [ue, base_station] = pair_at(Environment::inf_dh, 30);
  const Propagation propagation({.environment = Environment::inf_dh});
  const PathLoss before = propagation.draw(5, ue, base_station);
  EXPECT_TRUE(ns3::Simulator::IsFinished());  // no event is pending
  ns3::Simulator::Run();
  EXPECT_EQ(ns3::Simulator::GetEventCount(), 0U);
  ns3::Simulator::Destroy();
  EXPECT_EQ(propagation.draw(5, ue, base_station).loss, before.loss);
}

/// What draw() says to the user about a pair that it refuses.
std::string refusal(const PropagationConfig& config, const Pair& pair) {
  try {
    (void)Propagation(config).draw(0, pair.ue, pair.base_station);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Propagation, RefusesHeightsThatTheModelDoesNotCover) {
  Pair umi = pair_at(Environment::umi, 50);
  umi.base_station.z = Metres(8);
  EXPECT_EQ(refusal({.environment = Environment::umi}, umi), "umi: the base station must stand at exactly 10 m");
  Pair uma = pair_at(Environment::uma, 50);
  uma.ue.z = Metres(12.9);
  EXPECT_EQ(refusal({.environment = Environment::uma}, uma), "accepted");
  uma.ue.z = Metres(13);
  EXPECT_NE(refusal({.environment = Environment::uma}, uma), "accepted");
  Pair sparse = pair_at(Environment::inf_sh, 50);
  sparse.ue.z = Metres(2);
  EXPECT_EQ(refusal({.environment = Environment::inf_sh}, sparse),
            "inf-sh: the UE must be below the clutter of 2 m and the base station above it");
}

TEST(Propagation, RefusesDistancesOutsideTheRangeOfTheModel) {
  for (const Environment environment : all_environments) {
    const auto [min, max] = distance_range(environment);
    const PropagationConfig config{.environment = environment};
    EXPECT_EQ(refusal(config, pair_at(environment, max.value() - 1)), "accepted") << config::name_of(environment);
    EXPECT_NE(refusal(config, pair_at(environment, max.value() + 1)), "accepted") << config::name_of(environment);
  }
  EXPECT_EQ(refusal({.environment = Environment::umi}, pair_at(Environment::umi, 9.9)),
            "umi: the distance of UE and base station on the ground must be 10 to 5000 m");
  EXPECT_EQ(refusal({.environment = Environment::umi}, pair_at(Environment::umi, 10)), "accepted");
  EXPECT_EQ(refusal({.environment = Environment::inf_sl}, pair_at(Environment::inf_sl, 0.9)),
            "inf-sl: the distance of UE and base station in space must be 1 to 600 m");
}

TEST(Propagation, RefusesSettingsThatDoNotExist) {
  EXPECT_THROW(Propagation({.carrier = Frequency(0.4e9)}), std::invalid_argument);
  EXPECT_THROW(Propagation({.carrier = Frequency(101e9)}), std::invalid_argument);
  EXPECT_THROW(Propagation({.environment = Environment::inf_hh, .line_of_sight = LineOfSight::never}),
               std::invalid_argument);
  EXPECT_THROW(Propagation({.seed = 0}), InvariantViolation);
}

}  // namespace
}  // namespace trilemma
