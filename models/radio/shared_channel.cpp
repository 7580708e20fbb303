#include "models/radio/shared_channel.h"

#include <algorithm>
#include <cmath>

#include "core/ensure.h"
#include "models/radio/buffer_report.h"

namespace trilemma {
namespace {

constexpr Duration fairness_window{100'000'000};  // of proportional fair

}  // namespace

FlexibleSlots::Slot& FlexibleSlots::slot(std::int64_t number) {
  Slot& slot = recent_[static_cast<std::size_t>(number) % recent_.size()];
  if (slot.number != number) slot = {.number = number};
  return slot;
}

int FlexibleSlots::room(Direction direction, const FrameGrid::Region& region) {
  const Slot& used = slot(region.slot);
  const int others = used.taken[static_cast<std::size_t>(opposite(direction))];
  const int own = used.taken[static_cast<std::size_t>(direction)];
  return std::max(0, region.symbols - own - others - (others > 0 ? guard_ : 0));
}

void FlexibleSlots::take(Direction direction, const FrameGrid::Region& region, int symbols) {
  slot(region.slot).taken[static_cast<std::size_t>(direction)] += symbols;
}

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
  (client.last != nullptr ? client.last->next : client.first) = &message;
  client.last = &message;
  if (client.fresh == nullptr) client.fresh = &message;
  if (direction_ == Direction::downlink || granted_) {
    message.eligible = timing_.granted_start(direction_, now);
  } else {
    message.eligible = timing_.requested_start(now, message.client);
  }
  if (!reports_) {
    learn(message.eligible, index, Report::Kind::more, message.size);
  } else if (client.state == State::idle) {
    client.state = State::requested;
    learn(message.eligible, index, Report::Kind::more, *request_.first_grant);
  }
}

void SharedChannel::request(ClientIndex local, Instant offered) {
  clients_[local].state = State::requested;
  const Instant eligible = timing_.requested_start(offered, in_cell(local));
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
  scheduler_.at(start, Action::call<&SharedChannel::on_slice>(*this));
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
  if (slice.region.flexible) slice.room = flexible_.room(direction_, slice.region);

  apply_reports(now);
  const int repeated = choose_repetitions(slice);
  divide(slice, slice.room - repeated);
  int used = repeated;
  for (const ClientIndex local : served_) used += clients_[local].share;
  if (slice.region.flexible) flexible_.take(direction_, slice.region, used);

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
  cursor_ = supply_.free_after(slice, used);
  plan_next();
}

// ---- Who gets how much ----------------------------------------------------------------------------------------------

int SharedChannel::choose_repetitions(const SymbolSupply::Slice& slice) {
  due_.clear();
  int used = 0;
  while (!repetitions_.empty()) {
    const Repetition& first = repetitions_.top();
    if (first.eligible > slice.start || used + first.symbols > slice.room) break;
    used += first.symbols;
    due_.push_back(first.block);
    repetitions_.pop();
  }
  return used;
}

void SharedChannel::divide(const SymbolSupply::Slice& slice, int room) {
  served_.clear();
  visited_ = 0;
  const bool ranked =
      policy_ == RadioScheduler::proportional_fair || policy_ == RadioScheduler::earliest_deadline_first;
  if (ranked)
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
        client.share = 0;
        client.want = need(turns_[i], slice);
      }
      const int least = client.share == 0 ? shortest_ : 1;
      const int symbols = std::min({std::max(quantum_, least), client.want - client.share, room});
      if (symbols < least) continue;
      give(turns_[i], symbols);
      room -= symbols;
      given = true;
    }
  }
}

