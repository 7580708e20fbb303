#pragma once

#include <vector>

#include "sim/replicate.h"

/// A scenario whose costs are sums that one does by hand.
///
/// The model has 4 blocks of 8 x ((2 2 + 2 1) 4 + 3 16) = 576 matrix weights. A pass of n tokens after c costs a block
/// 2 576 n operations and 4 (2 4) = 32 more for each of the n c + n (n + 1) / 2 pairs of query and key; the LM head
/// costs 2 32 8 = 512 once. The edge does one operation, and moves one byte, in a nanosecond; the device is ten times
/// slower at operations. The prompt is bound by its operations, attention too with its cache of one bit a number. For
/// the prompt of 10 tokens:
///
///     one block  1152 10 + 32 55       = 13,280 operations
///     message    40 + 4 10 8           =    360 bytes (header, fp32), or 4 10 = 40 bytes of token ids at cut 0
///     encoding   2 4 10 8 bytes moved  =    640 ns on either side (fp32 converts nothing)
///     answer     4 bytes
namespace trilemma::test {

inline LlmConfig toy_llm() {
  LlmConfig llm;
  llm.layers = 4;
  llm.hidden = 8;
  llm.heads = 2;
  llm.kv_heads = 1;
  llm.head_size = 4;
  llm.feed_forward = 16;
  llm.vocabulary = 32;
  llm.context = Tokens(4096);
  return llm;
}

template <class Machine>
Machine toy_machine(OperationRate rate) {
  Machine machine;
  machine.memory = Bytes(1'000'000'000);
  machine.bandwidth = ByteRate(1e9);
  machine.rates = {{.precision = Precision::fp16, .compute = rate, .cache_bits = 1}};
  machine.precision = Precision::fp16;
  return machine;
}

/// One client that asks once, at time 0, without radio, backhaul and packet headers.
inline Scenario toy_scenario() {
  Scenario scenario;
  scenario.requests = 1;
  scenario.llm = toy_llm();
  scenario.cut = Cut{1};
  scenario.device = toy_machine<DeviceConfig>(OperationRate(1e8));
  scenario.edge = toy_machine<EdgeConfig>(OperationRate(1e9));
  scenario.codec = IdentityCodec{.format = NumberFormat::fp32};
  scenario.transport = NoTransport{};
  scenario.workload = {.clients = 1,
                       .arrivals = PeriodicArrivals{.period = 1s, .jitter = 0ns, .aligned = true},
                       .prompt = FixedLength{Tokens(10)},
                       .output = FixedLength{Tokens(1)}};
  scenario.radio = NoRadio{};
  scenario.backhaul = NoLink{};
  return scenario;
}

/// Keeps every record.
class Records final : public RecordSink {
 public:
  void add(const RequestRecord& record) override { rows.push_back(record); }
  std::vector<RequestRecord> rows;
};

inline std::vector<RequestRecord> records_of(const Scenario& scenario, std::uint32_t replication = 1) {
  Records records;
  replicate(scenario, replication, records);
  return records.rows;
}

inline Duration stage(const RequestRecord& record, Stage stage) {
  return record.stages[static_cast<std::size_t>(stage)];
}

}  // namespace trilemma::test
