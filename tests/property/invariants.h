#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"
#include "core/config/writer.h"
#include "sim/replicate.h"

namespace trilemma::test {

/// Keeps every record.
class Recorder final : public RecordSink {
 public:
  void add(const RequestRecord& record) override { records.push_back(record); }
  std::vector<RequestRecord> records;  // in order of leaving
};

/// One replication with all that it said.
struct Played {
  Replication replication;
  std::vector<RequestRecord> records;
};
Played run(const Scenario& scenario, std::uint32_t index);

/// Whether two runs say the same, to the nanosecond and the byte.
bool same(const Played& a, const Played& b);

/// The promises that a run breaks, one sentence each; empty when it keeps them all.
std::vector<std::string> broken_by_records(const Scenario& scenario, const Played& run);
std::vector<std::string> broken_by_counts(const Scenario& scenario, const Played& run);
/// The floors in the records against those of a world of their own.
std::vector<std::string> broken_by_floors(const Scenario& scenario, const Played& run);

/// The summary of one or more replications.
Summary summary_of(const Scenario& scenario, const std::vector<Played>& runs);
/// The promises of summary.json that it breaks.
std::vector<std::string> broken_by_summary(const Scenario& scenario, const std::vector<Played>& runs);

}  // namespace trilemma::test
