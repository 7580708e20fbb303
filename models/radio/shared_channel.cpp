#include "models/radio/shared_channel.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {

bool BlockSender::send(RadioMessage& message, const NrLink& link, const Block& block) {
  message.air += block.on_air.end - block.on_air.start;
  message.decoded = std::max(message.decoded, block.on_air.end + phy_.decoding());
  counts_.symbols += block.symbols;
  const bool first = block.transmission == 1;
  ++(first ? message.blocks : message.retransmissions);
  ++(first ? counts_.blocks : counts_.retransmissions);
  const double error_rate = first ? link.first_bler[static_cast<std::size_t>(block.symbols)]
                                  : phy_.block_error_rate(link, block.symbols, block.transmission);
  const bool failed = rng_.happens(error_rate);
  if (failed) ++counts_.errors;
  return !failed;
}

void BlockSender::lose(RadioMessage& message) {
  message.lost = true;
  ++counts_.lost_blocks;
}

SharedChannel::SharedChannel(Scheduler& scheduler, const NrPhy& phy, Direction direction, std::span<const NrLink> links,
                             Rng rng)
    : scheduler_(scheduler),
      phy_(phy),
      direction_(direction),
      links_(links),
      sender_(phy, std::move(rng)),
      queues_(links.size()) {}

void SharedChannel::send(RadioMessage& message) {
  message.unsent = message.size;
  message.eligible = phy_.first_chance(direction_, scheduler_.now());
  (waiting_last_ != nullptr ? waiting_last_->next : waiting_first_) = &message;
  waiting_last_ = &message;
  plan(message.eligible);
}

void SharedChannel::plan(Instant earliest) {
  const FrameGrid::Opportunity opportunity = phy_.grid().next(direction_, earliest);
  if (planned_ && *planned_ <= opportunity.index) return;
  planned_ = opportunity.index;
  scheduler_.at(opportunity.start, Action::call<&SharedChannel::on_opportunity>(*this));
}

void SharedChannel::on_opportunity() {
  // An earlier opportunity may have been planned after this one: then this one has come too late or too early.
  if (!planned_) return;
  const FrameGrid::Opportunity opportunity = phy_.grid().at(direction_, *planned_);
  if (opportunity.start != scheduler_.now()) return;
  planned_.reset();
  admit(opportunity.start);
  int used = send_again(opportunity, 0);
  send_new(opportunity, used);
  plan_after(opportunity);
}

void SharedChannel::admit(Instant time) {
  while (waiting_first_ != nullptr && waiting_first_->eligible <= time) {
    RadioMessage& message = *waiting_first_;
    waiting_first_ = message.next;
    if (waiting_first_ == nullptr) waiting_last_ = nullptr;
    message.next = nullptr;
    Queue& queue = queues_[message.client];
    (queue.last != nullptr ? queue.last->next : queue.first) = &message;
    queue.last = &message;
    if (!queue.in_turn) turns_.push_back(message.client);
    queue.in_turn = true;
  }
}

int SharedChannel::send_again(const FrameGrid::Opportunity& opportunity, int used) {
  while (!retransmissions_.empty()) {
    const Retransmission again = retransmissions_.front();
    if (again.eligible > opportunity.start || used + again.symbols > opportunity.symbols) break;
    retransmissions_.pop_front();
    --again.message->retransmissions_due;
    transmit(*again.message, opportunity, used, again.symbols, again.transmission);
    used += again.symbols;
  }
  return used;
}

void SharedChannel::send_new(const FrameGrid::Opportunity& opportunity, int used) {
  // Ends when the symbols do, or when what is left of them is too short for every client in turn.
  std::size_t refused = 0;
  while (opportunity.symbols - used >= FrameGrid::shortest && refused < turns_.size()) {
    const ClientIndex client = turns_.front();
    turns_.pop_front();
    Queue& queue = queues_[client];
    if (queue.first != nullptr) {
      const int symbols = phy_.symbols_for(links_[client].mcs, queue.first->unsent, opportunity.symbols - used);
      refused = symbols == 0 ? refused + 1 : 0;
      if (symbols > 0) send_block(*queue.first, opportunity, used, symbols);
      used += symbols;
    }
    queue.in_turn = queue.first != nullptr;
    if (queue.in_turn) turns_.push_back(client);
  }
}

void SharedChannel::send_block(RadioMessage& message, const FrameGrid::Opportunity& opportunity, int used,
                               int symbols) {
  message.unsent = std::max(Bytes(0), message.unsent - phy_.payload(links_[message.client].mcs, symbols));
  if (message.unsent == Bytes(0)) pop(queues_[message.client]);
  transmit(message, opportunity, used, symbols, 1);
}

void SharedChannel::transmit(RadioMessage& message, const FrameGrid::Opportunity& opportunity, int used, int symbols,
                             int transmission) {
  const FrameGrid::Span on_air{.start = phy_.grid().end(direction_, opportunity, used),
                               .end = phy_.grid().end(direction_, opportunity, used + symbols)};
  if (!sender_.send(message, links_[message.client], {symbols, transmission, on_air})) {
    if (transmission == phy_.max_transmissions()) return give_up(message);
    retransmissions_.push_back({&message, symbols, transmission + 1, phy_.next_chance(direction_, on_air.end)});
    ++message.retransmissions_due;
  }
  if (message.unsent == Bytes(0) && message.retransmissions_due == 0) finish(message);
}

void SharedChannel::give_up(RadioMessage& message) {
  sender_.lose(message);
  if (message.unsent > Bytes(0)) {
    Queue& queue = queues_[message.client];
    TRILEMMA_ENSURE(queue.first == &message, "a partly sent message is the first of its client");
    pop(queue);
  }
  if (message.retransmissions_due > 0) {
    std::erase_if(retransmissions_, [&](const Retransmission& again) { return again.message == &message; });
  }
  finish(message);
}

void SharedChannel::finish(RadioMessage& message) {
  message.air += phy_.decoding();
  scheduler_.at(message.decoded, message.done);
}

void SharedChannel::pop(Queue& queue) {
  RadioMessage& message = *queue.first;
  queue.first = message.next;
  if (queue.first == nullptr) queue.last = nullptr;
  message.next = nullptr;
}

void SharedChannel::plan_after(const FrameGrid::Opportunity& opportunity) {
  const Instant following = opportunity.start + 1ns;
  if (!turns_.empty()) plan(following);
  if (!retransmissions_.empty()) plan(std::max(following, retransmissions_.front().eligible));
  if (waiting_first_ != nullptr) plan(std::max(following, waiting_first_->eligible));
}

}  // namespace trilemma
