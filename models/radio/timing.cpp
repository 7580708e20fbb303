#include "models/radio/timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/ensure.h"

namespace trilemma {
namespace {

Duration half(Duration time) { return (time + 1ns) / 2; }

Duration length(const DelayShare& share) { return share.delay; }
Duration length(const GrantShare& share) { return share.request_to_grant + share.grant_to_data; }

/// A sampled distribution, by inverse CDF; without chance, its least value.
template <class Share>
class Sample {
 public:
  explicit Sample(std::vector<Share> shares) : shares_(std::move(shares)) {
    std::sort(shares_.begin(), shares_.end(), [](const auto& a, const auto& b) { return length(a) < length(b); });
    for (const Share& share : shares_) cumulated_.push_back(total_ += share.weight);
  }
  [[nodiscard]] const Share& draw(std::optional<Rng>& rng) const {
    if (!rng) return shares_.front();
    const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), rng->uniform() * total_);
    return shares_[std::min<std::size_t>(static_cast<std::size_t>(found - cumulated_.begin()), shares_.size() - 1)];
  }

 private:
  std::vector<Share> shares_;
  std::vector<double> cumulated_;
  double total_ = 0;
};

}  // namespace

struct RadioTiming::Measured {
  explicit Measured(const MeasuredTiming& config)
      : grant(config.grant), data(config.data), downlink(config.downlink), repetition(config.repetition) {
    for (const GrantShare& share : config.grant) least_to_data = std::min(least_to_data, share.grant_to_data);
  }

  Sample<GrantShare> grant;
  Sample<DelayShare> data;
  Sample<DelayShare> downlink;
  Sample<DelayShare> repetition;
  Duration least_to_data = Duration::max();
};

RadioTiming::RadioTiming(const NrRadio& config, const FrameGrid& grid, std::optional<Rng> rng)
    : grid_(grid),
      mu_(config.numerology),
      capability_(config.capability),
      mapping_(config.mapping),
      request_period_(config.request.period),
      sounding_(config.sounding),
      control_(static_cast<int>(std::max<std::int64_t>(1, config.downlink_control))),
      flexible_(config.frame.find('F') != std::string::npos),
      averaged_(std::holds_alternative<Tr37910Timing>(config.timing)),
      rng_(std::move(rng)) {
  if (const auto* slotted = std::get_if<SlottedTiming>(&config.timing)) slotted_ = *slotted;
  if (const auto* measured = std::get_if<MeasuredTiming>(&config.timing)) {
    measured_ = std::make_unique<Measured>(*measured);
  }
  const auto symbols = processing_symbols(static_cast<int>(mu_), capability_);
  TRILEMMA_ENSURE(symbols.has_value(), "a radio config without problems has processing times");
  n1_ = symbols->pdsch;
  half1_ = half(processing_time(symbols->pdsch, static_cast<int>(mu_)));
  half2_ = half(processing_time(symbols->pusch, static_cast<int>(mu_)));
}

RadioTiming::~RadioTiming() = default;

bool RadioTiming::sounds(std::int64_t client, std::int64_t slot) const {
  if (sounding_ == 0) return false;
  const std::vector<FrameGrid::Region>& regions = grid_.regions(Direction::uplink);
  const std::int64_t of_frame = slot % grid_.slots();
  const auto region =
      std::find_if(regions.begin(), regions.end(), [&](const auto& one) { return one.slot == of_frame; });
  if (region == regions.end()) return false;
  const auto count = static_cast<std::int64_t>(regions.size());
  const std::int64_t uplink_slot = slot / grid_.slots() * count + (region - regions.begin());
  return uplink_slot % sounding_ == client % sounding_;
}

/// The first control symbol of uplink at `ready` or later that is not in a slot in which the client sounds.
FrameGrid::Span RadioTiming::uplink_control(Instant ready, std::int64_t client) const {
  FrameGrid::Span control = grid_.next_control(Direction::uplink, ready);
  while (sounds(client, control.start / grid_.slot())) control = grid_.next_control(Direction::uplink, control.end);
  return control;
}

FrameGrid::Span RadioTiming::request_occasion(Instant ready, std::int64_t client) const {
  if (request_period_ > Duration{0}) {
    const Duration offset = (client * grid_.slot()) % request_period_;
    const std::int64_t periods = ready <= offset ? 0 : (ready - offset + request_period_ - 1ns) / request_period_;
    ready = std::max(ready, offset + periods * request_period_);
  }
  return uplink_control(ready, client);
}

Instant RadioTiming::requested_start(Instant known) {
  return measured_ ? known + length(measured_->grant.draw(rng_)) : first_start(Direction::uplink, known);
}

