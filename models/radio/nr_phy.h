#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/error_model.h"
#include "models/radio/frame_grid.h"
#include "models/radio/radio.h"

namespace trilemma {

/// One direction of one client's link: constant SINR, hence constant MCS and error rates.
struct NrLink {
  Decibels sinr{0};
  int mcs = 0;
  bool meets_target = false;
  std::array<double, symbols_per_slot + 1> first_bler{};  // of a first transmission, by its symbols
};

/// What every client of a cell shares: transport block sizes, error rates and the timing of TS 38.214 as TR 37.910
/// clause 5.7.1 counts it (half a processing time on each side of the air).
class NrPhy {
 public:
  /// Headers of a transport block: MAC sub-header 3 B (TS 38.321), RLC UM with segment offset 4 B (TS 38.322), PDCP 3 B
  /// (TS 38.323, 18-bit sequence number).
  static constexpr Bytes block_headers{10};

  explicit NrPhy(const NrRadio& config);

  [[nodiscard]] const FrameGrid& grid() const { return grid_; }

  /// Payload of a block of `symbols`; 0 where the headers leave no room.
  [[nodiscard]] Bytes payload(int mcs, int symbols) const {
    return payload_[static_cast<std::size_t>(mcs)][static_cast<std::size_t>(symbols)];
  }
  /// The fewest symbols that carry `size`, at most `available`; 0 when `available` carry nothing.
  [[nodiscard]] int symbols_for(int mcs, Bytes size, int available) const;

  [[nodiscard]] NrLink link(Decibels sinr) const;
  /// Block error rate of the n-th transmission, n >= 1, chase combining: SINR x n.
  [[nodiscard]] double block_error_rate(const NrLink& link, int symbols, int transmission) const;
  /// Mean number of transmissions of a block.
  [[nodiscard]] double mean_transmissions(const NrLink& link, int symbols) const;
  [[nodiscard]] int max_transmissions() const { return max_transmissions_; }

  /// From when a message that is offered at `time` can be on the air. Downlink and configured grant: the sender's
  /// preparation. Dynamic grant: scheduling request in the next PUCCH symbol, grant in the next PDCCH symbol, with the
  /// processing of both ends, then the preparation.
  [[nodiscard]] Instant first_chance(Direction direction, Instant time) const;
  /// From when a block whose transmission ended at `end` can be sent again: decoding, feedback, preparation.
  [[nodiscard]] Instant next_chance(Direction direction, Instant end) const;
  /// From the last symbol on the air to the bits.
  [[nodiscard]] Duration decoding() const { return half1_; }

  /// Messages of `size` that a direction carries per second when it never runs out of them, without errors: they are
  /// packed as the shared channel packs them, so headers, reference signals and split messages are counted.
  [[nodiscard]] double messages_per_second(Direction direction, int mcs, Bytes size) const;

  /// Latency of a message on an empty cell without errors, over the luckiest arrival; `owner` of `owners` configured
  /// grants, or 0 of 1 where the resources are shared.
  [[nodiscard]] RadioFloor floor(Direction direction, int mcs, Bytes size, std::int64_t owner,
                                 std::int64_t owners) const;

 private:
  [[nodiscard]] Duration preparation() const { return half2_; }
  [[nodiscard]] Instant after_request(Instant request_end) const;
  /// How a message fares that has every `step`-th opportunity from `index` on to itself.
  struct Delivery {
    Instant decoded{0};
    Duration air{0};
  };
  [[nodiscard]] Delivery deliver(Direction direction, int mcs, Bytes size, std::int64_t index, std::int64_t step) const;
  /// Whether blocks fill their whole opportunity, needed or not.
  [[nodiscard]] bool whole_opportunities(Direction direction) const {
    return direction == Direction::uplink && access_ == Access::configured_grant;
  }

  Access access_;
  FrameGrid grid_;
  ErrorModel errors_;
  Fraction target_;
  int max_transmissions_;
  TransportBlockShape shape_;
  Duration half1_;  // Tproc,1 / 2
  Duration half2_;  // Tproc,2 / 2
  std::vector<std::array<Bytes, symbols_per_slot + 1>> payload_;
  std::vector<std::array<std::int64_t, symbols_per_slot + 1>> block_bits_;
};

}  // namespace trilemma
