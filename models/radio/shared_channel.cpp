#include "models/radio/shared_channel.h"

#include <algorithm>
#include <cmath>

#include "core/ensure.h"

namespace trilemma {

SharedChannel::SharedChannel(const ChannelParts& parts, const SymbolSupply& symbols, std::int64_t clients)
    : scheduler_(parts.scheduler),
      grid_(parts.grid),
      phy_(parts.phy),
      links_(parts.links),
      timing_(parts.timing),
      flexible_(parts.flexible),
      errors_(parts.errors),
      counts_(parts.counts),
      supply_(symbols),
      direction_(symbols.direction()),
      granted_(symbols.granted()),
      reports_(direction_ == Direction::uplink && !granted_ && parts.config.request.first_grant.has_value()),
      shortest_(symbols.shortest()),
      longest_(symbols.longest()),
      policy_(granted_ ? RadioScheduler::round_robin : parts.config.scheduler),
      ranked_(policy_ == RadioScheduler::proportional_fair || policy_ == RadioScheduler::earliest_deadline_first),
      one_block_(parts.config.mapping == Mapping::a),
      quantum_(static_cast<int>(parts.config.quantum)),
      persistence_(parts.config.persistence),
      request_(parts.config.request),
      clients_(static_cast<std::size_t>(clients)) {
  if (const auto* acknowledged = std::get_if<AcknowledgedRlc>(&parts.config.rlc)) acknowledged_ = *acknowledged;
}

// ---- What the scheduler knows ---------------------------------------------------------------------------------------

void SharedChannel::send(RadioMessage& message) {
  const Instant now = scheduler_.now();
  const ClientIndex index = local(message.client);
  Client& client = clients_[index];
  message.offered = now;
  message.unsent = message.size;
  counts_.bytes_offered += message.size.value();
  scheduler_.hold();
  (client.last != nullptr ? client.last->next : client.first) = &message;
  client.last = &message;
  if (client.fresh == nullptr) client.fresh = &message;
  if (direction_ == Direction::downlink || granted_) {
    message.eligible = timing_.granted_start(direction_, now);
  } else {
    message.eligible = requested_start(index, now);
  }
  if (!reports_) {
    learn(message.eligible, index, Report::Kind::more, message.size);
  } else if (client.state == State::idle) {
    client.state = State::requested;
    learn(message.eligible, index, Report::Kind::more, *request_.first_grant);
  }
}

/// Whatever one request tells of is granted together: measured delays are drawn once.
Instant SharedChannel::requested_start(ClientIndex local, Instant offered) {
  Client& client = clients_[local];
  const Instant known = timing_.request_known(offered, in_cell(local));
  if (known != client.request_known) {
    client.request_known = known;
    client.request_start = timing_.requested_start(known);
  }
  return client.request_start;
}

void SharedChannel::request(ClientIndex local, Instant offered) {
  clients_[local].state = State::requested;
  const Instant eligible = requested_start(local, offered);
  learn(eligible, local, Report::Kind::more, *request_.first_grant);
}

void SharedChannel::learn(Instant eligible, ClientIndex local, Report::Kind kind, Bytes bytes, std::int64_t granted) {
  learnt_.push({std::max(eligible, scheduler_.now()), order_++, local, kind, bytes, granted});
  plan(eligible, shortest_);
}

void SharedChannel::apply_reports(Instant time) {
  while (!learnt_.empty() && learnt_.top().eligible <= time) {
    const Report report = learnt_.top();
    learnt_.pop();
    apply(report);
  }
}

void SharedChannel::apply(const Report& report) {
  Client& client = clients_[report.client];
  switch (report.kind) {
    case Report::Kind::more:
      (reports_ ? client.asked : client.known) += report.bytes;
      break;
    case Report::Kind::all: {
      // Repetitions and fresh starts bring old reports after newer ones.
      if (report.granted < client.heard) break;
      client.heard = report.granted;
      const bool deduct = request_.in_flight == GrantsInFlight::deducted;
      const Bytes on_their_way(deduct ? client.granted - report.granted : 0);
      client.known = std::max(Bytes(0), report.bytes - on_their_way);
      break;
    }
    case Report::Kind::standing:
      client.standing = report.bytes;
      break;
  }
  enter_turn(report.client);
}

void SharedChannel::enter_turn(ClientIndex local) {
  Client& client = clients_[local];
  if (client.in_turn || demand(client) <= Bytes(0)) return;
  client.in_turn = true;
  turns_.push_back(local);
}

// ---- When it decides ------------------------------------------------------------------------------------------------

void SharedChannel::plan(Instant earliest, int symbols) {
  const Instant start = supply_.next(std::max({earliest, cursor_, scheduler_.now()}), symbols).start;
  if (planned_ && *planned_ <= start) return;
  planned_ = start;
  // Messages hold the run, not slices: standing grants go on when nobody is left to use them.
  scheduler_.at_background(start, Action::call<&SharedChannel::on_slice>(*this));
}

void SharedChannel::plan_next() {
  if (!turns_.empty()) plan(cursor_, shortest_);
  if (!repetitions_.empty()) plan(repetitions_.top().eligible, repetitions_.top().symbols);
  if (!learnt_.empty()) plan(learnt_.top().eligible, shortest_);
}

void SharedChannel::on_slice() {
  // An earlier slice may have been planned after this one: then this event is out of date.
  const Instant now = scheduler_.now();
  if (!planned_ || *planned_ != now) return;
  planned_.reset();
  SymbolSupply::Slice slice = supply_.next(now, shortest_);
  TRILEMMA_ENSURE(slice.start == now, "a slice begins when it was planned");
  if (slice.region.flexible) slice.room = std::min(slice.room, flexible_.room(direction_, slice.region));

  apply_reports(now);
  const int repeated = choose_repetitions(slice);
  divide(slice, one_block_ && repeated > 0 ? 0 : slice.room - repeated);
  int used = repeated;
  for (const ClientIndex local : served_) used += clients_[local].share;
  if (slice.region.flexible) flexible_.take(direction_, slice.region, used);
  cursor_ = supply_.free_after(slice, used);

  int symbol = supply_.first_symbol(slice, used);
  const auto next = [&](int symbols) {
    const std::int64_t slot = slice.region.slot;
    const OnAir air{grid_.time_of(slot, symbol), grid_.time_of(slot, symbol + symbols), symbol, symbols};
    symbol += symbols;
    return air;
  };
  for (const std::size_t index : due_) repeat(index, next(blocks_[index].first.symbols));
  for (const ClientIndex local : served_) transmit_new(local, slice, next(clients_[local].share));
  leave_turns();
  plan_next();
}

// ---- Who gets how much ----------------------------------------------------------------------------------------------

/// Whether a client sends sounding signals in the slot of a slice and nothing else.
bool SharedChannel::silent(ClientIndex local, const SymbolSupply::Slice& slice) const {
  return direction_ == Direction::uplink && timing_.sounds(in_cell(local), slice.region.slot);
}

int SharedChannel::choose_repetitions(const SymbolSupply::Slice& slice) {
  due_.clear();
  int used = 0;
  while (!repetitions_.empty() && !(one_block_ && used > 0)) {
    Repetition first = repetitions_.top();
    if (first.eligible > slice.start || used + first.symbols > slice.room) break;
    repetitions_.pop();
    if (silent(blocks_[first.block].client, slice)) {
      first.eligible = grid_.time_of(slice.region.slot, symbols_per_slot);
      repetitions_.push(first);
      continue;
    }
    used += first.symbols;
    due_.push_back(first.block);
  }
  return used;
}

void SharedChannel::divide(const SymbolSupply::Slice& slice, int room) {
  served_.clear();
  visited_ = 0;
  if (ranked_)
    divide_by_rank(slice, room);
  else
    divide_in_turn(slice, room);
}

void SharedChannel::divide_in_turn(const SymbolSupply::Slice& slice, int room) {
  for (bool first_lap = true, given = true; given && room > 0; first_lap = false) {
    given = false;
    const std::size_t end = first_lap ? turns_.size() : visited_;
    for (std::size_t i = 0; i < end && room > 0; ++i) {
      Client& client = clients_[turns_[i]];
      if (first_lap) {
        ++visited_;
        ask(turns_[i], slice);
      }
      const int least = client.share == 0 ? client.least : 1;
      const int turn = one_block_ ? client.want : std::max(quantum_, least);
      const int symbols = std::min({turn, client.want - client.share, room});
      if (symbols == 0 || symbols < least) continue;
      give(turns_[i], symbols);
      room = one_block_ ? 0 : room - symbols;
      given = true;
    }
  }
}

void SharedChannel::divide_by_rank(const SymbolSupply::Slice& slice, int room) {
  ranks_.clear();
  for (const ClientIndex local : turns_) {
    clients_[local].share = 0;
    ranks_.push_back({rank(local, slice.start), ranks_.size(), local});
  }
  // Only the first few are served: a heap, not a sorted list.
  std::make_heap(ranks_.begin(), ranks_.end());
  while (room >= shortest_ && !ranks_.empty()) {
    const ClientIndex local = ranks_.front().client;
    std::pop_heap(ranks_.begin(), ranks_.end());
    ranks_.pop_back();
    ask(local, slice);
    const int symbols = std::min(clients_[local].want, room);
    if (symbols == 0 || symbols < clients_[local].least) continue;
    give(local, symbols);
    room = one_block_ ? 0 : room - symbols;
  }
}

/// How many symbols of a slice a client wants; it has none yet.
void SharedChannel::ask(ClientIndex local, const SymbolSupply::Slice& slice) {
  Client& client = clients_[local];
  client.share = client.want = 0;
  client.least = shortest_;
  if (silent(local, slice)) return;
  const int most = std::min(slice.room, longest_);
  client.mcs = links_.at(direction_, in_cell(local), slice.start).mcs;
  if (granted_) {
    client.want = most >= shortest_ ? most : 0;
    return;
  }
  const Bytes bytes = demand(client);
  if (bytes <= Bytes(0)) return;
  client.want = phy_.symbols_for(client.mcs, bytes, most);
  client.least = phy_.symbols_for(client.mcs, Bytes(1), most);
}

void SharedChannel::give(ClientIndex local, int symbols) {
  Client& client = clients_[local];
  if (client.share == 0) served_.push_back(local);
  client.share += symbols;
}

double SharedChannel::rank(ClientIndex local, Instant time) {
  const Client& client = clients_[local];
  if (policy_ == RadioScheduler::earliest_deadline_first) {
    return client.first == nullptr ? -1e300 : -static_cast<double>(client.first->deadline.count());
  }
  const NrLink& link = links_.at(direction_, in_cell(local), time);
  const double now = static_cast<double>(phy_.payload(link.mcs, longest_).value());
  const double mean = client.mean_rate * std::exp(-to_seconds(time - client.rated) / to_seconds(fairness_window));
  return now / (mean + 1e-9);
}

/// Whoever was served, or has nothing left to send, goes to the end or leaves.
void SharedChannel::leave_turns() {
  if (ranked_) {
    std::erase_if(turns_, [&](ClientIndex local) {
      Client& client = clients_[local];
      client.in_turn = client.share == 0 && demand(client) > Bytes(0);
      return !client.in_turn;
    });
    for (const ClientIndex local : served_) enter_turn(local);
    return;
  }
  for (std::size_t i = 0; i < visited_; ++i) {
    const ClientIndex local = turns_.front();
    turns_.pop_front();
    clients_[local].in_turn = false;
    enter_turn(local);
  }
}

}  // namespace trilemma
