#include "analysis/collector.h"

#include <algorithm>

#include "sim/classes.h"

namespace trilemma {

Collector::Collector(const Scenario& scenario) : warmup_(scenario.warmup) {
  if (scenario.has_one_target()) violations_.emplace(scenario.target->latency);
  for (const Scenario& one : class_scenarios(scenario)) {
    answers_as_a_whole_.push_back(one.raw_input() && !one.workload.stream && !one.speculation);
    if (scenario.workload.classes.empty()) continue;
    ClassStatistics& statistics = classes_.emplace_back();
    if (one.target) statistics.violations.emplace(one.target->latency);
  }
}

void Collector::add(const RequestRecord& record) {
  if (record.request.arrival < warmup_) return;
  smallest_floor_ = std::min(smallest_floor_, record.floor);
  uplink_bytes_ += record.uplink_bytes.value();
  downlink_bytes_ += record.downlink_bytes.value();
  if (!classes_.empty()) add_to_class(record);
  if (record.outcome != Outcome::completed) {
    latency_.record_lost();
    first_token_.record_lost();
    if (violations_) violations_->record_lost();
    return;
  }
  latency_.record(record.latency());
  first_token_.record(record.first_token);
  const std::int64_t further = record.request.output.value() - 1;
  if (further > 0 && !answers_as_a_whole_[record.request.kind])
    per_token_.record((record.latency() - record.first_token) / further);
  for (std::size_t i = 0; i < stage_count; ++i) stages_[i].record(record.stages[i]);
  if (violations_) violations_->record(record.latency());
}

void Collector::add_to_class(const RequestRecord& record) {
  ClassStatistics& statistics = classes_[record.request.kind];
  if (record.outcome != Outcome::completed) {
    ++(record.outcome == Outcome::failed ? statistics.failed : statistics.dropped);
    statistics.latency.record_lost();
    statistics.first_token.record_lost();
    if (statistics.violations) statistics.violations->record_lost();
    return;
  }
  ++statistics.completed;
  statistics.latency.record(record.latency());
  statistics.first_token.record(record.first_token);
  const std::int64_t further = record.request.output.value() - 1;
  if (further > 0 && !answers_as_a_whole_[record.request.kind])
    statistics.per_token.record((record.latency() - record.first_token) / further);
  if (statistics.violations) statistics.violations->record(record.latency());
}

void Collector::merge(const Collector& other) {
  latency_.merge(other.latency_);
  first_token_.merge(other.first_token_);
  per_token_.merge(other.per_token_);
  for (std::size_t i = 0; i < stage_count; ++i) stages_[i].merge(other.stages_[i]);
  if (violations_) violations_->merge(*other.violations_);
  for (std::size_t kind = 0; kind < classes_.size(); ++kind) {
    ClassStatistics& ours = classes_[kind];
    const ClassStatistics& theirs = other.classes_[kind];
    ours.latency.merge(theirs.latency);
    ours.first_token.merge(theirs.first_token);
    ours.per_token.merge(theirs.per_token);
    ours.completed += theirs.completed;
    ours.failed += theirs.failed;
    ours.dropped += theirs.dropped;
    if (ours.violations) ours.violations->merge(*theirs.violations);
  }
  smallest_floor_ = std::min(smallest_floor_, other.smallest_floor_);
  uplink_bytes_ += other.uplink_bytes_;
  downlink_bytes_ += other.downlink_bytes_;
}

}  // namespace trilemma
