// Random radio cells under random traffic and losses: nothing gets lost without a trace, nothing hangs, nothing is
// faster than possible.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/config/writer.h"
#include "core/ensure.h"
#include "tests/property/draw.h"
#include "tests/property/random_mac.h"
#include "tests/unit/radio/cell_rig.h"

namespace trilemma::test {
namespace {

constexpr std::uint32_t master_seed = 20260107;
constexpr int cells_wanted = 300;  // of each kind

std::string random_frame(Draw& draw) {
  if (draw.chance(0.2)) return std::string(full_uplink);
  if (draw.chance(0.2)) return "DDDSU";
  if (draw.chance(0.2)) return "F";
  std::string frame;
  for (auto left = draw.whole(1, 6); left > 0; --left) frame += draw.one_of({'D', 'S', 'U', 'F'});
  return frame;
}

NrRadio random_cell(Draw& draw) {
  NrRadio radio = draw.chance(0.5) ? loud_radio() : NrRadio{};
  radio.numerology = draw.one_of<std::int64_t>({2, 3, 3, 5});
  const auto bandwidths = channel_bandwidths(static_cast<int>(radio.numerology), radio.carrier);
  radio.bandwidth = bandwidths[static_cast<std::size_t>(draw.whole(0, std::ssize(bandwidths) - 1))];
  radio.frame = random_frame(draw);
  const std::int64_t guard = draw.whole(0, 3);
  const std::int64_t uplink = draw.whole(0, symbols_per_slot - guard);
  radio.special = {.downlink = symbols_per_slot - guard - uplink, .guard = guard, .uplink = uplink};
  radio.access = draw.one_of({Access::dynamic, Access::dynamic, Access::configured_grant});
  radio.symbols = draw.one_of<std::int64_t>({2, 4, 7, 14, 14});
  radio.harq.max_transmissions = draw.whole(1, 4);
  draw_mac(draw, radio);
  return radio;
}

struct Traffic {
  std::int64_t clients = 1;
  std::vector<Offer> offers;
};

Traffic random_traffic(Draw& draw) {
  Traffic traffic{.clients = draw.whole(1, 8), .offers = {}};
  Instant time{0};
  const Duration gap = draw.time(1us, 5ms);
  const double largest = draw.magnitude(10, 200'000);
  for (auto left = draw.whole(5, 60); left > 0; --left) {
    if (draw.chance(0.7)) time += Duration(draw.whole(0, gap.count()));
    traffic.offers.push_back({.time = time,
                              .size = Bytes(std::llround(draw.magnitude(1, largest))),
                              .client = static_cast<ClientIndex>(draw.whole(0, traffic.clients - 1)),
                              .direction = draw.one_of({Direction::uplink, Direction::downlink}),
                              .deadline = time + draw.time(1us, 10ms)});
  }
  return traffic;
}

struct Case {
  NrRadio radio;
  Traffic traffic;
};

Case next_case(std::uint32_t& number) {
  while (true) {
    Draw draw(master_seed, ++number);
    Case found{random_cell(draw), random_traffic(draw)};
    // Sounding takes the slots of a client away that turns may give it: it would wait for ever.
    const bool turns = found.radio.access == Access::configured_grant && found.radio.multiplexing == Multiplexing::time;
    if (turns && found.radio.sounding > 0) continue;
    if (found.radio.problems().empty() && clients_problem(found.radio, found.traffic.clients).empty()) return found;
  }
}

std::string text(const NrRadio& radio) {
  std::string all = config::to_yaml(config::to_json(RadioConfig(radio)), {});
  const std::string_view origin = "  # built-in";
  for (std::size_t at = all.find(origin); at != std::string::npos; at = all.find(origin, at)) {
    const std::size_t end = all.find_last_not_of(' ', at) + 1;
    all.erase(end, at + origin.size() - end);
  }
  return all;
}

void expect_times(const Transfer& transfer) {
  const RadioTimes& times = transfer.result.times;
  for (const Duration part :
       {times.grant, times.alignment, times.queueing, times.air, times.retransmission, times.decoding}) {
    EXPECT_GE(part, 0ns);
  }
  EXPECT_EQ(times.total(), transfer.latency());
  EXPECT_GT(times.air, 0ns);
}

void expect_counts(const RadioCounts& counts, const Case& c, Direction direction) {
  std::int64_t offered = 0;
  for (const Offer& one : c.traffic.offers) offered += one.direction == direction ? one.size.value() : 0;
  EXPECT_EQ(counts.bytes_offered, offered);
  EXPECT_EQ(counts.bytes_queued(), 0);
  EXPECT_LE(counts.lost_blocks, counts.blocks + counts.empty_blocks);
  const auto* fixed = std::get_if<FixedErrors>(&c.radio.errors);
  if (fixed == nullptr) return;
  if (fixed->first == Fraction(0)) {
    EXPECT_EQ(counts.bytes_lost, 0);
    EXPECT_EQ(counts.retransmissions, 0);
  }
  if (fixed->first == Fraction(1) && fixed->later == Fraction(1)) {
    EXPECT_EQ(counts.bytes_delivered, 0);
  }
}

void expect_sound(const Case& c) {
  Scheduler scheduler({.events = 3'000'000});
  const auto radio = make_radio(scheduler, c.radio, {.clients = c.traffic.clients}, Streams(1, 1));
  std::vector<Transfer> transfers;
  for (const Offer& message : c.traffic.offers) offer(scheduler, *radio, message, transfers);
  ASSERT_EQ(scheduler.run(), RunEnd::done) << "the run does not end by itself";
  ASSERT_EQ(transfers.size(), c.traffic.offers.size()) << "every message arrives or is lost";
  for (const Transfer& transfer : transfers) {
    expect_times(transfer);
    // With mapping type A, blocks of other clients push a block to symbols that end later, which are decoded faster.
    const bool pushed = c.radio.mapping == Mapping::a && c.traffic.clients > 1;
    if (transfer.result.lost || pushed) continue;
    EXPECT_GE(transfer.latency(), radio->bound(transfer.direction, transfer.client, transfer.size));
  }
  for (const Direction direction : {Direction::uplink, Direction::downlink}) {
    expect_counts(radio->counts(direction), c, direction);
  }
}

TEST(RandomCells, DeliverOrLoseEveryByteAndBeatNoBound) {
  std::uint32_t number = 0;
  for (int i = 0; i < cells_wanted; ++i) {
    const Case c = next_case(number);
    SCOPED_TRACE(fmt::format("case {}, {} clients, {} messages\n{}", number, c.traffic.clients, c.traffic.offers.size(),
                             text(c.radio)));
    try {
      expect_sound(c);
    } catch (const InvariantViolation& violation) {
      ADD_FAILURE() << violation.what();
    }
  }
  EXPECT_LT(number, 3 * cells_wanted);
}

/// Instants that matter on an idle cell: around the leads of processing before each symbol boundary; and any others.
std::vector<Duration> phases(Draw& draw, const NrRadio& radio, Duration cycle) {
  const FrameGrid grid(radio);
  const auto times = *processing_times(static_cast<int>(radio.numerology), radio.capability);
  std::vector<Duration> found;
  for (std::int64_t slot = 0; slot < std::min<std::int64_t>(cycle / grid.slot(), 48); ++slot) {
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol) {
      for (const Duration lead : {0ns, (times.pdsch + 1ns) / 2, (times.pusch + 1ns) / 2}) {
        for (const Duration shift : {-1ns, 0ns, 1ns}) found.push_back(grid.time_of(slot, symbol) - lead + shift);
      }
    }
  }
  for (int i = 0; i < 50; ++i) found.emplace_back(draw.whole(0, cycle.count()));
  return found;
}

/// One message at a time: the fastest takes the floor, to the nanosecond.
void expect_floor(const NrRadio& config, std::int64_t clients, Draw& draw) {
  Scheduler scheduler({.events = 3'000'000});
  const auto radio = make_radio(scheduler, config, {.clients = clients}, Streams(1, 1));
  const Duration cycle = FrameGrid(config).period() * clients;
  const Duration gap = (200ms / cycle + 1) * cycle;
  Offer message{.size = Bytes(std::llround(draw.magnitude(1, 20'000))),
                .client = static_cast<ClientIndex>(draw.whole(0, clients - 1)),
                .direction = draw.one_of({Direction::uplink, Direction::uplink, Direction::downlink})};
  std::vector<Transfer> transfers;
  const auto all = phases(draw, config, cycle);
  for (std::size_t i = 0; i < all.size(); ++i) {
    message.time = static_cast<std::int64_t>(i + 1) * gap + all[i];
    offer(scheduler, *radio, message, transfers);
  }
  ASSERT_EQ(scheduler.run(), RunEnd::done);
  ASSERT_EQ(transfers.size(), all.size());
  const Transfer& best = *std::min_element(transfers.begin(), transfers.end(),
                                           [](const auto& a, const auto& b) { return a.latency() < b.latency(); });
  const Duration fastest = best.latency();
  const Duration floor = radio->floor(message.direction, message.client, message.size).total();
  // Delays are drawn: the least one need not meet the frame at its best. And standing grants are longer than needed.
  const bool drawn = std::holds_alternative<MeasuredTiming>(config.timing);
  const bool stands = config.scheduler == RadioScheduler::semi_persistent;
  const bool asks_seldom = config.request.period > 0ns;
  // A rounded report makes blocks longer than the rest of the message needs.
  const bool blind = message.direction == Direction::uplink && config.request.first_grant && best.result.blocks > 1;
  if (drawn || stands) {
    EXPECT_GE(fastest, radio->bound(message.direction, message.client, message.size));
  } else if (asks_seldom || blind) {
    EXPECT_GE(fastest, floor);
  } else {
    EXPECT_EQ(fastest, floor);
  }
  EXPECT_GE(floor, radio->bound(message.direction, message.client, message.size));
}

TEST(RandomCells, TakeTheirFloorWhenIdleAndLucky) {
  std::uint32_t number = 0;
  for (int i = 0; i < cells_wanted; ++i) {
    Case c = next_case(number);
    c.radio.errors = FixedErrors{.first = Fraction(0), .later = Fraction(0)};
    c.radio.sounding = 0;
    SCOPED_TRACE(fmt::format("case {}, {} clients\n{}", number, c.traffic.clients, text(c.radio)));
    Draw draw(master_seed + 1, number);
    expect_floor(c.radio, c.traffic.clients, draw);
    if (HasFatalFailure()) return;
  }
}

/// Several clients whose little messages meet, on links where every third block fails: reports and grants overtake each
/// other.
TEST(RandomCells, NobodyWaitsForEverAmongReportsAndLosses) {
  for (std::uint32_t number = 1; number <= 150; ++number) {
    Draw draw(master_seed + 2, number);
    NrRadio radio = loud_radio();
    radio.bandwidth = Frequency(50e6);
    radio.frame = draw.one_of<std::string>({"DDDSU", "DDSU", "full-uplink"});
    if (draw.chance(0.5)) radio.timing = SlottedTiming{};
    radio.request.first_grant = Bytes(draw.whole(10, 2'000));
    radio.request.table = draw.one_of({BufferTable::exact, BufferTable::short5, BufferTable::long8});
    radio.request.in_flight = draw.one_of({GrantsInFlight::deducted, GrantsInFlight::ignored});
    radio.shortest = draw.whole(2, 4);
    radio.quantum = draw.whole(1, 14);
    radio.errors = FixedErrors{.first = Fraction(0.4), .later = Fraction(0.2)};
    radio.rlc = random_rlc(draw);
    Case c{radio, {.clients = draw.whole(2, 8), .offers = {}}};
    Instant time{0};
    for (int i = 0; i < 300; ++i) {
      time += Duration(draw.whole(0, 400'000));
      c.traffic.offers.push_back({.time = time,
                                  .size = Bytes(std::llround(draw.magnitude(20, 3'000))),
                                  .client = static_cast<ClientIndex>(draw.whole(0, c.traffic.clients - 1))});
    }
    SCOPED_TRACE(fmt::format("case {}, {} clients\n{}", number, c.traffic.clients, text(c.radio)));
    expect_sound(c);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace trilemma::test
