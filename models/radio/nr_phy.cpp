#include "models/radio/nr_phy.h"

#include <algorithm>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// Resource elements that reference signals take from each resource block of a block: one DM-RS symbol (TS 38.211
/// 6.4.1.1, type 1, both combs), or one subcarrier of every symbol.
int reference_elements(ReferenceSignals reference, int symbols) {
  return reference == ReferenceSignals::symbol ? 12 : symbols;
}

Decibels gap_of(const ErrorsConfig& errors) {
  const auto* modelled = std::get_if<ModelledErrors>(&errors);
  return modelled != nullptr ? modelled->gap : ErrorModel::implementation_gap;
}

TransportBlockShape shape_of(const NrRadio& config, std::int64_t parts) {
  const auto blocks = resource_blocks(config.bandwidth, static_cast<int>(config.numerology), config.carrier);
  TRILEMMA_ENSURE(blocks.has_value() && *blocks >= parts, "a radio config without problems has resource blocks");
  return {.resource_blocks = static_cast<int>(*blocks / parts), .layers = static_cast<int>(config.layers)};
}

/// The SINR in dB at which a falling error rate meets `target`, to a thousandth.
template <class ErrorRate>
double threshold(const ErrorRate& error_rate, double target) {
  double low = -40;
  double high = 60;
  while (high - low > 0.001) {
    const double middle = (low + high) / 2;
    (error_rate(Decibels(middle)) <= target ? high : low) = middle;
  }
  return high;
}

}  // namespace

NrPhy::NrPhy(const NrRadio& config, std::int64_t parts)
    : errors_(config.mcs_table, gap_of(config.errors)),
      max_transmissions_(static_cast<int>(config.harq.max_transmissions)),
      shortest_(static_cast<int>(config.shortest)),
      longest_(static_cast<int>(config.symbols)),
      shape_(shape_of(config, parts)) {
  if (const auto* fixed = std::get_if<FixedErrors>(&config.errors)) fixed_errors_ = *fixed;
  for (const Mcs& mcs : errors_.table()) {
    auto& payload = payload_.emplace_back();
    auto& bits = block_bits_.emplace_back();
    for (int symbols = shortest_; symbols <= symbols_per_slot; ++symbols) {
      shape_.symbols = symbols;
      shape_.dmrs_per_prb = reference_elements(config.reference, symbols);
      const auto index = static_cast<std::size_t>(symbols);
      bits[index] = transport_block_bits(shape_, mcs);
      payload[index] = std::max(Bytes(0), Bytes(bits[index] / 8) - block_headers);
    }
  }
  thresholds_ = thresholds(config);
}

std::vector<NrPhy::McsThreshold> NrPhy::thresholds(const NrRadio& config) const {
  const double target = config.harq.target ? config.harq.target->value() : usual_target(config.mcs_table);
  TransportBlockShape shape = shape_;
  shape.symbols = longest_;
  shape.dmrs_per_prb = reference_elements(config.reference, longest_);
  const auto meets = [&](const Mcs& row) {
    const std::int64_t bits = transport_block_bits(shape, row);
    return threshold([&](Decibels sinr) { return errors_.block_error_rate(row, sinr, bits); }, target);
  };
  std::vector<McsThreshold> found;
  const auto table = errors_.table();
  if (config.feedback == LinkFeedback::sinr) {
    for (int mcs = 0; mcs < mcs_count(); ++mcs) found.push_back({meets(table[static_cast<std::size_t>(mcs)]), mcs});
    return found;
  }
  // Of a reported CQI, the base station takes the highest MCS of no more spectral efficiency.
  for (const Mcs& cqi : cqi_table(config.mcs_table)) {
    const auto above = std::find_if(table.begin(), table.end(), [&](const Mcs& row) {
      return row.spectral_efficiency() > cqi.spectral_efficiency();
    });
    if (above != table.begin()) found.push_back({meets(cqi), static_cast<int>(above - table.begin()) - 1});
  }
  return found;
}

int NrPhy::symbols_for(int mcs, Bytes size, int available) const {
  if (available < shortest_ || payload(mcs, available) == Bytes(0)) return 0;
  int symbols = shortest_;
  while (symbols < available && payload(mcs, symbols) < size) ++symbols;
  return symbols;
}

NrLink NrPhy::link(Decibels sinr) const {
  const auto best = std::find_if(thresholds_.rbegin(), thresholds_.rend(),
                                 [&](const McsThreshold& row) { return row.sinr <= sinr.value(); });
  if (best == thresholds_.rend()) return {.sinr = sinr, .mcs = 0, .meets_target = false};
  return {.sinr = sinr, .mcs = best->mcs, .meets_target = true};
}

double NrPhy::block_error_rate(int mcs, Decibels sinr, int symbols, int transmission) const {
  if (fixed_errors_) return (transmission == 1 ? fixed_errors_->first : fixed_errors_->later).value();
  const Decibels combined = transmission == 1 ? sinr : sinr + decibels(transmission);
  return errors_.block_error_rate(mcs, combined,
                                  block_bits_[static_cast<std::size_t>(mcs)][static_cast<std::size_t>(symbols)]);
}

double NrPhy::mean_transmissions(const NrLink& link, int symbols) const {
  double mean = 1;
  double reached = block_error_rate(link.mcs, link.sinr, symbols, 1);
  for (int transmission = 2; transmission <= max_transmissions_ && reached > 0; ++transmission) {
    mean += reached;
    reached *= block_error_rate(link.mcs, link.sinr, symbols, transmission);
  }
  return mean;
}

}  // namespace trilemma
