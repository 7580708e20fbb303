#include "models/radio/propagation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "ns3/boolean.h"
#include "ns3/channel-condition-model.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/three-gpp-propagation-loss-model.h"

#include "core/ensure.h"

namespace trilemma {
namespace {

bool is_factory(Environment environment) { return environment >= Environment::inf_sl; }

struct Clutter {
  double density;
  double size;    // m
  double height;  // m
};

Clutter clutter(Environment environment) {
  const bool sparse = environment == Environment::inf_sl || environment == Environment::inf_sh;
  return sparse ? Clutter{.density = 0.2, .size = 10, .height = 2} : Clutter{.density = 0.6, .size = 2, .height = 6};
}

double ground_distance(const Position& a, const Position& b) {
  return std::hypot((a.x - b.x).value(), (a.y - b.y).value());
}

double distance(const Position& a, const Position& b) { return std::hypot(ground_distance(a, b), (a.z - b.z).value()); }

void require(bool condition, const std::string& sentence) {
  if (!condition) throw std::invalid_argument(sentence);
}

void check_heights(Environment environment, double ue, double base_station) {
  switch (environment) {
    case Environment::umi:
      require(base_station == 10, "umi: the base station must stand at exactly 10 m");
      require(1.5 <= ue && ue <= 22.5, "umi: the UE height must be 1.5 to 22.5 m");
      return;
    case Environment::uma:
      require(1.5 <= ue && ue < 13 && ue < base_station,
              "uma: the UE height must be 1.5 m to less than 13 m and below the base station");
      return;
    case Environment::inf_sh:
    case Environment::inf_dh: {
      const double top = clutter(environment).height;
      require(0 <= ue && ue < top && top < base_station,
              std::string(config::name_of(environment)) + ": the UE must be below the clutter of " +
                  (environment == Environment::inf_sh ? "2" : "6") + " m and the base station above it");
      return;
    }
    case Environment::inh:
    case Environment::inf_sl:
    case Environment::inf_dl:
    case Environment::inf_hh:
      require(ue >= 0 && base_station >= 0, "antennas must not be below the floor");
  }
}

void check_distance(Environment environment, const Position& ue, const Position& base_station) {
  const bool outdoor = environment == Environment::umi || environment == Environment::uma;
  const Metres metres(outdoor ? ground_distance(ue, base_station) : distance(ue, base_station));
  const auto [min, max] = distance_range(environment);
  // Places are rounded: a client on a circle of 10 m is a few femtometres off.
  constexpr double rounding = 1e-9;
  if (min * (1 - rounding) <= metres && metres <= max * (1 + rounding)) return;
  const auto whole = [](Metres length) { return std::to_string(std::lround(length.value())); };
  throw std::invalid_argument(std::string(config::name_of(environment)) + ": the distance of UE and base station " +
                              (outdoor ? "on the ground" : "in space") + " must be " + whole(min) + " to " +
                              whole(max) + " m");
}

/// Street canyon (`decay` 36 m) and macro cell (63 m) share a shape. UEs are below 13 m, where the height term of the
/// macro cell vanishes.
double urban_probability(double ground, double decay) {
  constexpr double breakpoint = 18;
  if (ground <= breakpoint) return 1;
  return breakpoint / ground + std::exp(-ground / decay) * (1 - breakpoint / ground);
}

double open_office_probability(double ground) {
  if (ground <= 5) return 1;
  if (ground <= 49) return std::exp(-(ground - 5) / 70.8);
  return 0.54 * std::exp(-(ground - 49) / 211.7);
}

double factory_probability(Environment environment, double ground, double ue, double base_station) {
  if (environment == Environment::inf_hh) return 1;
  const auto [density, size, height] = clutter(environment);
  const bool high = environment == Environment::inf_sh || environment == Environment::inf_dh;
  const double stretch = high ? (base_station - ue) / (height - ue) : 1;
  return std::exp(ground * std::log(1 - density) / (size * stretch));
}

/// Path loss of the indoor factories (table 7.4.1-1), as a member of ns-3's family, so that it runs through the same
/// code as the others.
class FactoryLoss final : public ns3::ThreeGppPropagationLossModel {
 public:
  explicit FactoryLoss(Environment environment) : environment_(environment) {}

  static ns3::TypeId GetTypeId() {
    static const ns3::TypeId id =
        ns3::TypeId("trilemma::FactoryLoss").SetParent<ns3::ThreeGppPropagationLossModel>().HideFromDocumentation();
    return id;
  }

