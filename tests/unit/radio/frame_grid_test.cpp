#include "models/radio/frame_grid.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "models/radio/numerology.h"
#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::symbol;

constexpr std::array both_directions{Direction::uplink, Direction::downlink};

NrRadio radio_with(const std::string& frame, std::int64_t symbols = 14, std::int64_t mu = 3) {
  NrRadio radio;
  radio.frame = frame;
  radio.symbols = symbols;
  radio.numerology = mu;
  return radio;
}

struct Chance {
  Instant start;
  Instant end;
  bool operator==(const Chance&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Chance& chance) {
  return out << chance.start.count() << ".." << chance.end.count();
}

/// The regions, occasions and control symbols of one period, as the grid tells them one after the other.
std::vector<Chance> data(const FrameGrid& grid, Direction direction) {
  std::vector<Chance> found;
  for (Instant time{0};;) {
    const auto next = grid.next_region(direction, time);
    if (grid.start(next) >= grid.period()) return found;
    found.push_back({grid.start(next), grid.end(next)});
    time = grid.start(next) + 1ns;
  }
}
std::vector<Chance> occasions(const FrameGrid& grid, int symbols) {
  std::vector<Chance> found;
  for (Instant time{0};;) {
    const auto next = grid.next_occasion(time);
    if (grid.start(next) >= grid.period()) return found;
    found.push_back({grid.start(next), grid.time_of(next.region.slot, next.symbol + symbols)});
    time = grid.start(next) + 1ns;
  }
}
std::vector<Chance> control(const FrameGrid& grid, Direction direction) {
  std::vector<Chance> found;
  for (Instant time{0};;) {
    const auto next = grid.next_control(direction, time);
    if (next.start >= grid.period()) return found;
    found.push_back({next.start, next.end});
    time = next.start + 1ns;
  }
}

TEST(FrameGrid, DddsuIsThreeAndAPartSlotsDownAndOneAndAPartUp) {
  const FrameGrid grid(radio_with("DDDSU"));
  EXPECT_EQ(grid.period(), 625us);
  EXPECT_EQ(data(grid, Direction::downlink),
            (std::vector<Chance>{
                {symbol(0, 1), 125us}, {symbol(1, 1), 250us}, {symbol(2, 1), 375us}, {symbol(3, 1), symbol(3, 10)}}));
  EXPECT_EQ(data(grid, Direction::uplink), (std::vector<Chance>{{symbol(3, 12), 500us}, {500us, 625us}}));
  EXPECT_EQ(
      control(grid, Direction::downlink),
      (std::vector<Chance>{{0us, symbol(0, 1)}, {125us, symbol(1, 1)}, {250us, symbol(2, 1)}, {375us, symbol(3, 1)}}));
  EXPECT_EQ(control(grid, Direction::uplink), (std::vector<Chance>{{symbol(3, 13), 500us}, {symbol(4, 13), 625us}}));
  EXPECT_EQ(grid.symbols(Direction::downlink), 3 * 13 + 9);
  EXPECT_EQ(grid.symbols(Direction::uplink), 2 + 14);
  EXPECT_EQ(grid.longest(Direction::downlink), 13);
  EXPECT_EQ(grid.longest(Direction::uplink), 14);
}

TEST(FrameGrid, ASymbolBoundaryIsRoundedUp) {
  // 12/14 of 125,000 ns is 107,142.857.
  EXPECT_EQ(symbol(3, 12), 482'143ns);
  EXPECT_EQ(FrameGrid(radio_with("DDDSU")).next_start(Direction::uplink, 0ns, 2).time, 482'143ns);
}

TEST(FrameGrid, ABlockStartsAtAnySymbolThatLeavesItRoom) {
  const FrameGrid grid(radio_with("DDDSU"));
  // Two symbols of the special slot: 12 and 13. Three need the uplink slot, and start there until symbol 11.
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(3, 12), 2).time, symbol(3, 12));
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(3, 12) + 1ns, 2).time, symbol(4, 0));
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(3, 12), 3).time, symbol(4, 0));
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(4, 10) + 1ns, 3).time, symbol(4, 11));
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(4, 11) + 1ns, 3).time, symbol(9, 0));
  // Downlink in a slot: symbols 1 to 13; a block of 13 fills it.
  EXPECT_EQ(grid.next_start(Direction::downlink, symbol(0, 1), 13).time, symbol(0, 1));
  EXPECT_EQ(grid.next_start(Direction::downlink, symbol(0, 1) + 1ns, 13).time, symbol(1, 1));
  EXPECT_EQ(grid.next_start(Direction::downlink, symbol(0, 12), 2).room(), 2);
}

