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
  Flow first_half;
  Flow second_half;
  Duration window{0};   // of arrivals
  Instant finished{0};  // last event
  std::uint64_t events = 0;
  std::vector<Utilisation> forecast;     // offered load; empty for closed loops
  std::vector<Utilisation> utilisation;  // carried load
  RadioCounts uplink;
  RadioCounts downlink;
  std::vector<RadioLinkState> links;  // of all clients, cell by cell
  StageTimes floor_stages{};          // of the scenario's own prompt, for the client with the smallest floor
};

/// Runs one replication; a pure function of its arguments: the same scenario and index give the same records and
/// results, whatever ran before. Records go to `sink` as the requests leave.
Replication replicate(const Scenario& scenario, std::uint32_t index, RecordSink& sink);

/// What is known of a scenario without running it.
struct Preview {
  std::vector<StageTimes> floors;  // by client
  std::vector<Utilisation> forecast;
  std::vector<RadioLinkState> links;
  Pass prefill;
};
Preview preview(const Scenario& scenario);

}  // namespace trilemma