 private:
  /// The family of the formulas: `constant` + `slope` lg d3D + `frequency_slope` lg f, in dB, m and GHz.
  [[nodiscard]] double law(double constant, double slope, double frequency_slope, double metres) const {
    return constant + slope * std::log10(metres) + frequency_slope * std::log10(m_frequency / 1e9);
  }

  double GetLossLos(double, double metres, double, double) const override { return law(31.84, 21.5, 19, metres); }

  double GetLossNlos(double ground, double metres, double ue, double base_station) const override {
    const double clear = GetLossLos(ground, metres, ue, base_station);
    switch (environment_) {
      case Environment::inf_sl:
        return std::max(clear, law(33, 25.5, 20, metres));
      case Environment::inf_dl:
        return std::max({clear, law(33, 25.5, 20, metres), law(18.6, 35.7, 20, metres)});
      case Environment::inf_sh:
        return std::max(clear, law(32.4, 23, 20, metres));
      case Environment::inf_dh:
        return std::max(clear, law(33.63, 21.9, 20, metres));
      default:
        TRILEMMA_ENSURE(false, "InF-HH always has a line of sight");
        return clear;
    }
  }

  double GetO2iDistance2dIn() const override { return 0; }

  double GetShadowingStd(ns3::Ptr<ns3::MobilityModel>, ns3::Ptr<ns3::MobilityModel>,
                         ns3::ChannelCondition::LosConditionValue state) const override {
    const ShadowingDeviations deviations = shadowing_deviations(environment_);
    return (state == ns3::ChannelCondition::LOS ? deviations.line_of_sight : deviations.obstructed).value();
  }

  double GetShadowingCorrelationDistance(ns3::ChannelCondition::LosConditionValue) const override { return 10; }

