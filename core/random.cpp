#include "core/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"

namespace trilemma {

Rng::Rng(std::uint32_t seed, std::uint64_t stream, std::uint64_t substream)
    : stream_(std::make_unique<ns3::RngStream>(seed, stream, substream)) {}
Rng::~Rng() = default;
Rng::Rng(Rng&& other) noexcept = default;
Rng& Rng::operator=(Rng&& other) noexcept = default;

double Rng::uniform() { return stream_->RandU01(); }

double Rng::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Duration Rng::exponential(Duration mean) {
  return Duration(std::llround(-std::log(uniform()) * static_cast<double>(mean.count())));
}

Duration Rng::exponential(EventRate rate) { return Duration(std::llround(-std::log(uniform()) * 1e9 / rate.value())); }

Duration Rng::uniform(Duration length) {
  const auto drawn = static_cast<std::int64_t>(uniform() * static_cast<double>(length.count()));
  return Duration(std::min(drawn, std::max<std::int64_t>(length.count() - 1, 0)));
}

void Streams::seed_ns3() const {
  ns3::RngSeedManager::SetSeed(seed_);
  ns3::RngSeedManager::SetRun(replication_);
}

}  // namespace trilemma
