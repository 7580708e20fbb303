#include "models/radio/frame_grid.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/radio/numerology.h"
#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using test::symbol;

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

/// The opportunities and control symbols of `periods` periods, as the grid tells them one after the other.
std::vector<Chance> data(const FrameGrid& grid, Direction direction, int periods) {
  std::vector<Chance> found;
  for (Instant time{0};;) {
    const auto next = grid.next(direction, time);
    if (next.start >= periods * grid.period()) return found;
    found.push_back({next.start, grid.end(direction, next, next.symbols)});
    time = next.start + 1ns;
  }
}
std::vector<Chance> control(const FrameGrid& grid, Direction direction, int periods) {
  std::vector<Chance> found;
  for (Instant time{0};;) {
    const auto next = grid.next_control(direction, time);
    if (next.start >= periods * grid.period()) return found;
    found.push_back({next.start, next.end});
    time = next.start + 1ns;
  }
}

TEST(FrameGrid, DddsuIsThreeAndAPartSlotsDownAndOneAndAPartUp) {
  const FrameGrid grid(radio_with("DDDSU"));
  EXPECT_EQ(grid.period(), 625us);
  EXPECT_EQ(data(grid, Direction::downlink, 1),
            (std::vector<Chance>{
                {symbol(0, 1), 125us}, {symbol(1, 1), 250us}, {symbol(2, 1), 375us}, {symbol(3, 1), symbol(3, 10)}}));
  EXPECT_EQ(data(grid, Direction::uplink, 1), (std::vector<Chance>{{symbol(3, 12), 500us}, {500us, 625us}}));
  EXPECT_EQ(
      control(grid, Direction::downlink, 1),
      (std::vector<Chance>{{0us, symbol(0, 1)}, {125us, symbol(1, 1)}, {250us, symbol(2, 1)}, {375us, symbol(3, 1)}}));
  EXPECT_EQ(control(grid, Direction::uplink, 1), (std::vector<Chance>{{symbol(3, 13), 500us}, {symbol(4, 13), 625us}}));
  EXPECT_EQ(grid.symbols(Direction::downlink), 3 * 13 + 9);
  EXPECT_EQ(grid.symbols(Direction::uplink), 2 + 14);
}

