#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"
#include "core/units.h"
#include "models/radio/config.h"
#include "models/radio/frame_grid.h"

namespace trilemma {

/// A transport block on the air.
struct OnAir {
  Instant start{0};
  Instant end{0};
  int symbol = 0;   // first, of its slot
  int symbols = 0;  // length
};

/// When requests, grants, blocks and feedback meet: the delays of a cell, by TimingConfig. Every function is monotone
/// in its instant (measured delays apart, which are drawn). Equations and sources: docs/models.md, "Radio timing".
class RadioTiming {
 public:
  /// Without `rng` measured delays take their least value, and repetitions their best phase. `grid` outlives this.
  RadioTiming(const NrRadio& config, const FrameGrid& grid, std::optional<Rng> rng = std::nullopt);
  ~RadioTiming();
  RadioTiming(const RadioTiming&) = delete;
  RadioTiming& operator=(const RadioTiming&) = delete;

  /// When the base station knows of the request of a client that has become busy at `offered`; what comes before the
  /// request has gone out shares it. Measured delays count from its start.
  [[nodiscard]] Instant request_known(Instant offered, std::int64_t client) const;
  /// The earliest start of a block for a request that is known at `known`.
  [[nodiscard]] Instant requested_start(Instant known);
  /// The earliest start of a block that is decided on what the base station knows at `known`.
  [[nodiscard]] Instant first_start(Direction direction, Instant known);
  /// The earliest start of a block whose resources are granted already, for a message offered at `offered`.
  [[nodiscard]] Instant granted_start(Direction direction, Instant offered) const;
  /// The latest arrival that gets into a block that starts at `start`, in `slot`.
  [[nodiscard]] Instant assembly(Direction direction, Instant start, std::int64_t slot) const;
  /// When the receiver has the bits.
  [[nodiscard]] Instant decoded(Direction direction, const OnAir& block);
  /// The earliest start of the repetition of a block that failed.
  [[nodiscard]] Instant repeat_from(Direction direction, const OnAir& block, Instant decoded, std::int64_t client);

  /// Whether a client sends sounding reference signals in a slot, and nothing else: in one of every `sounding` slots
  /// with uplink data, client i in the i-th.
  [[nodiscard]] bool sounds(std::int64_t client, std::int64_t slot) const;

  /// Whether repetitions keep their own time, outside the frame (tr37910 and measured).
  [[nodiscard]] bool repeats_apart() const { return averaged_ || measured_ != nullptr; }
  /// When such a repetition, decided at `decoded`, has been received.
  [[nodiscard]] Instant repeated_apart(Direction direction, const OnAir& block, Instant decoded);
  /// Whether the scheduler works by whole regions, a block a client in each.
  [[nodiscard]] bool by_region() const { return slotted_.has_value() || flexible_; }

  /// Instants from which no latency is lucky: a lead before a symbol boundary.
  [[nodiscard]] std::array<Duration, 3> leads() const { return {Duration{0}, half1_, half2_}; }

 private:
  struct Measured;

  [[nodiscard]] FrameGrid::Span request_occasion(Instant ready, std::int64_t client) const;
  [[nodiscard]] FrameGrid::Span uplink_control(Instant ready, std::int64_t client) const;
  [[nodiscard]] Duration half_decoding(Direction direction, int symbol, int symbols) const;
  [[nodiscard]] double extra_symbols(int symbol, int symbols) const;  // d1,1
  [[nodiscard]] double mean_extra_symbols(int symbols) const;
  [[nodiscard]] Duration random(Duration length);

  const FrameGrid& grid_;
  std::int64_t mu_;
  UeCapability capability_;
  Mapping mapping_;
  Duration request_period_;
  std::int64_t sounding_;
  int control_;  // symbols of downlink control, at least 1
  bool flexible_;
  bool averaged_;
  std::optional<SlottedTiming> slotted_;
  std::unique_ptr<const Measured> measured_;
  std::optional<Rng> rng_;
  double n1_ = 0;      // symbols
  Duration half1_{0};  // Tproc,1 / 2 with d1,1 = 0
  Duration half2_{0};  // Tproc,2 / 2
};

}  // namespace trilemma
