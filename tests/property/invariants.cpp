#include "tests/property/invariants.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/uncertainty.h"
#include "tests/support/estimate.h"

namespace trilemma::test {
namespace {

/// Collects sentences that ought to be true.
class Promises {
 public:
  void expect(bool kept, const std::string& sentence) {
    if (!kept && broken_.size() < 5) broken_.push_back(sentence);
  }
  [[nodiscard]] std::vector<std::string> broken() const { return broken_; }

 private:
  std::vector<std::string> broken_;
};

auto everything(const RequestRecord& r) {
  return std::tuple{r.request.id,   r.request.client, r.request.arrival, r.request.prompt, r.request.output,
                    r.outcome,      r.finish,         r.first_token,     r.stages,         r.floor,
                    r.uplink_bytes, r.downlink_bytes, r.blocks,          r.retransmissions};
}

auto everything(const RadioCounts& c) {
  return std::tuple{c.blocks,       c.retransmissions, c.errors,        c.lost_blocks,     c.recovered_blocks,
                    c.empty_blocks, c.symbols,         c.bytes_offered, c.bytes_delivered, c.bytes_lost};
}

auto everything(const Replication& r) {
  return std::tuple{
      r.index,    r.end,    r.counts.offered,     r.counts.completed,     r.counts.failed, r.window,
      r.finished, r.events, everything(r.uplink), everything(r.downlink), r.floor_stages,  r.forecast.size()};
}

Duration stage(const RequestRecord& record, Stage which) { return record.stages[static_cast<std::size_t>(which)]; }

void check_record(const Scenario& scenario, const RequestRecord& record, Promises& promises) {
  const auto expect = [&](bool kept, const char* sentence) {
    promises.expect(kept, fmt::format("request {}: {}", record.request.id, sentence));
  };
  expect(std::all_of(record.stages.begin(), record.stages.end(), [](Duration time) { return time >= 0ns; }),
         "no stage is negative");
  expect(total(record.stages) == record.latency(), "the stages sum to the latency");
  expect(record.latency() > 0ns, "a request takes time");
  expect(record.request.client >= 0 && record.request.client < scenario.workload.clients, "its client exists");
  const bool one_trip = record.request.output == Tokens(1) ||
                        (scenario.raw_input() && !scenario.workload.stream && !scenario.speculation);
  if (record.outcome == Outcome::completed) {
    expect(record.latency() >= record.bound, "a completed request does not beat its bound");
    expect(record.bound <= record.floor, "its bound is not above its floor");
    expect(record.first_token > 0ns && record.first_token <= record.latency(), "the first token is not after the last");
    expect(!one_trip || record.first_token == record.latency(), "one trip: the first token is the answer");
  }
  if (scenario.on_device()) {
    expect(stage(record, Stage::device) + stage(record, Stage::device_queue) == record.latency(),
           "a whole model on the device needs only the device");
    expect(record.uplink_bytes == Bytes(0) && record.blocks == 0, "nothing leaves the device");
    expect(record.outcome == Outcome::completed, "a device does not lose requests");
  } else {
    expect(record.uplink_bytes > Bytes(0) && record.blocks > 0, "something was sent");
  }
  const bool prepares = scenario.device.tokenisation > 0ns || scenario.device.front_end;
  if (scenario.raw_input() && !prepares && !scenario.speculation)
    expect(stage(record, Stage::device) == 0ns, "raw input costs the device nothing");
}

std::vector<RequestRecord> by_id(std::vector<RequestRecord> records) {
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.request.id < b.request.id; });
  return records;
}

std::int64_t with_outcome(const std::vector<RequestRecord>& records, Outcome outcome) {
  return std::count_if(records.begin(), records.end(), [&](const auto& record) { return record.outcome == outcome; });
}

std::int64_t failed(const std::vector<RequestRecord>& records) {
  return std::count_if(records.begin(), records.end(),
                       [](const auto& record) { return record.outcome == Outcome::failed; });
}

}  // namespace

Played run(const Scenario& scenario, std::uint32_t index) {
  Recorder recorder;
  Replication replication = replicate(scenario, index, recorder);
  return {std::move(replication), std::move(recorder.records)};
}

bool same(const Played& a, const Played& b) {
  return everything(a.replication) == everything(b.replication) &&
         std::equal(a.records.begin(), a.records.end(), b.records.begin(), b.records.end(),
                    [](const auto& x, const auto& y) { return everything(x) == everything(y); });
}

