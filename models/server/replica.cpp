#include "models/server/replica.h"

#include <algorithm>

#include "core/ensure.h"
#include "models/server/site.h"

namespace trilemma {

void Replica::enter(Visit& visit) {
  visit.state = Visit::State::resident;
  resident_.add(visit);
  consider();
}

/// When a batch may start; empty: it has nobody to wait for, or waits for ever.
std::optional<Instant> Replica::due() const {
  const VisitQueue& waiting = site_.servers_[server_].waiting;
  const std::size_t count = waiting.size() + resident_.size();
  if (count == 0) return std::nullopt;
  const BatchRule& rule = site_.rule_;
  const Instant now = site_.parts_.scheduler.now();
  if (rule.join == BatchRule::Join::every_step || site_.is_flushing_ || count >= static_cast<std::size_t>(rule.most))
    return now;
  if (!rule.wait) return std::nullopt;
  Instant oldest = now;
  for (const VisitQueue* queue : {&waiting, &resident_}) {
    if (!queue->empty()) oldest = std::min(oldest, queue->oldest().arrived);
  }
  return std::max(now, oldest + *rule.wait);
}

/// Whether visits may join now; otherwise sets the alarm for when they may.
bool Replica::may_begin() {
  if (!active_.empty() && site_.rule_.join == BatchRule::Join::when_empty) return false;
  const auto when = due();
  if (!when) return false;
  if (*when <= site_.parts_.scheduler.now()) return true;
  site_.set_alarm(server_, *when);
  return false;
}

bool Replica::wastes_time() const {
  if (is_running_) return false;
  const auto when = due();
  if (!when || *when > site_.parts_.scheduler.now()) return false;
  if (!resident_.empty()) return true;
  return site_.blocks_for(site_.servers_[server_].waiting.first().goal) <= free_;
}

bool Replica::consider() {
  if (is_running_) return false;
  auto& idle = site_.servers_[server_].idle;
  idle.erase({in_use_, index_});
  budget_ = Tokens(site_.rule_.tokens);
  const std::uint64_t preemptions = site_.counts_.preemptions;
  grow_active();
  if (may_begin()) begin_visits();
  plan_step();
  const bool starts = !parts_.empty();
  if (starts)
    start_step();
  else
    idle.emplace(in_use_, index_);
  run_due();
  // What was evicted may begin elsewhere.
  if (starts && site_.counts_.preemptions > preemptions) site_.dispatch(server_);
  return starts;
}

/// Makes room for the next token of every visit that has begun, in favour of those of smaller rank.
void Replica::grow_active() {
  bool again = true;
  while (again) {
    again = false;
    for (Visit* visit : active_) {
      CachedSequence& sequence = *visit->sequence;
      const std::int64_t blocks = site_.blocks_for(visit->goal);
      if (blocks <= sequence.blocks) continue;
      const std::size_t before = active_.size();
      if (!make_room(sequence, blocks)) evict(sequence);
      again = active_.size() != before;
      if (again) break;
    }
  }
  for (const Visit* visit : active_) budget_ -= std::min(visit->left(), budget_);
}

void Replica::begin_visits() {
  while (std::ssize(active_) < site_.rule_.most && budget_ > Tokens(0)) {
    if (!begin_next()) return;
  }
}

/// Begins the visit whose turn it is, or turns it away; false: there is none that could begin.
bool Replica::begin_next() {
  VisitQueue& waiting = site_.servers_[server_].waiting;
  Visit* resident = resident_.empty() ? nullptr : &resident_.first();
  Visit* fresh = waiting.empty() ? nullptr : &waiting.first();
  const auto is_late = [&](const Visit* visit) { return visit != nullptr && site_.is_late(*visit); };
  if (fresh != nullptr && !is_late(fresh) && site_.blocks_for(fresh->goal) > free_) fresh = nullptr;
  if (fresh == nullptr && resident == nullptr) return false;
  const bool is_resident = fresh == nullptr || (resident != nullptr && resident->rank < fresh->rank);
  Visit& visit = is_resident ? *resident : *fresh;
  (is_resident ? resident_ : waiting).take(visit);
  visit.state = Visit::State::nowhere;
  if (is_late(&visit)) {
    site_.refuse(visit, Rejection::late);
    due_actions_.push_back(visit.done);
  } else if (make_room(*visit.sequence, site_.blocks_for(visit.goal))) {
    begin(visit);
  } else {
    evict(*visit.sequence);
  }
  return true;
}

void Replica::begin(Visit& visit) {
  CachedSequence& sequence = *visit.sequence;
  if (sequence.replica == nullptr) {
    sequence.replica = this;
    sequences_.emplace(sequence.rank, &sequence);
  }
  site_.counts_.recomputed += static_cast<std::uint64_t>((sequence.context - sequence.cached).value());
  visit.state = Visit::State::active;
  active_.push_back(&visit);
  budget_ -= std::min(visit.left(), budget_);
}

/// Gives `sequence` that many blocks, if need be those of sequences of larger rank; false: there are none of larger
/// rank.
bool Replica::make_room(CachedSequence& sequence, std::int64_t blocks) {
  while (blocks - sequence.blocks > free_) {
    TRILEMMA_ENSURE(!sequences_.empty(), "a sequence that a site admits fits an empty cache");
    CachedSequence& last = *sequences_.rbegin()->second;
    if (last.rank <= sequence.rank) return false;
    evict(last);
  }
  set_blocks(sequence, std::max(blocks, sequence.blocks));
  return true;
}

void Replica::set_blocks(CachedSequence& sequence, std::int64_t blocks) {
  const std::int64_t more = blocks - sequence.blocks;
  free_ -= more;
  in_use_ += more;
  sequence.blocks = blocks;
  TRILEMMA_ENSURE(free_ >= 0 && in_use_ >= 0, "blocks in use are between none and all");
  site_.counts_.most_blocks = std::max(site_.counts_.most_blocks, in_use_);
}

/// Takes the cache away; a visit that has begun waits again. Called only between steps.
void Replica::evict(CachedSequence& sequence) {
  Visit* visit = sequence.visit;
  if (visit != nullptr && visit->state == Visit::State::active) std::erase(active_, visit);
  if (visit != nullptr && visit->state == Visit::State::resident) resident_.take(*visit);
  sequences_.erase(sequence.rank);
  set_blocks(sequence, 0);
  sequence.cached = Tokens(0);
  sequence.replica = nullptr;
  ++site_.counts_.preemptions;
  if (visit == nullptr) return;
  visit->state = Visit::State::waiting;
  site_.servers_[server_].waiting.add(*visit);
}

void Replica::shrink(CachedSequence& sequence) {
  const std::int64_t needed = site_.blocks_for(sequence.cached);
  if (needed == sequence.blocks) return;
  auto& idle = site_.servers_[server_].idle;
  const bool was_idle = idle.erase({in_use_, index_}) > 0;
  set_blocks(sequence, needed);
  if (was_idle) idle.emplace(in_use_, index_);
}

void Replica::release(CachedSequence& sequence) {
  sequence.cached = Tokens(0);
  shrink(sequence);
  sequences_.erase(sequence.rank);
  sequence.replica = nullptr;
}

/// Every visit that has begun takes part: first those that are one token from the next answer's, then the others, as
/// far as the step has room.
void Replica::plan_step() {
  parts_.clear();
  before_ = Duration{0};
  budget_ = Tokens(site_.rule_.tokens);
  for (Visit* visit : active_) {
    if (visit->left() == Tokens(1)) plan(*visit, Tokens(1));
  }
  for (Visit* visit : active_) {
    if (visit->left() > Tokens(1)) plan(*visit, visit->left());
  }
}

void Replica::plan(Visit& visit, Tokens chunk) {
  visit.chunk = std::min(chunk, budget_);
  if (visit.chunk == Tokens(0)) return;
  budget_ -= visit.chunk;
  if (visit.is_ahead) before_ += visit.before;
  parts_.push_back({.model = visit.sequence->model,
                    .fresh = visit.chunk,
                    .cached = visit.sequence->cached,
                    .heads = visit.chunk == visit.left() ? visit.heads : 0});
}

void Replica::start_step() {
  is_running_ = true;
  step_ = before_ + site_.parts_.cost.time(parts_);
  took_ = site_.parts_.pace.stretched(site_.parts_.scheduler.now(), step_);
  SiteCounts& counts = site_.counts_;
  ++counts.steps;
  counts.members += parts_.size();
  for (const StepPart& part : parts_) counts.tokens += static_cast<std::uint64_t>(part.fresh.value());
  site_.parts_.scheduler.after(took_, Action::call<&Replica::finish_step>(*this));
}

void Replica::finish_step() {
  site_.counts_.busy += site_.parts_.config.tensor_parallel * took_;
  for (Visit* visit : active_) finish_member(*visit);
  std::erase_if(active_, [](const Visit* visit) { return visit->state == Visit::State::nowhere; });
  run_due();  // still at work, so that all who come back at once go into one step
  is_running_ = false;
  consider();
}

void Replica::finish_member(Visit& visit) {
  if (visit.chunk == Tokens(0)) return;
  CachedSequence& sequence = *visit.sequence;
  visit.took += took_;
  if (std::exchange(visit.is_ahead, false) && step_ > Duration{0}) {
    using Wide = __int128;  // hours times hours
    visit.alone =
        Duration(static_cast<std::int64_t>(static_cast<Wide>(took_.count()) * visit.before.count() / step_.count()));
  }
  sequence.cached += std::exchange(visit.chunk, Tokens(0));
  sequence.context = std::max(sequence.context, sequence.cached);
  if (visit.left() > Tokens(0)) return;
  ++site_.counts_.generated;
  visit.outputs -= Tokens(1);
  visit.heads = 1;
  if (visit.outputs > Tokens(0)) {
    visit.goal += Tokens(1);
    if (visit.each) due_actions_.push_back(visit.each);
    return;
  }
  site_.end(visit);
  if (visit.is_last) site_.leave(sequence);
  due_actions_.push_back(visit.done);
}

void Replica::run_due() {
  // An action may bring more of them.
  std::vector<Action> due;
  std::swap(due, due_actions_);
  for (const Action& action : due) action();
  due.clear();
  if (due_actions_.empty()) std::swap(due, due_actions_);  // keeps the memory
}

}  // namespace trilemma