Instant RadioTiming::request_known(Instant offered, std::int64_t client) const {
  if (slotted_) {
    const std::int64_t made = grid_.slot_at_or_after(offered);
    const FrameGrid::Span request = request_occasion(grid_.time_of(made + slotted_->request, 0), client);
    return grid_.time_of(grid_.slot_at_or_after(request.end), 0);
  }
  const FrameGrid::Span request = request_occasion(measured_ ? offered : offered + half1_, client);
  return measured_ ? request.start : request.end + half2_;
}

Instant RadioTiming::first_start(Direction direction, Instant known) {
  if (slotted_) {
    const std::int64_t lead = direction == Direction::uplink ? slotted_->grant : slotted_->downlink;
    return grid_.time_of(grid_.slot_at_or_after(known) + lead, 0);
  }
  if (measured_) {
    if (direction == Direction::downlink) return known;
    return known + (rng_ ? measured_->grant.draw(rng_).grant_to_data : measured_->least_to_data);
  }
  if (direction == Direction::downlink) return known + half2_;
  // The base station writes the grant (Tproc,1/2), the device reads it (Tproc,2/2) and prepares the block (Tproc,2/2).
  return grid_.next_control(Direction::downlink, known + half1_).end + half2_ + half2_;
}

Instant RadioTiming::granted_start(Direction direction, Instant offered) const {
  if (measured_) return offered;
  if (!slotted_) return offered + half2_;
  if (direction == Direction::downlink) {
    return grid_.time_of(grid_.slot_at_or_after(offered) + slotted_->downlink, 0);
  }
  const Instant grant = std::max(Instant{0}, offered - grid_.time_of(0, control_));
  return grid_.time_of(grid_.slot_at_or_after(grant) + slotted_->assembly, 0);
}

Instant RadioTiming::assembly(Direction direction, Instant start, std::int64_t slot) const {
  if (measured_) return start;
  if (!slotted_) return start - half2_;
  if (direction == Direction::downlink) return grid_.time_of(0, 0) + (slot - slotted_->downlink) * grid_.slot();
  return (slot - slotted_->assembly) * grid_.slot() + grid_.time_of(0, control_);
}

Instant RadioTiming::decoded(Direction direction, const OnAir& block) {
  if (slotted_) return block.end + slotted_->decoding;
  if (measured_) {
    const Sample<DelayShare>& delays = direction == Direction::uplink ? measured_->data : measured_->downlink;
    return std::max(block.end, block.start + delays.draw(rng_).delay);
  }
  return block.end + half_decoding(direction, block.symbol, block.symbols);
}

Instant RadioTiming::repeat_from(Direction direction, const OnAir& block, Instant decoded, std::int64_t client) {
  if (slotted_) {
    if (direction == Direction::uplink) return first_start(direction, decoded);
    return grid_.time_of(grid_.slot_at_or_after(decoded) + slotted_->feedback + slotted_->downlink, 0);
  }
  // The receiver writes its feedback (Tproc,1/2), the sender reads it (Tproc,2/2) and prepares the block (Tproc,2/2).
  const Instant written = decoded + half_decoding(direction, block.symbol, block.symbols);
  const FrameGrid::Span feedback = direction == Direction::uplink ? grid_.next_control(Direction::downlink, written)
                                                                  : uplink_control(written, client);
  return feedback.end + half2_ + half2_;
}

Instant RadioTiming::repeated_apart(Direction direction, const OnAir& block, Instant decoded) {
  if (measured_) return decoded + measured_->repetition.draw(rng_).delay;
  const Duration received = half_decoding(direction, block.symbol, block.symbols);
  const Duration symbol = grid_.symbol_length();
  const Duration feedback = received + random(symbol) + symbol + half2_;
  const Instant phase = random(grid_.period());
  const Duration alignment = grid_.next_start(direction, phase, block.symbols).time - phase;
  return decoded + feedback + half2_ + alignment + (block.end - block.start) + received;
}

Duration RadioTiming::random(Duration length) { return rng_ ? rng_->uniform(length) : Duration{0}; }

Duration RadioTiming::half_decoding(Direction direction, int symbol, int symbols) const {
  if (direction == Direction::uplink) return half1_;
  const double extra = averaged_ ? mean_extra_symbols(symbols) : extra_symbols(symbol, symbols);
  return extra == 0 ? half1_ : half(processing_time(n1_ + extra, static_cast<int>(mu_)));
}

double RadioTiming::extra_symbols(int symbol, int symbols) const {
  const int last = symbol + symbols - 1;
  if (mapping_ == Mapping::a) return last < 7 ? 7 - last : 0;
  if (symbols >= 7 || capability_ == UeCapability::two) return 0;  // no symbol shared with PDCCH: d = 0
  return symbols >= 4 ? 7 - symbols : 3;
}

double RadioTiming::mean_extra_symbols(int symbols) const {
  double sum = 0;
  double count = 0;
  for (const FrameGrid::Region& region : grid_.regions(Direction::downlink)) {
    for (const int start : grid_.downlink_starts(region, symbols)) {
      sum += extra_symbols(start, symbols);
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace trilemma
