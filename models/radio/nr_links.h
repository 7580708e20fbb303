#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"

namespace trilemma {

/// The links of a cell's clients. SINR = power + gains - path loss - noise over the occupied band, in dB.
class NrLinks {
 public:
  /// `phys`, by direction, outlive this.
  NrLinks(const NrRadio& config, const std::array<NrPhy, 2>& phys, const CellPlace& place, const Streams& streams);

  /// The link at `time`, which does not go back for any client.
  const NrLink& at(Direction direction, ClientIndex client, Instant time) {
    (void)time;
    return links_[static_cast<std::size_t>(direction)][client];
  }
  /// The link of a client as it is on average, for forecasts.
  [[nodiscard]] const NrLink& typical(Direction direction, ClientIndex client) const {
    return links_[static_cast<std::size_t>(direction)][client];
  }
  /// The highest MCS that a client may ever use.
  [[nodiscard]] int best_mcs(Direction direction, ClientIndex client) const {
    return links_[static_cast<std::size_t>(direction)][client].mcs;
  }
  [[nodiscard]] std::span<const RadioLinkState> states() const { return states_; }

 private:
  std::array<std::vector<NrLink>, 2> links_;
  std::vector<RadioLinkState> states_;
};

}  // namespace trilemma
