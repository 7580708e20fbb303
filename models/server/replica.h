#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/action.h"
#include "core/units.h"
#include "models/server/step_cost.h"
#include "models/server/visit.h"

namespace trilemma {

class Site;

/// One copy of a site's models on one or more processors, which runs steps: passes of several sequences at once.
class Replica {
 public:
  /// `index` in the site; a cache of `blocks` blocks.
  Replica(Site& site, std::size_t index, std::size_t server, std::int64_t blocks)
      : site_(site), index_(index), server_(server), free_(blocks) {}
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// A visit of a sequence whose cache is here.
  void enter(Visit& visit);
  /// Starts a step if it is idle and has anything to do; whether it did.
  bool consider();
  /// Gives the blocks of a sequence back that are not needed for its cached tokens.
  void shrink(CachedSequence& sequence);
  /// Gives all of them back: the sequence has no cache any more.
  void release(CachedSequence& sequence);

  [[nodiscard]] bool has_waiting() const { return !resident_.empty(); }
  [[nodiscard]] std::int64_t blocks_in_use() const { return in_use_; }
  /// Whether it is idle although something waits that it could begin.
  [[nodiscard]] bool wastes_time() const;

 private:
  [[nodiscard]] std::optional<Instant> due() const;
  [[nodiscard]] bool may_begin();
  void grow_active();
  void begin_visits();
  bool begin_next();
  void begin(Visit& visit);
  bool make_room(CachedSequence& sequence, std::int64_t blocks);
  void set_blocks(CachedSequence& sequence, std::int64_t blocks);
  void evict(CachedSequence& sequence);
  void plan_step();
  void plan(Visit& visit, Tokens chunk);
  void start_step();
  void finish_step();
  void finish_member(Visit& visit);
  void run_due();

  Site& site_;
  std::size_t index_;
  std::size_t server_;
  std::int64_t free_;
  std::int64_t in_use_ = 0;
  VisitQueue resident_;         // visits of sequences whose cache is here, which wait
  std::vector<Visit*> active_;  // begun, in that order
  std::map<std::pair<std::int64_t, std::uint64_t>, CachedSequence*> sequences_;  // whose cache is here, by rank
  std::vector<StepPart> parts_;                                                  // of the step
  std::vector<Action> due_actions_;
  Tokens budget_{0};  // tokens that the step may still take
  bool is_running_ = false;
  Duration before_{0};  // of the step, ahead of the models
  Duration step_{0};    // as the model says
  Duration took_{0};    // at the pace of the machine
};

}  // namespace trilemma
