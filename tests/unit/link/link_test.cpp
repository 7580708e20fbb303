#include "models/link/link.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"

namespace trilemma {
namespace {

/// Notes when messages arrive.
struct Receiver {
  explicit Receiver(Scheduler& its_scheduler) : scheduler(its_scheduler) {}
  void arrive() { arrivals.push_back(scheduler.now()); }
  Action on_arrival() { return Action::call<&Receiver::arrive>(*this); }

  Scheduler& scheduler;
  std::vector<Instant> arrivals;
};

struct Message {
  Instant time;
  Bytes size;
  std::optional<Arrival> arrival = std::nullopt;  // where its packets came one by one
};

/// Sends the messages one by one, at their times.
struct Sender {
  Sender(Scheduler& its_scheduler, Link& its_link, Receiver& its_receiver, std::vector<Message> its_messages)
      : scheduler(its_scheduler), link(its_link), receiver(its_receiver), messages(std::move(its_messages)) {
    for (const Message& message : messages) scheduler.at(message.time, Action::call<&Sender::send_next>(*this));
  }
  void send_next() {
    const Message& message = messages[next++];
    if (!message.arrival) return link.send(message.size, receiver.on_arrival());
    link.send(message.size, *message.arrival, receiver.on_arrival());
  }

  Scheduler& scheduler;
  Link& link;
  Receiver& receiver;
  std::vector<Message> messages;
  std::size_t next = 0;
};

std::vector<Instant> arrivals(const LinkConfig& config, std::vector<Message> messages) {
  Scheduler scheduler;
  const auto link = make_link(scheduler, config);
  Receiver receiver(scheduler);
  Sender sender(scheduler, *link, receiver, std::move(messages));
  scheduler.run();
  return receiver.arrivals;
}

Duration floor_of(const LinkConfig& config, Bytes size) {
  Scheduler scheduler;
  return make_link(scheduler, config)->floor(size);
}

constexpr Bytes megabyte{1'000'000};
const FixedLink eight_megabit{.rate = BitRate(8e6)};

/// 10 km (49,000 ns) and two switches of 1 us; at 1 Gbit/s a byte takes 8 ns, a full frame of 1538 bytes 12,304 ns.
const FibreLink two_switches{.length = Metres(10'000), .rate = BitRate(1e9), .switches = 2, .switch_latency = 1us};

TEST(FixedLink, OneMegabyteAtEightMegabitPerSecondTakesOneSecond) {
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}}), (std::vector<Instant>{1s}));
  EXPECT_EQ(floor_of(eight_megabit, megabyte), 1s);
}

TEST(FixedLink, SecondPacketWaitsForTheFirst) {
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}, {0s, megabyte}}), (std::vector<Instant>{1s, 2s}));
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}, {400ms, megabyte}}), (std::vector<Instant>{1s, 2s}));
}

TEST(FixedLink, PacketsThatCameEarlierHaveLeftEarlier) {
  const Bytes last{1000};  // 1 ms
  const auto alone = [&](Instant since) {
    return arrivals(eight_megabit, {{1s, megabyte, Arrival{since, last, 1s - 1ms, last}}});
  };
  EXPECT_EQ(alone(0s), (std::vector<Instant>{1s + 1ms})) << "as fast as they came: the last packet is left";
  EXPECT_EQ(alone(500ms), (std::vector<Instant>{1500ms})) << "the link is slower: all of them, from the first on";
  EXPECT_EQ(alone(1s), (std::vector<Instant>{2s})) << "all at once";
}

TEST(FixedLink, PacketsThatCameEarlierWaitForWhatWasThereBefore) {
  const Message before{0s, megabyte};
  EXPECT_EQ(arrivals(eight_megabit, {before, {1s, megabyte, Arrival{500ms, Bytes(1000), 1s - 1ms, Bytes(1000)}}}),
            (std::vector<Instant>{1s, 2s}));
}

TEST(FixedLink, APacketThatComesWhenTheFirstHasJustLeftDoesNotWait) {
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}, {1s - 1ns, megabyte}}), (std::vector<Instant>{1s, 2s}));
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}, {1s, megabyte}}), (std::vector<Instant>{1s, 2s}));
  EXPECT_EQ(arrivals(eight_megabit, {{0s, megabyte}, {1s + 1ns, megabyte}}), (std::vector<Instant>{1s, 2s + 1ns}));
}

TEST(FixedLink, PropagationDoesNotOccupyTheLink) {
  const FixedLink far{.rate = BitRate(8e6), .delay = 10s};
  EXPECT_EQ(arrivals(far, {{0s, megabyte}, {0s, megabyte}}), (std::vector<Instant>{11s, 12s}));

  Scheduler scheduler;
  const auto link = make_link(scheduler, far);
  EXPECT_EQ(link->occupancy(megabyte), 1s);
  EXPECT_EQ(link->floor(megabyte), 11s);
}

TEST(FixedLink, IsBusyForTheSumOfItsSerialisations) {
  Scheduler scheduler;
  const auto link = make_link(scheduler, FixedLink{.rate = BitRate(8e6), .delay = 10s});
  Receiver receiver(scheduler);
  EXPECT_EQ(link->busy(), 0s);
  Sender sender(scheduler, *link, receiver, {{0s, megabyte}, {100s, megabyte}});
  scheduler.run();
  EXPECT_EQ(link->busy(), 2s);
}

