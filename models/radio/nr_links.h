#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"
#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/effective_sinr.h"
#include "models/radio/large_scale.h"
#include "models/radio/nr_phy.h"
#include "models/radio/propagation.h"
#include "models/radio/radio.h"

namespace trilemma {

/// The links of a cell's clients, in dB:
///
///     SINR = power + gains - path loss - building - blockage + fading - noise over the occupied band - noise rise
///
/// with the parts of TR 38.901 (propagation, large_scale, fading, blockage, penetration) and of other cells
/// (interference). A link that changes is evaluated when it is used, and kept while its parts are constant: a coherence
/// time, a step of the way, a millisecond of a blocker's passage. Clients that never send cost one draw of their place
/// and path loss.
class NrLinks {
 public:
  /// `phys`, by direction, outlive this.
  NrLinks(const NrRadio& config, const std::array<NrPhy, 2>& phys, const CellPlace& place, const Streams& streams);
  ~NrLinks();
  NrLinks(const NrLinks&) = delete;
  NrLinks& operator=(const NrLinks&) = delete;

  /// The link at `time`, which does not go back for any client.
  const NrLink& at(Direction direction, ClientIndex client, Instant time) {
    if (!changing_) return links_[static_cast<std::size_t>(direction)][client];
    return changing_link(direction, client, time);
  }
  /// The link of a client at its start and without fading, for forecasts.
  [[nodiscard]] const NrLink& typical(Direction direction, ClientIndex client) const {
    return links_[static_cast<std::size_t>(direction)][client];
  }
  /// The highest MCS that a client may ever use.
  [[nodiscard]] int best_mcs(Direction direction, ClientIndex client) const {
    return changing_ ? phys_[static_cast<std::size_t>(direction)].mcs_count() - 1 : typical(direction, client).mcs;
  }
  [[nodiscard]] std::span<const RadioLinkState> states() const { return states_; }

 private:
  struct Changing;

  void add_client(const Interference& interference, std::int64_t client);
  [[nodiscard]] Position place_of(std::int64_t client) const;
  [[nodiscard]] PathLoss path_loss(std::int64_t client, const Position& device) const;
  [[nodiscard]] Decibels sinr(Direction direction, ClientIndex client, Decibels loss) const;
  [[nodiscard]] PowerLevel uplink_power(Decibels coupling_loss, int blocks) const;
  const NrLink& changing_link(Direction direction, ClientIndex client, Instant time);
  [[nodiscard]] std::unique_ptr<Changing> make_changing(ClientIndex index) const;
  void refresh(Changing& link, ClientIndex client, Instant time);
  void adapt(Direction direction, Decibels mean, Changing& link, Instant time);

  NrRadio config_;
  const std::array<NrPhy, 2>& phys_;
  CellPlace cell_;
  Streams streams_;
  Position base_station_;
  Propagation propagation_;
  bool changing_;
  std::optional<Fading> fading_;
  std::vector<double> betas_;                 // of EESM, by MCS
  std::vector<float> sinrs_;                  // of the sub-bands at hand
  std::array<std::vector<NrLink>, 2> links_;  // at the start, without fading
  std::array<std::vector<Decibels>, 2> noise_rise_;
  std::vector<Position> places_;
  std::vector<Decibels> losses_;
  std::vector<RadioLinkState> states_;
  std::vector<std::unique_ptr<Changing>> changes_;  // by client, from its first use on
};

/// What interference has to know of a cell whose transmissions take so many resource blocks.
InterferenceSetup interference_setup(const NrRadio& config, int uplink_blocks, int downlink_blocks);

}  // namespace trilemma
