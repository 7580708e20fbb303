#include "analysis/collector.h"

#include <algorithm>

namespace trilemma {

Collector::Collector(const Scenario& scenario) : warmup_(scenario.warmup), answer_as_a_whole_(scenario.raw_input()) {
  if (scenario.target) violations_.emplace(scenario.target->latency);
}

void Collector::add(const RequestRecord& record) {
  if (record.request.arrival < warmup_) return;
  smallest_floor_ = std::min(smallest_floor_, record.floor);
  uplink_bytes_ += record.uplink_bytes.value();
  downlink_bytes_ += record.downlink_bytes.value();
  if (record.outcome != Outcome::completed) {
    latency_.record_lost();
    first_token_.record_lost();
    if (violations_) violations_->record_lost();
    return;
  }
  latency_.record(record.latency());
  first_token_.record(record.first_token);
  const std::int64_t further = record.request.output.value() - 1;
  if (further > 0 && !answer_as_a_whole_) per_token_.record((record.latency() - record.first_token) / further);
  for (std::size_t i = 0; i < stage_count; ++i) stages_[i].record(record.stages[i]);
  if (violations_) violations_->record(record.latency());
}

void Collector::merge(const Collector& other) {
  latency_.merge(other.latency_);
  first_token_.merge(other.first_token_);
  per_token_.merge(other.per_token_);
  for (std::size_t i = 0; i < stage_count; ++i) stages_[i].merge(other.stages_[i]);
  if (violations_) violations_->merge(*other.violations_);
  smallest_floor_ = std::min(smallest_floor_, other.smallest_floor_);
  uplink_bytes_ += other.uplink_bytes_;
  downlink_bytes_ += other.downlink_bytes_;
}

}  // namespace trilemma
