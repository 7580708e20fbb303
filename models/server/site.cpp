#include "models/server/site.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {

Site::Site(Parts parts)
    : parts_(std::move(parts)),
      rule_(parts_.config.rule()),
      drops_late_(std::holds_alternative<DropLate>(parts_.config.drop)) {
  const std::int64_t replicas = parts_.config.count / parts_.config.tensor_parallel;
  for (std::size_t s = 0; s < static_cast<std::size_t>(parts_.config.servers); ++s) {
    Server& server = servers_.emplace_back(*this);
    for (std::size_t r = 0; r < static_cast<std::size_t>(replicas); ++r) {
      server.replicas.emplace_back(*this, r, s, parts_.blocks);
      server.idle.emplace(0, r);
    }
  }
  if (rule_.wait != Duration{0}) parts_.scheduler.when_idle([this] { return flush(); });
}

std::int64_t Site::primary_rank(const CachedSequence& sequence) const {
  switch (parts_.config.scheduling) {
    case Scheduling::fcfs:
      return 0;
    case Scheduling::edf:
      return sequence.deadline.count();
    case Scheduling::priority:
      return -sequence.priority;
    case Scheduling::sjf:
      return (sequence.longest - sequence.context).value();
  }
  TRILEMMA_ENSURE(false, "every scheduling has a rank");
  return 0;
}

bool Site::enter(Visit& visit) {
  CachedSequence& sequence = *visit.sequence;
  TRILEMMA_ENSURE(sequence.visit == nullptr, "a sequence makes one visit at a time");
  TRILEMMA_ENSURE(visit.fresh > Tokens(0) && visit.outputs > Tokens(0), "a visit brings tokens and asks for some");
  visit.arrived = parts_.scheduler.now();
  visit.rank = {primary_rank(sequence), visits_++};
  visit.goal = sequence.context + visit.fresh;
  if (!sequence.present) {
    const Rejection rejection = admit(sequence);
    if (rejection != Rejection::none) {
      refuse(visit, rejection);
      return false;
    }
    sequence.rank = visit.rank;
  }
  sequence.visit = &visit;
  if (sequence.replica != nullptr) {
    sequence.replica->enter(visit);
    return true;
  }
  visit.state = Visit::State::waiting;
  servers_[sequence.server].waiting.add(visit);
  dispatch(sequence.server);
  return true;
}

Rejection Site::admit(CachedSequence& sequence) {
  if (blocks_for(sequence.longest) > parts_.blocks) return Rejection::too_large;
  sequence.server = choose_server();
  Server& server = servers_[sequence.server];
  const auto* limit = std::get_if<DropBeyond>(&parts_.config.drop);
  if (limit != nullptr && server.idle.empty() && std::ssize(server.waiting) >= limit->limit)
    return Rejection::queue_full;
  sequence.present = true;
  ++server.present;
  return Rejection::none;
}

std::size_t Site::choose_server() {
  const std::size_t count = servers_.size();
  if (count == 1) return 0;
  const auto shorter = [&](std::size_t a, std::size_t b) { return servers_[b].present < servers_[a].present ? b : a; };
  const auto draw = [&](std::size_t below) {
    return std::min(below - 1, static_cast<std::size_t>(parts_.balancer.uniform() * static_cast<double>(below)));
  };
  switch (parts_.config.balancer) {
    case Balancer::round_robin:
      return turn_++ % count;
    case Balancer::power_of_two: {
      const std::size_t one = draw(count);
      const std::size_t other = draw(count - 1);
      return shorter(one, other < one ? other : other + 1);
    }
    case Balancer::join_shortest_queue:
      break;
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i) best = shorter(best, i);
  return best;
}

void Site::refuse(Visit& visit, Rejection rejection) {
  ++(rejection == Rejection::too_large    ? counts_.too_large
     : rejection == Rejection::queue_full ? counts_.queue_full
                                          : counts_.late);
  visit.rejection = rejection;
  end(visit);
}

/// The visit is over; whoever made it is told afterwards.
void Site::end(Visit& visit) const {
  visit.state = Visit::State::nowhere;
  visit.waited = parts_.scheduler.now() - visit.arrived - visit.took;
  visit.sequence->visit = nullptr;
}

void Site::leave(CachedSequence& sequence) {
  if (!sequence.present) return;
  TRILEMMA_ENSURE(sequence.visit == nullptr, "a sequence leaves between visits");
  sequence.present = false;
  --servers_[sequence.server].present;
  if (sequence.replica == nullptr) return;
  Replica& replica = *sequence.replica;
  replica.release(sequence);
  replica.consider();
}

void Site::forget(CachedSequence& sequence, Tokens context) {
  TRILEMMA_ENSURE(sequence.visit == nullptr, "a sequence forgets between visits");
  sequence.context = std::min(sequence.context, context);
  if (sequence.cached <= sequence.context) return;
  sequence.cached = sequence.context;
  sequence.replica->shrink(sequence);
}

void Site::dispatch(std::size_t index) {
  Server& server = servers_[index];
  while (!server.waiting.empty() && !server.idle.empty()) {
    if (!server.replicas[server.idle.begin()->second].consider()) return;
  }
}

void Site::set_alarm(std::size_t index, Instant when) {
  Server& server = servers_[index];
  if (server.alarm >= parts_.scheduler.now() && server.alarm <= when) return;
  server.alarm = when;
  parts_.scheduler.at_background(when, Action::call<&Server::ring>(server));
}

void Site::ring(Server& server) {
  server.alarm = Instant{-1};
  for (Replica& replica : server.replicas) replica.consider();
}

/// Nothing else is left to happen: a batch that waits for an alarm gets it, one without starts as it is.
bool Site::flush() {
  if (rule_.wait) {
    return std::any_of(servers_.begin(), servers_.end(), [&](const Server& server) {
      return server.alarm >= parts_.scheduler.now() && has_waiting(server);
    });
  }
  is_flushing_ = true;
  bool starts = false;
  for (Server& server : servers_) {
    for (Replica& replica : server.replicas) starts = replica.consider() || starts;
  }
  is_flushing_ = false;
  return starts;
}

bool Site::has_waiting(const Server& server) {
  return !server.waiting.empty() || std::any_of(server.replicas.begin(), server.replicas.end(),
                                                [](const Replica& replica) { return replica.has_waiting(); });
}

std::int64_t Site::blocks_in_use() const {
  std::int64_t sum = 0;
  for (const Server& server : servers_) {
    for (const Replica& replica : server.replicas) sum += replica.blocks_in_use();
  }
  return sum;
}

bool Site::wastes_time() const {
  return std::any_of(servers_.begin(), servers_.end(), [](const Server& server) {
    return std::any_of(server.replicas.begin(), server.replicas.end(),
                       [](const Replica& replica) { return replica.wastes_time(); });
  });
}

}  // namespace trilemma