TEST(FrameGrid, MappingTypeALetsABlockStartInTheFirstFourSymbolsOfDownlinkAndTheFirstOfUplink) {
  NrRadio radio = radio_with("DDDSU", 4);
  radio.mapping = Mapping::a;
  const FrameGrid grid(radio);
  EXPECT_EQ(grid.next_start(Direction::downlink, symbol(0, 3), 4).time, symbol(0, 3));
  EXPECT_EQ(grid.next_start(Direction::downlink, symbol(0, 3) + 1ns, 4).time, symbol(1, 1));
  // The uplink symbols 12 and 13 of the special slot are out of reach.
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(3, 0), 2).time, symbol(4, 0));
  EXPECT_EQ(grid.next_start(Direction::uplink, symbol(4, 0) + 1ns, 2).time, symbol(9, 0));
  EXPECT_EQ(grid.symbols(Direction::uplink), 14);
  EXPECT_EQ(grid.occasions(), 1);
}

TEST(FrameGrid, FullUplinkHasEverySlotBothWays) {
  NrRadio radio = radio_with(std::string(full_uplink));
  EXPECT_EQ(FrameGrid(radio).period(), 125us);
  EXPECT_EQ(data(FrameGrid(radio), Direction::uplink), (std::vector<Chance>{{0us, 125us}}));
  EXPECT_EQ(data(FrameGrid(radio), Direction::downlink), (std::vector<Chance>{{symbol(0, 1), 125us}}));
  EXPECT_EQ(control(FrameGrid(radio), Direction::uplink), (std::vector<Chance>{{symbol(0, 13), 125us}}));
  EXPECT_EQ(control(FrameGrid(radio), Direction::downlink), (std::vector<Chance>{{0us, symbol(0, 1)}}));
  radio.downlink_control = 0;
  radio.uplink_control = 2;
  EXPECT_EQ(data(FrameGrid(radio), Direction::downlink), (std::vector<Chance>{{0us, 125us}}));
  EXPECT_EQ(data(FrameGrid(radio), Direction::uplink), (std::vector<Chance>{{0us, symbol(0, 12)}}));
  // One symbol of control is used for requests, however many are set aside.
  EXPECT_EQ(control(FrameGrid(radio), Direction::uplink), (std::vector<Chance>{{symbol(0, 13), 125us}}));
}

TEST(FrameGrid, ASelfContainedSlotGoesBothWays) {
  NrRadio radio = radio_with("S");
  radio.special = {.downlink = 6, .guard = 2, .uplink = 6};
  const FrameGrid grid(radio);
  EXPECT_EQ(grid.period(), 125us);
  EXPECT_EQ(data(grid, Direction::downlink), (std::vector<Chance>{{symbol(0, 1), symbol(0, 6)}}));
  EXPECT_EQ(data(grid, Direction::uplink), (std::vector<Chance>{{symbol(0, 8), 125us}}));
}

TEST(FrameGrid, AFlexibleSlotOffersTheSameSymbolsBothWays) {
  NrRadio radio = radio_with("F");
  radio.uplink_control = 1;
  const FrameGrid grid(radio);
  for (const Direction direction : both_directions) {
    EXPECT_EQ(data(grid, direction), (std::vector<Chance>{{symbol(0, 1), symbol(0, 13)}}));
    EXPECT_TRUE(grid.regions(direction)[0].flexible);
    EXPECT_EQ(grid.symbols(direction), 12);
  }
}

TEST(FrameGrid, ConfiguredGrantsCutTheUplinkIntoPiecesOfTheirLength) {
  EXPECT_EQ(occasions(FrameGrid(radio_with("DDDSU")), 14), (std::vector<Chance>{{500us, 625us}}));
  EXPECT_EQ(occasions(FrameGrid(radio_with("DDDSU", 4)), 4),
            (std::vector<Chance>{{500us, symbol(4, 4)}, {symbol(4, 4), symbol(4, 8)}, {symbol(4, 8), symbol(4, 12)}}));
  EXPECT_EQ(occasions(FrameGrid(radio_with("DDDSU", 2)), 2).size(), 8U);
}

TEST(FrameGrid, APatternWithoutUplinkHasNoUplinkControl) {
  const FrameGrid grid(radio_with("DD"));
  EXPECT_FALSE(grid.has_control(Direction::uplink));
  EXPECT_FALSE(grid.fits(Direction::uplink, 1));
  EXPECT_TRUE(grid.has_control(Direction::downlink));
}

// ---- Against a frame painted symbol by symbol ----------------------------------------------------------------------

/// What each symbol of a period is for: data that may go this way, and the symbol that control uses.
struct Painted {
  std::string data;  // one letter a symbol: x usable
  std::vector<std::size_t> control;
};

