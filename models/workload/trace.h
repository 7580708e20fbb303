#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "models/workload/config.h"

namespace trilemma {

/// One row of a trace.
struct TraceRow {
  Instant time;
  std::int64_t client;
  std::optional<Tokens> prompt;
  std::optional<Tokens> output;
};

/// Reads a trace: header `time,client[,prompt,output]`, one request a row, times not decreasing, clients from 0.
/// Times are multiplied by the time unit and the time scale of `config` and counted from its origin.
/// Throws config::Error ("file:line: ...") for a missing or unreadable file, a wrong header, a wrong number of cells, a
/// cell that is no number or out of range, times out of order, a client that the workload does not have, or no row.
std::vector<TraceRow> read_trace(const std::filesystem::path& path, const std::string& shown,
                                 const TraceArrivals& config, std::int64_t clients);

}  // namespace trilemma
