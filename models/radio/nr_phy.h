#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/error_model.h"
#include "models/radio/frame_grid.h"

namespace trilemma {

/// One direction of one client's link as link adaptation sees it.
struct NrLink {
  Decibels sinr{0};
  int mcs = 0;
  bool meets_target = false;
};

/// What every client of a cell shares: sizes and error rates of transport blocks on `parts` equal parts of the band.
class NrPhy {
 public:
  /// Headers of a transport block: MAC sub-header 3 B (TS 38.321), RLC UM with segment offset 4 B (TS 38.322), PDCP 3 B
  /// (TS 38.323, 18-bit sequence number).
  static constexpr Bytes block_headers{10};

  /// Requires `parts` that leave at least one resource block each.
  explicit NrPhy(const NrRadio& config, std::int64_t parts = 1);

  [[nodiscard]] int resource_blocks() const { return shape_.resource_blocks; }
  [[nodiscard]] int shortest() const { return shortest_; }
  [[nodiscard]] int longest() const { return longest_; }
  [[nodiscard]] int mcs_count() const { return static_cast<int>(payload_.size()); }

  /// Payload of a block of `symbols`; 0 where the headers leave no room.
  [[nodiscard]] Bytes payload(int mcs, int symbols) const {
    return payload_[static_cast<std::size_t>(mcs)][static_cast<std::size_t>(symbols)];
  }
  /// The fewest symbols, not below `shortest`, that carry `size`, at most `available`; 0 when `available` is too short
  /// or carries nothing.
  [[nodiscard]] int symbols_for(int mcs, Bytes size, int available) const;

  /// Link adaptation: the highest MCS whose blocks of the longest length meet the target at `sinr`.
  [[nodiscard]] NrLink link(Decibels sinr) const;
  /// Block error rate of the n-th transmission, n >= 1, at an SINR per transmission: chase combining, SINR x n.
  [[nodiscard]] double block_error_rate(int mcs, Decibels sinr, int symbols, int transmission) const;
  /// Mean number of transmissions of a block.
  [[nodiscard]] double mean_transmissions(const NrLink& link, int symbols) const;
  [[nodiscard]] int max_transmissions() const { return max_transmissions_; }

 private:
  /// From this SINR in dB on, this MCS meets the target, or is what the report of it allows.
  struct McsThreshold {
    double sinr;
    int mcs;
  };
  [[nodiscard]] std::vector<McsThreshold> thresholds(const NrRadio& config) const;

  ErrorModel errors_;
  std::optional<FixedErrors> fixed_errors_;
  int max_transmissions_;
  int shortest_;
  int longest_;
  TransportBlockShape shape_;
  std::vector<McsThreshold> thresholds_;
  std::vector<std::array<Bytes, symbols_per_slot + 1>> payload_;
  std::vector<std::array<std::int64_t, symbols_per_slot + 1>> block_bits_;
};

}  // namespace trilemma
