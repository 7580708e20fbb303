#include <gtest/gtest.h>

#include "analysis/summary.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

using test::records_of;
using test::toy_llm;
using test::toy_machine;
using test::toy_scenario;

Duration stage(const RequestRecord& record, Stage stage) { return record.stages[static_cast<std::size_t>(stage)]; }

Scenario with_cloud(Cut cut) {
  Scenario scenario = toy_scenario();
  scenario.cut = cut;
  scenario.cloud = toy_machine<CloudConfig>(OperationRate(1e9));
  scenario.cloud->rtt = 100us;
  scenario.cloud->rate = BitRate(8e6);  // a microsecond a byte
  return scenario;
}

RequestRecord only_record_of(const Scenario& scenario) {
  const auto records = records_of(scenario);
  EXPECT_EQ(records.size(), 1U);
  return records.front();
}

TEST(Tiers, TheCloudTakesOverAfterTheSecondCut) {
  // One block on the device, one at the edge, two and the head in the cloud; the message of 40 + 4 10 8 bytes crosses
  // the WAN in 360 + 50 us, the answer of 4 bytes in 4 + 50 us; it is coded on either side of either hop.
  const RequestRecord record = only_record_of(with_cloud({1, 2}));
  EXPECT_EQ(stage(record, Stage::edge), 13'280ns);
  EXPECT_EQ(stage(record, Stage::cloud), 2 * 13'280ns + 512ns);
  EXPECT_EQ(stage(record, Stage::wan), 410us + 54us);
  EXPECT_EQ(stage(record, Stage::codec), 4 * 640ns);
  EXPECT_EQ(record.floor, record.latency());
}

TEST(Tiers, AnEdgeWithoutBlocksPassesTheMessageOn) {
  const RequestRecord record = only_record_of(with_cloud({1, 1}));
  EXPECT_EQ(stage(record, Stage::edge), 0ns);
  EXPECT_EQ(stage(record, Stage::cloud), 3 * 13'280ns + 512ns);
  EXPECT_EQ(stage(record, Stage::codec), 2 * 640ns);
  EXPECT_EQ(record.floor, record.latency());
}

TEST(Tiers, TheCloudAloneStreamsItsAnswer) {
  Scenario scenario = with_cloud({0, 0});
  scenario.workload.output = FixedLength{Tokens(3)};
  const RequestRecord record = only_record_of(scenario);
  // 40 bytes of prompt go up; the last token follows those before it by a step, so that it crosses alone.
  EXPECT_EQ(stage(record, Stage::wan), 90us + 54us);
  EXPECT_EQ(stage(record, Stage::cloud), 4 * (13'280ns + 1'536ns + 1'568ns) + 3 * 512ns);
  EXPECT_EQ(record.floor, record.latency());
}

TEST(Tiers, BetweenEdgeAndCloudEachTokenGoesAroundOnce) {
  Scenario scenario = with_cloud({0, 2});
  scenario.workload.output = FixedLength{Tokens(3)};
  const RequestRecord record = only_record_of(scenario);
  // Activations of 10 tokens, then twice those of one, 40 + 32 bytes, and three answers back.
  EXPECT_EQ(stage(record, Stage::wan), 410us + 2 * 122us + 3 * 54us);
  EXPECT_EQ(record.floor, record.latency());
}

Scenario speculative(double acceptance) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{0};
  scenario.workload.output = FixedLength{Tokens(7)};
  scenario.speculation = SpeculationConfig{.draft = toy_llm(), .tokens = 2, .acceptance = Fraction(acceptance)};
  return scenario;
}

TEST(Tiers, AcceptedDraftsSaveRoundTrips) {
  // Six tokens after the first: in rounds of three if all drafts are accepted, of one if none is. A message has 4 bytes
  // and 4 more a draft, which the last token does without.
  const RequestRecord all = only_record_of(speculative(1));
  EXPECT_EQ(all.uplink_bytes, Bytes(40 + 2 * 12));
  const RequestRecord none = only_record_of(speculative(0));
  EXPECT_EQ(none.uplink_bytes, Bytes(40 + 4 * 12 + 8 + 4));
  EXPECT_GT(none.latency(), all.latency());
  EXPECT_GE(all.latency(), all.floor);
}

TEST(Tiers, AMixOfClassesKeepsTheirSharesAndTheirCuts) {
  Scenario scenario = toy_scenario();
  scenario.requests = 4000;
  scenario.workload.arrivals = PeriodicArrivals{.period = 1ms, .jitter = 0ns, .aligned = true};
  ClassConfig device{.name = "device", .share = 1};
  device.cut = Cut{std::nullopt};
  ClassConfig raw{.name = "raw", .share = 3};
  raw.cut = Cut{0};
  scenario.workload.classes = {device, raw};
  std::int64_t on_device = 0;
  for (const RequestRecord& record : records_of(scenario)) {
    EXPECT_EQ(record.uplink_bytes, record.request.kind == 0 ? Bytes(0) : Bytes(40));
    on_device += record.request.kind == 0 ? 1 : 0;
  }
  // A quarter of 4000, with a standard deviation of sqrt(4000 3 / 16).
  EXPECT_NEAR(static_cast<double>(on_device), 1000, 4 * 27.4);
}

/// Summary of a mix of requests on the device and at the edge, the latter with a target of their own.
Summary mix_of(Duration bound) {
  Scenario scenario = toy_scenario();
  scenario.requests = 1000;
  scenario.workload.arrivals = PeriodicArrivals{.period = 1ms, .jitter = 0ns, .aligned = true};
  ClassConfig device{.name = "device"};
  device.cut = Cut{std::nullopt};
  ClassConfig raw{.name = "raw"};
  raw.cut = Cut{0};
  raw.target = TargetConfig{.latency = bound, .reliability = Fraction(0.9)};
  scenario.workload.classes = {device, raw};
  Collector collector(scenario);
  std::vector<Replication> replications{replicate(scenario, 0, collector)};
  return summarize(scenario, collector, replications);
}

TEST(Tiers, AMixIsJudgedByTheTargetsOfItsClasses) {
  const Duration at_edge = 4 * 13'280ns + 512ns;  // and no message takes any time
  const Summary met = mix_of(at_edge);
  EXPECT_FALSE(met.target) << "there is none that is that of all";
  EXPECT_FALSE(met.classes[0].verdict);
  EXPECT_EQ(met.verdict(), Verdict::holds);
  EXPECT_EQ(met.floor_ms, to_milliseconds(at_edge)) << "the fastest class";
  EXPECT_EQ(met.classes[0].completed + met.classes[1].completed, 1000U);
  EXPECT_EQ(mix_of(at_edge - 1ns).verdict(), Verdict::fails);
}

}  // namespace
}  // namespace trilemma
