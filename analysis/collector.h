#pragma once

#include <array>
#include <optional>
#include <vector>

#include "analysis/latency_histogram.h"
#include "sim/request.h"
#include "sim/scenario.h"

namespace trilemma {

/// Statistics of one kind of request of a mix.
struct ClassStatistics {
  LatencyHistogram latency;
  LatencyHistogram first_token;
  LatencyHistogram per_token;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::optional<ViolationCounter> violations;  // of a target
};

/// Statistics of the requests of one or more replications, in constant memory. Requests that arrive during the warm-up
/// are left out. A failed request counts as infinitely late.
class Collector final : public RecordSink {
 public:
  explicit Collector(const Scenario& scenario);

  void add(const RequestRecord& record) override;
  void merge(const Collector& other);

  [[nodiscard]] const LatencyHistogram& latency() const { return latency_; }
  [[nodiscard]] const LatencyHistogram& first_token() const { return first_token_; }
  /// Time per output token after the first; empty when every request has one token or its answer comes as a whole.
  [[nodiscard]] const LatencyHistogram& per_token() const { return per_token_; }
  /// Of completed requests.
  [[nodiscard]] const LatencyHistogram& stage(Stage stage) const { return stages_[static_cast<std::size_t>(stage)]; }
  [[nodiscard]] const std::optional<ViolationCounter>& violations() const { return violations_; }
  /// By class; empty where the scenario has none.
  [[nodiscard]] const std::vector<ClassStatistics>& classes() const { return classes_; }
  [[nodiscard]] Duration smallest_floor() const { return smallest_floor_; }
  [[nodiscard]] std::int64_t uplink_bytes() const { return uplink_bytes_; }
  [[nodiscard]] std::int64_t downlink_bytes() const { return downlink_bytes_; }

 private:
  void add_to_class(const RequestRecord& record);

  Duration warmup_;
  std::vector<bool> answers_as_a_whole_;  // by class: everything is generated before anything is sent
  std::vector<ClassStatistics> classes_;
  LatencyHistogram latency_;
  LatencyHistogram first_token_;
  LatencyHistogram per_token_;
  std::array<LatencyHistogram, stage_count> stages_;
  std::optional<ViolationCounter> violations_;
  Duration smallest_floor_ = Duration::max();
  std::int64_t uplink_bytes_ = 0;
  std::int64_t downlink_bytes_ = 0;
};

}  // namespace trilemma