TEST(FrameGrid, ASymbolBoundaryIsRoundedUp) {
  // 12/14 of 125,000 ns is 107,142.857.
  EXPECT_EQ(symbol(3, 12), 482'143ns);
  EXPECT_EQ(FrameGrid(radio_with("DDDSU")).next(Direction::uplink, 0ns).start, 482'143ns);
}

TEST(FrameGrid, FullUplinkHasEverySlotBothWays) {
  const FrameGrid grid(radio_with(std::string(full_uplink)));
  EXPECT_EQ(grid.period(), 125us);
  EXPECT_EQ(data(grid, Direction::uplink, 2), (std::vector<Chance>{{0us, 125us}, {125us, 250us}}));
  EXPECT_EQ(data(grid, Direction::downlink, 2), (std::vector<Chance>{{symbol(0, 1), 125us}, {symbol(1, 1), 250us}}));
  EXPECT_EQ(control(grid, Direction::uplink, 1), (std::vector<Chance>{{symbol(0, 13), 125us}}));
  EXPECT_EQ(control(grid, Direction::downlink, 1), (std::vector<Chance>{{0us, symbol(0, 1)}}));
}

TEST(FrameGrid, ASelfContainedSlotGoesBothWays) {
  NrRadio radio = radio_with("S");
  radio.special = {.downlink = 6, .guard = 2, .uplink = 6};
  const FrameGrid grid(radio);
  EXPECT_EQ(grid.period(), 125us);
  EXPECT_EQ(data(grid, Direction::downlink, 1), (std::vector<Chance>{{symbol(0, 1), symbol(0, 6)}}));
  EXPECT_EQ(data(grid, Direction::uplink, 1), (std::vector<Chance>{{symbol(0, 8), 125us}}));
}

TEST(FrameGrid, ShorterTransmissionsCutASlotFromItsFirstSymbol) {
  // 13 symbols down are 1 .. 4, 5 .. 8, 9 .. 12, and one that is too short; 14 up are three times 4 and 2.
  const FrameGrid grid(radio_with(std::string(full_uplink), 4));
  EXPECT_EQ(
      data(grid, Direction::downlink, 1),
      (std::vector<Chance>{{symbol(0, 1), symbol(0, 5)}, {symbol(0, 5), symbol(0, 9)}, {symbol(0, 9), symbol(0, 13)}}));
  EXPECT_EQ(
      data(grid, Direction::uplink, 1),
      (std::vector<Chance>{
          {0us, symbol(0, 4)}, {symbol(0, 4), symbol(0, 8)}, {symbol(0, 8), symbol(0, 12)}, {symbol(0, 12), 125us}}));
}

TEST(FrameGrid, AConfiguredGrantHasOnlyOpportunitiesOfItsLength) {
  NrRadio radio = radio_with("DDDSU");
  radio.access = Access::configured_grant;
  EXPECT_EQ(data(FrameGrid(radio), Direction::uplink, 1), (std::vector<Chance>{{500us, 625us}}));
  radio.symbols = 4;
  EXPECT_EQ(data(FrameGrid(radio), Direction::uplink, 1),
            (std::vector<Chance>{{500us, symbol(4, 4)}, {symbol(4, 4), symbol(4, 8)}, {symbol(4, 8), symbol(4, 12)}}));
}

/// What each symbol of a period is for, written down symbol by symbol: D and U data, C control, G guard.
struct Painted {
  std::string down;
  std::string up;  // control shares the last uplink symbol with data
};

Painted paint(const NrRadio& radio) {
  Painted painted;
  const std::string frame = radio.frame == full_uplink ? "*" : radio.frame;
  for (const char slot : frame) {
    const bool both = slot == '*';
    for (int s = 0; s < 14; ++s) {
      const bool down = both || slot == 'D' || (slot == 'S' && s < radio.special.downlink);
      const bool up = both || slot == 'U' || (slot == 'S' && s >= 14 - radio.special.uplink);
      painted.down += !down ? '.' : s == 0 ? 'C' : 'D';
      painted.up += !up ? '.' : s == 13 ? 'B' : 'U';
    }
  }
  return painted;
}

/// Symbols in a row within a slot, cut into pieces of `longest` from the left; a rest of one symbol is useless.
std::vector<Chance> pieces(const std::string& painted, std::size_t longest, std::int64_t mu, bool uplink) {
  const auto boundary = [&](std::size_t at) {
    return static_cast<std::int64_t>(at / 14) * slot_duration(static_cast<int>(mu)) +
           symbol_start(static_cast<int>(mu), static_cast<int>(at % 14));
  };
  const auto usable = [&](std::size_t at) {
    return at < painted.size() && (uplink ? painted[at] != '.' : painted[at] == 'D');
  };
  std::vector<Chance> found;
  for (std::size_t at = 0; at < painted.size();) {
    std::size_t length = 0;
    while (length < longest && usable(at + length) && (at + length) / 14 == at / 14) ++length;
    if (length >= 2) found.push_back({boundary(at), boundary(at + length)});
    at += std::max<std::size_t>(length, 1);
  }
  return found;
}

/// Runs `check` on a radio of every numerology, five frames and every length of transmission.
template <class Check>
void for_each_radio(Check check) {
  for (const std::int64_t mu : {2, 3, 5, 6}) {
    for (const char* frame : {"DDDSU", "full-uplink", "S", "DSUU", "DDDDDDDSUU"}) {
      for (const std::int64_t symbols : {2, 4, 7, 14}) {
        SCOPED_TRACE(::testing::Message() << frame << ", mu " << mu << ", " << symbols << " symbols");
        NrRadio radio = radio_with(frame, symbols, mu);
        if (radio.frame == "S") radio.special = {.downlink = 6, .guard = 2, .uplink = 6};
        check(radio, FrameGrid(radio));
      }
    }
  }
}

TEST(FrameGrid, IsTheFramePaintedSymbolBySymbol) {
  for_each_radio([](const NrRadio& radio, const FrameGrid& grid) {
    const Painted painted = paint(radio);
    const int mu = static_cast<int>(radio.numerology);
    const auto longest = static_cast<std::size_t>(radio.symbols);
    EXPECT_EQ(grid.period(), static_cast<std::int64_t>(painted.up.size() / 14) * slot_duration(mu));
    EXPECT_EQ(data(grid, Direction::downlink, 1), pieces(painted.down, longest, mu, false));
    EXPECT_EQ(data(grid, Direction::uplink, 1), pieces(painted.up, longest, mu, true));
    std::vector<Chance> pdcch;
    std::vector<Chance> pucch;
    for (std::size_t at = 0; at < painted.up.size(); ++at) {
      const Instant start = static_cast<std::int64_t>(at / 14) * grid.slot();
      if (painted.down[at] == 'C') pdcch.push_back({start, start + symbol_start(mu, 1)});
      if (painted.up[at] == 'B') pucch.push_back({start + symbol_start(mu, 13), start + grid.slot()});
    }
    EXPECT_EQ(control(grid, Direction::downlink, 1), pdcch);
    EXPECT_EQ(control(grid, Direction::uplink, 1), pucch);
  });
}

TEST(FrameGrid, RepeatsForEver) {
  for_each_radio([](const NrRadio& /*radio*/, const FrameGrid& grid) {
    const Instant later = 1'000'003 * grid.period();
    for (const Direction direction : {Direction::uplink, Direction::downlink}) {
      for (std::int64_t k = 0; k < grid.opportunities(direction); ++k) {
        const auto first = grid.at(direction, k);
        const auto again = grid.at(direction, k + 1'000'003 * grid.opportunities(direction));
        EXPECT_EQ(again.start, first.start + later);
        EXPECT_EQ(again.symbols, first.symbols);
        EXPECT_EQ(grid.end(direction, again, again.symbols), grid.end(direction, first, first.symbols) + later);
      }
    }
  });
}

TEST(FrameGrid, AnOpportunityIsMissedByANanosecond) {
  for_each_radio([](const NrRadio& /*radio*/, const FrameGrid& grid) {
    for (const Direction direction : {Direction::uplink, Direction::downlink}) {
      for (std::int64_t k = 1; k < 2 * grid.opportunities(direction); ++k) {
        const Instant start = grid.at(direction, k).start;
        EXPECT_EQ(grid.next(direction, start - 1ns).index, k);
        EXPECT_EQ(grid.next(direction, start).index, k);
        EXPECT_EQ(grid.next(direction, start + 1ns).index, k + 1);
      }
      const FrameGrid::Span span = grid.next_control(direction, grid.period());
      EXPECT_EQ(grid.next_control(direction, span.start).start, span.start);
      EXPECT_GT(grid.next_control(direction, span.start + 1ns).start, span.start);
    }
  });
}

}  // namespace
}  // namespace trilemma
