// Defects that the random scenarios found, one test each.

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/summary_json.h"
#include "core/config/problems.h"
#include "sim/experiment.h"
#include "tests/property/invariants.h"
#include "tests/support/toy_scenario.h"

namespace trilemma::test {
namespace {

using ::testing::HasSubstr;

std::string problem_of(const NrRadio& radio, const std::string& key) {
  for (const auto& problem : radio.problems()) {
    if (problem.key == key) return problem.problem;
  }
  return "";
}

// 32 resource blocks of two symbols, one of them of reference signals, hold 32 x 12 = 384 resource elements. At MCS 0
// of the low-spectral-efficiency table, 2 x 30 / 1024 bits each, that is 22 bits: a block of 24, less than the 10 bytes
// of its headers. Clients at the edge of the cell waited for ever. With 14 symbols the block has 12 x 13 x 32 = 4992
// elements and 292 bits, more than its 80 of headers.
TEST(NrRadio, IsRefusedWhenItsMostRobustBlockHasNoRoomForPayload) {
  NrRadio radio{.bandwidth = Frequency(50e6), .symbols = 2, .mcs_table = McsTable::qam64_low_se};
  EXPECT_THAT(problem_of(radio, "symbols"), HasSubstr("2 uplink symbols in a row"));
  radio.symbols = 14;
  EXPECT_EQ(problem_of(radio, "symbols"), "");
}

// InH allows 150 m between antennas that stand at 3 m and 1 m: sqrt(150^2 - 2^2) = 149.987 m on the floor. 150 m on the
// floor passed the check and failed when the link was drawn.
TEST(NrRadio, MeasuresIndoorDistancesBetweenTheAntennas) {
  NrRadio radio{.environment = Environment::inh, .placement = RingPlacement{.distance = Metres(150)}};
  EXPECT_THAT(problem_of(radio, "placement"), HasSubstr("between the antennas"));
  radio.placement = RingPlacement{.distance = Metres(149.98)};
  EXPECT_EQ(problem_of(radio, "placement"), "");
}

// The floor was that of the first replication, whose clients may stand worse than those of the second.
TEST(Summary, ItsFloorIsThatOfTheBestClientOfAllReplications) {
  Scenario scenario = toy_scenario();
  std::vector<Played> runs{run(scenario, 0), run(scenario, 1)};
  runs[1].replication.floor_stages[static_cast<std::size_t>(Stage::edge)] -= 5us;
  const Duration best = total(runs[1].replication.floor_stages);
  EXPECT_DOUBLE_EQ(summary_of(scenario, runs).floor_ms, to_milliseconds(best));
}

// A request a microsecond, each of 13,280 operations at 100 million a second on one device: what is withheld has that
// reason everywhere; none of it is empty because answers have one token.
TEST(Summary, WithheldFiguresSayThatTheSystemIsOverloaded) {
  Scenario scenario = toy_scenario();
  scenario.requests = 50;
  scenario.workload.output = FixedLength{Tokens(2)};
  scenario.workload.arrivals = PeriodicArrivals{.period = 1us, .aligned = true};
  const config::Json json = summary_to_json(scenario, summary_of(scenario, {run(scenario, 0)}));
  for (const char* part : {"latency_ms", "ttft_ms", "tpot_ms"}) {
    EXPECT_THAT(json[part]["reason"].get<std::string>(), HasSubstr("overloaded")) << part;
  }
  EXPECT_THAT(json["stages_ms"]["device"]["reason"].get<std::string>(), HasSubstr("overloaded"));
}

// A ratio of 2 leaves a prompt of one token no room for a coefficient: the run broke off where the row came up.
TEST(Trace, ARowWhosePromptTheCodecCannotSendIsRefusedBeforeTheRun) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("trilemma-trace-{}", getpid());
  fs::create_directories(folder);
  Scenario scenario = toy_scenario();
  scenario.requests.reset();
  scenario.codec = FourierCodec{.ratio = 2};
  scenario.workload.arrivals = TraceArrivals{.file = "trace.csv", .time_unit = 1ms};
  std::ofstream(folder / "scenario.yaml") << config::to_yaml(scenario_to_json(scenario), {});
  std::ofstream(folder / "trace.csv") << "time,client,prompt\n0,0,10\n1,0,1\n";
  try {
    read_experiment(folder / "scenario.yaml", {}, config::Catalogue(folder));
    ADD_FAILURE() << "the row was accepted";
  } catch (const config::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a row asks for a prompt of 1"));
  }
  std::ofstream(folder / "trace.csv") << "time,client,prompt\n0,0,10\n1,0,9\n";
  EXPECT_EQ(read_experiment(folder / "scenario.yaml", {}, config::Catalogue(folder)).scenario.trace.size(), 2U);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace trilemma::test