/// The last symbol of a slot at which a block may start: TS 38.214 tables 5.1.2.1-1 and 6.1.2.1-1.
std::size_t last_start(const NrRadio& radio, Direction direction) {
  if (radio.mapping == Mapping::b) return 13;
  return direction == Direction::uplink ? 0 : 3;
}

Painted paint(const NrRadio& radio, Direction direction) {
  Painted painted;
  const bool up = direction == Direction::uplink;
  const std::string frame = radio.frame == full_uplink ? "*" : radio.frame;
  for (std::size_t slot = 0; slot < frame.size(); ++slot) {
    const char letter = frame[slot];
    std::string symbols;
    for (int s = 0; s < 14; ++s) {
      bool mine = letter == '*' || letter == 'F' || letter == (up ? 'U' : 'D');
      if (letter == 'S') mine = up ? s >= 14 - radio.special.uplink : s < radio.special.downlink;
      // In a flexible slot the control symbols of both directions are taken from both.
      const bool kept_for_control = (up || letter == 'F') && s >= 14 - radio.uplink_control;
      const bool kept_for_commands = (!up || letter == 'F') && s < radio.downlink_control;
      symbols += mine && !kept_for_control && !kept_for_commands ? 'x' : '.';
      if (mine && s == (up ? 13 : 0)) painted.control.push_back(slot * 14 + static_cast<std::size_t>(s));
    }
    // Mapping type A uses only what lies in a run that begins where a block may start.
    if (symbols.find('x') != std::string::npos && symbols.find('x') > last_start(radio, direction)) {
      symbols = std::string(14, '.');
    }
    painted.data += symbols;
  }
  return painted;
}

Instant boundary(std::int64_t mu, std::int64_t at) {
  return at / 14 * slot_duration(static_cast<int>(mu)) + symbol_start(static_cast<int>(mu), static_cast<int>(at % 14));
}

/// Symbols in a row from `at` on, in its slot.
std::int64_t run_from(const Painted& painted, std::int64_t at) {
  std::int64_t length = 0;
  const auto size = static_cast<std::int64_t>(painted.data.size());
  while ((at + length) / 14 == at / 14 && painted.data[static_cast<std::size_t>((at + length) % size)] == 'x') {
    ++length;
  }
  return length;
}

bool allowed_start(const NrRadio& radio, Direction direction, std::int64_t at) {
  return at % 14 <= static_cast<std::int64_t>(last_start(radio, direction));
}

/// The first symbol at `time` or later, of ever more periods, of which `wanted` is true; -1 if none in four.
template <class Wanted>
std::int64_t first_symbol(const NrRadio& radio, const Painted& painted, Instant time, Wanted wanted) {
  const auto size = static_cast<std::int64_t>(painted.data.size());
  const std::int64_t from = time / slot_duration(static_cast<int>(radio.numerology)) * 14;
  for (std::int64_t at = from; at < from + 4 * size + 28; ++at) {
    if (boundary(radio.numerology, at) >= time && wanted(at)) return at;
  }
  return -1;
}

NrRadio random_frame(Rng& rng) {
  const auto whole = [&](std::int64_t low, std::int64_t high) {
    return low + rng.uniform(Duration(high - low + 1)).count();
  };
  NrRadio radio;
  radio.frame.clear();
  for (std::int64_t left = whole(1, 6); left > 0; --left) radio.frame += "DSUF"[whole(0, 3)];
  if (whole(0, 9) == 0) radio.frame = std::string(full_uplink);
  const std::int64_t down = whole(0, 14);
  const std::int64_t guard = whole(0, 14 - down);
  radio.special = {.downlink = down, .guard = guard, .uplink = 14 - down - guard};
  radio.numerology = std::array{0, 1, 2, 3, 5, 6}[static_cast<std::size_t>(whole(0, 5))];
  radio.symbols = std::array{2, 4, 7, 14}[static_cast<std::size_t>(whole(0, 3))];
  radio.downlink_control = whole(0, 3);
  radio.uplink_control = whole(0, 3);
  radio.mapping = whole(0, 2) == 0 ? Mapping::a : Mapping::b;
  return radio;
}

/// A symbol boundary, a nanosecond to either side, or anything; sometimes very late.
Instant random_time(Rng& rng, const NrRadio& radio) {
  const FrameGrid grid(radio);
  const Instant base = rng.happens(0.2) ? 1'000'003 * grid.period() : Instant{0};
  if (rng.happens(0.3)) return base + rng.uniform(3 * grid.period());
  const Instant at = boundary(radio.numerology, rng.uniform(Duration(3 * 14 * grid.slots())).count());
  return std::max(Instant{0}, base + at + rng.uniform(3ns) - 1ns);
}

