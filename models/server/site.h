#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

#include "core/random.h"
#include "core/scheduler.h"
#include "models/server/config.h"
#include "models/server/pace.h"
#include "models/server/replica.h"
#include "models/server/step_cost.h"
#include "models/server/visit.h"

namespace trilemma {

/// What a site has done so far.
struct SiteCounts {
  std::uint64_t steps = 0;
  std::uint64_t members = 0;      // sequences in a step, summed over the steps
  std::uint64_t tokens = 0;       // that went through the models
  std::uint64_t generated = 0;    // tokens of answers
  std::uint64_t preemptions = 0;  // caches that were taken away
  std::uint64_t recomputed = 0;   // tokens that went through the models again because of that
  std::int64_t most_blocks = 0;   // of one replica's cache in use at a time
  std::uint64_t too_large = 0;    // requests turned away, by reason
  std::uint64_t queue_full = 0;
  std::uint64_t late = 0;
  Duration busy{0};  // of all processors
};

/// The servers of one tier behind a balancer. Each has replicas that share one queue; no replica is idle while a visit
/// waits that it may begin.
///
/// A sequence stays with the server that the balancer chose and, from its first step on, with one replica, which holds
/// its keys and values in blocks (paged attention; Kwon et al., SOSP 2023). A new sequence begins when there are blocks
/// for all tokens that came with it. One that needs another block when none is free takes it from the sequence of
/// the largest rank there, whose cache is computed anew later from the inputs, which the site keeps.
class Site {
 public:
  struct Parts {
    Scheduler& scheduler;
    const SiteConfig& config;
    const StepCost& cost;
    std::int64_t blocks;  // of the cache of one replica
    Pace pace;
    Rng balancer;
  };
  explicit Site(Parts parts);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// `co_await` it: a visit, which says afterwards what became of it.
  auto serve(Visit& visit) {
    struct Awaiter {
      Site& site;
      Visit& visit;
      [[nodiscard]] static bool await_ready() { return false; }
      [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) const {
        visit.done = Action::resume(waiting);
        return site.enter(visit);
      }
      void await_resume() const {}
    };
    return Awaiter{*this, visit};
  }
  /// Begins a visit. False: it was refused. True: its `done` runs when it is over.
  bool enter(Visit& visit);
  /// The sequence has nothing more to do here; between visits.
  void leave(CachedSequence& sequence);
  /// Forgets the tokens beyond the first `context`; between visits.
  void forget(CachedSequence& sequence, Tokens context);

  [[nodiscard]] const SiteCounts& counts() const { return counts_; }
  [[nodiscard]] std::int64_t blocks_in_use() const;
  /// Whether a replica is idle although something waits that it could begin; never, between events.
  [[nodiscard]] bool wastes_time() const;

 private:
  friend class Replica;

  struct Server {
    explicit Server(Site& its_site) : site(its_site) {}
    void ring() { site.ring(*this); }

    Site& site;
    VisitQueue waiting;  // visits of sequences without a cache
    std::deque<Replica> replicas;
    std::set<std::pair<std::int64_t, std::size_t>> idle;  // replicas: blocks in use, index
    std::int64_t present = 0;                             // sequences
    Instant alarm{-1};                                    // of a batch that is not full
  };

  [[nodiscard]] std::int64_t primary_rank(const CachedSequence& sequence) const;
  [[nodiscard]] std::int64_t blocks_for(Tokens tokens) const {
    return (tokens.value() + parts_.config.kv_cache.block - 1) / parts_.config.kv_cache.block;
  }
  [[nodiscard]] bool is_late(const Visit& visit) const {
    return drops_late_ && parts_.scheduler.now() > visit.sequence->deadline;
  }
  std::size_t choose_server();
  Rejection admit(CachedSequence& sequence);
  void refuse(Visit& visit, Rejection rejection);
  void end(Visit& visit) const;
  void dispatch(std::size_t index);
  void set_alarm(std::size_t index, Instant when);
  void ring(Server& server);
  bool flush();
  [[nodiscard]] static bool has_waiting(const Server& server);

  Parts parts_;
  BatchRule rule_;
  bool drops_late_;
  SiteCounts counts_;
  std::deque<Server> servers_;
  std::uint64_t visits_ = 0;
  std::size_t turn_ = 0;      // of the round robin
  bool is_flushing_ = false;  // nothing else is left to come: batches need not be full
};

}  // namespace trilemma
