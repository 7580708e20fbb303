#pragma once

#include "models/radio/config.h"
#include "tests/property/draw.h"

/// Random timing, requests, schedulers, grants and losses of an NR cell.
namespace trilemma::test {

inline std::vector<DelayShare> random_delays(Draw& draw) {
  std::vector<DelayShare> shares;
  for (auto left = draw.whole(1, 4); left > 0; --left) {
    shares.push_back({.delay = draw.time(10us, 2ms), .weight = static_cast<double>(draw.whole(1, 9))});
  }
  return shares;
}

inline std::vector<GrantShare> random_grants(Draw& draw) {
  std::vector<GrantShare> shares;
  for (auto left = draw.whole(1, 4); left > 0; --left) {
    shares.push_back({.request_to_grant = draw.time(10us, 2ms),
                      .grant_to_data = draw.time(10us, 2ms),
                      .weight = static_cast<double>(draw.whole(1, 9))});
  }
  return shares;
}

inline TimingConfig random_timing(Draw& draw) {
  switch (draw.whole(0, 5)) {
    case 0:
      return Tr37910Timing{};
    case 1:
      return MeasuredTiming{.grant = random_grants(draw),
                            .data = random_delays(draw),
                            .downlink = random_delays(draw),
                            .repetition = random_delays(draw)};
    case 2:
    case 3: {
      SlottedTiming timing{.request = draw.whole(0, 4),
                           .grant = draw.whole(1, 6),
                           .assembly = 0,
                           .downlink = draw.whole(0, 4),
                           .feedback = draw.whole(1, 6),
                           .decoding = Duration(draw.whole(0, 300'000))};
      timing.assembly = draw.whole(1, timing.grant);
      return timing;
    }
    default:
      return StandardTiming{};
  }
}

inline ErrorsConfig random_errors(Draw& draw) {
  if (draw.chance(0.3)) return ModelledErrors{};
  const Fraction rate(draw.one_of({0.0, 1e-5, 0.1, 0.5, 1.0}));
  return FixedErrors{.first = rate, .later = draw.chance(0.5) ? rate : Fraction(draw.real(0, 1))};
}

inline RlcConfig random_rlc(Draw& draw) {
  if (draw.chance(0.6)) return UnacknowledgedRlc{};
  return AcknowledgedRlc{.max_retransmissions = draw.whole(1, 6), .delay = draw.time(1us, 10ms)};
}

/// Changes `radio` in all that decides who sends when and what becomes of it. It may have problems() then.
inline void draw_mac(Draw& draw, NrRadio& radio) {
  radio.downlink_control = draw.whole(0, 3);
  radio.uplink_control = draw.whole(0, 2);
  radio.multiplexing = draw.one_of({Multiplexing::time, Multiplexing::frequency});
  if (draw.chance(0.3)) radio.subbands = draw.whole(1, 4);
  radio.reference = draw.one_of({ReferenceSignals::symbol, ReferenceSignals::comb});
  radio.shortest =
      draw.whole(radio.reference == ReferenceSignals::comb ? 1 : 2, std::min<std::int64_t>(radio.symbols, 4));
  radio.mapping = draw.chance(0.2) ? Mapping::a : Mapping::b;
  if (radio.mapping == Mapping::a) radio.shortest = radio.symbols = std::max<std::int64_t>(4, radio.symbols);
  radio.timing = random_timing(draw);
  if (draw.chance(0.3)) radio.request.period = draw.time(100us, 5ms);
  if (draw.chance(0.6)) radio.request.first_grant = Bytes(std::llround(draw.magnitude(1, 20'000)));
  radio.request.table = draw.one_of({BufferTable::exact, BufferTable::short5, BufferTable::long8});
  radio.request.in_flight = draw.one_of({GrantsInFlight::deducted, GrantsInFlight::ignored});
  if (draw.chance(0.2)) radio.sounding = draw.whole(2, 40);
  radio.scheduler = config::names<RadioScheduler>[static_cast<std::size_t>(draw.whole(0, 3))].value;
  radio.quantum = draw.whole(1, 14);
  radio.persistence = {.period = draw.time(100us, 5ms), .release = draw.whole(1, 4)};
  radio.rlc = random_rlc(draw);
  radio.errors = random_errors(draw);
}

}  // namespace trilemma::test
