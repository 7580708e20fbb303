#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/config/node.h"
#include "core/units.h"

/// Small configuration structs with every kind of field, and a catalogue for them.
namespace trilemma::test {

enum class Colour { red, dark_blue };

struct Wheel {
  Metres radius{0.3};
  std::int64_t bolts = 5;

  static constexpr auto fields() {
    return std::tuple{config::required("radius", &Wheel::radius, "radius", config::positive),
                      config::field("bolts", &Wheel::bolts, "bolts", config::between(3, 8))};
  }
  bool operator==(const Wheel&) const = default;
};

struct Petrol {
  static constexpr std::string_view kind = "petrol";
  Watts power{0};
  static constexpr auto fields() {
    return std::tuple{config::required("power", &Petrol::power, "power", config::positive)};
  }
  bool operator==(const Petrol&) const = default;
};
struct Electric {
  static constexpr std::string_view kind = "electric";
  Duration charging{1'800'000'000'000};
  static constexpr auto fields() {
    return std::tuple{config::field("charging", &Electric::charging, "time to charge", config::non_negative)};
  }
  bool operator==(const Electric&) const = default;
};
using Engine = std::variant<Electric, Petrol>;

struct Maker {
  static constexpr std::string_view catalogue = "makers";
  std::string kind = "custom";
  std::string country;
  Duration warranty{3'600'000'000'000};

  static constexpr auto fields() {
    return std::tuple{config::field("kind", &Maker::kind, "catalogue entry"),
                      config::required("country", &Maker::country, "where it is"),
                      config::field("warranty", &Maker::warranty, "warranty", config::non_negative)};
  }
  bool operator==(const Maker&) const = default;
};

struct Car {
  std::string name = "unnamed";
  bool open = false;
  std::int64_t seats = 5;
  std::int64_t doors = 4;
  double ratio = 1.5;
  Fraction share{0.5};
  std::optional<Metres> trailer;
  Colour colour = Colour::red;
  std::vector<std::string> extras;
  std::vector<Wheel> wheels;
  Wheel spare;
  Engine engine;
  Maker maker;

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{field("name", &Car::name, "what it is called"),
                      field("open", &Car::open, "without a roof"),
                      field("seats", &Car::seats, "seats", between(1, 9)),
                      field("doors", &Car::doors, "doors", between(0, 9)),
                      field("ratio", &Car::ratio, "gear ratio"),
                      field("share", &Car::share, "of the market", between(0, 1)),
                      field("trailer", &Car::trailer, "length of the trailer", config::non_negative),
                      field("colour", &Car::colour, "of the paint"),
                      field("extras", &Car::extras, "what else it has"),
                      field("wheels", &Car::wheels, "the wheels"),
                      field("spare", &Car::spare, "spare wheel"),
                      required("engine", &Car::engine, "what drives it"),
                      required("maker", &Car::maker, "who made it")};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const {
    if (doors <= seats) return {};
    return {{"doors", "are more than the seats; write fewer"}};
  }
  bool operator==(const Car&) const = default;
};

/// A catalogue folder: makers/acme.yaml, makers/broken.yaml, engines/v8.yaml, engines/kindless.yaml.
class Garage {
 public:
  Garage();
  ~Garage();
  Garage(const Garage&) = delete;
  Garage& operator=(const Garage&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Read {
  Car car;
  std::vector<std::string> problems;  // lines
  std::map<std::string, config::Origin> origins;
};
/// Reads "car.yaml" of this text with `--set` options on top.
Read read_car(const std::string& text, const std::vector<std::string>& sets = {});
/// Where a value came from, as messages say it.
std::string origin(const Read& read, const std::string& path);

}  // namespace trilemma::test

namespace trilemma::config {
template <>
inline constexpr auto names<test::Colour> =
    std::array{Name{"red", test::Colour::red}, Name{"dark-blue", test::Colour::dark_blue}};
template <>
inline constexpr std::string_view variant_catalogue<test::Engine> = "engines";
}  // namespace trilemma::config
