#pragma once

#include <cstddef>
#include <span>

/// Closed forms of queueing theory, for tests and for cross-checks of simulated results.
///
/// UNITS: plain doubles. `lambda` is the arrival rate and `mu` the service rate of one server, both per the same unit
/// of time; times go in and come out in that unit (with mu = 1 in mean service times). First in, first out, infinite
/// buffer, stationary. `wait` excludes service, `sojourn` includes it.
///
/// Everywhere: lambda >= 0, mu > 0 and a load below 1 (lambda < mu, or lambda < servers * mu); anything else breaks an
/// invariant, as a queue at load 1 or more has no stationary law to speak of.
///
/// Kleinrock, Queueing Systems I, 1975, unless said otherwise.
namespace trilemma::theory {

// ---- M/M/1: Poisson arrivals, exponential service -------------------------------------------------------------------

/// rho / (mu - lambda)
double mm1_mean_wait(double lambda, double mu);
/// 1 / (mu - lambda)
double mm1_mean_sojourn(double lambda, double mu);
/// P(wait > t) = rho e^{-(mu - lambda) t}, t >= 0.
double mm1_wait_tail(double lambda, double mu, double t);
/// P(sojourn > t) = e^{-(mu - lambda) t}, t >= 0.
double mm1_sojourn_tail(double lambda, double mu, double t);
/// -ln(1 - q) / (mu - lambda), 0 <= q < 1.
double mm1_sojourn_quantile(double lambda, double mu, double q);

// ---- M/M/c: `servers` >= 1 alike behind one queue -------------------------------------------------------------------

/// Probability that a request has to wait (Erlang's second formula).
double erlang_c(int servers, double lambda, double mu);
/// C / (servers mu - lambda)
double mmc_mean_wait(int servers, double lambda, double mu);
/// P(wait > t) = C e^{-(servers mu - lambda) t}, t >= 0.
double mmc_wait_tail(int servers, double lambda, double mu, double t);

// ---- M/D/1: every service takes exactly D = 1/mu --------------------------------------------------------------------

/// rho D / (2 (1 - rho))
double md1_mean_wait(double lambda, double mu);
/// D + wait
double md1_mean_sojourn(double lambda, double mu);
/// P(wait <= t), t >= 0, by the sum of Franx, A simple solution for the M/D/c waiting time distribution, Operations
/// Research Letters 29, 2001: equal to Erlang's alternating series of 1909, but all of its terms are positive, so that
/// it is good to about 1e-14 absolute (a tail 1 - P of 1e-12 has two digits left). O((t/D)^2): up to about 1000 D.
double md1_wait_cdf(double lambda, double mu, double t);

// ---- M/G/1 ----------------------------------------------------------------------------------------------------------

/// Pollaczek-Khinchine: rho (1 + cv2) / (2 (mu - lambda)), with `cv2` >= 0 the squared coefficient of variation of the
/// service time: variance / mean^2.
double mg1_mean_wait(double lambda, double mu, double cv2);

/// Non-preemptive priorities (Cobham, Operations Research 2, 1954): mean wait of the class `which` (0 is served first),
/// where class i arrives at rate lambda[i] and all have the same law of service:
/// sum(lambda) E[S^2] / 2 / ((1 - sigma before which) (1 - sigma up to which)), sigma = sum of loads.
double mg1_priority_mean_wait(std::span<const double> lambda, double mu, double cv2, std::size_t which);

/// Processor sharing, any law of service: 1 / (mu - lambda) (Kleinrock, Queueing Systems II, 1976, section 4.4).
double mg1_shared_mean_sojourn(double lambda, double mu);

// ---- M/M/1 in batches: a service takes all that wait, at most `most`, in one time of mean 1/mu ----------------------

/// Neuts' general bulk service rule from 1 to `most`, exponential (Medhi, Stochastic Models in Queueing Theory, 2003,
/// section 4.3). With r the root in (0, 1) of mu r^(most + 1) - (lambda + mu) r + lambda = 0, the queue beside a batch
/// in service is geometric: wait = A r / (lambda (1 - r)^2), A = 1 / (1 / (1 - r) + mu / lambda). Requires lambda > 0
/// and lambda < most mu.
double batch_mean_wait(int most, double lambda, double mu);

// ---- Slotted M/D/1: service takes one slot of 1/mu and starts at slot boundaries only (TDMA) ------------------------

/// D/2 + D + rho D / (2 (1 - rho))
double slotted_md1_mean_sojourn(double lambda, double mu);

}  // namespace trilemma::theory