void expect_painted(const NrRadio& radio, const FrameGrid& grid, Direction direction, Instant time, Rng& rng) {
  const Painted painted = paint(radio, direction);
  const std::int64_t mu = radio.numerology;
  const auto begins = [&](std::int64_t at) {
    const bool before = at % 14 > 0 && run_from(painted, at - 1) > 0;
    return run_from(painted, at) > 0 && !before;
  };
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(painted.data.size()); ++at) {
    total += painted.data[static_cast<std::size_t>(at)] == 'x' ? 1 : 0;
    if (allowed_start(radio, direction, at))
      longest = std::max(longest, std::min(radio.symbols, run_from(painted, at)));
  }
  ASSERT_EQ(grid.symbols(direction), total);
  ASSERT_EQ(grid.longest(direction), longest);
  ASSERT_EQ(grid.has_control(direction), !painted.control.empty());
  if (longest > 0) {
    const auto symbols = static_cast<int>(1 + rng.uniform(Duration(longest)).count());
    const std::int64_t at = first_symbol(radio, painted, time, [&](std::int64_t from) {
      return allowed_start(radio, direction, from) && run_from(painted, from) >= symbols;
    });
    const FrameGrid::Start found = grid.next_start(direction, time, symbols);
    ASSERT_EQ(found.time, boundary(mu, at)) << symbols << " symbols";
    ASSERT_EQ(found.symbol, at % 14);
    ASSERT_EQ(found.room(), run_from(painted, at));
    const std::int64_t region = first_symbol(radio, painted, time, begins);
    ASSERT_EQ(grid.start(grid.next_region(direction, time)), boundary(mu, region));
    ASSERT_EQ(grid.next_region(direction, time).symbols, run_from(painted, region));
  }
  if (!painted.control.empty()) {
    const std::int64_t at = first_symbol(radio, painted, time, [&](std::int64_t from) {
      const auto in_period = static_cast<std::size_t>(from) % painted.data.size();
      return std::count(painted.control.begin(), painted.control.end(), in_period) > 0;
    });
    ASSERT_EQ(grid.next_control(direction, time).start, boundary(mu, at));
    ASSERT_EQ(grid.next_control(direction, time).end, boundary(mu, at + 1));
  }
}

/// Pieces of `radio.symbols` symbols, one after the other from the start of each run.
void expect_occasions(const NrRadio& radio, const FrameGrid& grid, Instant time) {
  const Painted painted = paint(radio, Direction::uplink);
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(painted.data.size());) {
    const std::int64_t run = run_from(painted, at);
    for (std::int64_t piece = at; piece + radio.symbols <= at + run; piece += radio.symbols) {
      if (allowed_start(radio, Direction::uplink, piece)) starts.push_back(piece);
    }
    at += std::max<std::int64_t>(run, 1);
  }
  ASSERT_EQ(grid.occasions(), static_cast<std::int64_t>(starts.size()));
  if (starts.empty()) return;
  const std::int64_t at = first_symbol(radio, painted, time, [&](std::int64_t from) {
    const auto in_period = from % static_cast<std::int64_t>(painted.data.size());
    return std::count(starts.begin(), starts.end(), in_period) > 0;
  });
  const FrameGrid::Occasion found = grid.next_occasion(time);
  ASSERT_EQ(grid.start(found), boundary(radio.numerology, at));
  const std::int64_t earlier =
      std::lower_bound(starts.begin(), starts.end(), at % static_cast<std::int64_t>(painted.data.size())) -
      starts.begin();
  ASSERT_EQ(found.index, at / static_cast<std::int64_t>(painted.data.size()) * grid.occasions() + earlier);
  ASSERT_EQ(grid.start(grid.occasion(found.index)), grid.start(found));
}

TEST(FrameGrid, IsTheFramePaintedSymbolBySymbol) {
  Rng rng = Streams(1, 1).stream("frames");
  int granted = 0;
  for (int i = 0; i < 1000; ++i) {
    const NrRadio radio = random_frame(rng);
    const FrameGrid grid(radio);
    for (int j = 0; j < 5; ++j) {
      const Instant time = random_time(rng, radio);
      SCOPED_TRACE(::testing::Message() << radio.frame << " " << radio.special.downlink << ":" << radio.special.guard
                                        << ":" << radio.special.uplink << ", mu " << radio.numerology << ", "
                                        << radio.symbols << " symbols, control " << radio.downlink_control << ", "
                                        << radio.uplink_control << ", mapping " << config::name_of(radio.mapping)
                                        << ", from " << time.count());
      for (const Direction direction : both_directions) expect_painted(radio, grid, direction, time, rng);
      expect_occasions(radio, grid, time);
      if (HasFatalFailure()) return;
    }
    granted += grid.occasions() > 0 ? 1 : 0;
  }
  EXPECT_GT(granted, 300);
}

}  // namespace
}  // namespace trilemma
