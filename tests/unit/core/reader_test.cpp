#include "core/config/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "garage.h"

namespace trilemma::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string small = "engine: electric\nmaker: acme\n";

std::vector<std::string> problems(const std::string& text) { return read_car(text).problems; }

TEST(Reader, FillsEveryKindOfField) {
  const Read read = read_car(R"(name: beetle
open: true
seats: 4
doors: 2
ratio: 3.5
share: 12.5 %
trailer: 2 m
colour: dark-blue
extras: [radio, heater]
wheels:
  - {radius: 0.25 m}
  - {radius: 0.3 m, bolts: 4}
spare: {radius: 20 cm}
engine: {kind: petrol, power: 25 kW}
maker: {country: Utopia, warranty: 0 s}
)");
  EXPECT_THAT(read.problems, IsEmpty());
  const Car& car = read.car;
  EXPECT_EQ(car.name, "beetle");
  EXPECT_TRUE(car.open);
  EXPECT_EQ(car.seats, 4);
  EXPECT_EQ(car.ratio, 3.5);
  EXPECT_EQ(car.share, Fraction(0.125));
  EXPECT_EQ(car.trailer, Metres(2));
  EXPECT_EQ(car.colour, Colour::dark_blue);
  EXPECT_THAT(car.extras, ElementsAre("radio", "heater"));
  ASSERT_EQ(car.wheels.size(), 2U);
  EXPECT_EQ(car.wheels[0].bolts, 5);
  EXPECT_EQ(car.wheels[1].bolts, 4);
  EXPECT_EQ(car.spare.radius, Metres(0.2));
  EXPECT_EQ(std::get<Petrol>(car.engine).power, Watts(25'000));
  EXPECT_EQ(car.maker.kind, "custom");
  EXPECT_EQ(car.maker.warranty, 0s);
  EXPECT_EQ(origin(read, "wheels[1].bolts"), "car.yaml:12:28");
  EXPECT_EQ(origin(read, "wheels[0].bolts"), "built-in");
}

TEST(Reader, KeepsDefaultsWhereNothingIsSaid) {
  const Read read = read_car(small);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.car.name, "unnamed");
  EXPECT_EQ(read.car.seats, 5);
  EXPECT_EQ(read.car.spare, Wheel{}) << "a section that is left out keeps its defaults, required fields included";
  EXPECT_EQ(origin(read, "seats"), "built-in");
}

TEST(Reader, TellsZeroFromUnset) {
  EXPECT_EQ(read_car(small).car.trailer, std::nullopt);
  EXPECT_EQ(read_car(small + "trailer: 0 m\n").car.trailer, Metres(0));
}

TEST(Reader, TakesAVariantByWordByMapAndByCatalogueName) {
  EXPECT_EQ(std::get<Electric>(read_car(small).car.engine).charging, 1800s);
  EXPECT_EQ(std::get<Electric>(read_car("engine: {kind: electric, charging: 1 h}\nmaker: acme\n").car.engine).charging,
            3600s);
  EXPECT_EQ(std::get<Petrol>(read_car("engine: v8\nmaker: acme\n").car.engine).power, Watts(300'000));
  EXPECT_EQ(std::get<Petrol>(read_car("engine: {kind: v8, power: 200 kW}\nmaker: acme\n").car.engine).power,
            Watts(200'000));
}

TEST(Reader, TakesACataloguedStructByNameByMapAndInline) {
  EXPECT_EQ(read_car(small).car.maker, (Maker{.kind = "acme", .country = "Utopia", .warranty = 7200s}));
  EXPECT_EQ(read_car("engine: electric\nmaker: {kind: acme, country: Erewhon}\n").car.maker,
            (Maker{.kind = "acme", .country = "Erewhon", .warranty = 7200s}));
  EXPECT_EQ(read_car("engine: electric\nmaker: {country: Erewhon}\n").car.maker,
            (Maker{.kind = "custom", .country = "Erewhon", .warranty = 3600s}));
  EXPECT_EQ(read_car("engine: electric\nmaker: {kind: custom, country: Erewhon}\n").car.maker.warranty, 3600s);
}

TEST(Reader, NamesAnUnknownKeyWithTheNearestKnownOne) {
  EXPECT_THAT(problems(small + "wheals: 3\n"),
              ElementsAre("car.yaml:3:1: 'wheals' is not a known key; write 'wheels' (of name, open, seats, doors, "
                          "ratio, share, trailer, colour, extras, wheels, spare, engine, maker)"));
  EXPECT_THAT(problems(small + "spare: {radius: 1 m, bolds: 3}\n"),
              ElementsAre("car.yaml:3:22: spare: 'bolds' is not a known key; write 'bolts' (of radius, bolts)"));
  EXPECT_THAT(problems(small + "spare: {radius: 1 m, xyz: 3}\n"),
              ElementsAre("car.yaml:3:22: spare: 'xyz' is not a known key; write one of radius, bolts"));
  EXPECT_THAT(problems("engine: {kind: electric, power: 1 W}\nmaker: acme\n"),
              ElementsAre("car.yaml:1:26: engine: 'power' is not a known key; write one of charging, kind"));
}

TEST(Reader, NamesAMissingFieldAndAnExample) {
  EXPECT_THAT(problems("name: x\n"),
              ElementsAre("car.yaml:1:1: engine: is missing; write 'engine:' with one of electric, petrol",
                          "car.yaml:1:1: maker: is missing; write 'maker:' with a name in configs/makers"));
  EXPECT_THAT(problems("engine: petrol\nmaker: acme\n"),
              ElementsAre("car.yaml:1:9: engine.power: is missing; write for example 'power: 5 W'"));
  EXPECT_THAT(problems(small + "spare: {bolts: 4}\n"),
              ElementsAre("car.yaml:3:8: spare.radius: is missing; write for example 'radius: 20 m'"));
}

TEST(Reader, NamesAValueOfTheWrongShape) {
  EXPECT_THAT(problems(small + "seats: [1]\n"),
              ElementsAre("car.yaml:3:8: seats: a list is not a whole number; write for example '100'"));
  EXPECT_THAT(problems(small + "name: {a: b}\n"),
              ElementsAre("car.yaml:3:7: name: a map is not a text; write for example 'my text'"));
  EXPECT_THAT(problems(small + "colour: [red]\n"),
              ElementsAre("car.yaml:3:9: colour: a list is not a word; write for example 'red'"));
  EXPECT_THAT(problems(small + "extras: radio\n"),
              ElementsAre("car.yaml:3:9: extras: 'radio' is not a list; write '[..., ...]' or one '- ' a line"));
  EXPECT_THAT(problems(small + "extras: []\n"),
              ElementsAre("car.yaml:3:9: extras: is an empty list; write at least one item"));
  EXPECT_THAT(problems(small + "spare: big\n"),
              ElementsAre("car.yaml:3:8: spare: 'big' is not a map; write 'key: value' lines below it"));
  EXPECT_THAT(problems("engine: [electric]\nmaker: [acme]\n"),
              ElementsAre("car.yaml:1:9: engine: a list is neither a word nor a map; write one of electric, petrol",
                          "car.yaml:2:8: maker: a list is neither a name in configs/makers nor a map; write a name"));
  EXPECT_THAT(problems("engine: {power: 1 W}\nmaker: acme\n"),
              ElementsAre("car.yaml:1:9: engine.kind: is missing; write one of electric, petrol"));
  EXPECT_THAT(problems(small + "seats:\n"),
              ElementsAre("car.yaml:3:1: seats: has no value; write one or delete the key"));
  EXPECT_THAT(problems(small + "name: \"a\\x07\"\n"),
              ElementsAre("car.yaml:3:7: name: 'a\\x07' has a control character; write plain text"));
}

TEST(Reader, ChecksBoundsOnBothSides) {
  for (const char* text : {"seats: 1\ndoors: 1", "seats: 9", "share: 0 %", "share: 100 %", "trailer: 0 m", "doors: 0"})
    EXPECT_THAT(problems(small + text), IsEmpty()) << text;
  EXPECT_THAT(problems(small + "seats: 0\n"),
              ElementsAre("car.yaml:3:8: seats: '0' is below 1; write for example '1'"));
  EXPECT_THAT(problems(small + "seats: 10\n"),
              ElementsAre("car.yaml:3:8: seats: '10' is above 9; write for example '9'"));
  EXPECT_THAT(problems(small + "share: 100.001 %\n"),
              ElementsAre("car.yaml:3:8: share: '100.001 %' is above 100 %; write for example '99.9 %'"));
  EXPECT_THAT(problems(small + "trailer: -1 cm\n"),
              ElementsAre("car.yaml:3:10: trailer: '-1 cm' is below 0 m; write for example '20 m'"));
  EXPECT_THAT(problems("engine: {kind: petrol, power: 0 W}\nmaker: acme\n"),
              ElementsAre("car.yaml:1:31: engine.power: '0 W' is not above 0 W; write for example '5 W'"));
}

TEST(Reader, NamesUnknownWordsAndCatalogueEntries) {
  EXPECT_THAT(problems(small + "colour: rad\n"),
              ElementsAre("car.yaml:3:9: colour: 'rad' is not known here; write 'red' (of red, dark-blue)"));
  EXPECT_THAT(
      problems("engine: steam\nmaker: acne\n"),
      ElementsAre("car.yaml:1:9: engine: 'steam' is not known here; write one of electric, petrol, kindless, v8",
                  "car.yaml:2:8: maker: 'acne' is not in configs/makers; write 'acme' (of acme, broken)"));
  EXPECT_THAT(problems("engine: kindless\nmaker: broken\n"),
              ElementsAre("car.yaml:1:9: engine: 'kindless' names a catalogue entry without a 'kind:' of electric, "
                          "petrol",
                          "car.yaml:2:8: maker: 'broken' cannot be read: configs/makers/broken.yaml:2:1: not valid "
                          "YAML: end of sequence flow not found"));
}

TEST(Reader, NeverLeavesTheCatalogueFolder) {
  for (const std::string name : {"../makers/acme", "/etc/passwd", ".", "..", ".acme", "acme/", "'acme '", "'a\\b'"})
    EXPECT_EQ(problems("engine: electric\nmaker: " + name + "\n").size(), 1U) << name;
}

TEST(Reader, ReportsAllProblemsInReadingOrder) {
  EXPECT_THAT(
      problems("maker: acne\nseats: 010\nspare:\n  bolts: 9\nopen: yes\ncolr: red\nengine: v8\n"),
      ElementsAre(testing::StartsWith("car.yaml:1:8: maker: 'acne'"), testing::StartsWith("car.yaml:2:8: seats: '010'"),
                  testing::StartsWith("car.yaml:4:3: spare.radius: is missing"),
                  testing::StartsWith("car.yaml:4:10: spare.bolts: '9'"),
                  testing::StartsWith("car.yaml:5:7: open: 'yes'"),
                  testing::StartsWith("car.yaml:6:1: 'colr' is not a known key")));
}

TEST(Reader, AsksAStructWhetherItsFieldsFitTogether) {
  EXPECT_THAT(problems(small + "seats: 2\ndoors: 3\n"),
              ElementsAre("car.yaml:4:8: doors: '3' are more than the seats; write fewer"));
  EXPECT_THAT(problems(small + "seats: 2\n"), ElementsAre("car.yaml:1:1: doors: are more than the seats; write fewer"));
  // Not while a field is wrong by itself: its default would be compared.
  EXPECT_THAT(problems(small + "seats: two\ndoors: 9\n"),
              ElementsAre(testing::StartsWith("car.yaml:3:8: seats: 'two'")));
}

/// Lowest first; every pair shows that the lower one can never overwrite the higher one.
TEST(Precedence, IsBuiltInThenCatalogueThenFileThenSet) {
  const std::string engine = "engine: electric\n";
  const auto warranty = [&](const std::string& maker, const std::vector<std::string>& sets = {}) {
    const Read read = read_car(engine + maker, sets);
    EXPECT_THAT(read.problems, IsEmpty());
    return std::pair(read.car.maker.warranty, origin(read, "maker.warranty"));
  };
  const std::string inline_maker = "maker: {country: Erewhon}\n";
  const std::string named = "maker: acme\n";
  const std::string set = "maker.warranty=4 h";
  using Found = std::pair<Duration, std::string>;
  EXPECT_EQ(warranty(inline_maker), Found(3600s, "built-in"));
  EXPECT_EQ(warranty(named), Found(7200s, "configs/makers/acme.yaml:2:11")) << "catalogue over built-in";
  EXPECT_EQ(warranty("maker: {country: Erewhon, warranty: 3 h}\n"), Found(10'800s, "car.yaml:2:37"))
      << "file over built-in";
  EXPECT_EQ(warranty(inline_maker, {set}), Found(14'400s, "--set maker.warranty=4 h")) << "--set over built-in";
  EXPECT_EQ(warranty("maker: {kind: acme, warranty: 3 h}\n"), Found(10'800s, "car.yaml:2:31")) << "file over catalogue";
  EXPECT_EQ(warranty("maker: {warranty: 3 h, kind: acme}\n"), Found(10'800s, "car.yaml:2:19")) << "in either order";
  EXPECT_EQ(warranty(named, {set}), Found(14'400s, "--set maker.warranty=4 h")) << "--set over catalogue";
  EXPECT_EQ(warranty("maker: {kind: acme, warranty: 3 h}\n", {set}), Found(14'400s, "--set maker.warranty=4 h"))
      << "--set over file";
}

TEST(Precedence, OfACatalogueNameLeavesTheFilesOtherValues) {
  const Read read = read_car("engine: electric\nmaker: {country: Erewhon, warranty: 3 h}\n", {"maker.kind=acme"});
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.car.maker, (Maker{.kind = "acme", .country = "Erewhon", .warranty = 10'800s}));
  EXPECT_EQ(origin(read, "maker.kind"), "--set maker.kind=acme");
}

}  // namespace
}  // namespace trilemma::test
