#include "core/config/problems.h"

#include <gtest/gtest.h>

namespace trilemma::config {
namespace {

std::string thrown(const Problems& problems) {
  try {
    problems.throw_if_any();
    return "nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Problems, SayWhereWhatAndWhatInstead) {
  Problems problems;
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(thrown(problems), "nothing");
  problems.add_value({.source = "f", .line = 7, .column = 9}, "a.b", "100", "has no unit; write for example '1 m'");
  problems.add({.source = "g"}, "", "is empty; write something");
  EXPECT_EQ(problems.size(), 2U);
  EXPECT_EQ(thrown(problems), "f:7:9: a.b: '100' has no unit; write for example '1 m'\ng: is empty; write something");
}

TEST(Problems, OfEachSourceComeInReadingOrder) {
  Problems problems;
  const auto add = [&](const char* source, int line, int column, const char* text) {
    problems.add({.source = source, .line = line, .column = column}, "", text);
  };
  add("f", 3, 1, "third");
  add("g", 1, 1, "other file");
  add("f", 1, 9, "second");
  add("f", 1, 2, "first");
  add("f", 3, 1, "third, found later");
  add("f", 9, 1, "last");
  EXPECT_EQ(thrown(problems),
            "f:1:2: first\nf:1:9: second\nf:3:1: third\nf:3:1: third, found later\nf:9:1: last\ng:1:1: other file");
}

TEST(Printable, EscapesControlCharactersAndCutsLongTexts) {
  EXPECT_EQ(printable("a\nb\x7f\x01"), "a\\x0ab\\x7f\\x01");
  EXPECT_EQ(printable("größe"), "größe");
  EXPECT_EQ(printable(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(printable(std::string(61, 'x')), std::string(60, 'x') + "...");
  // The 60th byte is the first of the two of 'ö', which is left out.
  EXPECT_EQ(printable(std::string(59, 'x') + "ö"), std::string(59, 'x') + "...");
}

TEST(Nearest, FindsMistypedSwappedAndAbbreviatedWords) {
  const std::vector<std::string> known{"clients", "arrivals", "prompt", "cut", "edge"};
  EXPECT_EQ(nearest("clinets", known), "clients");
  EXPECT_EQ(nearest("edeg", known), "edge");
  EXPECT_EQ(nearest("cat", known), "cut");
  EXPECT_EQ(nearest("arr", known), "arrivals");
  EXPECT_EQ(nearest("promt", known), "prompt");
  EXPECT_EQ(nearest("clients", known), "clients");
}

TEST(Nearest, ProposesNothingFarAway) {
  const std::vector<std::string> known{"set", "catalogue"};
  EXPECT_EQ(nearest("out", known), "");
  EXPECT_EQ(nearest("x", {"y"}), "y") << "one letter off";
  EXPECT_EQ(nearest("quantum", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'c'), known), "");
}

}  // namespace
}  // namespace trilemma::config
