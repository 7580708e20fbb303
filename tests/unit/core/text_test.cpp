#include "core/config/text.h"

#include <gtest/gtest.h>

namespace trilemma::config {
namespace {

template <class T>
std::string problem_of(std::string_view text) {
  const auto parsed = Text<T>::parse(text);
  return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "accepted";
}

template <class T>
T value_of(std::string_view text) {
  const auto parsed = Text<T>::parse(text);
  if (const auto* problem = std::get_if<std::string>(&parsed)) ADD_FAILURE() << text << " " << *problem;
  return parsed.index() == 0 ? *std::get_if<0>(&parsed) : T{};
}

TEST(Text, OfATimeTakesEveryUnit) {
  EXPECT_EQ(value_of<Duration>("3 ns"), 3ns);
  EXPECT_EQ(value_of<Duration>("3 us"), 3us);
  EXPECT_EQ(value_of<Duration>("3 µs"), 3us);
  EXPECT_EQ(value_of<Duration>("0.5 ms"), 500us);
  EXPECT_EQ(value_of<Duration>("3 s"), 3s);
  EXPECT_EQ(value_of<Duration>("2 min"), 120s);
  EXPECT_EQ(value_of<Duration>("1.5 h"), 5400s);
  EXPECT_EQ(value_of<Duration>("0 s"), 0ns);
  EXPECT_EQ(value_of<Duration>("-2 ms"), -2ms);
  EXPECT_EQ(value_of<Duration>("1e-9 s"), 1ns);
  EXPECT_EQ(value_of<Duration>("1E+3 ns"), 1us);
}

TEST(Text, NeedsNoBlankBeforeTheUnitAndTakesSeveral) {
  EXPECT_EQ(value_of<Duration>("5ms"), 5ms);
  EXPECT_EQ(value_of<Duration>("5  ms"), 5ms);
}

TEST(Text, TellsSiFromIec) {
  EXPECT_EQ(value_of<Bytes>("1 kB"), Bytes(1000));
  EXPECT_EQ(value_of<Bytes>("1 KB"), Bytes(1000));
  EXPECT_EQ(value_of<Bytes>("1 KiB"), Bytes(1024));
  EXPECT_EQ(value_of<Bytes>("1 MB"), Bytes(1'000'000));
  EXPECT_EQ(value_of<Bytes>("1 MiB"), Bytes(1'048'576));
  EXPECT_EQ(value_of<Bytes>("1 GB"), Bytes(1'000'000'000));
  EXPECT_EQ(value_of<Bytes>("1 GiB"), Bytes(1'073'741'824));
  EXPECT_EQ(value_of<Bytes>("1 TB"), Bytes(1'000'000'000'000));
  EXPECT_EQ(value_of<Bytes>("1 TiB"), Bytes(1'099'511'627'776));
  EXPECT_EQ(value_of<Bytes>("1.5 KiB"), Bytes(1536));
  EXPECT_EQ(value_of<BitRate>("10 Gbit/s"), BitRate(1e10));
  EXPECT_EQ(problem_of<BitRate>("10 Gibit/s"),
            "has the unit 'Gibit/s', but a bit rate is written in Tbit/s, Gbit/s, Mbit/s, kbit/s, bit/s; write for "
            "example '100 Mbit/s'");
}

TEST(Text, NeverTakesABitForAByte) {
  const std::string bit_rate =
      "', but a bit rate is written in Tbit/s, Gbit/s, Mbit/s, kbit/s, bit/s; write for example '100 Mbit/s'";
  for (const std::string unit : {"Mb/s", "MB/s", "Mbps", "MBit/s", "B/s"})
    EXPECT_EQ(problem_of<BitRate>("10 " + unit), "has the unit '" + unit + bit_rate);
  // 'Mb' may mean a megabit, so that 'MB' is not proposed.
  const std::string size =
      "', but a size is written in TiB, GiB, MiB, KiB, TB, GB, MB, kB, KB, B; write for example '64 KiB'";
  for (const std::string unit : {"Mb", "mb", "Mbit", "b"})
    EXPECT_EQ(problem_of<Bytes>("10 " + unit), "has the unit '" + unit + size);
  EXPECT_EQ(problem_of<ByteRate>("10 Gb/s").substr(0, 20), "has the unit 'Gb/s',");
}

TEST(Text, ProposesTheRightCaseOfAUnit) {
  EXPECT_EQ(problem_of<BitRate>("10 mbit/s"), "has the unit 'mbit/s'; write 'Mbit/s'");
  EXPECT_EQ(problem_of<Frequency>("28 ghz"), "has the unit 'ghz'; write 'GHz'");
  EXPECT_EQ(problem_of<Metres>("2 KM"), "has the unit 'KM'; write 'km'");
  EXPECT_EQ(problem_of<Duration>("2 MS"), "has the unit 'MS'; write 'ms'");
}

TEST(Text, OfASpeedIsInMetresPerSecondOrKilometresPerHour) {
  EXPECT_EQ(value_of<Speed>("1.5 m/s"), Speed(1.5));
  EXPECT_EQ(value_of<Speed>("36 km/h"), Speed(10));
  for (const int number : {1, 3, 7, 30, 100, 333})
    EXPECT_EQ(value_of<Speed>(std::to_string(number) + " km/h"), kilometres_per_hour(number)) << number;
  EXPECT_EQ(problem_of<Speed>("3"), "has no unit; write for example '3 km/h'");
  EXPECT_EQ(problem_of<Speed>("3 mph"),
            "has the unit 'mph', but a speed is written in m/s, km/h; write for example '3 km/h'");
}

TEST(Text, NamesAMissingOrForeignUnit) {
  EXPECT_EQ(problem_of<BitRate>("100"), "has no unit; write for example '100 Mbit/s'");
  EXPECT_EQ(problem_of<Duration>("100 "), "has no unit; write for example '0.5 ms'");
  EXPECT_EQ(problem_of<Fraction>("0.999"), "has no unit; write for example '99.9 %'");
  EXPECT_EQ(problem_of<EventRate>("2"), "has no unit; write for example '2 /s'");
  EXPECT_EQ(problem_of<Metres>("3 s"),
            "has the unit 's', but a length is written in km, m, cm; write for example '20 m'");
  EXPECT_EQ(problem_of<PowerLevel>("30 dB"),
            "has the unit 'dB', but a power level is written in dBm; write for example '23 dBm'");
}

TEST(Text, RefusesWhatIsNoPlainDecimalNumber) {
  EXPECT_EQ(problem_of<std::int64_t>("010"),
            "starts with a zero, which YAML 1.1 reads as octal; write the number without leading zeros");
  EXPECT_EQ(problem_of<std::int64_t>("-010"), problem_of<std::int64_t>("010"));
  EXPECT_EQ(problem_of<Duration>("00 s"), problem_of<std::int64_t>("010"));
  for (const char* text : {"nan", ".nan", "inf", "-inf", ".inf", "+5", ".5", "", "-", "e5", " 5", "five"})
    EXPECT_EQ(problem_of<double>(text), "is not a number; write for example '7.6'") << text;
  for (const char* text : {"0x10", "1_000", "1,5", "5.", "1.2.3"})
    EXPECT_EQ(problem_of<double>(text), "is not a plain decimal number; write for example '7.6'") << text;
  EXPECT_EQ(problem_of<Duration>(" 5 ms"), "is not a number; write for example '0.5 ms'");
}

TEST(Text, RefusesNumbersBeyondADouble) {
  for (const char* text : {"1e400", "-1e400", "1e5000", "1e-5000"})
    EXPECT_EQ(problem_of<double>(text), "is too large or too small for a number; write for example '7.6'") << text;
  EXPECT_EQ(problem_of<BitRate>("1e308 Gbit/s"), "is too large; write for example '100 Mbit/s'");
  EXPECT_EQ(value_of<double>("1.7976931348623157e308"), 1.7976931348623157e308);
}

TEST(Text, OfACountIsWhole) {
  EXPECT_EQ(value_of<std::int64_t>("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(value_of<std::int64_t>("-3"), -3);
  EXPECT_EQ(problem_of<std::int64_t>("9223372036854775808"),
            "is too large for a whole number; write for example '100'");
  for (const char* text : {"1.5", "1.0", "2e3", "3 m"})
    EXPECT_EQ(problem_of<std::int64_t>(text), "is not a whole number; write for example '100'") << text;
  EXPECT_EQ(problem_of<std::int64_t>("two"), "is not a number; write for example '100'");
  EXPECT_EQ(value_of<Tokens>("128"), Tokens(128));
}

TEST(Text, OfATimeOrASizeComesOutWholeOrNotAtAll) {
  EXPECT_EQ(problem_of<Duration>("0.3 ns"), "is not a whole number of nanoseconds; write for example '0.5 ms'");
  EXPECT_EQ(value_of<Duration>("0.3 us"), 300ns);
  EXPECT_EQ(problem_of<Duration>("0.0003 us"), problem_of<Duration>("0.3 ns"));
  EXPECT_EQ(problem_of<Bytes>("0.5 B"), "is not a whole number of bytes; write for example '64 KiB'");
  EXPECT_EQ(problem_of<Bytes>("0.3 KiB"), problem_of<Bytes>("0.5 B"));
  // A third of a nanosecond in eleven days.
  EXPECT_EQ(problem_of<Duration>("1000000.0000000003 s"), problem_of<Duration>("0.3 ns"));
}

TEST(Text, KeepsEveryNanosecondUpToTheLastOne) {
  EXPECT_EQ(value_of<Duration>("9223372036854775807 ns"), Duration::max());
  EXPECT_EQ(value_of<Duration>("100000000.000000001 s"), Duration(100'000'000'000'000'001));
  EXPECT_EQ(problem_of<Duration>("9223372036854775808 ns"), "is too large; write for example '0.5 ms'");
  EXPECT_EQ(problem_of<Duration>("300000000 h"), "is too large; write for example '0.5 ms'");
  EXPECT_EQ(problem_of<Bytes>("8388608 TiB"), "is too large; write for example '64 KiB'");  // 2^63
}

TEST(Text, StaysOnOneLineWhateverTheUnit) {
  EXPECT_EQ(problem_of<Duration>("5\nms").find('\n'), std::string::npos);
  EXPECT_EQ(problem_of<double>("5\nx"), "has '\\x0ax' after the number; write for example '7.6'");
  EXPECT_LT(problem_of<Duration>("5 " + std::string(100'000, 'x')).size(), 300U);
}

TEST(Text, OfTrueAndFalse) {
  EXPECT_TRUE(value_of<bool>("true"));
  EXPECT_FALSE(value_of<bool>("false"));
  for (const char* text : {"yes", "no", "on", "True", "1", ""})
    EXPECT_EQ(problem_of<bool>(text), "is neither true nor false; write 'true' or 'false'") << text;
}

TEST(Text, ShowsAValueTheShortWay) {
  EXPECT_EQ(Text<Duration>::format(500us), "500 us");
  EXPECT_EQ(Text<Duration>::format(1'500us), "1.5 ms");
  EXPECT_EQ(Text<Duration>::format(60s), "1 min");
  EXPECT_EQ(Text<Duration>::format(0s), "0 s");
  EXPECT_EQ(Text<Duration>::format(-1'500ms), "-1.5 s");
  EXPECT_EQ(Text<Bytes>::format(Bytes(65'536)), "64 KiB");
  EXPECT_EQ(Text<Bytes>::format(Bytes(1500)), "1500 B");
  EXPECT_EQ(Text<Bytes>::format(Bytes(1'000'000'000'000)), "1 TB");
  EXPECT_EQ(Text<Bytes>::format(Bytes(std::int64_t{8} << 40U)), "8 TiB");
  EXPECT_EQ(Text<BitRate>::format(BitRate(1e10)), "10 Gbit/s");
  EXPECT_EQ(Text<ByteRate>::format(ByteRate(76.8e9)), "76.8 GB/s");
  EXPECT_EQ(Text<OperationRate>::format(OperationRate(45e12)), "45 TOP/s");
  EXPECT_EQ(Text<Frequency>::format(Frequency(28e9)), "28 GHz");
  EXPECT_EQ(Text<EventRate>::format(EventRate(2)), "2 /s");
  EXPECT_EQ(Text<Metres>::format(Metres(1500)), "1.5 km");
  EXPECT_EQ(Text<Speed>::format(Speed(1.5)), "1.5 m/s");
  EXPECT_EQ(Text<Speed>::format(kilometres_per_hour(3)), "3 km/h");
  EXPECT_EQ(Text<Speed>::format(kilometres_per_hour(100)), "100 km/h");
  EXPECT_EQ(Text<Fraction>::format(Fraction(0.944)), "94.4 %");
  EXPECT_EQ(Text<Watts>::format(Watts(0)), "0 W");
  EXPECT_EQ(Text<Fraction>::format(Fraction(0)), "0 %");
  EXPECT_EQ(Text<Fraction>::format(Fraction(0.99999)), "99.999 %");
  EXPECT_EQ(format_number(1e300), "1e+300");
  EXPECT_EQ(format_number(0.1), "0.1");
}

}  // namespace
}  // namespace trilemma::config
