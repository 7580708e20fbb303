#include "models/link/link.h"

#include <algorithm>
#include <cmath>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// Serialises first in, first out; after the last bit has left, a constant delay, but no message overtakes another.
class SerialLink final : public Link {
 public:
  SerialLink(Scheduler& scheduler, FibreLink fibre) : scheduler_(scheduler), fibre_(std::move(fibre)) {}

  void send(Bytes size, Action delivered) override { send(size, {.since = scheduler_.now(), .tail = size}, delivered); }
  void send(Bytes size, const Arrival& arrival, Action delivered) override {
    TRILEMMA_ENSURE(Bytes(0) < arrival.tail && arrival.tail <= size && arrival.since <= scheduler_.now(),
                    "the last bytes of a message come last");
    free_at_ = std::max(free_at_, arrival.since) + occupancy(size);
    busy_ += occupancy(size);
    // Behind a longer frame, a message waits at each switch: its last bit follows the last bit of the one before.
    delivered_at_ = std::max({free_at_ + after_serialisation(size), scheduler_.now() + floor(arrival.tail),
                              delivered_at_ + occupancy(arrival.tail)});
    if (arrival.tail < size) {
      delivered_at_ = std::max(delivered_at_, arrival.before + floor(arrival.packet + arrival.tail));
    }
    scheduler_.at(delivered_at_, delivered);
  }
  [[nodiscard]] Duration floor(Bytes size) const override { return occupancy(size) + after_serialisation(size); }
  [[nodiscard]] Duration occupancy(Bytes size) const override { return on_wire(size) / fibre_.rate; }
  [[nodiscard]] Duration busy() const override { return busy_; }

 private:
  [[nodiscard]] Bytes on_wire(Bytes size) const {
    const std::int64_t frames =
        std::max<std::int64_t>(1, (size.value() + fibre_.frame.value() - 1) / fibre_.frame.value());
    return size + frames * fibre_.frame_overhead;
  }
  /// Frames follow each other through the switches, so each switch adds one frame, the longest, and its latency.
  [[nodiscard]] Duration after_serialisation(Bytes size) const {
    const Duration frame = (std::min(size, fibre_.frame) + fibre_.frame_overhead) / fibre_.rate;
    return fibre_.switches * (frame + fibre_.switch_latency) + fibre_propagation(fibre_.length) + fibre_.delay;
  }

  Scheduler& scheduler_;
  FibreLink fibre_;
  Instant free_at_{0};
  Instant delivered_at_{0};  // the message before
  Duration busy_{0};
};

/// Both ends in one place.
class Joint final : public Link {
 public:
  explicit Joint(Scheduler& scheduler) : scheduler_(scheduler) {}
  void send(Bytes /*size*/, Action delivered) override { scheduler_.after(Duration{0}, delivered); }
  void send(Bytes size, const Arrival& /*arrival*/, Action delivered) override { send(size, delivered); }
  [[nodiscard]] Duration floor(Bytes /*size*/) const override { return Duration{0}; }
  [[nodiscard]] Duration occupancy(Bytes /*size*/) const override { return Duration{0}; }
  [[nodiscard]] Duration busy() const override { return Duration{0}; }

 private:
  Scheduler& scheduler_;
};

std::unique_ptr<Link> make(Scheduler& scheduler, const NoLink& /*none*/) { return std::make_unique<Joint>(scheduler); }
std::unique_ptr<Link> make(Scheduler& scheduler, const FibreLink& fibre) {
  return std::make_unique<SerialLink>(scheduler, fibre);
}
/// A fixed link is a fibre of no length with a delay of its own and no frames.
std::unique_ptr<Link> make(Scheduler& scheduler, const FixedLink& fixed) {
  return make(scheduler, FibreLink{.rate = fixed.rate, .delay = fixed.delay, .frame_overhead = Bytes(0)});
}

}  // namespace

std::unique_ptr<Link> make_link(Scheduler& scheduler, const LinkConfig& config) {
  return std::visit([&](const auto& chosen) { return make(scheduler, chosen); }, config);
}

Duration fibre_propagation(Metres length) {
  // 49 ns for 10 m, in this order, so that a whole number of nanoseconds stays one.
  return Duration(static_cast<std::int64_t>(std::ceil(length.value() * 49 / 10)));
}

}  // namespace trilemma
