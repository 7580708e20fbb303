// The large-scale calibration of TR 38.901 clause 7.8.1 (table 7.8-1) against the medians over the companies that took
// part (R1-165974, numbers as in calib_3GPP_ref_data.m of QuaDRiGa 2.8.1): coupling gain to the strongest cell, and
// geometry, its power over that of all other cells, without noise. No fast fading; UEs isotropic; base stations with
// three sectors of ten elements above one another, whose phases tilt the beam by 12 degrees (office: 20); in UMi and
// UMa 80 % of the UEs in buildings, half of low and half of high loss, with the glass of that time.
//
// Taken where the table leaves it open: the sectors of a site share line of sight and shadowing, the sites are
// independent of each other, and the loss of a building is the same towards all sites (TR 38.901 clauses 7.4.3 and 7.5,
// step 4); a line of sight depends on the way outdoors only (note to table 7.4.2-1).
//
// The office agrees to 0.4 dB; the coupling gains of UMi and UMa come out up to 1.1 dB higher in the middle of the
// distribution. The likely reason is how companies read the text on UEs in buildings: taking the whole way for the
// probability of a line of sight gives UMi medians within 0.1 dB of the published ones (and 0.6 dB too low at 10 %),
// drawing the way indoors from 0 to 25 m, as TR 36.873 does, gives medians 0.7 dB too low.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/radio/antenna.h"
#include "models/radio/deployment.h"
#include "models/radio/penetration.h"
#include "models/radio/propagation.h"
#include "tests/unit/radio/csv.h"

namespace trilemma {
namespace {

constexpr std::array carriers = {Frequency(6e9), Frequency(30e9), Frequency(70e9)};
constexpr int many = 20000;
/// The agreement that companies look for in a calibration. The standard error of a percentile is up to 0.35 dB here.
constexpr double tolerance_db = 1.5;

using ByCarrier = std::array<Decibels, carriers.size()>;

/// A UE, and what is the same towards every site.
struct User {
  Position position;
  Whereabouts whereabouts = Whereabouts::outdoors;
  Metres depth{0};
  ByCarrier building{};
};

/// What chance says about the way between a UE and a site.
struct Luck {
  double uniform;
  double normal;
};

Luck luck_of(Rng& rng) {
  const double uniform = rng.uniform();
  const double radius = std::sqrt(-2 * std::log(rng.uniform()));
  return {.uniform = uniform, .normal = radius * std::cos(2 * std::numbers::pi * rng.uniform())};
}

/// The way between a UE and the site (or its copy) that it sees.
struct Way {
  Position site;
  ByCarrier loss{};
};

class Scenario {
 public:
  virtual ~Scenario() = default;
  [[nodiscard]] virtual User drop(const Streams& streams, int user) const = 0;
  [[nodiscard]] virtual Way way(const User& user, std::size_t site, const Luck& luck) const = 0;
  /// Number of sites, zenith of the beams.
  [[nodiscard]] virtual std::pair<std::size_t, Degrees> stations() const = 0;
};

/// Median path losses of Propagation.
class Medians {
 public:
  explicit Medians(Environment environment) {
    for (const Frequency carrier : carriers) {
      for (const LineOfSight state : {LineOfSight::never, LineOfSight::always}) {
        propagation_.emplace_back(PropagationConfig{
            .environment = environment, .carrier = carrier, .line_of_sight = state, .shadowing = Shadowing::off});
      }
    }
  }
  [[nodiscard]] ByCarrier at(const Position& ue, const Position& site, bool clear) const {
    ByCarrier loss{};
    for (std::size_t i = 0; i < loss.size(); ++i)
      loss[i] = propagation_[2 * i + (clear ? 1 : 0)].draw(0, ue, site).loss;
    return loss;
  }

