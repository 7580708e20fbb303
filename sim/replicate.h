#pragma once

#include <cstdint>
#include <vector>

#include "sim/world.h"

namespace trilemma {

/// What one replication says beside its records.
struct Replication {
  std::uint32_t index = 0;
  RunEnd end = RunEnd::done;
  RequestCounts counts;
  Backlog backlog{};
  std::uint64_t judged = 0;  // requests after the warm-up, where there is a target
  std::uint64_t late = 0;    // of them
  Duration device_busy{0};   // of all devices
  SiteCounts edge;
  SiteCounts cloud;
  Duration window{0};   // of arrivals
  Instant finished{0};  // last event
  std::uint64_t events = 0;
  std::vector<Utilisation> forecast;     // offered load; empty for closed loops
  std::vector<Utilisation> utilisation;  // carried load
  RadioCounts uplink;
  RadioCounts downlink;
  std::vector<RadioLinkState> links;  // of all clients, cell by cell
  StageTimes floor_stages{};          // of the shortest request, for the client and class with the smallest floor
};

/// How far a replication has come.
struct Progress {
  std::uint32_t replication = 0;
  double fraction = 0;  // of the requests or of the duration, 0 to 1
  Instant simulated{0};
  RequestCounts requests;
};

/// Is told now and then, at intervals that depend on the host; has no influence on results.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void report(const Progress& progress) = 0;
};

/// Runs one replication; a pure function of its arguments: the same scenario and index give the same records and
/// results, whatever ran before. Records go to `sink` as the requests leave.
Replication replicate(const Scenario& scenario, std::uint32_t index, RecordSink& sink,
                      ProgressSink* progress = nullptr);

/// What is known of a scenario without running it.
struct Preview {
  std::vector<StageTimes> floors;  // by client
  std::vector<Utilisation> forecast;
  std::vector<RadioLinkState> links;
  Pass prefill;
  std::optional<double> requests;  // expected number of all replications, where the scenario says it
};
Preview preview(const Scenario& scenario);

}  // namespace trilemma
