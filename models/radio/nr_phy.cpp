#include "models/radio/nr_phy.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr int reference_signals_per_prb = 12;  // one DM-RS symbol a block (TS 38.211 6.4.1.1, type 1, both combs)

Duration half(Duration time) { return (time + 1ns) / 2; }

TransportBlockShape shape_of(const NrRadio& config) {
  const auto blocks = resource_blocks(config.bandwidth, static_cast<int>(config.numerology));
  TRILEMMA_ENSURE(blocks.has_value(), "a radio config without problems has a channel bandwidth");
  return {
      .resource_blocks = *blocks, .dmrs_per_prb = reference_signals_per_prb, .layers = static_cast<int>(config.layers)};
}

}  // namespace

NrPhy::NrPhy(const NrRadio& config)
    : access_(config.access),
      grid_(config),
      errors_(config.mcs_table),
      target_(config.harq.target),
      max_transmissions_(static_cast<int>(config.harq.max_transmissions)),
      shape_(shape_of(config)) {
  const auto times = processing_times(static_cast<int>(config.numerology), config.capability);
  TRILEMMA_ENSURE(times.has_value(), "a radio config without problems has processing times");
  half1_ = half(times->pdsch);
  half2_ = half(times->pusch);
  for (const Mcs& mcs : errors_.table()) {
    auto& payload = payload_.emplace_back();
    auto& bits = block_bits_.emplace_back();
    for (int symbols = FrameGrid::shortest; symbols <= symbols_per_slot; ++symbols) {
      shape_.symbols = symbols;
      const auto index = static_cast<std::size_t>(symbols);
      bits[index] = transport_block_bits(shape_, mcs);
      payload[index] = std::max(Bytes(0), Bytes(bits[index] / 8) - block_headers);
    }
  }
  shape_.symbols = static_cast<int>(config.symbols);
}

int NrPhy::symbols_for(int mcs, Bytes size, int available) const {
  if (available < FrameGrid::shortest || payload(mcs, available) == Bytes(0)) return 0;
  int symbols = FrameGrid::shortest;
  while (symbols < available && payload(mcs, symbols) < size) ++symbols;
  return symbols;
}

NrLink NrPhy::link(Decibels sinr) const {
  const McsChoice choice = errors_.select_mcs(sinr, target_.value(), shape_);
  NrLink link{.sinr = sinr, .mcs = choice.mcs, .meets_target = choice.meets_target};
  for (int symbols = FrameGrid::shortest; symbols <= symbols_per_slot; ++symbols) {
    link.first_bler[static_cast<std::size_t>(symbols)] = block_error_rate(link, symbols, 1);
  }
  return link;
}

double NrPhy::block_error_rate(const NrLink& link, int symbols, int transmission) const {
  const Decibels combined = link.sinr + decibels(transmission);
  const auto bits = block_bits_[static_cast<std::size_t>(link.mcs)][static_cast<std::size_t>(symbols)];
  return errors_.block_error_rate(link.mcs, combined, bits);
}

double NrPhy::mean_transmissions(const NrLink& link, int symbols) const {
  double mean = 1;
  double reached = link.first_bler[static_cast<std::size_t>(symbols)];
  for (int transmission = 2; transmission <= max_transmissions_ && reached > 0; ++transmission) {
    mean += reached;
    reached *= block_error_rate(link, symbols, transmission);
  }
  return mean;
}

Instant NrPhy::after_request(Instant request_end) const {
  // The base station reads the request (Tproc,2/2) and writes the grant (Tproc,1/2); the device reads it (Tproc,2/2).
  const FrameGrid::Span grant = grid_.next_control(Direction::downlink, request_end + half2_ + half1_);
  return grant.end + half2_ + preparation();
}

Instant NrPhy::first_chance(Direction direction, Instant time) const {
  if (direction == Direction::downlink || access_ == Access::configured_grant) return time + preparation();
  return after_request(grid_.next_control(Direction::uplink, time + half1_).end);
}

Instant NrPhy::next_chance(Direction direction, Instant end) const {
  const Direction back = direction == Direction::uplink ? Direction::downlink : Direction::uplink;
  // Receiver's decoding (Tproc,1/2) and feedback (Tproc,1/2), sender's reading (Tproc,2/2) and preparation.
  const FrameGrid::Span feedback = grid_.next_control(back, end + half1_ + half1_);
  return feedback.end + half2_ + preparation();
}

double NrPhy::messages_per_second(Direction direction, int mcs, Bytes size) const {
  constexpr std::int64_t periods = 64;  // evens out how messages fall on the opportunities
  Bytes carried{0};
  Bytes unsent = size;
  for (std::int64_t index = 0; index < periods * grid_.opportunities(direction); ++index) {
    int left = grid_.at(direction, index).symbols;
    for (int symbols = symbols_for(mcs, unsent, left); symbols > 0; symbols = symbols_for(mcs, unsent, left)) {
      const Bytes sent = std::min(unsent, payload(mcs, symbols));
      carried += sent;
      unsent -= sent;
      if (unsent == Bytes(0)) unsent = size;
      left -= symbols;
    }
  }
  return carried / size / to_seconds(periods * grid_.period());
}

NrPhy::Delivery NrPhy::deliver(Direction direction, int mcs, Bytes size, std::int64_t index, std::int64_t step) const {
  TRILEMMA_ENSURE(payload(mcs, static_cast<int>(shape_.symbols)) > Bytes(0), "a full opportunity carries payload");
  Duration air{0};
  while (true) {
    const FrameGrid::Opportunity opportunity = grid_.at(direction, index);
    const bool usable = payload(mcs, opportunity.symbols) > Bytes(0);
    const int symbols =
        usable && whole_opportunities(direction) ? opportunity.symbols : symbols_for(mcs, size, opportunity.symbols);
    if (symbols > 0) {
      const Instant end = grid_.end(direction, opportunity, symbols);
      air += end - opportunity.start;
      size -= payload(mcs, symbols);
      if (size <= Bytes(0)) return {.decoded = end + decoding(), .air = air + decoding()};
    }
    index += step;
  }
}

RadioFloor NrPhy::floor(Direction direction, int mcs, Bytes size, std::int64_t owner, std::int64_t owners) const {
  RadioFloor best{.wait = Duration::max() / 2};
  const auto consider = [&](Instant offered, std::int64_t index) {
    const Delivery delivery = deliver(direction, mcs, size, index, owners);
    const Duration latency = delivery.decoded - offered;
    if (latency < best.total()) best = {.wait = latency - delivery.air, .air = delivery.air};
  };
  if (direction == Direction::downlink || access_ == Access::configured_grant) {
    const std::int64_t count = grid_.opportunities(direction);
    for (std::int64_t k = 0; k < count; ++k) {
      // One period later than 0, so that the preparation lies at positive times.
      const std::int64_t index = owner + owners * (k + count);
      consider(grid_.at(direction, index).start - preparation(), index);
    }
    return best;
  }
  // Dynamic grant: the luckiest arrivals are those just in time for a scheduling request.
  for (Instant time = half1_; time < half1_ + grid_.period();) {
    const FrameGrid::Span request = grid_.next_control(Direction::uplink, time);
    consider(request.start - half1_, grid_.next(direction, after_request(request.end)).index);
    time = request.start + 1ns;
  }
  return best;
}

}  // namespace trilemma