 private:
  std::vector<Propagation> propagation_;
};

class Office final : public Scenario {
 public:
  [[nodiscard]] std::pair<std::size_t, Degrees> stations() const override { return {sites_.size(), Degrees(110)}; }
  [[nodiscard]] User drop(const Streams& streams, int user) const override {
    Rng rng = streams.stream(fmt::format("user {}/place", user));
    return {.position = drop_in_office(rng)};
  }
  [[nodiscard]] Way way(const User& user, std::size_t site, const Luck& luck) const override {
    const Position& there = sites_[site];
    const bool clear = luck.uniform < line_of_sight_probability(Environment::inh, user.position, there);
    const ShadowingDeviations deviations = shadowing_deviations(Environment::inh);
    Way way{.site = there, .loss = medians_.at(user.position, there, clear)};
    for (Decibels& loss : way.loss) loss += (clear ? deviations.line_of_sight : deviations.obstructed) * luck.normal;
    return way;
  }

 private:
  std::vector<Position> sites_ = office_sites();
  Medians medians_{Environment::inh};
};

double ground_distance(const Position& a, const Position& b) {
  return std::hypot((a.x - b.x).value(), (a.y - b.y).value());
}

/// What UMi and UMa differ in.
class OutdoorLaw {
 public:
  virtual ~OutdoorLaw() = default;
  [[nodiscard]] virtual double line_of_sight(Metres outdoors, Metres height) const = 0;
  [[nodiscard]] virtual ByCarrier median(const Position& ue, const Position& site, bool clear) const = 0;
};

/// A hexagonal layout with UEs in and out of buildings.
class Urban final : public Scenario {
 public:
  Urban(Environment environment, Metres inter_site_distance, Metres nearest, PenetrationRevision revision)
      : environment_(environment),
        layout_(inter_site_distance, default_heights(environment).base_station),
        nearest_(nearest),
        revision_(revision),
        law_(make_law(environment)) {}

  [[nodiscard]] std::pair<std::size_t, Degrees> stations() const override {
    return {layout_.sites().size(), Degrees(102)};
  }
  [[nodiscard]] User drop(const Streams& streams, int index) const override {
    Rng rng = streams.stream(fmt::format("user {}/place", index));
    const Drop drop = drop_ue(layout_, {.nearest = nearest_, .indoors = Fraction(0.8)}, rng);
    User user{.position = drop.position, .whereabouts = drop.whereabouts};
    const bool inside = drop.whereabouts == Whereabouts::indoors;
    const Penetration kind = rng.uniform() < 0.5 ? Penetration::low : Penetration::high;
    for (std::size_t i = 0; i < carriers.size(); ++i) {
      Rng same = streams.stream(fmt::format("user {}/building", index));
      const Indoors indoors = draw_penetration(inside ? kind : Penetration::none, carriers[i], same, revision_);
      user.depth = indoors.depth;
      user.building[i] = indoors.loss;
    }
    return user;
  }
  [[nodiscard]] Way way(const User& user, std::size_t site, const Luck& luck) const override {
    const Position there = layout_.nearest_image(site, user.position);
    const Metres outdoors(std::max(ground_distance(user.position, there) - user.depth.value(), 0.0));
    const bool clear = luck.uniform < law_->line_of_sight(outdoors, user.position.z);
    Way way{.site = there, .loss = law_->median(user.position, there, clear)};
    const Decibels shadowing = deviation(user.whereabouts, clear) * luck.normal;
    for (std::size_t i = 0; i < carriers.size(); ++i) way.loss[i] += shadowing + user.building[i];
    return way;
  }

 private:
  [[nodiscard]] Decibels deviation(Whereabouts whereabouts, bool clear) const {
    if (whereabouts == Whereabouts::indoors) return indoor_shadowing_deviation;
    const ShadowingDeviations deviations = shadowing_deviations(environment_);
    return clear ? deviations.line_of_sight : deviations.obstructed;
  }
  static std::unique_ptr<OutdoorLaw> make_law(Environment environment);

  Environment environment_;
  HexagonalLayout layout_;
  Metres nearest_;
  PenetrationRevision revision_;
  std::unique_ptr<OutdoorLaw> law_;
};

class StreetCanyon final : public OutdoorLaw {
 public:
  [[nodiscard]] double line_of_sight(Metres outdoors, Metres height) const override {
    return line_of_sight_probability(Environment::umi, {.x = outdoors, .z = height}, {.z = Metres(10)});
  }
  [[nodiscard]] ByCarrier median(const Position& ue, const Position& site, bool clear) const override {
    return medians_.at(ue, site, clear);
  }

