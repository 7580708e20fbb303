#include "core/config/writer.h"

#include <random>

#include <gtest/gtest.h>

#include "core/config/yaml.h"
#include "garage.h"
#include "sim/experiment.h"

namespace trilemma::test {
namespace {

using config::to_json;
using config::to_yaml;

TEST(Writer, ShowsEveryValueWithItsOrigin) {
  const Read read =
      read_car("name: beetle\nwheels: [{radius: 25 cm}]\nengine: v8\nmaker: acme\n", {"colour=dark-blue"});
  ASSERT_TRUE(read.problems.empty());
  EXPECT_EQ(to_yaml(to_json(read.car), read.origins),
            R"(name: beetle        # car.yaml:1:7
open: false         # built-in
seats: 5            # built-in
doors: 4            # built-in
ratio: 1.5          # built-in
share: 50 %         # built-in
colour: dark-blue   # --set colour=dark-blue
wheels:
  -
    radius: 0.25 m  # car.yaml:2:19
    bolts: 5        # built-in
spare:
  radius: 0.3 m     # built-in
  bolts: 5          # built-in
engine:
  kind: petrol      # configs/engines/v8.yaml:1:7
  power: 300 kW     # configs/engines/v8.yaml:2:8
maker:
  kind: acme        # car.yaml:4:8
  country: Utopia   # configs/makers/acme.yaml:1:10
  warranty: 2 h     # configs/makers/acme.yaml:2:11
)");
}

TEST(Writer, LeavesOutWhatIsUnsetButNotZero) {
  Car car;
  EXPECT_FALSE(to_json(car).contains("trailer"));
  car.trailer = Metres(0);
  EXPECT_EQ(to_json(car)["trailer"], "0 m");
}

TEST(Writer, KeepsAnEmptyTextThatSomebodyWrote) {
  const Read read = read_car("name: ''\nengine: electric\nmaker: acme\n");
  EXPECT_EQ(read_car(to_yaml(to_json(read.car), read.origins)).car.name, "");
}

/// Texts that YAML would take for something else, if they were not quoted.
TEST(Writer, QuotesWhatYamlWouldMisread) {
  for (const std::string text :
       {"null", "Null", "NULL",  "~",  "true", "010",   "- a",          "a: b",    "a #b", "#a",
        "a:",   "'a",   "\"a\"", "*a", "&a",   "!a",    "[a]",          "{a}",     "a, b", "|",
        ">",    "%a",   "@a",    "`a", "?",    " a",    "a ",           "a\nb",    "a\tb", "\\",
        "é: ü", "...",  "---",   "=",  "<<",   "a\\nb", "\xe2\x80\xa8", "\xc2\x85"}) {
    Car car;
    car.name = text;
    car.extras = {text, text};
    car.engine = Electric{};
    car.maker.country = text;
    const std::string yaml = to_yaml(to_json(car), {});
    const Read read = read_car(yaml);
    ASSERT_TRUE(read.problems.empty()) << yaml << read.problems.front();
    EXPECT_EQ(read.car, car) << yaml;
  }
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  bool coin() { return random_() % 2 == 0; }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  std::string text() {
    static const std::vector<std::string> pieces{"a", "B", "7", " ", ":", "#",  "-",    "\"", "'",  "\\",  "\n", "\t",
                                                 "{", "}", "[", "]", ",", "&",  "*",    "!",  "|",  ">",   "%",  "@",
                                                 "`", "?", "~", "=", "ü", "漢", "null", ": ", " #", "\r\n"};
    std::string drawn = coin() ? "x" : "";  // never empty: an unset text is left out
    for (auto left = whole(drawn.empty() ? 1 : 0, 8); left > 0; --left)
      drawn += pieces[static_cast<std::size_t>(whole(0, std::ssize(pieces) - 2))];  // no carriage return
    return drawn;
  }
  Wheel wheel() { return {.radius = Metres(real(1e-3, 1e3)), .bolts = whole(3, 8)}; }
  Car car() {
    Car car{
        .name = text(), .open = coin(), .seats = whole(1, 9), .ratio = real(-1e6, 1e6), .share = Fraction(real(0, 1))};
    car.doors = whole(0, car.seats);
    if (coin()) car.trailer = Metres(coin() ? 0 : real(0, 1e5));
    car.colour = coin() ? Colour::red : Colour::dark_blue;
    for (auto left = whole(0, 3); left > 0; --left) car.extras.push_back(text());
    for (auto left = whole(0, 3); left > 0; --left) car.wheels.push_back(wheel());
    car.spare = wheel();
    if (coin())
      car.engine = Petrol{.power = Watts(real(1e-3, 1e6))};
    else
      car.engine = Electric{.charging = Duration(whole(0, std::int64_t{1} << whole(0, 61)))};
    car.maker = {.kind = coin() ? "custom" : "acme", .country = text(), .warranty = Duration(whole(0, 1'000'000'000))};
    return car;
  }

 private:
  std::mt19937_64 random_;
};

TEST(WriterProperty, WhatIsWrittenReadsBackAsTheSameStruct) {
  Draw draw(1);
  for (int i = 0; i < 500; ++i) {
    const Car car = draw.car();
    const std::string yaml = to_yaml(to_json(car), {});
    const Read read = read_car(yaml);
    ASSERT_TRUE(read.problems.empty()) << yaml << read.problems.front();
    ASSERT_EQ(read.car, car) << yaml;
    ASSERT_EQ(to_json(read.car), to_json(car));
  }
}

TEST(Writer, WritesTheQuickstartSoThatItReadsBack) {
  const config::Catalogue catalogue(TRILEMMA_SOURCE_DIR "/configs");
  const Experiment first = read_experiment(TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml", {}, catalogue);
  const std::string yaml = to_yaml(scenario_to_json(first.scenario), first.origins);
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  const auto second =
      reader.read<Scenario>(config::read_yaml_text(yaml, {.source = "resolved.yaml", .line = 1, .column = 1}));
  ASSERT_NO_THROW(problems.throw_if_any());
  EXPECT_EQ(scenario_to_json(second), scenario_to_json(first.scenario));
}

}  // namespace
}  // namespace trilemma::test
