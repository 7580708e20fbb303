#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::loud_radio;

/// Arrivals that are tried: a grid over a whole cycle of the frame, and the instants around every symbol from which a
/// preparation (Tproc,2 / 2) or a request (Tproc,1 / 2) before it leads back.
std::vector<Duration> phases(const NrRadio& radio, std::int64_t clients, Duration step) {
  const FrameGrid grid(radio);
  const auto times = *processing_times(static_cast<int>(radio.numerology), radio.capability);
  const Duration cycle = clients * grid.period();
  std::vector<Duration> found;
  for (Duration phase{0}; phase < cycle; phase += step) found.push_back(phase);
  for (std::int64_t slot = 0; slot < clients * grid.slots(); ++slot) {
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol) {
      for (const Duration lead : {(times.pdsch + 1ns) / 2, (times.pusch + 1ns) / 2}) {
        for (const Duration shift : {-1ns, 0ns, 1ns}) {
          found.push_back((grid.time_of(slot, symbol) - lead + shift + 100 * cycle) % cycle);
        }
      }
    }
  }
  return found;
}

struct Plan {
  Direction direction = Direction::uplink;
  ClientIndex client = 0;
  Bytes size{0};
  Duration gap{0};  // between arrivals, whole cycles
  std::vector<Duration> phases;
};

struct Seen {
  Duration fastest = Duration::max();
  Duration slowest{0};
};

Process scan(Scheduler& scheduler, Radio& radio, const Plan& plan, Seen& seen) {
  Instant base{0};
  for (const Duration phase : plan.phases) {
    co_await scheduler.delay(base + phase - scheduler.now());
    const Instant offered = scheduler.now();
    const RadioTransfer result =
        co_await RadioTransferAwaiter(scheduler, radio, plan.direction, plan.client, plan.size);
    const Duration latency = scheduler.now() - offered;
    EXPECT_EQ(result.times.total(), latency);
    seen.fastest = std::min(seen.fastest, latency);
    seen.slowest = std::max(seen.slowest, latency);
    base += plan.gap;
  }
}

/// Tries every phase with each client; the fastest message of a client takes exactly the floor.
void expect_attained(const NrRadio& radio, Direction direction, Bytes size, std::int64_t clients, Duration step) {
  const Duration cycle = clients * FrameGrid(radio).period();
  for (ClientIndex client = 0; client < clients; ++client) {
    Scheduler scheduler;
    const auto cell = make_radio(scheduler, radio, {.clients = clients}, Streams(1, 1));
    const Plan plan{.direction = direction,
                    .client = client,
                    .size = size,
                    .gap = (50ms / cycle + 1) * cycle,
                    .phases = phases(radio, clients, step)};
    Seen seen;
    scan(scheduler, *cell, plan, seen);
    scheduler.run();
    EXPECT_EQ(seen.fastest, cell->floor(direction, client, size).total()) << "client " << client;
    EXPECT_LT(seen.slowest, 49ms) << "messages of this test do not meet";
    EXPECT_LE(cell->bound(direction, client, size), seen.fastest) << "client " << client;
  }
}

std::vector<NrRadio> radios(Access access) {
  std::vector<NrRadio> found;
  for (const char* frame : {"DDDSU", "full-uplink", "S", "DSUU"}) {
    for (const std::int64_t symbols : {2, 7, 14}) {
      NrRadio radio = loud_radio();
      radio.frame = frame;
      radio.symbols = symbols;
      radio.access = access;
      if (radio.frame == "S") radio.special = {.downlink = 5, .guard = 2, .uplink = 7};
      if (radio.frame == "S" && symbols == 14 && access == Access::configured_grant) continue;  // no whole slot
      found.push_back(radio);
    }
  }
  return found;
}

/// Less than a block, a block and a byte, three blocks and a half.
std::vector<Bytes> sizes(const NrRadio& radio) {
  const Bytes block = test::loud_payload(radio, static_cast<int>(radio.symbols));
  return {Bytes(100), block + Bytes(1), 3 * block + block / 2};
}

void expect_all_attained(Access access, Direction direction, std::int64_t clients, Duration step) {
  for (const NrRadio& radio : radios(access)) {
    for (const Bytes size : sizes(radio)) {
      SCOPED_TRACE(::testing::Message() << radio.frame << ", " << radio.symbols << " symbols, " << size.value()
                                        << " B");
      expect_attained(radio, direction, size, clients, step);
    }
  }
}

TEST(RadioFloor, OfADynamicGrantIsAttainedAndNeverBeaten) {
  expect_all_attained(Access::dynamic, Direction::uplink, 1, 1us);
}

TEST(RadioFloor, OfADownlinkMessageIsAttainedAndNeverBeaten) {
  expect_all_attained(Access::dynamic, Direction::downlink, 1, 1us);
}

TEST(RadioFloor, OfAConfiguredGrantIsAttainedAndNeverBeaten) {
  expect_all_attained(Access::configured_grant, Direction::uplink, 1, 1us);
}

TEST(RadioFloor, OfEachOwnerOfConfiguredGrantsIsAttainedAndNeverBeaten) {
  expect_all_attained(Access::configured_grant, Direction::uplink, 2, 5us);
  expect_all_attained(Access::configured_grant, Direction::uplink, 3, 5us);
}

TEST(RadioFloor, HoldsAtOtherNumerologiesAndCapabilities) {
  NrRadio radio = loud_radio();
  for (const std::int64_t mu : {2, 5, 6}) {
    radio.numerology = mu;
    radio.bandwidth = mu == 2 ? Frequency(200e6) : Frequency(400e6);
    for (const UeCapability capability : {UeCapability::one, UeCapability::two}) {
      if (mu > 2 && capability == UeCapability::two) continue;
      radio.capability = capability;
      SCOPED_TRACE(mu);
      for (const Bytes size : sizes(radio)) {
        expect_attained(radio, Direction::uplink, size, 1, 500ns);
        expect_attained(radio, Direction::downlink, size, 1, 500ns);
      }
    }
  }
}

TEST(RadioFloor, IsAttainedByOneNanosecondOfASlot) {
  NrRadio radio = loud_radio();
  radio.frame = std::string(full_uplink);
  expect_attained(radio, Direction::downlink, Bytes(100), 1, 1ns);
}

TEST(RadioFloor, OfAWeakLinkIsNotBeatenByRetransmissions) {
  NrRadio radio = loud_radio();
  radio.bandwidth = Frequency(50e6);
  for (const Access access : {Access::dynamic, Access::configured_grant}) {
    radio.access = access;
    std::int64_t retransmissions = 0;
    for (const double sinr : {-8.0, -7.5, -7.0, -6.5, -6.0}) {  // around the threshold of MCS 0
      const NrRadio weak = test::with_uplink_sinr(radio, Decibels(sinr));
      Scheduler scheduler;
      const auto cell = make_radio(scheduler, weak, {.clients = 1}, Streams(1, 1));
      const Plan plan{.size = Bytes(500), .gap = 80 * 625us, .phases = phases(radio, 1, 1us)};
      Seen seen;
      scan(scheduler, *cell, plan, seen);
      scheduler.run();
      EXPECT_GE(seen.fastest, cell->floor(Direction::uplink, 0, plan.size).total()) << sinr;
      retransmissions += cell->counts(Direction::uplink).retransmissions;
    }
    EXPECT_GT(retransmissions, 0);
  }
}

}  // namespace
}  // namespace trilemma