std::vector<std::string> broken_by_records(const Scenario& scenario, const Played& run) {
  Promises promises;
  for (const RequestRecord& record : run.records) check_record(scenario, record, promises);
  const std::vector<RequestRecord> records = by_id(run.records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    promises.expect(records[i].request.id == i, "ids count the requests from 0, each once");
    promises.expect(i == 0 || records[i - 1].request.arrival <= records[i].request.arrival,
                    "a later id arrives no earlier");
    promises.expect(!scenario.duration || records[i].request.arrival < *scenario.duration || scenario.requests,
                    "no request arrives after the duration");
  }
  promises.expect(
      std::is_sorted(run.records.begin(), run.records.end(), [](auto& a, auto& b) { return a.finish < b.finish; }),
      "records come in order of leaving");
  Duration latencies{0};
  for (const RequestRecord& record : records) latencies += record.latency();
  promises.expect(requests_in_system(records) == latencies, "Little's law holds to the nanosecond");
  return promises.broken();
}

std::vector<std::string> broken_by_counts(const Scenario& scenario, const Played& run) {
  Promises promises;
  const RequestCounts& counts = run.replication.counts;
  const auto is = [&](std::uint64_t counted, std::int64_t expected, const char* what) {
    promises.expect(counted == static_cast<std::uint64_t>(expected),
                    fmt::format("{}: counted {}, expected {}", what, counted, expected));
  };
  std::int64_t blocks = 0;
  std::int64_t retransmissions = 0;
  Instant last{0};
  for (const RequestRecord& record : run.records) {
    blocks += record.blocks;
    retransmissions += record.retransmissions;
    last = std::max(last, record.finish);
  }
  const RadioCounts& up = run.replication.uplink;
  const RadioCounts& down = run.replication.downlink;
  promises.expect(run.replication.end == RunEnd::done, "the run ends by itself");
  is(counts.in_flight, 0, "requests in flight after the run");
  is(counts.dropped, with_outcome(run.records, Outcome::dropped), "dropped requests");
  is(counts.offered, std::ssize(run.records), "offered requests, each with a record");
  is(counts.failed, failed(run.records), "failed requests");
  is(counts.completed, with_outcome(run.records, Outcome::completed), "completed requests");
  // Requests share blocks, so a block can be in several records.
  promises.expect(up.blocks + down.blocks <= blocks, "every transport block is in a record");
  promises.expect(up.retransmissions + down.retransmissions <= retransmissions, "every retransmission is in a record");
  // A message may lose several blocks, and a block may hold several messages.
  promises.expect((up.lost_blocks + down.lost_blocks > 0) == (failed(run.records) > 0),
                  "requests fail where blocks are lost, and only there");
  for (const RadioCounts* radio : {&up, &down}) {
    promises.expect(radio->bytes_queued() == 0, "every byte offered to the radio is delivered or lost");
    promises.expect((radio->bytes_lost > 0) == (radio->lost_blocks > 0), "bytes are lost with blocks");
    promises.expect(radio->errors >= radio->lost_blocks, "a lost block failed at least once");
  }
  const bool trace = !scenario.trace.empty();
  if (scenario.requests && !trace) is(counts.offered, *scenario.requests, "offered requests, of 'requests'");
  if (trace && !scenario.requests && !scenario.duration)
    is(counts.offered, std::ssize(scenario.trace), "offered requests, of the trace");
  promises.expect(run.replication.events >= counts.offered, "every request takes at least one event");
  promises.expect(run.replication.finished >= last, "the run is over after the last request");
  for (std::size_t sample = 0; scenario.duration && !scenario.requests && sample < backlog_samples; ++sample) {
    const Instant time = static_cast<std::int64_t>(sample + 1) * (*scenario.duration / backlog_samples);
    const auto late = std::count_if(run.records.begin(), run.records.end(), [&](const RequestRecord& record) {
      return record.request.arrival + record.floor <= time && time < record.finish;
    });
    is(run.replication.backlog[sample], late, "late requests at the end of an eighth of the window");
  }
  return promises.broken();
}

std::vector<std::string> broken_by_floors(const Scenario& scenario, const Played& run) {
  Promises promises;
  Scheduler scheduler;
  Recorder nobody;
  const Streams streams(static_cast<std::uint32_t>(scenario.seed), run.replication.index);
  const Scenario drawn = with_drawn_parameters(scenario, streams);
  World world(drawn, streams, scheduler, nobody);
  for (const RequestRecord& record : run.records) {
    const Request& request = record.request;
    promises.expect(record.floor == world.floor(request.client, request.ask()),
                    fmt::format("request {}: its floor is that of the world", request.id));
    promises.expect(record.floor == total(world.floor_stages(request.client, request.ask())),
                    fmt::format("request {}: its floor is the sum of its stages", request.id));
  }
  return promises.broken();
}

}  // namespace trilemma::test
