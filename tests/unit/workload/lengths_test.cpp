#include "models/workload/lengths.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

/// Mean of many draws, held against the mean that is announced.
void expect_mean(const LengthConfig& length) {
  Rng numbers = Streams(1, 0).stream("lengths");
  constexpr int draws = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const auto tokens = static_cast<double>(draw(length, numbers).value());
    EXPECT_LE(tokens, static_cast<double>(longest(length).value()));
    EXPECT_GE(tokens, 1);
    sum += tokens;
    squares += tokens * tokens;
  }
  const double found = sum / draws;
  const double error = std::sqrt((squares / draws - found * found) / draws);
  EXPECT_NEAR(found, mean(length), 4 * error + 1e-9);
}

TEST(Lengths, HaveTheMeanThatIsAnnounced) {
  expect_mean(FixedLength{Tokens(7)});
  expect_mean(UniformLength{Tokens(3), Tokens(8)});
  expect_mean(GeometricLength{.mean = 20, .max = Tokens(30)});
  expect_mean(GeometricLength{.mean = 1, .max = Tokens(30)});
}

TEST(Lengths, OfALogNormalLawHaveTheMeanOfTheRoundedLaw) {
  // The announced mean takes rounding as half a token, which a wide law makes true to far less than the error.
  expect_mean(LogNormalLength{.median = Tokens(200), .sigma = 1, .min = Tokens(10), .max = Tokens(2000)});
}

}  // namespace
}  // namespace trilemma
