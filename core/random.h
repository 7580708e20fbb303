#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/units.h"

namespace ns3 {
class RngStream;
}

namespace trilemma {

/// Number of a named stream: the same name gives the same stream in every run, whatever else is created (FNV-1a).
constexpr std::uint64_t stream_number(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : name) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3U;
  }
  // ns-3's own models number their streams from 0 up (automatic) and from 2^63 up (assigned).
  return hash & 0x7fffffffffffffffU;
}

/// One random stream (MRG32k3a of L'Ecuyer et al. 2002, ns-3's RngStream). Distributions are our own inverse CDFs, so
/// that one draw always costs one number of the stream.
class Rng {
 public:
  Rng(std::uint32_t seed, std::uint64_t stream, std::uint64_t substream);
  ~Rng();
  Rng(Rng&& other) noexcept;
  Rng& operator=(Rng&& other) noexcept;

  /// Uniform on (0, 1).
  double uniform();
  /// True with probability `probability`; no draw is made when it is 0 or 1.
  bool happens(double probability) {
    if (probability <= 0) return false;
    return probability >= 1 || uniform() < probability;
  }
  /// Exponential of mean `mean`, rounded to the nearest nanosecond (so that the mean is not biased).
  Duration exponential(Duration mean);
  /// The same of mean 1 / `rate`.
  Duration exponential(EventRate rate);
  /// Standard normal, by the method of Box and Muller: two numbers of the stream.
  double normal();
  /// Uniform on [0, length), whole nanoseconds; 0 for an empty range.
  Duration uniform(Duration length);

 private:
  std::unique_ptr<ns3::RngStream> stream_;
};

/// The streams of one replication: seed from the scenario, substream = replication.
class Streams {
 public:
  Streams(std::uint32_t seed, std::uint64_t replication) : seed_(seed), replication_(replication) {}

  /// `name` is "who/what", for example "client 7/arrivals".
  [[nodiscard]] Rng stream(std::string_view name) const { return {seed_, stream_number(name), replication_}; }
  [[nodiscard]] std::uint32_t seed() const { return seed_; }
  [[nodiscard]] std::uint64_t replication() const { return replication_; }
  /// Gives ns-3's own models (ns3::RngSeedManager) the seed and the substream of this replication; call it before they
  /// are made. ns-3 numbers their streams in order of creation in the whole process, so whoever draws numbers needs a
  /// stream of its own: AssignStreams(..., stream_number("<who/what>")).
  void seed_ns3() const;

 private:
  std::uint32_t seed_;
  std::uint64_t replication_;
};

}  // namespace trilemma
