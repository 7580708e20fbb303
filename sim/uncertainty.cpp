#include "sim/uncertainty.h"

#include <cmath>

#include "core/ensure.h"
#include "models/processor/roofline.h"

namespace trilemma {
namespace {

/// Lower triangle L of a covariance, L L^T = C, by rows (Cholesky). A variance of 0 gives a column of zeros. Where
/// rounding has left C a little outside the covariances, correlations give way and variances stay: the squares of a row
/// never add up to more than its variance.
std::vector<double> root_of(const std::vector<double>& covariance, std::size_t size) {
  std::vector<double> root(covariance.size(), 0);
  const auto at = [](std::size_t row, std::size_t column) { return row * (row + 1) / 2 + column; };
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= root[at(i, k)] * root[at(j, k)];
      if (i == j)
        root[at(i, i)] = std::sqrt(std::max(0.0, sum));
      else if (root[at(j, j)] > 0)
        root[at(i, j)] = sum / root[at(j, j)];
    }
    double explained = 0;
    for (std::size_t k = 0; k < i; ++k) explained += root[at(i, k)] * root[at(i, k)];
    const double variance = covariance[at(i, i)];
    for (std::size_t k = 0; k < i && explained > variance; ++k) root[at(i, k)] *= std::sqrt(variance / explained);
  }
  return root;
}

bool is_share(const std::optional<Fraction>& share) {
  return !share || (*share > Fraction(0) && *share <= Fraction(1));
}

bool allowed(const PrecisionRate& rate) {
  return is_share(rate.compute_efficiency) && is_share(rate.memory_efficiency) && is_share(rate.attention_efficiency) &&
         is_share(rate.cache_efficiency) && is_share(rate.convolution_efficiency) && rate.overlap >= Fraction(0) &&
         rate.overlap <= Fraction(1) && rate.per_call >= Duration{0} && rate.per_layer >= Duration{0};
}

void move(PrecisionRate& rate, const std::string& parameter, double by) {
  const auto longer = [&](Duration cost) { return by < 0 ? cost - to_duration(-by) : cost + to_duration(by); };
  const auto scaled = [&](Fraction share) { return share * std::exp(by); };
  if (parameter == "compute_efficiency")
    rate.compute_efficiency = scaled(rate.compute_efficiency);
  else if (parameter == "memory_efficiency")
    rate.memory_efficiency = scaled(rate.memory_efficiency);
  else if (parameter == "attention_efficiency")
    rate.attention_efficiency = scaled(rate.attention_efficiency.value_or(rate.compute_efficiency));
  else if (parameter == "cache_efficiency")
    rate.cache_efficiency = scaled(rate.cache_efficiency.value_or(rate.memory_efficiency));
  else if (parameter == "convolution_efficiency")
    rate.convolution_efficiency = scaled(rate.convolution_efficiency.value_or(rate.compute_efficiency));
  else if (parameter == "overlap")
    rate.overlap += Fraction(by);
  else if (parameter == "per_call")
    rate.per_call = longer(rate.per_call);
  else
    rate.per_layer = longer(rate.per_layer);
}

PrecisionRate drawn(const PrecisionRate& rate, Rng& rng) {
  constexpr int most_draws = 100'000;
  const std::size_t size = rate.uncertain.size();
  const std::vector<double> root = root_of(rate.covariance, size);
  for (int draw = 0; draw < most_draws; ++draw) {
    std::vector<double> normal(size);
    for (double& one : normal) one = rng.normal();
    PrecisionRate found = rate;
    for (std::size_t i = 0; i < size; ++i) {
      double by = 0;
      for (std::size_t k = 0; k <= i; ++k) by += root[i * (i + 1) / 2 + k] * normal[k];
      move(found, rate.uncertain[i], by);
    }
    if (allowed(found)) return found;
  }
  throw OutOfRange("the covariance of a device leaves its parameters no room in their ranges; check the device file");
}

void draw(ProcessorConfig& processor, Precision precision, Rng rng) {
  const PrecisionRate* used = rate_for(processor, precision);
  for (PrecisionRate& rate : processor.rates) {
    if (&rate == used && !rate.uncertain.empty()) rate = drawn(rate, rng);
  }
}

}  // namespace

Scenario with_drawn_parameters(const Scenario& scenario, const Streams& streams) {
  Scenario result = scenario;
  if (scenario.uncertainty == Switch::off) return result;
  draw(result.device, result.device.precision, streams.stream("device/parameters"));
  draw(result.edge, result.edge.precision, streams.stream("edge/parameters"));
  if (result.cloud) draw(*result.cloud, result.cloud->precision, streams.stream("cloud/parameters"));
  return result;
}

}  // namespace trilemma
