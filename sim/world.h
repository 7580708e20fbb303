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
#include "models/server/roofline_step.h"
#include "models/server/server.h"
#include "models/server/site.h"
#include "sim/classes.h"
#include "sim/network.h"
#include "sim/request.h"
#include "sim/scenario.h"
#include "sim/service.h"

namespace trilemma {

/// Share of a resource's capacity, by name ("edge", "uplink cell 3"); >= 1 is overload.
struct Utilisation {
  std::string resource;
  double share = 0;
  bool is_estimate = false;  // offered to batches: what full ones of the usual mix can do
};

/// Requests and what became of them; offered = completed + failed + dropped + in_flight, always.
struct RequestCounts {
  std::uint64_t offered = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;  // turned away by a site
  std::uint64_t in_flight = 0;
};

/// Requests that should have left by the end of each eighth of the arrival window, had they been alone, and had not.
inline constexpr std::size_t backlog_samples = 8;
using Backlog = std::array<std::uint64_t, backlog_samples>;

/// Steady traffic of one client, for forecasts: `rate` requests per second of one class.
struct Demand {
  std::int64_t client;
  Tokens prompt;
  Tokens output;
  double rate;
  std::size_t kind = 0;
};

/// `co_await` it: time that a message took on a link.
class WanAwaiter {
 public:
  WanAwaiter(Scheduler& scheduler, Link& link, Bytes size) : scheduler_(scheduler), link_(link), size_(size) {}
  [[nodiscard]] bool await_ready() const { return link_.floor(size_) == Duration{0}; }
  void await_suspend(std::coroutine_handle<> waiting) {
    since_ = scheduler_.now();
    link_.send(size_, Action::resume(waiting));
  }
  [[nodiscard]] Duration await_resume() const { return since_ < Instant{0} ? Duration{0} : scheduler_.now() - since_; }

 private:
  Scheduler& scheduler_;
  Link& link_;
  Bytes size_;
  Instant since_{-1};
};

/// All parts of one scenario on one event list, wired together. Valid for one run.
class World {
 public:
  World(const Scenario& scenario, const Streams& streams, Scheduler& scheduler, RecordSink& sink);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] Instant now() const { return scheduler_.now(); }
  /// A kind of request, by its place among the classes.
  Service& service(std::size_t kind) { return services_[kind]; }
  Server& device(std::int64_t client) { return devices_[static_cast<std::size_t>(client)]; }
  Site& edge() { return edge_; }
  [[nodiscard]] bool has_cloud() const { return cloud_.has_value(); }
  Site& cloud() { return *cloud_; }
  /// Numbers that decide which drafts of a client are accepted; null without speculation.
  Rng* chance(std::int64_t client) { return chances_.empty() ? nullptr : &chances_[static_cast<std::size_t>(client)]; }
  /// `co_await` it: radio and backhaul, in the order of the direction.
  LegAwaiter carry(Direction direction, const Request& request, Bytes size) {
    const auto& target = services_[request.kind].scenario.target;
    const Instant deadline = request.arrival + (target ? target->latency : Duration{0});
    return {*network_, {.direction = direction, .client = request.client, .size = size, .deadline = deadline}};
  }
  /// `co_await` it: between edge and cloud; how long it took.
  WanAwaiter cross_wan(Direction direction, Bytes size) {
    return {scheduler_, direction == Direction::uplink ? *wan_up_ : *wan_down_, size};
  }

  /// Puts the clients to work; call once, then run the scheduler.
  void start_clients();
  /// Whether more requests may start.
  [[nodiscard]] bool open() const;
  /// What the next request of a client asks for: class and lengths, as far as they are drawn.
  Ask draw(std::int64_t client);
  /// What a row of a trace asks for; what it does not say is drawn.
  Ask ask_of(const TraceRow& row);
  /// A request arrives now.
  Request begin(std::int64_t client, const Ask& ask);
  /// A request leaves: checks its record and hands it on.
  void finish(RequestRecord& record);

  /// Zero-load latency of a request: every resource idle, the luckiest instants, no error.
  [[nodiscard]] Duration floor(std::int64_t client, const Ask& ask) { return floors(client, ask).floor; }
  /// What no request beats: the same where uplink grants are on their way for other messages already.
  [[nodiscard]] Duration bound(std::int64_t client, const Ask& ask) { return floors(client, ask).bound; }
  /// The same by stage (waits are zero except what the radio's frame makes unavoidable).
  [[nodiscard]] StageTimes floor_stages(std::int64_t client, const Ask& ask);
  /// What the usual request of the first class asks for.
  [[nodiscard]] Ask usual() const;
  /// Zero-load latency by stage of the fastest kind of request of a client: the shortest of its class.
  [[nodiscard]] StageTimes lowest_floor_stages(std::int64_t client);
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
  [[nodiscard]] const Site& edge_site() const { return edge_; }
  [[nodiscard]] const std::optional<Site>& cloud_site() const { return cloud_; }
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
  void make_services();
  void make_cloud(const CloudConfig& cloud);
  [[nodiscard]] bool draws_requests() const;
  std::vector<Utilisation> forecast_radio(const std::vector<Demand>& demand);
  [[nodiscard]] Utilisation site_load(const std::vector<Demand>& demand, Station station);
  [[nodiscard]] Duration expected_window() const;
  void count_overdue(const RequestRecord& record);
  void integrate();

  const Scenario& scenario_;
  const Streams& streams_;
  Scheduler& scheduler_;
  RecordSink& sink_;
  std::vector<Scenario> classes_;
  std::deque<Service> services_;  // by class
  ServedModels edge_models_;
  ServedModels cloud_models_;
  RooflineStep edge_step_;
  std::optional<RooflineStep> cloud_step_;
  std::vector<std::unique_ptr<Radio>> radios_;  // by cell
  std::unique_ptr<Link> backhaul_up_;
  std::unique_ptr<Link> backhaul_down_;
  std::unique_ptr<Network> network_;
  std::deque<Server> devices_;  // by client
  Site edge_;
  std::optional<Site> cloud_;
  std::unique_ptr<Link> wan_up_;
  std::unique_ptr<Link> wan_down_;
  std::vector<Rng> chances_;  // by client
  std::vector<Rng> draws_;    // by client, of classes and lengths; empty where nothing is drawn
  Service::Floors floors(std::int64_t client, const Ask& ask);
  [[nodiscard]] Service::Floors find_floors(std::int64_t client, const Ask& ask);

  [[nodiscard]] Pace pace(const std::string& who, double spread,
                          const std::optional<ThrottlingConfig>& throttling) const;
  [[nodiscard]] double spread(const ProcessorConfig& processor, Precision precision) const;
  [[nodiscard]] double device_spread() const { return spread(scenario_.device, scenario_.device.precision); }
  [[nodiscard]] double edge_spread() const { return spread(scenario_.edge, scenario_.edge.precision); }
  [[nodiscard]] double cloud_spread() const {
    return scenario_.cloud ? spread(*scenario_.cloud, scenario_.cloud->precision) : 0;
  }

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
