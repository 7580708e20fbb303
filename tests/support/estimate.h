#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/request.h"

/// What several tests compute from samples and records.
namespace trilemma::test {

/// Mean of independent values and its standard error.
struct Estimate {
  double mean;
  double error;
};

inline Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  double square = 0;
  for (const double value : values) sum += value;
  for (const double value : values) square += (value - sum / n) * (value - sum / n);
  return {sum / n, std::sqrt(square / (n - 1) / n)};
}

/// The integral of the number of requests in the system over time, from the records alone: a sweep over arrivals and
/// departures in order of time. All requests of `records` have left.
inline Duration requests_in_system(const std::vector<RequestRecord>& records) {
  std::vector<std::pair<Instant, int>> steps;
  for (const RequestRecord& record : records) {
    steps.emplace_back(record.request.arrival, 1);
    steps.emplace_back(record.finish, -1);
  }
  std::sort(steps.begin(), steps.end());
  Duration integral{0};
  Instant before{0};
  std::int64_t present = 0;
  for (const auto& [time, change] : steps) {
    integral += present * (time - before);
    before = time;
    present += change;
  }
  return integral;
}

}  // namespace trilemma::test
