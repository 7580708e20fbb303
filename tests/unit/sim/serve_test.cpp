#include <gtest/gtest.h>

#include "analysis/collector.h"
#include "sim/replicate.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

using test::records_of;
using test::stage;
using test::toy_scenario;

// Of the toy scenario at cut 1, derived in toy_scenario.h; the device takes 10 ns an operation, the edge one.
constexpr Duration device{10 * 13'280};
constexpr Duration encoding{640};
constexpr Duration edge{3 * 13'280 + 512};
constexpr Duration compute = device + encoding + encoding + edge;
const FixedLink microsecond_a_byte{.rate = BitRate(8e6)};

RequestRecord only_record_of(const Scenario& scenario) {
  const auto records = records_of(scenario);
  EXPECT_EQ(records.size(), 1U);
  return records.at(0);
}

Scenario aligned_clients(std::int64_t clients) {
  Scenario scenario = toy_scenario();
  scenario.workload.clients = clients;
  scenario.requests = clients;
  return scenario;
}

TEST(Serve, WithoutRadioAndBackhaulOnlyComputingTakesTime) {
  const RequestRecord record = only_record_of(toy_scenario());
  EXPECT_EQ(stage(record, Stage::device), 132'800ns);
  EXPECT_EQ(stage(record, Stage::codec), 1'280ns);
  EXPECT_EQ(stage(record, Stage::edge), 40'352ns);
  EXPECT_EQ(record.latency(), 174'432ns);
  EXPECT_EQ(record.first_token, record.latency());
  EXPECT_EQ(record.floor, record.latency());
  EXPECT_EQ(record.outcome, Outcome::completed);
}

TEST(Serve, OneClientOverAFixedLink) {
  Scenario scenario = toy_scenario();
  scenario.backhaul = FixedLink{.rate = BitRate(8e6), .delay = 100us};
  const RequestRecord record = only_record_of(scenario);
  // 360 B up, 4 B down, a microsecond each, and 100 us each way.
  EXPECT_EQ(stage(record, Stage::backhaul), 360us + 100us + 4us + 100us);
  EXPECT_EQ(record.latency(), compute + 564us);
  EXPECT_EQ(record.floor, record.latency());
  EXPECT_EQ(record.uplink_bytes, Bytes(360));
  EXPECT_EQ(record.downlink_bytes, Bytes(4));
}

TEST(Serve, OneClientOverAFibreWithTwoSwitches) {
  Scenario scenario = toy_scenario();
  scenario.backhaul = FibreLink{.length = Metres(10'000), .rate = BitRate(1e9), .switches = 2, .switch_latency = 1us};
  const RequestRecord record = only_record_of(scenario);
  // One frame each way, sent three times at 8 ns a byte; 2 x 1 us of switching; 10 x 4.9 us of glass.
  const Duration up = 3 * (360 + 38) * 8ns + 2us + 49us;
  const Duration down = 3 * (4 + 38) * 8ns + 2us + 49us;
  EXPECT_EQ(stage(record, Stage::backhaul), up + down);
  EXPECT_EQ(record.latency(), compute + 112'560ns);
}

TEST(Serve, HeadersOfPacketsTravelWithTheMessage) {
  Scenario scenario = toy_scenario();
  scenario.transport = UdpTransport{.mtu = Bytes(128), .headers = Bytes(28)};
  scenario.backhaul = microsecond_a_byte;
  // 360 B in packets of 100 B: 4 x 28 B of headers. The answer is one packet.
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(record.uplink_bytes, Bytes(472));
  EXPECT_EQ(record.downlink_bytes, Bytes(32));
  EXPECT_EQ(record.latency(), compute + 472us + 32us);
}

TEST(Serve, ClientsShareAFixedRadioFirstInFirstOut) {
  Scenario scenario = aligned_clients(3);
  scenario.radio = FixedRadio{.rate = BitRate(8e6), .delay = 50us};
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 3U);
  // All three messages of 360 us are there when the devices have encoded; the edge is idle again when the next arrives.
  for (int i = 0; i < 3; ++i) {
    const RequestRecord& record = records[static_cast<std::size_t>(i)];
    EXPECT_EQ(record.request.client, i);
    EXPECT_EQ(stage(record, Stage::uplink_queue), i * 360us);
    EXPECT_EQ(stage(record, Stage::uplink_air), 360us + 50us);
    EXPECT_EQ(stage(record, Stage::edge_queue), 0us);
    EXPECT_EQ(stage(record, Stage::downlink_wait), 0us);
    EXPECT_EQ(stage(record, Stage::downlink_air), 4us + 50us);
    EXPECT_EQ(record.latency(), compute + (i + 1) * 360us + 50us + 54us);
    EXPECT_EQ(record.floor, compute + 410us + 54us);
  }
}

TEST(Serve, ClientsQueueForTheOnlyExecutorOfTheEdge) {
  const auto records = records_of(aligned_clients(3));
  ASSERT_EQ(records.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const RequestRecord& record = records[static_cast<std::size_t>(i)];
    EXPECT_EQ(record.request.client, i);  // in order of arrival
    EXPECT_EQ(stage(record, Stage::edge_queue), i * (encoding + edge));
    EXPECT_EQ(record.latency(), device + encoding + (i + 1) * (encoding + edge));
  }
}

TEST(Serve, TwoExecutorsOfTheEdgeServeTwoAtOnce) {
  Scenario scenario = aligned_clients(3);
  scenario.edge.count = 2;
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(stage(records[0], Stage::edge_queue), 0ns);
  EXPECT_EQ(stage(records[1], Stage::edge_queue), 0ns);
  EXPECT_EQ(stage(records[2], Stage::edge_queue), encoding + edge);
}

TEST(Serve, TheRequestsOfAClientQueueAtItsDevice) {
  Scenario scenario = toy_scenario();
  scenario.requests = 3;
  scenario.workload.arrivals = PeriodicArrivals{.period = 100us, .aligned = true};
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 3U);
  // The device is busy for 132,800 + 640 ns with each, 33,440 ns longer than the period.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stage(records[static_cast<std::size_t>(i)], Stage::device_queue), i * 33'440ns);
  }
}

// 1000 operations at 10 ns each, before the prompt and not before further tokens.
TEST(Serve, AFrontEndRunsOnceARequest) {
  Scenario scenario = toy_scenario();
  scenario.workload.output = FixedLength{Tokens(2)};
  const RequestRecord without = only_record_of(scenario);
  scenario.device.front_end = NetworkConfig{.convolution = Operations(1000), .parameters = 100};
  const RequestRecord with = only_record_of(scenario);
  EXPECT_EQ(stage(with, Stage::device) - stage(without, Stage::device), 10us);
  const MemoryNeed need = scenario.device_need();
  scenario.device.front_end.reset();
  EXPECT_EQ(need.weights - scenario.device_need().weights, Bytes(200)) << "16 bits a weight";
}

TEST(Serve, TheWholeModelOnTheDeviceSendsNothing) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{std::nullopt};
  scenario.backhaul = microsecond_a_byte;
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(stage(record, Stage::device), 10 * (4 * 13'280ns + 512ns));
  EXPECT_EQ(record.latency(), 536'320ns);
  EXPECT_EQ(record.uplink_bytes, Bytes(0));
  EXPECT_EQ(record.blocks, 0);
}

TEST(Serve, TheWholeModelAtTheEdgeIsSentTokenIds) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{0};
  scenario.backhaul = microsecond_a_byte;
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(record.uplink_bytes, Bytes(40));
  EXPECT_EQ(stage(record, Stage::device), 0ns);
  EXPECT_EQ(stage(record, Stage::codec), 0ns);
  EXPECT_EQ(record.latency(), 40us + (4 * 13'280ns + 512ns) + 4us);
}

// Two more tokens after the prompt of 10: the first runs with 10 tokens in the KV cache, the second with 11. A block
// costs 1152 + 32 (10 + 1) = 1504 and 1152 + 32 (11 + 1) = 1536 operations. The edge reads the 2 592 = 1184 bytes of
// its weights more slowly than it does 1152 operations: 1536 and 1568 ns. The message of one token is 40 + 32 bytes,
// coded by moving 64 bytes.

TEST(Serve, EachFurtherTokenMakesAnotherTrip) {
  Scenario scenario = toy_scenario();
  scenario.workload.output = FixedLength{Tokens(3)};
  scenario.backhaul = microsecond_a_byte;
  const RequestRecord record = only_record_of(scenario);
  const Duration prompt = compute + 360us + 4us;
  const Duration second = 15'040ns + 64ns + 72us + 64ns + (3 * 1'536ns + 512ns) + 4us;
  const Duration third = 15'360ns + 64ns + 72us + 64ns + (3 * 1'568ns + 512ns) + 4us;
  EXPECT_EQ(record.first_token, prompt);
  EXPECT_EQ(record.latency(), prompt + second + third);
  EXPECT_EQ(record.floor, record.latency());
  EXPECT_EQ(record.uplink_bytes, Bytes(360 + 72 + 72));
  EXPECT_EQ(record.downlink_bytes, Bytes(12));
}

TEST(Serve, TheEdgeAloneGeneratesTheAnswerInOneTrip) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{0};
  scenario.workload.stream = false;
  scenario.workload.output = FixedLength{Tokens(3)};
  scenario.backhaul = microsecond_a_byte;
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(stage(record, Stage::edge), 4 * (13'280ns + 1'536ns + 1'568ns) + 3 * 512ns);
  EXPECT_EQ(record.latency(), 40us + 67'072ns + 12us);
  EXPECT_EQ(record.first_token, record.latency());
}

TEST(Serve, TheEdgeSendsEachTokenWhileItMakesTheNext) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{0};
  scenario.workload.output = FixedLength{Tokens(3)};
  scenario.backhaul = microsecond_a_byte;
  const RequestRecord record = only_record_of(scenario);
  // As above, but a token of 4 B takes 4 us on its way, and only that of the last one is waited for.
  EXPECT_EQ(record.latency(), 40us + 67'072ns + 4us);
  EXPECT_EQ(record.first_token, 40us + 4 * 13'280ns + 512ns + 4us);
  EXPECT_EQ(stage(record, Stage::backhaul), 44us);
  EXPECT_EQ(record.downlink_bytes, Bytes(12));
  EXPECT_EQ(record.floor, record.latency());
}

TEST(Serve, TheDeviceAloneTakesAsManyOperationsAsTheEdgeAlone) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{std::nullopt};
  scenario.workload.output = FixedLength{Tokens(3)};
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(record.first_token, 536'320ns);
  EXPECT_EQ(record.latency(), 10 * 66'816ns);
}

TEST(Serve, AClosedClientAsksAgainWhenItIsAnswered) {
  Scenario scenario = toy_scenario();
  scenario.requests = 3;
  scenario.workload.arrivals = ClosedArrivals{.think = 0s};
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(records[static_cast<std::size_t>(i)].request.arrival, i * compute);
    EXPECT_EQ(records[static_cast<std::size_t>(i)].latency(), compute);
  }
}

TEST(Serve, ATraceGivesTimeClientPromptAndOutput) {
  Scenario scenario = toy_scenario();
  scenario.requests.reset();
  scenario.workload.clients = 2;
  scenario.workload.arrivals = TraceArrivals{};
  scenario.trace = {{.time = 3us, .client = 1, .prompt = {}, .output = {}},
                    {.time = 1ms, .client = 0, .prompt = Tokens(20), .output = Tokens(2)}};
  const auto records = records_of(scenario);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].request.client, 1);
  EXPECT_EQ(records[0].request.arrival, 3us);
  EXPECT_EQ(records[0].latency(), compute);
  EXPECT_EQ(records[1].request.client, 0);
  EXPECT_EQ(records[1].request.arrival, 1ms);
  // 20 tokens: 1152 20 + 32 210 = 29,760 a block, coded in 2 x 1280 ns; then one token after 20: 1152 + 32 21 = 1824,
  // and 1184 + 672 = 1856 ns at the edge.
  const Duration prompt = 297'600ns + 2 * 1'280ns + 3 * 29'760ns + 512ns;
  const Duration second = 18'240ns + 2 * 64ns + 3 * 1'856ns + 512ns;
  EXPECT_EQ(records[1].first_token, prompt);
  EXPECT_EQ(records[1].latency(), prompt + second);
  EXPECT_EQ(records[1].floor, prompt + second);
}

TEST(Serve, AGibibyteAndAQuarterAtFiveGigabitPerSecondTakesTwoToTheThirtyFirstNanoseconds) {
  Scenario scenario = toy_scenario();
  scenario.cut = Cut{0};
  scenario.workload.prompt = FixedLength{Tokens(5 * (std::int64_t{1} << 26))};  // of 4 bytes each
  scenario.radio = FixedRadio{.rate = BitRate(5e9)};
  scenario.edge = test::toy_machine<EdgeConfig>(OperationRate(1e30));
  scenario.edge.bandwidth = ByteRate(1e30);
  scenario.edge.memory = Bytes(std::int64_t{1} << 40);
  const RequestRecord record = only_record_of(scenario);
  EXPECT_EQ(record.uplink_bytes, Bytes(1'342'177'280));
  EXPECT_EQ(stage(record, Stage::uplink_air), 2'147'483'648ns);
  // Two kernels in each of four blocks and the head, a nanosecond each when rounded up; 32 bit of answer at 5 Gbit/s
  // are 6.4 ns.
  EXPECT_EQ(record.latency(), 2'147'483'648ns + 9ns + 7ns);
}

}  // namespace
}  // namespace trilemma
