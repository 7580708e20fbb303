#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/collector.h"
#include "analysis/quantile.h"
#include "analysis/verdict.h"
#include "models/accuracy/published.h"
#include "sim/replicate.h"
#include "sim/scenario.h"

namespace trilemma {

/// The quantiles of every result, with the names they have in files.
struct NamedQuantile {
  std::string_view name;
  Fraction q;
};
inline constexpr std::array<NamedQuantile, 6> reported_quantiles{{{"p50", Fraction(0.5)},
                                                                  {"p90", Fraction(0.9)},
                                                                  {"p99", Fraction(0.99)},
                                                                  {"p99_9", Fraction(0.999)},
                                                                  {"p99_99", Fraction(0.9999)},
                                                                  {"p99_999", Fraction(0.99999)}}};

struct Stability {
  bool overloaded = false;
  std::string binding;               // the busiest resource; empty when nothing has a load
  double growth = 0;                 // requests per second by which the backlog grows, where it was seen to
  std::vector<Utilisation> offered;  // demanded share of each resource; empty for closed loops
  std::vector<Utilisation> carried;  // used share until the last departure, mean over replications
};

struct StageSummary {
  std::string_view name;
  std::optional<double> mean_ms;
  std::optional<double> p99_ms;
  double floor_ms = 0;
  std::string reason;  // why there is no mean or no p99
};

/// The machine side of a scenario: what the model takes on each tier, of a mix the class that takes most. Messages are
/// those of a usual request; a mix has them by class.
struct SizeSummary {
  Bytes device_bytes{0};
  Bytes device_capacity{0};
  Bytes edge_bytes{0};
  Bytes edge_capacity{0};
  Bytes payload{0};             // encoded message of the prompt, without packet headers
  Bytes on_air{0};              // with them
  Bytes raw_input{0};           // the prompt as token ids, with packet headers
  std::optional<double> ratio;  // uncompressed / sent, headers in both; empty where no activations are sent
};

struct RadioSummary {
  double sinr_min = 0, sinr_median = 0, sinr_max = 0;  // dB, uplink
  int mcs_min = 0, mcs_max = 0;                        // uplink
  std::size_t clients = 0;
  std::size_t line_of_sight = 0;
  std::size_t out_of_coverage = 0;
  double block_error_rate = 0;  // observed, uplink, all transmissions
  RadioCounts uplink;
  RadioCounts downlink;
};

/// Mean energy of a completed request, in millijoules, idle power over the whole run included; empty where a machine
/// has no power figures.
struct EnergySummary {
  std::optional<double> device_mj;
  std::optional<double> radio_mj;
  std::optional<double> edge_mj;
  std::optional<double> cloud_mj;  // 0 without a cloud
  [[nodiscard]] std::optional<double> total_mj() const {
    if (!device_mj || !radio_mj || !edge_mj || !cloud_mj) return std::nullopt;
    return *device_mj + *radio_mj + *edge_mj + *cloud_mj;
  }
};

/// In how many replications a target holds and fails by itself, where each draws the parameters anew.
struct DrawnVerdicts {
  std::size_t holds = 0;
  std::size_t fails = 0;
  std::size_t undecided = 0;
};

/// What the servers of a tier did; empty where no batches, no cache limit and no policy were at work.
struct SiteSummary {
  std::string_view tier;
  double batch = 0;              // sequences of a step, mean
  double tokens_per_s = 0;       // of answers
  std::int64_t blocks = 0;       // of KV cache, one copy
  std::int64_t most_blocks = 0;  // in use at a time, of one copy
  std::uint64_t preemptions = 0;
  std::uint64_t recomputed = 0;  // tokens
  std::uint64_t too_large = 0;   // requests that were turned away
  std::uint64_t queue_full = 0;
  std::uint64_t late = 0;
};

/// One kind of request of a mix. Latencies are empty where the scenario's are.
struct ClassSummary {
  std::string name;
  Bytes payload{0};  // encoded message of a usual prompt, without packet headers
  Bytes on_air{0};   // with them
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::optional<double> mean_ms;
  std::vector<QuantileEstimate> quantiles;  // as reported_quantiles
  std::optional<double> ttft_mean_ms;
  std::optional<double> tpot_mean_ms;
  std::optional<TargetConfig> target;
  std::optional<TargetVerdict> verdict;
  std::optional<AccuracyAnswer> accuracy;
};

/// All that a point says, of all replications together.
struct Summary {
  std::size_t replications = 0;  // run, the last one perhaps cut short by a limit
  RequestCounts requests;
  std::uint64_t measured = 0;
  RunEnd end = RunEnd::done;
  Duration window{0};     // summed over replications
  Duration simulated{0};  // summed over replications
  std::uint64_t events = 0;
  Stability stability;
  std::optional<std::string> withheld;  // why there are no latencies
  std::optional<double> mean_ms;
  std::optional<double> max_ms;
  std::vector<QuantileEstimate> quantiles;  // as reported_quantiles
  std::optional<double> ttft_mean_ms;
  std::optional<QuantileEstimate> ttft_p99;
  std::optional<double> tpot_mean_ms;
  std::optional<QuantileEstimate> tpot_p99;
  std::vector<StageSummary> stages;
  std::optional<TargetVerdict> target;
  std::optional<DrawnVerdicts> drawn;  // with uncertainty
  EnergySummary energy;
  std::vector<std::string> beyond_target;  // stages whose zero-load time alone exceeds the target
  double floor_ms = 0;                     // of the client with the smallest
  SizeSummary size;
  std::vector<SiteSummary> sites;
  std::vector<ClassSummary> classes;  // empty where all requests are alike
  std::optional<RadioSummary> radio;
  std::optional<AccuracyAnswer> accuracy;  // where the workload has a task
  double throughput = 0;                   // completed requests per second until the last departure
  std::optional<double> goodput;           // of them within the target

  /// That of the target, or of the targets of all classes together; empty without any.
  [[nodiscard]] std::optional<Verdict> verdict() const;
  /// Requests were offered and none was answered.
  [[nodiscard]] bool all_failed() const {
    return end == RunEnd::done && requests.offered > 0 && requests.completed == 0;
  }
};

/// Requires at least one replication.
Summary summarize(const Scenario& scenario, const Collector& collector, const std::vector<Replication>& replications);

}  // namespace trilemma
