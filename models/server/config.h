#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"

/// How a site serves requests: servers behind a balancer, each with processors that share a queue.
namespace trilemma {

/// Order of a queue; ties by arrival.
enum class Scheduling {
  fcfs,
  edf,       // earliest deadline (arrival + target) first
  priority,  // largest priority of the class first
  sjf,       // fewest tokens still to go first; knows the length of an answer in advance
};
enum class Balancer {
  round_robin,
  join_shortest_queue,  // fewest requests present
  power_of_two,         // the shorter of two drawn at random
};
enum class Batching {
  none,          // one pass at a time
  static_batch,  // starts when it is full (or when nothing else is left to come), runs until all of it is done
  dynamic,       // starts when it is full or its first request has waited long enough, runs until all of it is done
  continuous,    // joined and left at every step
};

namespace config {
template <>
inline constexpr auto names<Scheduling> =
    std::array{Name{"fcfs", Scheduling::fcfs}, Name{"edf", Scheduling::edf}, Name{"priority", Scheduling::priority},
               Name{"sjf", Scheduling::sjf}};
template <>
inline constexpr auto names<Balancer> =
    std::array{Name{"round-robin", Balancer::round_robin}, Name{"join-shortest-queue", Balancer::join_shortest_queue},
               Name{"power-of-two", Balancer::power_of_two}};
template <>
inline constexpr auto names<Batching> =
    std::array{Name{"none", Batching::none}, Name{"static", Batching::static_batch}, Name{"dynamic", Batching::dynamic},
               Name{"continuous", Batching::continuous}};
}  // namespace config

/// Which passes a processor runs at once.
struct BatchingConfig {
  Batching kind = Batching::dynamic;
  std::optional<std::int64_t> max_batch;
  std::optional<Duration> max_wait;
  std::optional<std::int64_t> max_tokens;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("kind", &BatchingConfig::kind, "none, static, dynamic or continuous"),
        field("max_batch", &BatchingConfig::max_batch, "sequences that are processed at once; continuous: 256",
              between(1, 1e5)),
        field("max_wait", &BatchingConfig::max_wait,
              "time after which a dynamic batch starts though it is not full; absent: 0 s", config::up_to_an_hour),
        field("max_tokens", &BatchingConfig::max_tokens,
              "tokens of a step of a continuous batch; longer prompts are processed in chunks; absent: 2048",
              between(1, 1e6))};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// The same with all that is not said filled in.
struct BatchRule {
  enum class Join { every_step, when_empty };
  Join join = Join::when_empty;
  std::int64_t most = 1;                        // sequences
  std::int64_t tokens = std::int64_t{1} << 60;  // of a step
  std::optional<Duration> wait = Duration{0};   // for a full batch; empty: until nothing else is left to come
};
BatchRule rule_of(const BatchingConfig& config);

/// Memory for keys and values, in blocks of tokens (paged attention, Kwon et al., SOSP 2023).
struct KvCacheConfig {
  std::int64_t block = 16;
  std::optional<std::int64_t> blocks;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{field("block", &KvCacheConfig::block, "tokens of a block", between(1, 1e6)),
                      field("blocks", &KvCacheConfig::blocks,
                            "blocks of one copy of the model; absent: what the memory leaves beside weights, "
                            "activations and runtime",
                            between(1, 1e9))};
  }
};

/// Between processors that share one copy of the model.
struct InterconnectConfig {
  ByteRate rate{0};
  Duration latency{0};

  static constexpr auto fields() {
    using config::field, config::required;
    return std::tuple{
        required("rate", &InterconnectConfig::rate, "rate of one processor to another, each way", config::positive),
        field("latency", &InterconnectConfig::latency, "time of an empty message", config::up_to_an_hour)};
  }
};

struct NeverDrop {
  static constexpr std::string_view kind = "none";
  static constexpr auto fields() { return std::tuple{}; }
};
/// A request whose deadline is over when its turn comes is dropped.
struct DropLate {
  static constexpr std::string_view kind = "deadline";
  static constexpr auto fields() { return std::tuple{}; }
};
/// A new request that finds a full queue is dropped.
struct DropBeyond {
  static constexpr std::string_view kind = "queue-limit";
  std::int64_t limit = 0;
  static constexpr auto fields() {
    return std::tuple{
        config::required("limit", &DropBeyond::limit, "requests that may wait at a server", config::between(0, 1e9))};
  }
};
using DropConfig = std::variant<NeverDrop, DropLate, DropBeyond>;

/// Servers of one tier.
struct SiteConfig {
  std::int64_t servers = 1;
  std::int64_t count = 1;
  std::int64_t tensor_parallel = 1;
  std::optional<InterconnectConfig> interconnect;
  Balancer balancer = Balancer::join_shortest_queue;
  Scheduling scheduling = Scheduling::fcfs;
  std::optional<BatchingConfig> batching;
  KvCacheConfig kv_cache;
  DropConfig drop;

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{field("servers", &SiteConfig::servers, "servers of the site", between(1, 1e4)),
                      field("count", &SiteConfig::count, "processors of a server", between(1, 1e6)),
                      field("tensor_parallel", &SiteConfig::tensor_parallel,
                            "processors that share one copy of the model", between(1, 64)),
                      field("interconnect", &SiteConfig::interconnect, "between the processors that share a copy"),
                      field("balancer", &SiteConfig::balancer, "which server takes a new request"),
                      field("scheduling", &SiteConfig::scheduling, "order of a server's queue"),
                      field("batching", &SiteConfig::batching, "what runs at once; absent: one request at a time"),
                      field("kv_cache", &SiteConfig::kv_cache, "memory for keys and values"),
                      field("drop", &SiteConfig::drop, "which requests are turned away")};
  }
  /// Without those of the processor.
  [[nodiscard]] std::vector<config::FieldProblem> site_problems() const;
  [[nodiscard]] std::int64_t processors() const { return servers * count; }
  [[nodiscard]] std::int64_t copies() const { return servers * (count / tensor_parallel); }
  [[nodiscard]] BatchRule rule() const { return batching ? rule_of(*batching) : BatchRule{}; }
};

}  // namespace trilemma
