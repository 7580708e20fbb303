// What may be changed without making anything slower, on common random numbers.
//
// The claims are theorems for this family of scenarios and no wider: one cell with a fixed radio, open arrivals (they
// do not depend on the answers), one trip a request, all requests alike. Then every station serves first come, first
// served with one constant service time: D(n) = max(A(n), D(n - c)) + s for its c servers. D is monotone in s, falls
// with c and is monotone in the sorted arrivals A, which are the departures of the station before; the requests are
// exchangeable, so the sum of latencies, that is of last departures less arrivals, falls with every s. What follows a
// station as a constant delay moves all later times by itself, exactly. None of it holds in general for closed loops,
// for several trips, for requests of several sizes, or for an NR cell.

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "tests/property/draw.h"
#include "tests/property/invariants.h"
#include "tests/property/random_scenario.h"

namespace trilemma::test {
namespace {

constexpr int chains_wanted = 100;

FixedRadio& radio(Scenario& scenario) { return std::get<FixedRadio>(scenario.radio); }

/// A random scenario brought into the family above; `number` as in random_scenario.
Scenario fifo_chain(std::uint32_t number) {
  Draw draw(20260102, number);
  Scenario scenario = random_scenario(number);
  scenario.radio = FixedRadio{.rate = BitRate(std::round(draw.magnitude(1e6, 1e9))), .delay = draw.time(1us, 5ms)};
  scenario.cells = 1;
  scenario.jitter = Switch::off;  // noise does not know what came first
  scenario.workload.output = FixedLength{Tokens(1)};
  static_cast<SiteConfig&>(scenario.edge) = SiteConfig{.count = scenario.edge.count};
  scenario.cloud.reset();
  scenario.cut.cloud.reset();
  scenario.speculation.reset();
  for (TraceRow& row : scenario.trace) row.prompt = row.output = std::nullopt;
  return scenario;
}

bool is_open(const Scenario& scenario) {
  return !std::holds_alternative<ClosedArrivals>(scenario.workload.arrivals) && !scenario.on_device();
}

std::vector<Scenario> fifo_chains(const std::function<bool(const Scenario&)>& wanted = is_open) {
  std::vector<Scenario> chains;
  for (std::uint32_t number = 1; std::ssize(chains) < chains_wanted; ++number) {
    Scenario scenario = fifo_chain(number);
    if (problems_of(scenario).empty() && wanted(scenario)) chains.push_back(std::move(scenario));
  }
  return chains;
}

std::vector<RequestRecord> records_by_id(const Scenario& scenario) {
  std::vector<RequestRecord> records = run(scenario, 0).records;
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.request.id < b.request.id; });
  return records;
}

/// Sum of latencies; also checks that the arrivals are those of `same_arrivals`.
Duration latencies(const std::vector<RequestRecord>& records, const std::vector<RequestRecord>& same_arrivals) {
  EXPECT_EQ(records.size(), same_arrivals.size());
  Duration sum{0};
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].request.arrival, same_arrivals[i].request.arrival);
    EXPECT_EQ(records[i].outcome, Outcome::completed);
    sum += records[i].latency();
  }
  return sum;
}

/// The change never raises the mean latency of a chain, and lowers it in some.
void expect_never_slower(const std::function<void(Scenario&)>& change,
                         const std::function<bool(const Scenario&)>& wanted = is_open) {
  int faster = 0;
  for (const Scenario& before : fifo_chains(wanted)) {
    SCOPED_TRACE(as_yaml(before));
    Scenario after = before;
    change(after);
    ASSERT_TRUE(problems_of(after).empty());
    const auto records = records_by_id(before);
    const Duration was = latencies(records, records);
    const Duration is = latencies(records_by_id(after), records);
    ASSERT_LE(is, was);
    if (is < was) ++faster;
  }
  EXPECT_GE(faster, chains_wanted / 10);
}

void speed_up(ProcessorConfig& processor) {
  processor.bandwidth = processor.bandwidth * 1.5;
  for (PrecisionRate& rate : processor.rates) {
    rate.per_call /= 2;
    rate.per_layer /= 2;
    rate.compute = rate.compute * 1.5;
  }
}

TEST(FifoChain, IsNeverSlowerWithAFasterRadio) {
  expect_never_slower([](Scenario& scenario) { radio(scenario).rate = radio(scenario).rate * 1.5; });
}

TEST(FifoChain, IsNeverSlowerWithAFasterBackhaul) {
  const auto change = [](Scenario& scenario) {
    std::visit(
        [](auto& link) {
          if constexpr (requires { link.rate; }) link.rate = link.rate * 1.5;
        },
        scenario.backhaul);
  };
  expect_never_slower(change);
}

TEST(FifoChain, IsNeverSlowerWithAFasterEdge) {
  expect_never_slower([](Scenario& scenario) { speed_up(scenario.edge); });
}

TEST(FifoChain, IsNeverSlowerWithAFasterDevice) {
  expect_never_slower([](Scenario& scenario) { speed_up(scenario.device); },
                      [](const Scenario& scenario) { return is_open(scenario) && !scenario.raw_input(); });
}