  Environment environment_;
};

ns3::Ptr<ns3::ThreeGppPropagationLossModel> make_loss(Environment environment) {
  switch (environment) {
    case Environment::umi:
      return ns3::CreateObject<ns3::ThreeGppUmiStreetCanyonPropagationLossModel>();
    case Environment::uma:
      return ns3::CreateObject<ns3::ThreeGppUmaPropagationLossModel>();
    case Environment::inh:
      return ns3::CreateObject<ns3::ThreeGppIndoorOfficePropagationLossModel>();
    default:
      return ns3::CreateObject<FactoryLoss>(environment);
  }
}

template <class Condition>
ns3::Ptr<ns3::ThreeGppPropagationLossModel> make_loss(Environment environment, Frequency carrier) {
  auto loss = make_loss(environment);
  loss->SetAttribute("Frequency", ns3::DoubleValue(carrier.value()));
  loss->SetAttribute("ShadowingEnabled", ns3::BooleanValue(false));
  loss->SetChannelConditionModel(ns3::CreateObject<Condition>());
  return loss;
}

ns3::Vector vector(const Position& position) { return {position.x.value(), position.y.value(), position.z.value()}; }

}  // namespace

struct Propagation::Models {
  ns3::Ptr<ns3::ThreeGppPropagationLossModel> clear;
  ns3::Ptr<ns3::ThreeGppPropagationLossModel> obstructed;
  ns3::Ptr<ns3::MobilityModel> ue = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
  ns3::Ptr<ns3::MobilityModel> base_station = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
};

Heights default_heights(Environment environment) {
  switch (environment) {
    case Environment::umi:
      return {.base_station = Metres(10), .ue = Metres(1.5)};
    case Environment::uma:
      return {.base_station = Metres(25), .ue = Metres(1.5)};
    case Environment::inh:
      return {.base_station = Metres(3), .ue = Metres(1)};
    case Environment::inf_sl:
    case Environment::inf_dl:
      return {.base_station = Metres(1.5), .ue = Metres(1.5)};
    case Environment::inf_sh:
    case Environment::inf_dh:
      return {.base_station = Metres(8), .ue = Metres(1.5)};
    case Environment::inf_hh:
      return {.base_station = Metres(8), .ue = Metres(8)};
  }
  TRILEMMA_ENSURE(false, "every environment has default heights");
  return {};
}

DistanceRange distance_range(Environment environment) {
  if (is_factory(environment)) return {.min = Metres(1), .max = Metres(600)};
  if (environment == Environment::inh) return {.min = Metres(1), .max = Metres(150)};
  return {.min = Metres(10), .max = Metres(5000)};
}

ShadowingDeviations shadowing_deviations(Environment environment) {
  switch (environment) {
    case Environment::umi:
      return {.line_of_sight = Decibels(4), .obstructed = Decibels(7.82)};
    case Environment::uma:
      return {.line_of_sight = Decibels(4), .obstructed = Decibels(6)};
    case Environment::inh:
      return {.line_of_sight = Decibels(3), .obstructed = Decibels(8.03)};
    case Environment::inf_sl:
      return {.line_of_sight = Decibels(4.3), .obstructed = Decibels(5.7)};
    case Environment::inf_dl:
      return {.line_of_sight = Decibels(4.3), .obstructed = Decibels(7.2)};
    case Environment::inf_sh:
      return {.line_of_sight = Decibels(4.3), .obstructed = Decibels(5.9)};
    case Environment::inf_dh:
      return {.line_of_sight = Decibels(4.3), .obstructed = Decibels(4)};
    case Environment::inf_hh:
      return {.line_of_sight = Decibels(4.3), .obstructed = Decibels(4.3)};  // never obstructed
  }
  TRILEMMA_ENSURE(false, "every environment has shadowing");
  return {};
}

double line_of_sight_probability(Environment environment, const Position& ue, const Position& base_station) {
  check_heights(environment, ue.z.value(), base_station.z.value());
  const double ground = ground_distance(ue, base_station);
  if (environment == Environment::umi) return urban_probability(ground, 36);
  if (environment == Environment::uma) return urban_probability(ground, 63);
  if (environment == Environment::inh) return open_office_probability(ground);
  return factory_probability(environment, ground, ue.z.value(), base_station.z.value());
}

Luck draw_luck(Rng& rng) {
  const double uniform = rng.uniform();
  return {.uniform = uniform, .normal = rng.normal()};
}

Propagation::Propagation(const PropagationConfig& config) : config_(config) {
  require(0.5e9 <= config.carrier.value() && config.carrier.value() <= 100e9, "the carrier must be 0.5 to 100 GHz");
  require(config.environment != Environment::inf_hh || config.line_of_sight != LineOfSight::never,
          "inf-hh always has a line of sight");
  TRILEMMA_ENSURE(1 <= config.seed && config.seed <= 4294944442U, "the seed suits the generator MRG32k3a");
  models_ = std::make_unique<Models>(
      Models{.clear = make_loss<ns3::AlwaysLosChannelConditionModel>(config.environment, config.carrier),
             .obstructed = make_loss<ns3::NeverLosChannelConditionModel>(config.environment, config.carrier)});
}

Propagation::~Propagation() = default;
Propagation::Propagation(Propagation&&) noexcept = default;
Propagation& Propagation::operator=(Propagation&&) noexcept = default;

PathLoss Propagation::draw(std::int64_t stream, const Position& ue, const Position& base_station) const {
  TRILEMMA_ENSURE(stream >= 0, "streams count from 0");
  check_distance(config_.environment, ue, base_station);
  Rng rng(config_.seed, static_cast<std::uint64_t>(stream), config_.replication);
  const Luck luck = draw_luck(rng);
  const bool clear = line_of_sight(luck.uniform, ue, base_station);
  return {.loss = median(clear, ue, base_station) + shadowing(clear, luck.normal), .line_of_sight = clear};
}

bool Propagation::line_of_sight(double uniform, const Position& ue, const Position& base_station) const {
  const double probability = line_of_sight_probability(config_.environment, ue, base_station);
  return config_.line_of_sight == LineOfSight::always ||
         (config_.line_of_sight == LineOfSight::drawn && uniform < probability);
}

Decibels Propagation::median(bool line_of_sight, const Position& ue, const Position& base_station) const {
  check_distance(config_.environment, ue, base_station);
  check_heights(config_.environment, ue.z.value(), base_station.z.value());
  models_->ue->SetPosition(vector(ue));
  models_->base_station->SetPosition(vector(base_station));
  const auto& model = line_of_sight ? models_->clear : models_->obstructed;
  return Decibels(-model->CalcRxPower(0, models_->ue, models_->base_station));
}

Decibels Propagation::shadowing(bool line_of_sight, double normal) const {
  if (config_.shadowing == Shadowing::off) return Decibels(0);
  const ShadowingDeviations deviations = shadowing_deviations(config_.environment);
  return (line_of_sight ? deviations.line_of_sight : deviations.obstructed) * normal;
}

}  // namespace trilemma
