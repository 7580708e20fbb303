#include "analysis/theory.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/ensure.h"

namespace trilemma::theory {
namespace {

void ensure_stable(double lambda, double mu, int servers = 1) {
  TRILEMMA_ENSURE(servers >= 1, "a queue has a server");
  TRILEMMA_ENSURE(lambda >= 0 && std::isfinite(mu) && mu > 0, "rates are finite, and a server serves");
  TRILEMMA_ENSURE(lambda < servers * mu, "closed forms hold for a load below 1 only");
}

void ensure_time(double t) { TRILEMMA_ENSURE(t >= 0, "a time is not negative"); }

/// P(Poisson(mean) = n), n = 0 .. size - 1.
std::vector<double> poisson_mass(double mean, std::size_t size) {
  std::vector<double> mass(size);
  double next = std::exp(-mean);
  for (std::size_t n = 0; n < size; ++n) {
    mass[n] = next;
    next *= mean / static_cast<double>(n + 1);
  }
  return mass;
}

/// P(more than n) of a `mass` that is negligible beyond its end; summed from there, so that small tails keep digits.
std::vector<double> tail_of(const std::vector<double>& mass) {
  std::vector<double> tail(mass.size());
  for (std::size_t n = mass.size() - 1; n > 0; --n) tail[n - 1] = tail[n] + mass[n];
  return tail;
}

/// P(number in system <= n), n = 0 .. size - 1, of M/D/1 in units of D. Services that start with k present do so at
/// rate lambda p_k (the idle state counting as k = 1), and spend a time P(> n - k arrivals in D) / lambda each with n
/// present: p_n P(no arrival in D) = p_0 P(>= n arrivals in D) + sum_{0<k<n} p_k P(> n - k arrivals in D).
/// Tijms, A First Course in Stochastic Models, 2003, chapter 9. No term is negative: nothing cancels.
std::vector<double> md1_number_cdf(double rho, std::size_t size) {
  constexpr std::size_t margin = 32;  // fewer than one arrives on average, so that the mass beyond is below 1/32!
  const auto arrivals = poisson_mass(rho, size + margin);
  const auto more = tail_of(arrivals);
  std::vector<double> probability(size, 1 - rho);
  for (std::size_t n = 1; n < size; ++n) {
    double flow = (1 - rho) * more[n - 1];
    for (std::size_t k = 1; k < n; ++k) flow += probability[k] * more[n - k];
    probability[n] = flow / arrivals[0];
  }
  std::partial_sum(probability.begin(), probability.end(), probability.begin());
  return probability;
}

}  // namespace

double mm1_mean_wait(double lambda, double mu) {
  ensure_stable(lambda, mu);
  return lambda / mu / (mu - lambda);
}

double mm1_mean_sojourn(double lambda, double mu) {
  ensure_stable(lambda, mu);
  return 1 / (mu - lambda);
}

double mm1_wait_tail(double lambda, double mu, double t) { return lambda / mu * mm1_sojourn_tail(lambda, mu, t); }

double mm1_sojourn_tail(double lambda, double mu, double t) {
  ensure_stable(lambda, mu);
  ensure_time(t);
  return std::exp(-(mu - lambda) * t);
}

double mm1_sojourn_quantile(double lambda, double mu, double q) {
  ensure_stable(lambda, mu);
  TRILEMMA_ENSURE(q >= 0 && q < 1, "a quantile of an unbounded law lies in [0, 1)");
  return -std::log1p(-q) / (mu - lambda);
}

double erlang_c(int servers, double lambda, double mu) {
  ensure_stable(lambda, mu, servers);
  const double offered = lambda / mu;
  double blocked = 1;  // Erlang B by its recursion over the number of servers, which never overflows
  for (int c = 1; c <= servers; ++c) blocked = offered * blocked / (c + offered * blocked);
  return blocked / (1 - offered / servers * (1 - blocked));
}

double mmc_mean_wait(int servers, double lambda, double mu) {
  return erlang_c(servers, lambda, mu) / (servers * mu - lambda);
}

double mmc_wait_tail(int servers, double lambda, double mu, double t) {
  ensure_time(t);
  return erlang_c(servers, lambda, mu) * std::exp(-(servers * mu - lambda) * t);
}

double md1_mean_wait(double lambda, double mu) { return mg1_mean_wait(lambda, mu, 0); }

double md1_mean_sojourn(double lambda, double mu) { return 1 / mu + md1_mean_wait(lambda, mu); }

double md1_wait_cdf(double lambda, double mu, double t) {
  ensure_stable(lambda, mu);
  ensure_time(t);
  const double services = t * mu;  // t in units of D
  const auto k = static_cast<std::size_t>(services);
  // Look at the queue a time u = (k + 1) D - t <= D before the request arrives: the service then in progress, or the
  // next one to start, ends within D of its due, so the wait is at most t exactly when those waiting then and the j
  // that arrive during u are at most k.
  const auto rest = poisson_mass(lambda / mu * (static_cast<double>(k + 1) - services), k + 1);
  const auto in_system = md1_number_cdf(lambda / mu, k + 2);
  double probability = 0;
  for (std::size_t j = 0; j <= k; ++j) probability += in_system[k - j + 1] * rest[j];
  return probability;
}

double mg1_mean_wait(double lambda, double mu, double cv2) {
  ensure_stable(lambda, mu);
  TRILEMMA_ENSURE(cv2 >= 0, "a squared coefficient of variation is not negative");
  return lambda / mu * (1 + cv2) / (2 * (mu - lambda));
}

double mg1_priority_mean_wait(std::span<const double> lambda, double mu, double cv2, std::size_t which) {
  TRILEMMA_ENSURE(which < lambda.size(), "the class is one of those that arrive");
  const double all = std::accumulate(lambda.begin(), lambda.end(), 0.0);
  ensure_stable(all, mu);
  const auto load = [&](std::size_t classes) {
    return std::accumulate(lambda.begin(), lambda.begin() + static_cast<std::ptrdiff_t>(classes), 0.0) / mu;
  };
  const double rest = all * (1 + cv2) / (mu * mu) / 2;  // of the service under way
  return rest / ((1 - load(which)) * (1 - load(which + 1)));
}

double mg1_shared_mean_sojourn(double lambda, double mu) {
  ensure_stable(lambda, mu);
  return 1 / (mu - lambda);
}

double batch_mean_wait(int most, double lambda, double mu) {
  ensure_stable(lambda, mu, most);
  TRILEMMA_ENSURE(lambda > 0, "without arrivals nobody waits");
  const auto balance = [&](double r) { return mu * std::pow(r, most + 1) - (lambda + mu) * r + lambda; };
  // Positive at 0, negative between the root and 1.
  double low = 0;
  double high = 1;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (balance(middle) > 0 ? low : high) = middle;
  }
  const double r = low;
  const double alone = 1 / (1 / (1 - r) + mu / lambda);  // P(a batch in service and nobody waiting)
  return alone * r / ((1 - r) * (1 - r)) / lambda;
}

double slotted_md1_mean_sojourn(double lambda, double mu) { return 0.5 / mu + md1_mean_sojourn(lambda, mu); }

}  // namespace trilemma::theory
