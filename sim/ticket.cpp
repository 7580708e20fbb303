#include "sim/ticket.h"

#include "core/ensure.h"
#include "sim/world.h"

namespace trilemma {
namespace {

/// One token of an answer on its way down, from the cloud or from the edge.
Process deliver(World& world, Ticket& ticket, Bytes over_wan, Bytes size) {
  Duration wan{0};
  if (over_wan > Bytes(0)) wan = co_await world.cross_wan(Direction::downlink, over_wan);
  const Leg leg = co_await world.carry(Direction::downlink, ticket.request(), size);
  ticket.token_delivered(size, wan, leg);
}

}  // namespace

Ticket::Ticket(World& world, const Request& request) : world_(world), record_{.request = request} {
  const Service& service = world.service(request.kind);
  const std::int64_t drafts = service.scenario.speculation ? service.scenario.speculation->tokens : 0;
  at_edge_.priority = service.priority;
  at_edge_.deadline = service.deadline(request.arrival);
  at_edge_.longest = request.prompt + request.output + Tokens(drafts);
  at_edge_.model = service.edge_model;
  at_cloud_.priority = at_edge_.priority;
  at_cloud_.deadline = at_edge_.deadline;
  at_cloud_.longest = at_edge_.longest;
  at_cloud_.model = service.cloud_model;
}

void Ticket::worked(const Server::Served& served, const Pass& pass) {
  using Wide = __int128;  // hours times hours
  const Duration codec(static_cast<std::int64_t>(static_cast<Wide>(served.took.count()) * pass.encode.count() /
                                                 pass.on_device().count()));
  clock_.charge(Stage::device_queue, served.waited);
  clock_.charge(Stage::codec, codec);
  clock_.charge(Stage::device, served.took - codec);
}

bool Ticket::arrived(Direction direction, Bytes size, const Leg& leg) {
  clock_.charge(direction, leg.radio.times);
  clock_.charge(Stage::backhaul, leg.backhaul);
  record_.count(leg.radio);
  (direction == Direction::uplink ? record_.uplink_bytes : record_.downlink_bytes) += size;
  return !leg.radio.lost;
}

Visit Ticket::visit(Station station, const Pass& pass) {
  const SiteWork& work = station == Station::cloud ? pass.cloud : pass.edge;
  Visit visit{.sequence = &sequence(station),
              .fresh = work.fresh,
              .outputs = work.outputs,
              .heads = work.heads,
              .before = work.before,
              .is_last = pass.is_last};
  if (!pass.is_streamed) return visit;
  token_ = pass.downlink;
  token_over_wan_ = pass.token_over_wan;
  visit.each = Action::call<&Ticket::send_token>(*this);
  return visit;
}

bool Ticket::served(Station station, const Visit& visit) {
  const bool in_cloud = station == Station::cloud;
  clock_.charge(Stage::codec, visit.alone);
  clock_.charge(in_cloud ? Stage::cloud : Stage::edge, visit.took - visit.alone);
  clock_.charge(in_cloud ? Stage::cloud_queue : Stage::edge_queue, visit.waited);
  if (visit.rejection == Rejection::none) return true;
  record_.outcome = Outcome::dropped;
  record_.rejection = visit.rejection;
  return false;
}

void Ticket::forget(Station station, Tokens context) {
  (station == Station::cloud ? world_.cloud() : world_.edge()).forget(sequence(station), context);
}

void Ticket::send_token() {
  ++under_way_;
  deliver(world_, *this, token_over_wan_, token_);
}

void Ticket::token_delivered(Bytes size, Duration over_wan, const Leg& leg) {
  record_.count(leg.radio);
  record_.downlink_bytes += size;
  if (!leg.radio.lost) first_token();
  last_over_wan_ = over_wan;
  last_leg_ = leg;
  if (--under_way_ == 0 && all_there_) std::exchange(all_there_, Action())();
}

/// The time since the last token was sent is that token's own, unless one before it comes even later.
void Ticket::charge_delivery() {
  const Duration since = now() - waits_since_;
  const Duration own = last_over_wan_ + last_leg_.backhaul + last_leg_.radio.times.total();
  if (own != since) return clock_.charge(Stage::downlink_wait, since);
  clock_.charge(Stage::wan, last_over_wan_);
  clock_.charge(Stage::backhaul, last_leg_.backhaul);
  clock_.charge(Direction::downlink, last_leg_.radio.times);
}

Instant Ticket::now() const { return world_.now(); }

void Ticket::first_token() {
  if (record_.first_token == Duration{0}) record_.first_token = now() - request().arrival;
}

void Ticket::end() {
  world_.edge().leave(at_edge_);
  if (world_.has_cloud()) world_.cloud().leave(at_cloud_);
  record_.stages = clock_.times();
  world_.finish(record_);
}

}  // namespace trilemma