 private:
  Medians medians_{Environment::umi};
};

/// From tables 7.4.1-1 and 7.4.2-1: Propagation does not take UEs from 13 m up, whose breakpoint is random; it is that
/// of lower ones here, and beyond the interfering sites in any case.
class Macro final : public OutdoorLaw {
 public:
  [[nodiscard]] double line_of_sight(Metres outdoors, Metres height) const override {
    const double d = outdoors.value();
    if (d <= 18) return 1;
    const double raised = height <= Metres(13) ? 0 : std::pow((height.value() - 13) / 10, 1.5);
    return (18 / d + std::exp(-d / 63) * (1 - 18 / d)) *
           (1 + raised * 1.25 * std::pow(d / 100, 3) * std::exp(-d / 150));
  }
  [[nodiscard]] ByCarrier median(const Position& ue, const Position& site, bool clear) const override {
    ByCarrier loss{};
    for (std::size_t i = 0; i < loss.size(); ++i) {
      const double frequency = 20 * std::log10(carriers[i].value() / 1e9);
      const double d = std::hypot(ground_distance(ue, site), (site.z - ue.z).value());
      const double obstructed = 13.54 + 39.08 * std::log10(d) + frequency - 0.6 * (ue.z.value() - 1.5);
      const double open = line_of_sight_loss(carriers[i], ue, site);
      loss[i] = Decibels(clear ? open : std::max(open, obstructed));
    }
    return loss;
  }

