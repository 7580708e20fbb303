#include "models/server/pace.h"

#include <algorithm>
#include <cmath>

namespace trilemma {

Duration Pace::least(Duration work, double spread) {
  // One nanosecond less than the rounding of any stretched time.
  const double factor = std::exp(-cut * spread);
  return std::max(Duration{0}, to_duration(static_cast<long double>(to_seconds(work) * factor)) - 2ns);
}

Duration Pace::stretched(Instant start, Duration work) {
  if (spread_ > 0) {
    double deviation = noise_->normal();
    while (std::abs(deviation) > cut) deviation = noise_->normal();
    work = to_duration(static_cast<long double>(to_seconds(work) * std::exp(spread_ * deviation)));
  }
  return throttling_ ? throttled(start, work) : work;
}

Duration Pace::throttled(Instant start, Duration work) {
  const double rest = to_seconds(start - rest_since_) / to_seconds(throttling_->recovery);
  heat_ = std::max(0.0, heat_ - rest);
  if (heat_ == 0) hot_ = false;
  // What is done before the machine is hot takes its time; the rest takes longer.
  const Duration cool =
      hot_ ? Duration{0} : to_duration(static_cast<long double>((1 - heat_) * to_seconds(throttling_->onset)));
  Duration whole = work;
  if (hot_ || work > cool) {
    hot_ = true;
    whole = cool + to_duration(static_cast<long double>(to_seconds(work - cool) * throttling_->slowdown));
  }
  heat_ = std::min(1.0, heat_ + to_seconds(whole) / to_seconds(throttling_->onset));
  rest_since_ = start + whole;
  return whole;
}

}  // namespace trilemma
