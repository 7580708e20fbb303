#include "analysis/theory.h"

#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/unit/analysis/reference_rows.h"

namespace trilemma::theory {
namespace {

using test::ReferenceRow;
using Formulas = std::map<std::string, std::function<double(const ReferenceRow&)>>;

/// Compares each quantity in `formulas` with all of its rows; the table has ten significant digits, half a unit of the
/// last being at most 5e-10 of the value. Every formula has to meet at least one row.
void expect_table(const std::string& model, const Formulas& formulas, double absolute = 0) {
  std::map<std::string, int> compared;
  for (const auto& row : test::reference_rows("queueing_validation.csv", model)) {
    const auto formula = formulas.find(row.quantity);
    if (formula == formulas.end()) continue;
    EXPECT_NEAR(formula->second(row), row.number(), 5e-10 * row.number() + absolute)
        << model << ", " << row.params << ": " << row.quantity;
    ++compared[row.quantity];
  }
  EXPECT_EQ(compared.size(), formulas.size()) << model;
}

double rho(const ReferenceRow& row) { return row.param("rho"); }

TEST(Theory, ReproducesTheTableOfMM1) {
  expect_table("M/M/1", {{"E[T]", [](auto& r) { return mm1_mean_sojourn(rho(r), 1); }},
                         {"E[Wq]", [](auto& r) { return mm1_mean_wait(rho(r), 1); }},
                         {"P(T>5)", [](auto& r) { return mm1_sojourn_tail(rho(r), 1, 5); }},
                         {"P(Wq>5)", [](auto& r) { return mm1_wait_tail(rho(r), 1, 5); }},
                         {"T quantile 0.99", [](auto& r) { return mm1_sojourn_quantile(rho(r), 1, 0.99); }},
                         {"T quantile 0.999", [](auto& r) { return mm1_sojourn_quantile(rho(r), 1, 0.999); }},
                         {"T quantile 0.99999", [](auto& r) { return mm1_sojourn_quantile(rho(r), 1, 0.99999); }}});
}

TEST(Theory, ReproducesTheTableOfMMc) {
  const auto servers = [](const ReferenceRow& r) { return static_cast<int>(r.param("c")); };
  const auto lambda = [](const ReferenceRow& r) { return r.param("c") * r.param("rho"); };
  expect_table("M/M/c", {{"Erlang C", [&](auto& r) { return erlang_c(servers(r), lambda(r), 1); }},
                         {"E[Wq]", [&](auto& r) { return mmc_mean_wait(servers(r), lambda(r), 1); }},
                         {"P(Wq>1)", [&](auto& r) { return mmc_wait_tail(servers(r), lambda(r), 1, 1); }}});
}

TEST(Theory, ReproducesTheTableOfMD1) {
  const auto tail = [](double t) { return [t](const ReferenceRow& r) { return 1 - md1_wait_cdf(rho(r), 1, t); }; };
  // The distribution is good to 1e-14 absolute, which leaves three digits of a tail of 8e-12.
  expect_table("M/D/1",
               {{"E[Wq]", [](auto& r) { return md1_mean_wait(rho(r), 1); }},
                {"E[T]", [](auto& r) { return md1_mean_sojourn(rho(r), 1); }},
                {"P(Wq>1)", tail(1)},
                {"P(Wq>2)", tail(2)},
                {"P(Wq>5)", tail(5)},
                {"P(Wq>10)", tail(10)},
                {"P(Wq>20)", tail(20)}},
               1e-14);
}

TEST(Theory, ReproducesTheTableOfMG1) {
  expect_table("M/G/1", {{"E[Wq]", [](auto& r) { return mg1_mean_wait(rho(r), 1, r.param("cv2")); }}});
}

TEST(Theory, ReproducesTheTableOfRetransmissions) {
  // Service takes Geom(1 - p) slots: mean 1/(1-p), variance p/(1-p)^2, so cv2 = p. The load counts all
  // transmissions: lambda = rho (1 - p).
  expect_table("M/G/1 (D*Geom(1-p))", {{"E[Wq]", [](auto& r) {
                                          const double p = r.param("p");
                                          return mg1_mean_wait(rho(r) * (1 - p), 1 - p, p);
                                        }}});
}

TEST(Theory, ReproducesTheTableOfSlottedMD1) {
  expect_table("slotted M/D/1", {{"E[T]", [](auto& r) { return slotted_md1_mean_sojourn(rho(r), 1); }}});
}

TEST(Theory, ScalesWithTheUnitOfTime) {
  // A server three times as fast at three times the load: everything takes a third of the time.
  EXPECT_DOUBLE_EQ(mm1_mean_wait(2.4, 3), mm1_mean_wait(0.8, 1) / 3);
  EXPECT_NEAR(mmc_mean_wait(4, 8.4, 3), mmc_mean_wait(4, 2.8, 1) / 3, 1e-15);  // 8.4 - 12 multiplies rounding by 3
  EXPECT_DOUBLE_EQ(md1_mean_sojourn(2.4, 3), md1_mean_sojourn(0.8, 1) / 3);
  EXPECT_DOUBLE_EQ(slotted_md1_mean_sojourn(2.4, 3), slotted_md1_mean_sojourn(0.8, 1) / 3);
  EXPECT_NEAR(md1_wait_cdf(2.4, 3, 1.5), md1_wait_cdf(0.8, 1, 4.5), 1e-14);
}

/// Erlang 1909, (1 - rho) sum_k (-rho (t - k))^k / k! e^{rho (t - k)} with D = 1: the textbook series.
double erlang_series(double rho, double t) {
  long double sum = 0;
  for (int k = 0; k <= t; ++k) {
    const long double x = rho * (t - k);
    sum += std::pow(-x, static_cast<long double>(k)) / std::tgamma(static_cast<long double>(k) + 1) * std::exp(x);
  }
  return static_cast<double>((1 - rho) * sum);
}

TEST(WaitOfMD1, EqualsErlangsSeriesBetweenWholeServices) {
  for (const double rho : {0.1, 0.5, 0.9, 0.99}) {
    for (double t = 0; t < 6; t += 0.23) {
      // At t < 6 the terms of the series stay below e^6, so that it loses less than three digits to cancellation.
      EXPECT_NEAR(md1_wait_cdf(rho, 1, t), erlang_series(rho, t), 1e-13) << rho << " " << t;
    }
  }
}

TEST(WaitOfMD1, IsZeroWithTheProbabilityOfAnIdleServer) {
  EXPECT_NEAR(md1_wait_cdf(0.7, 1, 0), 0.3, 1e-15);
  EXPECT_DOUBLE_EQ(md1_wait_cdf(0, 1, 0), 1);
}

TEST(WaitOfMD1, HasTheMeanOfPollaczekAndKhinchine) {
  // E[W] = integral of P(W > t), by the midpoint rule with steps of 1/100: its error is h^2/24 times the change of the
  // slope, below 1e-4. Beyond t = 60 the tail e^{-0.43 t} is 1e-11.
  double mean = 0;
  for (int i = 0; i < 6'000; ++i) mean += 0.01 * (1 - md1_wait_cdf(0.8, 1, (i + 0.5) / 100));
  EXPECT_NEAR(mean, md1_mean_wait(0.8, 1), 1e-4);
}

TEST(WaitOfMD1, StaysAProbabilityForLongTimes) {
  double before = 0;
  for (const double t : {1.0, 10.0, 100.0, 500.0, 1000.0}) {
    const double now = md1_wait_cdf(0.99, 1, t);
    EXPECT_GT(now, before);
    EXPECT_LE(now, 1);
    before = now;
  }
}

TEST(Theory, OneServerOfManyIsMM1) {
  EXPECT_DOUBLE_EQ(mmc_mean_wait(1, 0.8, 1), mm1_mean_wait(0.8, 1));
  EXPECT_DOUBLE_EQ(erlang_c(1, 0.8, 1), 0.8);
}

TEST(Theory, LoadOfOneOrMoreBreaksAnInvariant) {
  EXPECT_NO_THROW(mm1_mean_wait(0.999, 1));
  EXPECT_THROW(mm1_mean_wait(1, 1), InvariantViolation);
  EXPECT_THROW(mm1_mean_sojourn(40, 1), InvariantViolation);
  EXPECT_THROW(mm1_sojourn_quantile(1, 1, 0.5), InvariantViolation);
  EXPECT_NO_THROW(erlang_c(4, 3.999, 1));
  EXPECT_THROW(erlang_c(4, 4, 1), InvariantViolation);
  EXPECT_THROW(md1_wait_cdf(1, 1, 1), InvariantViolation);
  EXPECT_THROW(mg1_mean_wait(2, 1, 1), InvariantViolation);
  EXPECT_THROW(slotted_md1_mean_sojourn(1, 1), InvariantViolation);
}

TEST(Theory, RatesAndTimesThatAreNoneBreakAnInvariant) {
  EXPECT_THROW(mm1_mean_wait(-1, 1), InvariantViolation);
  EXPECT_THROW(mm1_mean_wait(0, 0), InvariantViolation);
  EXPECT_THROW(mm1_mean_wait(std::nan(""), 1), InvariantViolation);
  EXPECT_THROW(mm1_sojourn_tail(0.5, 1, -1), InvariantViolation);
  EXPECT_THROW(mm1_sojourn_quantile(0.5, 1, 1), InvariantViolation);
  EXPECT_THROW(erlang_c(0, 0, 1), InvariantViolation);
  EXPECT_THROW(mg1_mean_wait(0.5, 1, -1), InvariantViolation);
}

}  // namespace
}  // namespace trilemma::theory