 private:
  static double line_of_sight_loss(Frequency carrier, const Position& ue, const Position& site) {
    const double ground = ground_distance(ue, site);
    const double rise = (site.z - ue.z).value();
    const double breakpoint = 4 * (site.z.value() - 1) * (ue.z.value() - 1) * carrier.value() / 3e8;
    const double start = 28 + 20 * std::log10(carrier.value() / 1e9);
    const double distance = std::log10(std::hypot(ground, rise));
    if (ground <= breakpoint) return start + 22 * distance;
    return start + 40 * distance - 9 * std::log10(breakpoint * breakpoint + rise * rise);
  }
};

std::unique_ptr<OutdoorLaw> Urban::make_law(Environment environment) {
  if (environment == Environment::uma) return std::make_unique<Macro>();
  return std::make_unique<StreetCanyon>();
}

Urban street_canyon(PenetrationRevision revision) { return {Environment::umi, Metres(200), Metres(10), revision}; }
Urban macro(PenetrationRevision revision) { return {Environment::uma, Metres(500), Metres(35), revision}; }

/// The two figures of the calibration; a sample is in ascending order.
struct Outcome {
  std::array<std::vector<double>, carriers.size()> coupling_gain;
  std::array<std::vector<double>, carriers.size()> geometry;
};

/// Of the sectors of a site towards a UE, linear.
std::array<double, sector_azimuths.size()> antenna_gains(Degrees tilt, const Position& site, const Position& ue) {
  constexpr ArrayConfig column{.rows = 10, .columns = 1, .element = ElementPattern::tr38901};
  std::array<double, sector_azimuths.size()> gains{};
  std::transform(sector_azimuths.begin(), sector_azimuths.end(), gains.begin(), [&](Degrees azimuth) {
    const Antenna antenna(column, bearing(Degrees(90), azimuth));
    return linear(antenna.gain(bearing(tilt, azimuth), bearing(site, ue)));
  });
  return gains;
}

void simulate_user(const Scenario& scenario, const Streams& streams, int index, Outcome& outcome) {
  const auto [sites, tilt] = scenario.stations();
  const User user = scenario.drop(streams, index);
  Rng rng = streams.stream(fmt::format("user {}/ways", index));
  std::array<double, carriers.size()> strongest{};
  std::array<double, carriers.size()> sum{};
  for (std::size_t site = 0; site < sites; ++site) {
    const Way way = scenario.way(user, site, luck_of(rng));
    for (const double antenna : antenna_gains(tilt, way.site, user.position)) {
      for (std::size_t i = 0; i < carriers.size(); ++i) {
        const double gain = antenna * linear(-way.loss[i]);
        strongest[i] = std::max(strongest[i], gain);
        sum[i] += gain;
      }
    }
  }
  for (std::size_t i = 0; i < carriers.size(); ++i) {
    outcome.coupling_gain[i].push_back(decibels(strongest[i]).value());
    outcome.geometry[i].push_back(decibels(strongest[i] / (sum[i] - strongest[i])).value());
  }
}

Outcome simulate(const Scenario& scenario, int users) {
  Outcome outcome;
  for (int index = 0; index < users; ++index) simulate_user(scenario, Streams(1, 0), index, outcome);
  for (auto* samples : {&outcome.coupling_gain, &outcome.geometry}) {
    for (std::vector<double>& sample : *samples) std::sort(sample.begin(), sample.end());
  }
  return outcome;
}

double percentile(const std::vector<double>& sorted, int percent) {
  return sorted[sorted.size() * static_cast<std::size_t>(percent) / 100];
}

/// Compares every percentile that 3GPP gives, and prints 10, 50 and 90 %.
void expect_the_published_curves(const std::string& name, const Outcome& outcome) {
  int compared = 0;
  for (const test::Row& row : test::read_csv("calib_38901_large_scale_R1-165974.csv")) {
    if (row.at("scenario") != name) continue;
    const auto carrier = std::find(carriers.begin(), carriers.end(), Frequency(test::number(row, "f_GHz") * 1e9));
    ASSERT_NE(carrier, carriers.end());
    const bool gain = row.at("metric") == "coupling_gain_dB";
    const auto& samples = gain ? outcome.coupling_gain : outcome.geometry;
    const int percent = test::integer(row, "percentile");
    const double ours = percentile(samples[static_cast<std::size_t>(carrier - carriers.begin())], percent);
    const double published = test::number(row, "value");
    const std::string place =
        fmt::format("{:<8} {:>2} GHz {:<16} {:>2} %", name, row.at("f_GHz"), row.at("metric"), percent);
    EXPECT_NEAR(ours, published, tolerance_db) << place;
    if (percent == 10 || percent == 50 || percent == 90) {
      fmt::print("{}  ours {:7.1f}  3GPP {:7.1f}  difference {:5.2f}\n", place, ours, published, ours - published);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 2 * 3 * 19);  // two figures, three carriers, 5 to 95 %
}

TEST(LargeScaleCalibration, StreetCanyonGivesThePublishedCurves) {
  expect_the_published_curves("UMi", simulate(street_canyon(PenetrationRevision::calibration), many));
}

TEST(LargeScaleCalibration, OfficeGivesThePublishedCurves) {
  expect_the_published_curves("InH-open", simulate(Office(), many));
}

TEST(LargeScaleCalibration, MacroCellGivesThePublishedCurves) {
  expect_the_published_curves("UMa", simulate(macro(PenetrationRevision::calibration), many));
}

// The weakest UEs sit behind glass in buildings of high loss, which transmits through its 70 % of glass (concrete: 285
// dB at 70 GHz). The formula of V19.4.0 takes 44.0 - 33.1 = 10.9 dB less at 70 GHz.
TEST(LargeScaleCalibration, GlassOfV19DoesNotGiveThePublishedCurves) {
  constexpr int users = 4000;  // the same ones, so that the difference is sharper than the percentiles
  const Outcome then = simulate(street_canyon(PenetrationRevision::calibration), users);
  const Outcome now = simulate(street_canyon(PenetrationRevision::v19_4), users);
  EXPECT_NEAR(percentile(now.coupling_gain[2], 5) - percentile(then.coupling_gain[2], 5), 10.9, 1);
  EXPECT_NEAR(percentile(now.geometry[2], 50), percentile(then.geometry[2], 50), 0.1);
}

}  // namespace
}  // namespace trilemma
