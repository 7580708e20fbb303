#include "sim/world.h"

namespace trilemma {
namespace {

Pass pass_of(World& world, const Request& request, std::int64_t trip) {
  if (trip == 0) return world.costs().prefill(request.prompt, request.output);
  return world.costs().decode(request.prompt + Tokens(trip));
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
      const Duration queued = co_await world.device(request.client).run(pass.on_device());
      clock.charge(Stage::device_queue, queued);
      clock.charge(Stage::device, pass.device);
      clock.charge(Stage::codec, pass.encode);
    }
    if (pass.leaves_device) {
      const Leg up = co_await world.carry(Direction::uplink, request, pass.uplink);
      clock.charge(Direction::uplink, up.radio.times);
      clock.charge(Stage::backhaul, up.backhaul);
      record.count(up.radio);
      record.uplink_bytes += pass.uplink;
      if (up.radio.lost) break;

      const Duration queued = co_await world.edge().run(pass.at_edge());
      clock.charge(Stage::edge_queue, queued);
      clock.charge(Stage::codec, pass.decode);
      clock.charge(Stage::edge, pass.edge);

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