TEST(FixedLink, CarriesAGibibyteAndAQuarterAtFiveGigabitInTheExactTime) {
  // 1.25 x 2^30 x 8 bit / 5e9 bit/s = 2^31 ns.
  EXPECT_EQ(floor_of(FixedLink{.rate = BitRate(5e9)}, Bytes(5 * (std::int64_t{1} << 28))), 2'147'483'648ns);
}

TEST(FixedLink, RoundsSerialisationUp) {
  // 1 B at 3 bit/s: 2.666... s.
  EXPECT_EQ(floor_of(FixedLink{.rate = BitRate(3)}, Bytes(1)), 2'666'666'667ns);
}

TEST(FibreLink, PropagatesAtFourPointNineMicrosecondsAKilometre) {
  EXPECT_EQ(fibre_propagation(Metres(0)), 0ns);
  EXPECT_EQ(fibre_propagation(Metres(200)), 980ns);
  EXPECT_EQ(fibre_propagation(Metres(1000)), 4'900ns);
  EXPECT_EQ(fibre_propagation(Metres(10'000)), 49'000ns);
  EXPECT_EQ(fibre_propagation(Metres(100'000)), 490'000ns);
  EXPECT_EQ(fibre_propagation(Metres(1)), 5ns);  // 4.9, rounded up
}

TEST(FibreLink, EveryHopSerialisesAFrameAgain) {
  // 100 B: one frame of 138 B, 1104 ns on each of three hops; 2 x 1000 ns in the switches; 49,000 ns of fibre.
  EXPECT_EQ(floor_of(two_switches, Bytes(100)), 3 * 1'104ns + 2'000ns + 49'000ns);
  EXPECT_EQ(arrivals(two_switches, {{5us, Bytes(100)}}), (std::vector<Instant>{5us + 54'312ns}));
}

TEST(FibreLink, FramesOfOneMessageFollowEachOtherThroughTheSwitches) {
  // 3000 B: two full frames. First hop 2 x 12,304, and each switch adds one frame and its latency.
  EXPECT_EQ(floor_of(two_switches, Bytes(3000)), 24'608ns + 2 * (12'304ns + 1'000ns) + 49'000ns);
  // 3001 B: a third frame, of 1 + 38 bytes; the second hop is still busy with the second frame when it comes.
  EXPECT_EQ(floor_of(two_switches, Bytes(3001)), 24'608ns + 312ns + 2 * (12'304ns + 1'000ns) + 49'000ns);
}

TEST(FibreLink, AddsItsConstantDelayOnce) {
  FibreLink delayed = two_switches;
  delayed.delay = 7us;
  EXPECT_EQ(floor_of(delayed, Bytes(100)), floor_of(two_switches, Bytes(100)) + 7us);
}

TEST(FibreLink, AnEmptyMessageIsOneFrameOfOverhead) {
  EXPECT_EQ(floor_of(FibreLink{.rate = BitRate(1e9)}, Bytes(0)), 38 * 8ns);
}

TEST(FibreLink, AShortMessageDoesNotOvertakeTheLongOneBeforeIt) {
  const FibreLink plain{.rate = BitRate(1e9), .switches = 2};
  // Hop 1: long 0 .. 12,304, short .. 13,408; hop 2: long 12,304 .. 24,608, short .. 25,712; hop 3: long .. 36,912,
  // short .. 38,016: it waits behind the long one at each hop.
  EXPECT_EQ(arrivals(plain, {{0s, Bytes(1500)}, {0s, Bytes(100)}}), (std::vector<Instant>{36'912ns, 38'016ns}));
}

/// Frame by frame through every hop: a hop sends a frame when it is free and the frame is there, whole and switched.
std::vector<Instant> hop_by_hop(const FibreLink& fibre, const std::vector<Message>& messages) {
  std::vector<Instant> free_at(static_cast<std::size_t>(fibre.switches) + 1);
  std::vector<Instant> result;
  for (const Message& message : messages) {
    std::int64_t rest = message.size.value();
    Instant there{0};
    while (rest > 0) {
      const std::int64_t payload = std::min(rest, fibre.frame.value());
      const Duration serialisation = (Bytes(payload) + fibre.frame_overhead) / fibre.rate;
      there = message.time - fibre.switch_latency;
      for (Instant& free : free_at) {
        free = std::max(free, there + fibre.switch_latency) + serialisation;
        there = free;
      }
      rest -= payload;
    }
    result.push_back(there + fibre_propagation(fibre.length) + fibre.delay);
  }
  return result;
}

TEST(FibreLink, AgreesWithAQueuePerHopForEverySequenceOfMessages) {
  Rng rng(1, stream_number("messages"), 0);
  for (const std::int64_t switches : {0, 1, 2, 5}) {
    FibreLink fibre = two_switches;
    fibre.switches = switches;
    std::vector<Message> messages;
    Instant time{0};
    for (int i = 0; i < 500; ++i) {
      // About half as long as a message takes, so that queues build up and empty again.
      time += rng.exponential(20us);
      const Duration size = rng.happens(0.5) ? rng.uniform(200ns) : rng.uniform(6'000ns);
      messages.push_back({time, Bytes(1 + size.count())});
    }
    EXPECT_EQ(arrivals(fibre, messages), hop_by_hop(fibre, messages)) << switches << " switches";
  }
}

TEST(NoLink, DeliversAtOnce) {
  EXPECT_EQ(arrivals(NoLink{}, {{3us, Bytes(1'000'000)}}), (std::vector<Instant>{3us}));
  EXPECT_EQ(floor_of(NoLink{}, megabyte), 0s);
}

}  // namespace
}  // namespace trilemma