TEST(FifoChain, IsNeverSlowerWithMoreEdgeProcessors) {
  expect_never_slower([](Scenario& scenario) { ++scenario.edge.count; },
                      [](const Scenario& scenario) { return is_open(scenario) && scenario.workload.clients > 1; });
}

TEST(FifoChain, IsNeverSlowerWithoutPacketHeaders) {
  expect_never_slower([](Scenario& scenario) { scenario.transport = NoTransport{}; },
                      [](const Scenario& scenario) {
                        const auto* udp = std::get_if<UdpTransport>(&scenario.transport);
                        // Headers make more packets, and packets overlap on radio and backhaul.
                        return is_open(scenario) && std::holds_alternative<NoLink>(scenario.backhaul) &&
                               udp != nullptr && udp->headers > Bytes(0);
                      });
}

// Half the bytes per value: a smaller message, and no more work for the codec.
TEST(FifoChain, IsNeverSlowerWithFewerBitsPerActivation) {
  // Where compute and memory time add up, the conversion costs more than the bytes save; and where its one operation a
  // value takes longer than the 8 bytes a value that are moved without it.
  const auto hides = [](const ProcessorConfig& processor) {
    return !processor.signal &&
           std::all_of(processor.rates.begin(), processor.rates.end(), [&](const PrecisionRate& rate) {
             const double operations = rate.compute.value() * rate.compute_efficiency.value();
             return rate.overlap == Fraction(1) &&
                    8 * operations >= processor.bandwidth.value() * rate.memory_efficiency.value();
           });
  };
  expect_never_slower([](Scenario& scenario) { scenario.codec = IdentityCodec{.format = NumberFormat::fp16}; },
                      [&](const Scenario& scenario) {
                        const auto* codec = std::get_if<IdentityCodec>(&scenario.codec);
                        return is_open(scenario) && hides(scenario.device) && hides(scenario.edge) &&
                               !scenario.raw_input() && codec != nullptr && codec->format == NumberFormat::fp32;
                      });
}

TEST(FifoChain, AShorterRadioDelayIsFeltTwiceByEveryRequestExactly) {
  for (const Scenario& before : fifo_chains()) {
    SCOPED_TRACE(as_yaml(before));
    Scenario after = before;
    const Duration saved = radio(after).delay / 2;
    radio(after).delay -= saved;
    const auto slow = records_by_id(before);
    const auto fast = records_by_id(after);
    ASSERT_EQ(slow.size(), fast.size());
    for (std::size_t i = 0; i < slow.size(); ++i) ASSERT_EQ(slow[i].latency() - fast[i].latency(), 2 * saved) << i;
  }
}

// Requests of the clients that remain, one by one: they keep their arrivals, and at each first-come-first-served
// station the others only stood in their way.
TEST(FifoChain, FewerClientsDelayNobody) {
  const auto wanted = [](const Scenario& scenario) {
    return is_open(scenario) && scenario.duration && scenario.trace.empty() && scenario.workload.clients > 1;
  };
  int faster = 0;
  for (const Scenario& before : fifo_chains(wanted)) {
    SCOPED_TRACE(as_yaml(before));
    Scenario after = before;
    after.workload.clients = before.workload.clients / 2;
    std::map<std::pair<std::int64_t, Instant>, Duration> crowded;
    for (const RequestRecord& record : run(before, 0).records) {
      crowded[{record.request.client, record.request.arrival}] = record.latency();
    }
    for (const RequestRecord& record : run(after, 0).records) {
      const auto found = crowded.find({record.request.client, record.request.arrival});
      ASSERT_NE(found, crowded.end()) << "a client asks at the same times, whoever else is there";
      ASSERT_LE(record.latency(), found->second);
      if (record.latency() < found->second) ++faster;
    }
  }
  EXPECT_GE(faster, chains_wanted);
}

// Without a queue and without a frame there is nothing to wait for, in as many trips as the answer takes.
TEST(FifoChain, ALonelyRequestIsAsFastAsItsFloor) {
  for (std::uint32_t number = 1; number <= 300; ++number) {
    Scenario scenario = fifo_chain(number);
    scenario.workload.output = random_scenario(number).workload.output;
    scenario.workload.stream = false;  // tokens that follow each other closely queue for the link
    scenario.workload.clients = 1;
    scenario.workload.arrivals = ClosedArrivals{.think = 1ms};
    scenario.trace.clear();
    scenario.duration.reset();
    scenario.warmup = 0ns;
    scenario.requests = 3;
    if (!problems_of(scenario).empty()) continue;
    SCOPED_TRACE(as_yaml(scenario));
    const Played played = run(scenario, 0);
    ASSERT_EQ(played.records.size(), 3U);
    for (const RequestRecord& record : played.records) {
      ASSERT_EQ(record.latency(), record.floor);
      ASSERT_EQ(record.stages, played.replication.floor_stages);
    }
  }
}

}  // namespace
}  // namespace trilemma::test