void SharedChannel::divide_by_rank(const SymbolSupply::Slice& slice, int room) {
  ranks_.clear();
  for (const ClientIndex local : turns_) ranks_.emplace_back(rank(local, slice.start), local);
  std::stable_sort(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  visited_ = turns_.size();
  for (const auto& [rank, local] : ranks_) {
    clients_[local].share = 0;
    const int symbols = std::min(need(local, slice), room);
    if (symbols < shortest_) continue;
    give(local, symbols);
    room -= symbols;
  }
}

int SharedChannel::need(ClientIndex local, const SymbolSupply::Slice& slice) {
  if (direction_ == Direction::uplink && timing_.sounds(in_cell(local), slice.region.slot)) return 0;
  const int most = std::min(slice.room, longest_);
  if (granted_) return most >= shortest_ ? most : 0;
  const Bytes bytes = demand(clients_[local]);
  if (bytes <= Bytes(0)) return 0;
  return phy_.symbols_for(links_.at(direction_, in_cell(local), slice.start).mcs, bytes, most);
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

void SharedChannel::leave_turns() {
  for (std::size_t i = 0; i < visited_; ++i) {
    const ClientIndex local = turns_.front();
    turns_.pop_front();
    clients_[local].in_turn = false;
    enter_turn(local);
  }
}

// ---- What is sent ---------------------------------------------------------------------------------------------------

void SharedChannel::transmit_new(ClientIndex local, const SymbolSupply::Slice& slice, const OnAir& air) {
  Client& client = clients_[local];
  const NrLink& link = links_.at(direction_, in_cell(local), air.start);
  const Bytes payload = phy_.payload(link.mcs, air.symbols);
  TRILEMMA_ENSURE(payload > Bytes(0), "a block has room for data");
  const bool from_standing = client.standing > Bytes(0);
  client.standing = client.asked = Bytes(0);
  client.granted += payload.value();
  see(client, timing_.assembly(direction_, air.start, slice.region.slot));
  const Bytes taken = fill(client, payload, air);
  client.known = reports_ ? std::max(Bytes(0), client.known - payload) : client.known - taken;
  counts_.symbols += air.symbols;
  ++(taken > Bytes(0) ? counts_.blocks : counts_.empty_blocks);
  rate(client, air.start, taken);
  if (policy_ == RadioScheduler::semi_persistent && (from_standing || !client.stands)) {
    stand_again(local, air.start, payload, taken > Bytes(0));
  }

  Block block{.client = local,
              .first = air,
              .air = air,
              .mcs = link.mcs,
              .sinr_sum = linear(link.sinr),
              .report = reports_ ? write_report(local) : std::nullopt,
              .granted = client.granted};
  if (!fails(block)) return received(block, parts_, timing_.decoded(direction_, air));
  block.parts = parts_;
  failed(keep(std::move(block)));
}

void SharedChannel::see(Client& client, Instant cutoff) {
  while (client.fresh != nullptr && client.fresh->offered <= cutoff) {
    client.visible += client.fresh->unsent;
    client.fresh = client.fresh->next;
  }
}

/// Takes bytes from the front of the queue into parts_.
Bytes SharedChannel::fill(Client& client, Bytes payload, const OnAir& air) {
  parts_.clear();
  Bytes taken{0};
  while (client.first != nullptr && client.first != client.fresh && payload > Bytes(0)) {
    RadioMessage& message = *client.first;
    const Bytes bytes = std::min(payload, message.unsent);
    if (message.blocks == 0) start(message, air);
    message.on_air += air.end - air.start;
    message.unsent -= bytes;
    ++message.blocks;
    ++message.open_blocks;
    parts_.push_back({&message, message.on_air, bytes});
    taken += bytes;
    payload -= bytes + NrPhy::block_headers;
    if (message.unsent == Bytes(0)) pop(client);
  }
  client.visible -= taken;
  return taken;
}

void SharedChannel::start(RadioMessage& message, const OnAir& air) {
  message.started = air.start;
  const Instant eligible = std::min(message.eligible, air.start);
  message.times.grant = eligible - message.offered;
  if (eligible < air.start) {
    message.times.alignment = std::min(supply_.next(eligible, shortest_).start, air.start) - eligible;
  }
}

/// A report follows the block's own data. When nothing is left, the client is idle and asks again for what comes next.
std::optional<Bytes> SharedChannel::write_report(ClientIndex local) {
  Client& client = clients_[local];
  if (client.visible > Bytes(0)) {
    client.state = State::reporting;
    return reported(request_.table, client.visible);
  }
  client.state = State::idle;
  if (client.fresh != nullptr) request(local, client.fresh->offered);
  if (request_.in_flight == GrantsInFlight::ignored) return Bytes(0);
  return std::nullopt;
}

void SharedChannel::rate(Client& client, Instant time, Bytes bytes) {
  if (policy_ != RadioScheduler::proportional_fair) return;
  const double window = to_seconds(fairness_window);
  client.mean_rate = client.mean_rate * std::exp(-to_seconds(time - client.rated) / window) +
                     static_cast<double>(bytes.value()) / window;
  client.rated = time;
}

void SharedChannel::stand_again(ClientIndex local, Instant start, Bytes granted, bool used) {
  Client& client = clients_[local];
  client.unused = used ? 0 : client.unused + 1;
  client.stands = client.unused < persistence_.release;
  if (client.stands) learn(start + persistence_.period, local, Report::Kind::standing, granted);
}

bool SharedChannel::fails(const Block& block) {
  const Decibels mean = decibels(block.sinr_sum / block.transmission);
  const bool failed = errors_.happens(phy_.block_error_rate(block.mcs, mean, block.first.symbols, block.transmission));
  if (failed) ++counts_.errors;
  return failed;
}

// ---- What becomes of it ---------------------------------------------------------------------------------------------

std::size_t SharedChannel::keep(Block block) {
  if (free_blocks_.empty()) {
    blocks_.push_back(std::move(block));
    return blocks_.size() - 1;
  }
  const std::size_t index = free_blocks_.back();
  free_blocks_.pop_back();
  blocks_[index] = std::move(block);
  return index;
}

void SharedChannel::release(std::size_t index) {
  blocks_[index].parts.clear();
  free_blocks_.push_back(index);
}

void SharedChannel::failed(std::size_t index) {
  Block& block = blocks_[index];
  const Instant decoded = timing_.decoded(direction_, block.air);
  if (block.transmission >= phy_.max_transmissions()) return give_up(index, decoded);
  if (timing_.repeats_apart()) return repeat_apart(index, decoded);
  const Instant eligible = timing_.repeat_from(direction_, block.air, decoded);
  repetitions_.push({eligible, order_++, index, block.first.symbols});
  plan(eligible, block.first.symbols);
}

void SharedChannel::repeat(std::size_t index, const OnAir& air) {
  Block& block = blocks_[index];
  block.air = air;
  ++block.transmission;
  block.sinr_sum += linear(links_.at(direction_, in_cell(block.client), air.start).sinr);
  counts_.symbols += air.symbols;
  ++counts_.retransmissions;
  for (const Part& part : block.parts) ++part.message->retransmissions;
  if (fails(block)) return failed(index);
  received(block, block.parts, timing_.decoded(direction_, air));
  release(index);
}

/// Repetitions that keep their own time are settled at once.
void SharedChannel::repeat_apart(std::size_t index, Instant decoded) {
  Block& block = blocks_[index];
  while (block.transmission < phy_.max_transmissions()) {
    const Instant again = timing_.repeated_apart(direction_, block.first, decoded);
    block.air.end += again - decoded;
    decoded = again;
    ++block.transmission;
    block.sinr_sum += linear(links_.at(direction_, in_cell(block.client), block.first.start).sinr);
    counts_.symbols += block.first.symbols;
    ++counts_.retransmissions;
    for (const Part& part : block.parts) ++part.message->retransmissions;
    if (fails(block)) continue;
    received(block, block.parts, decoded);
    return release(index);
  }
  give_up(index, decoded);
}

void SharedChannel::give_up(std::size_t index, Instant decoded) {
  Block& block = blocks_[index];
  if (acknowledged_ && block.restarts < acknowledged_->max_retransmissions) {
    ++counts_.recovered_blocks;
    ++block.restarts;
    block.transmission = 0;
    block.sinr_sum = 0;
    const Instant eligible = timing_.first_start(direction_, decoded + acknowledged_->delay);
    repetitions_.push({eligible, order_++, index, block.first.symbols});
    return plan(eligible, block.first.symbols);
  }
  ++counts_.lost_blocks;
  const ClientIndex local = block.client;
  const bool silent = block.report && *block.report > Bytes(0);
  for (const Part& part : block.parts) part.message->lost = true;
  const Block lost = std::move(block);
  release(index);
  settle(lost, lost.parts, decoded);
  // The buffer report is lost with the block: the client asks anew.
  if (!silent) return;
  clients_[local].state = State::idle;
  if (clients_[local].first != nullptr) request(local, decoded);
}

void SharedChannel::received(const Block& block, std::span<const Part> parts, Instant decoded) {
  settle(block, parts, decoded);
  if (!block.report) return;
  learn(timing_.first_start(direction_, decoded), block.client, Report::Kind::all, *block.report, block.granted);
}

void SharedChannel::settle(const Block& block, std::span<const Part> parts, Instant decoded) {
  for (const Part& part : parts) {
    RadioMessage& message = *part.message;
    --message.open_blocks;
    if (decoded >= message.decoded) {
      message.decoded = decoded;
      message.times.air = part.on_air;
      message.times.retransmission = block.air.end - block.first.end;
      message.times.decoding = decoded - block.air.end;
    }
    if (message.lost && message.unsent > Bytes(0)) drop_rest(block.client, message);
    if (message.unsent == Bytes(0) && message.open_blocks == 0) finish(message);
  }
}

void SharedChannel::drop_rest(ClientIndex local, RadioMessage& message) {
  Client& client = clients_[local];
  TRILEMMA_ENSURE(client.first == &message, "a partly sent message is the first of its client");
  client.visible -= message.unsent;
  if (!reports_) client.known -= message.unsent;
  message.unsent = Bytes(0);
  pop(client);
}

void SharedChannel::finish(RadioMessage& message) {
  RadioTimes& times = message.times;
  times.queueing = Duration{0};
  times.queueing = message.decoded - message.offered - times.total();
  TRILEMMA_ENSURE(times.queueing >= Duration{0}, "the times of a transfer fit into its latency");
  (message.lost ? counts_.bytes_lost : counts_.bytes_delivered) += message.size.value();
  scheduler_.at(message.decoded, message.done);
}

void SharedChannel::pop(Client& client) {
  RadioMessage& message = *client.first;
  client.first = message.next;
  if (client.first == nullptr) client.last = nullptr;
  message.next = nullptr;
}

}  // namespace trilemma
