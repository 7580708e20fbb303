#include "sim/ticket.h"
#include "sim/trips.h"
#include "sim/world.h"

namespace trilemma {
namespace {

/// The draft model reads the prompt on the device while the prompt is on its way.
Process prepare_drafts(World& world, const Request& request, Signal& ready) {
  (void)co_await world.device(request.client).run(world.service(request.kind).costs.draft_prefill(request.prompt));
  ready.fire();
}

}  // namespace

// The latency equation, top to bottom: device -> codec -> uplink -> backhaul -> edge (-> WAN -> cloud -> WAN) ->
// backhaul -> downlink, once for the prompt and once for each further token; shorter where a site goes on by itself.
Process serve(World& world, Request request, Signal* answered) {
  Ticket ticket(world, request);
  Trips trips(world.service(request.kind), request.prompt, request.output, world.chance(request.client));
  Signal drafts;
  if (trips.is_speculative()) prepare_drafts(world, request, drafts);
  for (bool is_first = true; ticket.goes_on() && trips.more(); is_first = false) {
    if (!is_first && trips.is_speculative()) {
      const Instant since = world.now();
      co_await drafts;
      ticket.waited(Stage::device, world.now() - since);
    }
    const Pass pass = trips.next();
    if (pass.on_device() > Duration{0}) {
      ticket.worked(co_await world.device(request.client).run(pass.on_device()), pass);
    }
    if (pass.uplink > Bytes(0)) {
      const Leg up = co_await world.carry(Direction::uplink, request, pass.uplink);
      if (!ticket.arrived(Direction::uplink, pass.uplink, up)) break;
    }
    if (pass.edge.any()) {
      Visit visit = ticket.visit(Station::edge, pass);
      co_await world.edge().serve(visit);
      if (!ticket.served(Station::edge, visit)) break;
    }
    if (pass.to_cloud > Bytes(0)) {
      ticket.crossed_wan(co_await world.cross_wan(Direction::uplink, pass.to_cloud));
      Visit visit = ticket.visit(Station::cloud, pass);
      co_await world.cloud().serve(visit);
      if (!ticket.served(Station::cloud, visit)) break;
    }
    if (pass.from_cloud > Bytes(0)) ticket.crossed_wan(co_await world.cross_wan(Direction::downlink, pass.from_cloud));
    if (pass.is_streamed) {
      ticket.send_token();
    } else if (pass.downlink > Bytes(0)) {
      const Leg down = co_await world.carry(Direction::downlink, request, pass.downlink);
      if (!ticket.arrived(Direction::downlink, pass.downlink, down)) break;
      ticket.first_token();
    } else if (!pass.edge.any() && !pass.cloud.any()) {
      ticket.first_token();  // on the device
    }
    if (const auto context = trips.finish()) ticket.forget(pass.cloud.any() ? Station::cloud : Station::edge, *context);
  }
  co_await ticket.tokens_delivered();
  if (trips.is_speculative() && !drafts.await_ready()) {
    const Instant since = world.now();
    co_await drafts;
    ticket.waited(Stage::device, world.now() - since);
  }
  ticket.end();
  if (answered != nullptr) answered->fire();
}

}  // namespace trilemma
