#include "sim/world.h"

namespace trilemma {
namespace {

Pass pass_of(World& world, const Request& request, std::int64_t trip) {
  if (trip == 0) return world.costs().prefill(request.prompt, request.output);
  return world.costs().decode(request.prompt + Tokens(trip));
}

/// Time that a machine took, by what it was to take for the codec and for the rest.
void charge(StageClock& clock, Stage stage, Duration took, Duration codec, Duration whole) {
  using Wide = __int128;  // hours times hours
  const Duration part =
      whole == Duration{0}
          ? Duration{0}
          : Duration(static_cast<std::int64_t>(static_cast<Wide>(took.count()) * codec.count() / whole.count()));
  clock.charge(Stage::codec, part);
  clock.charge(stage, took - part);
}

}  // namespace

// The latency equation, top to bottom: device -> codec -> uplink -> backhaul -> edge -> backhaul -> downlink, once for
// the prompt and once for each further token.
Process serve(World& world, Request request, Signal* answered) {
  RequestRecord record{.request = request};
  StageClock clock;
  const std::int64_t trips = world.costs().passes(request.output);
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    const Pass pass = pass_of(world, request, trip);
    if (pass.on_device() > Duration{0}) {
      const Server::Served served = co_await world.device(request.client).run(pass.on_device());
      clock.charge(Stage::device_queue, served.waited);
      charge(clock, Stage::device, served.took, pass.encode, pass.on_device());
    }
    if (pass.leaves_device) {
      const Leg up = co_await world.carry(Direction::uplink, request, pass.uplink);
      clock.charge(Direction::uplink, up.radio.times);
      clock.charge(Stage::backhaul, up.backhaul);
      record.count(up.radio);
      record.uplink_bytes += pass.uplink;
      if (up.radio.lost) break;

      const Server::Served served = co_await world.edge().run(pass.at_edge());
      clock.charge(Stage::edge_queue, served.waited);
      charge(clock, Stage::edge, served.took, pass.decode, pass.at_edge());

      const Leg down = co_await world.carry(Direction::downlink, request, pass.downlink);
      clock.charge(Stage::backhaul, down.backhaul);
      clock.charge(Direction::downlink, down.radio.times);
      record.count(down.radio);
      record.downlink_bytes += pass.downlink;
      if (down.radio.lost) break;
    }
    if (trip == 0) record.first_token = world.now() - request.arrival;
  }
  record.stages = clock.times();
  world.finish(record);
  if (answered != nullptr) answered->fire();
}

}  // namespace trilemma
