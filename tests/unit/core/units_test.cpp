#include "core/units.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/ensure.h"

namespace trilemma {
namespace {

TEST(Units, OneMegabyteAtEightMegabitsPerSecondTakesExactlyOneSecond) {
  EXPECT_EQ(Bytes(1'000'000) / BitRate(8e6), 1s);
}

TEST(Units, FiveQuartersOfAGibibyteAtFiveGigabitsPerSecond) {
  // 1.25 2^30 8 bit = 10,737,418,240 bit; / 5e9 bit/s = 2.147483648 s.
  EXPECT_EQ(Bytes(1'342'177'280) / BitRate(5e9), 2'147'483'648ns);
}

TEST(Units, SerialisationRoundsUpOnBothSidesOfANanosecond) {
  EXPECT_EQ(Bytes(1) / BitRate(8e9), 1ns);
  EXPECT_EQ(Bytes(1) / BitRate(std::nextafter(8e9, 9e9)), 1ns);
  EXPECT_EQ(Bytes(1) / BitRate(std::nextafter(8e9, 7e9)), 2ns);
  EXPECT_EQ(Bytes(0) / BitRate(8e9), 0ns);
}

TEST(Units, MemoryAndArithmeticRatesRoundUpAsWell) {
  EXPECT_EQ(Bytes(1'000'000'000) / ByteRate(1e9), 1s);
  EXPECT_EQ(Bytes(1'000'000'001) / ByteRate(1e9), 1'000'000'001ns);
  EXPECT_EQ(Bytes(1) / ByteRate(3e9), 1ns);
  EXPECT_EQ(Operations(45e12) / OperationRate(45e12), 1s);
  EXPECT_EQ(Operations(4) / OperationRate(3e9), 2ns);  // 1.33 ns
}

TEST(Units, APeriodIsTheInverseOfItsRate) {
  EXPECT_EQ(period(EventRate(2)), 500ms);
  EXPECT_EQ(period(EventRate(3)), 333'333'334ns);  // 333,333,333.3 rounded up
}

TEST(Units, AWayTakesItsLengthOverTheSpeed) {
  EXPECT_EQ(Metres(3) / Speed(1.5), 2s);
  EXPECT_EQ(Metres(1) / Speed(3), 333'333'334ns);  // 333,333,333.3 rounded up
  EXPECT_DOUBLE_EQ((Speed(1.5) * Duration(2s)).value(), 3);
  EXPECT_DOUBLE_EQ(kilometres_per_hour(36).value(), 10);
}

TEST(Units, SecondsBecomeNanosecondsRoundedUp) {
  EXPECT_EQ(to_duration(0), 0ns);
  EXPECT_EQ(to_duration(1.0L), 1s);
  EXPECT_EQ(to_duration(0.5e-9L), 1ns);
  EXPECT_EQ(to_duration(1.5e-9L), 2ns);
  EXPECT_EQ(to_duration(0.1L), 100ms);
  // The double nearest to 0.1 lies 5.6e-18 above it.
  EXPECT_EQ(to_duration(0.1), 100'000'001ns);
  EXPECT_DOUBLE_EQ(to_seconds(1'500ms), 1.5);
  EXPECT_DOUBLE_EQ(to_milliseconds(1'500us), 1.5);
}

TEST(Units, AWrongRateOrAmountIsOurMistakeAndATooLongTimeTheUsers) {
  EXPECT_THROW((void)(Bytes(1) / BitRate(0)), InvariantViolation);
  EXPECT_THROW((void)(Bytes(1) / BitRate(-1)), InvariantViolation);
  EXPECT_THROW((void)to_duration(-1e-9L), InvariantViolation);
  EXPECT_THROW((void)to_duration(std::nanl("")), InvariantViolation);
  EXPECT_EQ(to_duration(999'999'999.0L), Duration(999'999'999'000'000'000));
  EXPECT_THROW((void)to_duration(1e9L), OutOfRange);  // 31.7 years
  EXPECT_THROW((void)(Bytes(1) / BitRate(1e-300)), OutOfRange);
}

TEST(Units, EnergyIsPowerTimesTime) { EXPECT_DOUBLE_EQ((Watts(5) * Duration(2s)).value(), 10); }

TEST(Units, DecibelsAreTenTimesTheDecimalLogarithm) {
  EXPECT_DOUBLE_EQ(linear(Decibels(0)), 1);
  EXPECT_DOUBLE_EQ(linear(Decibels(30)), 1000);
  EXPECT_DOUBLE_EQ(linear(Decibels(-10)), 0.1);
  EXPECT_DOUBLE_EQ(decibels(100).value(), 20);
  EXPECT_NEAR(decibels(2).value(), 3.0103, 1e-5);
  for (const double ratio : {1e-9, 0.37, 1.0, 5.5, 1e12}) EXPECT_NEAR(linear(decibels(ratio)) / ratio, 1, 1e-12);
}

TEST(Units, LevelsAndGainsAddUp) {
  EXPECT_EQ(PowerLevel(23) + Decibels(9) - Decibels(100), PowerLevel(-68));
  EXPECT_EQ(ratio(PowerLevel(-68), PowerLevel(-88)), Decibels(20));
}

TEST(Units, ThermalNoiseIsMinus174DbmPerHertz) {
  EXPECT_DOUBLE_EQ(thermal_noise(Frequency(1)).value(), -174);
  // 10 lg 4e8 = 86.0206 dB.
  EXPECT_NEAR(thermal_noise(Frequency(400e6)).value(), -87.9794, 1e-4);
}

TEST(Units, LikeQuantitiesAddScaleCompareAndDivide) {
  Bytes size(10);
  size += Bytes(5);
  size -= Bytes(3);
  EXPECT_EQ(size, Bytes(12));
  EXPECT_EQ(2 * size, size * 2);
  EXPECT_EQ(size / 5, Bytes(2));  // whole bytes
  EXPECT_EQ(-size, Bytes(-12));
  EXPECT_LT(size, Bytes(13));
  EXPECT_DOUBLE_EQ(Bytes(3) / Bytes(2), 1.5);
  EXPECT_DOUBLE_EQ(Fraction(0.5).value(), 0.5);
}

TEST(Ensure, NamesTheSentenceAndThePlace) {
  EXPECT_NO_THROW(TRILEMMA_ENSURE(1 + 1 == 2, "sums are right"));
  try {
    TRILEMMA_ENSURE(1 + 1 == 3, "sums are right");
    FAIL() << "a broken invariant throws";
  } catch (const InvariantViolation& broken) {
    const std::string text = broken.what();
    EXPECT_EQ(text.find("internal invariant broken: sums are right ("), 0U);
    EXPECT_NE(text.find("units_test.cpp:"), std::string::npos);
  }
}

}  // namespace
}  // namespace trilemma
