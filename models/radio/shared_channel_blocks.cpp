#include <algorithm>
#include <cmath>

#include "core/ensure.h"
#include "models/radio/buffer_report.h"
#include "models/radio/shared_channel.h"

/// Transport blocks of a channel, from their payload to what becomes of them.
namespace trilemma {

// ---- What is sent ---------------------------------------------------------------------------------------------------

void SharedChannel::transmit_new(ClientIndex local, const SymbolSupply::Slice& slice, const OnAir& air) {
  Client& client = clients_[local];
  const Bytes payload = phy_.payload(client.mcs, air.symbols);
  TRILEMMA_ENSURE(payload > Bytes(0), "a block has room for data");
  const bool from_standing = client.standing > Bytes(0);
  client.standing = client.asked = Bytes(0);
  client.granted += payload.value();
  see(client, timing_.assembly(direction_, air.start, slice.region.slot));
  const Bytes taken = fill(client, payload, air);
  client.known = reports_ ? std::max(Bytes(0), client.known - payload) : client.known - taken;
  counts_.symbols += air.symbols;
  counts_.on_air += air.end - air.start;
  ++(taken > Bytes(0) ? counts_.blocks : counts_.empty_blocks);
  rate(client, air.start, taken);
  if (policy_ == RadioScheduler::semi_persistent && (from_standing || !client.stands)) {
    stand_again(local, air.start, payload, taken > Bytes(0));
  }

  Block block{.client = local,
              .first = air,
              .air = air,
              .mcs = client.mcs,
              .sinr_sum = linear(links_.at(direction_, in_cell(local), air.start).sinr),
              .report = reports_ ? write_report(local) : std::nullopt,
              .granted = client.granted};
  // Nobody misses the bits of an empty block.
  if (taken == Bytes(0) || !fails(block)) return received(block, parts_, timing_.decoded(direction_, air));
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
  const Instant eligible = timing_.repeat_from(direction_, block.air, decoded, in_cell(block.client));
  repetitions_.push({eligible, order_++, index, block.first.symbols});
  plan(eligible, block.first.symbols);
}

void SharedChannel::repeat(std::size_t index, const OnAir& air) {
  Block& block = blocks_[index];
  block.air = air;
  ++block.transmission;
  block.sinr_sum += linear(links_.at(direction_, in_cell(block.client), air.start).sinr);
  counts_.symbols += air.symbols;
  counts_.on_air += air.end - air.start;
  ++counts_.retransmissions;
  for (const Part& part : block.parts) ++part.message->retransmissions;
  if (fails(block)) return failed(index);
  received(block, block.parts, timing_.decoded(direction_, air));
  release(index);
}

/// Repetitions that keep their own time are settled at once, and take no symbols of the frame.
void SharedChannel::repeat_apart(std::size_t index, Instant decoded) {
  Block& block = blocks_[index];
  while (block.transmission < phy_.max_transmissions()) {
    const Instant again = timing_.repeated_apart(direction_, block.first, decoded);
    block.air.end += again - decoded;
    decoded = again;
    ++block.transmission;
    block.sinr_sum += linear(links_.at(direction_, in_cell(block.client), block.first.start).sinr);
    counts_.on_air += block.first.end - block.first.start;
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
    const bool latest = decoded >= message.decoded;
    note_arrival(message, part.bytes, decoded, latest);
    if (latest) {
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
  scheduler_.let_go();
}

void SharedChannel::pop(Client& client) {
  RadioMessage& message = *client.first;
  client.first = message.next;
  if (client.first == nullptr) client.last = nullptr;
  message.next = nullptr;
}

}  // namespace trilemma
