#pragma once

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

// ---- Slotted M/D/1: service takes one slot of 1/mu and starts at slot boundaries only (TDMA) ------------------------

/// D/2 + D + rho D / (2 (1 - rho))
double slotted_md1_mean_sojourn(double lambda, double mu);

}  // namespace trilemma::theory
