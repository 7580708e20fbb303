#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/process.h"
#include "core/random.h"
#include "core/scheduler.h"
#include "models/link/link.h"
#include "models/radio/radio.h"
#include "models/server/server.h"
#include "sim/costs.h"
#include "sim/network.h"
#include "sim/request.h"
#include "sim/scenario.h"

namespace trilemma {

/// Share of a resource's capacity, by name ("edge", "uplink cell 3"); >= 1 is overload.
struct Utilisation {
  std::string resource;
  double share = 0;
};

/// Requests and what became of them; offered = completed + failed + dropped + in_flight, always.
struct RequestCounts {
  std::uint64_t offered = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;  // refused by a policy; this version has none
  std::uint64_t in_flight = 0;
};

/// Requests that should have left by the end of each eighth of the arrival window, had they been alone, and had not.
inline constexpr std::size_t backlog_samples = 8;
using Backlog = std::array<std::uint64_t, backlog_samples>;

/// Steady traffic of one client, for forecasts: `rate` requests per second.
struct Demand {
  std::int64_t client;
  Tokens prompt;
  Tokens output;
  double rate;
};

/// All parts of one scenario on one event list, wired together. Valid for one run.
class World {
 public:
  World(const Scenario& scenario, const Streams& streams, Scheduler& scheduler, RecordSink& sink);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Instant now() const { return scheduler_.now(); }
  Costs& costs() { return costs_; }
  Server& device(std::int64_t client) { return devices_[static_cast<std::size_t>(client)]; }
  Server& edge() { return edge_; }
  /// `co_await` it: radio and backhaul, in the order of the direction.
  LegAwaiter carry(Direction direction, const Request& request, Bytes size) {
    const Instant deadline = request.arrival + (scenario_.target ? scenario_.target->latency : Duration{0});
    return {*network_, {.direction = direction, .client = request.client, .size = size, .deadline = deadline}};
  }

  /// Puts the clients to work; call once, then run the scheduler.
  void start_clients();
  /// Whether more requests may start.
  [[nodiscard]] bool open() const;
  /// A request arrives now.
  Request begin(std::int64_t client, Tokens prompt, Tokens output);
  /// A request leaves: checks its record and hands it on.
  void finish(RequestRecord& record);

  /// Zero-load latency of a request: every resource idle, the luckiest instants, no error.
  [[nodiscard]] Duration floor(std::int64_t client, Tokens prompt, Tokens output);
  /// What no request beats: the same where uplink grants are on their way for other messages already.
  [[nodiscard]] Duration bound(std::int64_t client, Tokens prompt, Tokens output);
  /// The same by stage (waits are zero except what the radio's frame makes unavoidable).
  [[nodiscard]] StageTimes floor_stages(std::int64_t client, Tokens prompt, Tokens output);
  /// Share of the arrivals that are over, 0 to 1.
  [[nodiscard]] double progress() const;
  /// Steady traffic by client; empty where arrivals adapt or span no time.
  [[nodiscard]] std::vector<Demand> demand() const;
  /// Offered load of every resource; empty for closed loops, which adapt.
  [[nodiscard]] std::vector<Utilisation> forecast();
  /// Load carried from the start to the last departure.
  [[nodiscard]] std::vector<Utilisation> utilisation() const;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const RequestCounts& counts() const { return counts_; }
  [[nodiscard]] const Backlog& backlog() const { return backlog_; }
  /// Requests after the warm-up that have left, and those of them that missed the target; 0 without one.
  [[nodiscard]] std::uint64_t judged() const { return judged_; }
  [[nodiscard]] std::uint64_t late() const { return late_; }
  /// Time that the devices and the edge's processors were at work.
  [[nodiscard]] Duration device_busy() const;
  [[nodiscard]] Duration edge_busy() const { return edge_.busy(); }
  /// From 0 to the last arrival, or the duration where the scenario has one.
  [[nodiscard]] Duration window() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Radio>>& radios() const { return radios_; }
  /// Checks conservation and Little's law; call after the run.
  void check_balance() const;

 private:
  Radio& radio(std::int64_t client) { return *radios_[static_cast<std::size_t>(client % scenario_.cells)]; }
  [[nodiscard]] ClientIndex index_in_cell(std::int64_t client) const {
    return static_cast<ClientIndex>(client / scenario_.cells);
  }
  std::vector<Utilisation> forecast_radio(const std::vector<Demand>& demand);
  [[nodiscard]] Duration expected_window() const;
  void count_overdue(const RequestRecord& record);
  void integrate();

  const Scenario& scenario_;
  const Streams& streams_;
  Scheduler& scheduler_;
  RecordSink& sink_;
  Costs costs_;
  std::vector<std::unique_ptr<Radio>> radios_;  // by cell
  std::unique_ptr<Link> backhaul_up_;
  std::unique_ptr<Link> backhaul_down_;
  std::unique_ptr<Network> network_;
  std::deque<Server> devices_;  // by client
  Server edge_;
  struct Floors {
    Duration floor;
    Duration bound;
  };
  Floors floors(std::int64_t client, Tokens prompt, Tokens output);
  [[nodiscard]] Floors find_floors(std::int64_t client, Tokens prompt, Tokens output);
  std::vector<std::optional<Floors>> floors_;  // by client, of the scenario's own prompt

  [[nodiscard]] Pace pace(const std::string& who, double spread,
                          const std::optional<ThrottlingConfig>& throttling) const;
  [[nodiscard]] double spread(const ProcessorConfig& processor, Precision precision) const;
  [[nodiscard]] double device_spread() const { return spread(scenario_.device, scenario_.device.precision); }
  [[nodiscard]] double edge_spread() const { return spread(scenario_.edge, scenario_.edge.precision); }

  RequestCounts counts_;
  std::uint64_t judged_ = 0;
  std::uint64_t late_ = 0;
  Backlog backlog_{};
  Duration expected_window_{0};
  Instant last_arrival_{0};
  Instant integrated_until_{0};
  using Integral = __int128;         // request-nanoseconds: a million requests in flight for hours exceed 64 bits
  Integral requests_in_system_ = 0;  // integral of the number of requests in the system over time
  Integral latencies_ = 0;           // sum over the requests that left
};

/// One request's life; fires `answered`, if any, when it is over.
Process serve(World& world, Request request, Signal* answered = nullptr);

}  // namespace trilemma
