#include "models/radio/cluster_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "ns3/channel-condition-model.h"
#include "ns3/object.h"
#include "ns3/three-gpp-channel-model.h"

#include "core/ensure.h"

namespace trilemma {
namespace {

using Root = std::array<std::array<double, 7>, 7>;

std::string ns3_scenario(Environment environment) {
  if (environment == Environment::umi) return "UMi-StreetCanyon";
  if (environment == Environment::uma) return "UMa";
  TRILEMMA_ENSURE(environment == Environment::inh, "ns-3 has a table for the environment");
  return "InH-OfficeOpen";
}

/// The door to ns-3's parameter table. Its generator of channels stays closed to us: it looks up the nodes of both
/// ends, and a node enters ns-3's event list; and it aborts the process for the 25 clusters of the indoor factories.
class Ns3Table final : public ns3::ThreeGppChannelModel {
 public:
  static ns3::TypeId GetTypeId() {
    static const ns3::TypeId id =
        ns3::TypeId("trilemma::Ns3Table").SetParent<ns3::ThreeGppChannelModel>().HideFromDocumentation();
    return id;
  }

  [[nodiscard]] ClusterStatistics statistics(const LinkGeometry& geometry) const {
    const auto condition = ns3::CreateObject<ns3::ChannelCondition>();
    condition->SetLosCondition(geometry.line_of_sight ? ns3::ChannelCondition::LOS : ns3::ChannelCondition::NLOS);
    condition->SetO2iCondition(ns3::ChannelCondition::O2O);
    const auto table = GetThreeGppTable(condition, geometry.heights.base_station.value(), geometry.heights.ue.value(),
                                        geometry.distance.value());
    Root root{};
    for (std::size_t row = 0; row < root.size(); ++row) {
      std::copy_n(std::begin(table->m_sqrtC[row]), row + 1, root[row].begin());
    }
    if (!geometry.line_of_sight) root[6] = {};  // ns-3 fills six rows
    return {.clusters = table->m_numOfCluster,
            .k_mean = table->m_uK,
            .k_deviation = table->m_sigK,
            .delay_spread = {table->m_uLgDS, table->m_sigLgDS},
            .departure_azimuth = {table->m_uLgASD, table->m_sigLgASD},
            .arrival_azimuth = {table->m_uLgASA, table->m_sigLgASA},
            .departure_zenith = {table->m_uLgZSD, table->m_sigLgZSD},
            .arrival_zenith = {table->m_uLgZSA, table->m_sigLgZSA},
            .departure_zenith_offset = table->m_offsetZOD,
            .delay_scaling = table->m_rTau,
            .shadowing = table->m_perClusterShadowingStd,
            .cluster_delay_spread = table->m_cDS,
            .cluster_departure_azimuth = table->m_cASD,
            .cluster_arrival_azimuth = table->m_cASA,
            .cluster_arrival_zenith = table->m_cZSA,
            .correlation_root = root};
  }
};

/// Volume over surface (walls, floor and ceiling) of the halls of TR 38.901 table 7.8-7, in metres.
double hall_ratio(Environment environment) {
  const bool large = environment == Environment::inf_dl || environment == Environment::inf_sh;
  const double length = large ? 300 : 120;
  const double width = large ? 150 : 60;
  constexpr double height = 10;
  return length * width * height / (2 * (length * width + length * height + width * height));
}

/// In line of sight K is correlated with the delay spread (-0.7) and with the departure azimuth spread (-0.5), which
/// are uncorrelated with one another, as all else is: the Cholesky root of that.
Root factory_root(bool line_of_sight) {
  Root root{};
  for (std::size_t i = 0; i < (line_of_sight ? 7U : 6U); ++i) root[i][i] = 1;
  if (!line_of_sight) return root;
  root[2] = {0, -0.7, std::sqrt(1 - 0.7 * 0.7)};
  const double shared = -0.7 * 0.5 / root[2][2];
  root[3] = {0, -0.5, shared, std::sqrt(1 - 0.5 * 0.5 - shared * shared)};
  return root;
}

/// Columns InF of table 7.5-6 and table 7.5-11 (V19.4.0; read in a transcription and, but for the means, in a second
/// one of V16.1.0 and V19.2.0, which agree). 3.91 ns: clause 7.5 step 11, where the table has no cluster delay spread.
ClusterStatistics factory_statistics(Environment environment, Frequency carrier, bool line_of_sight) {
  const double lg = std::log10(1 + carrier / Frequency(1e9));
  const double ratio = hall_ratio(environment);
  ClusterStatistics factory{.clusters = 25,
                            .k_mean = 0,
                            .k_deviation = 0,
                            .delay_spread = {std::log10(30 * ratio + 32) - 9.44, 0.19},
                            .departure_azimuth = {1.57, 0.2},
                            .arrival_azimuth = {1.72, 0.3},
                            .departure_zenith = {1.2, 0.55},
                            .arrival_zenith = {-0.13 * lg + 1.45, 0.45},
                            .departure_zenith_offset = 0,
                            .delay_scaling = 3,
                            .shadowing = 3,
                            .cluster_delay_spread = 3.91e-9,
                            .cluster_departure_azimuth = 5,
                            .cluster_arrival_azimuth = 8,
                            .cluster_arrival_zenith = 9,
                            .correlation_root = factory_root(line_of_sight)};
  if (!line_of_sight) return factory;
  factory.k_mean = 7;
  factory.k_deviation = 8;
  factory.delay_spread = {std::log10(26 * ratio + 14) - 9.35, 0.15};
  factory.departure_azimuth = {1.56, 0.25};
  factory.arrival_azimuth = {-0.18 * lg + 1.78, 0.12 * lg + 0.2};
  factory.departure_zenith = {1.35, 0.35};
  factory.arrival_zenith = {-0.2 * lg + 1.5, 0.35};
  factory.delay_scaling = 2.7;
  factory.shadowing = 4;
  return factory;
}

}  // namespace

ClusterStatistics cluster_statistics(Environment environment, Frequency carrier, const LinkGeometry& geometry) {
  if (environment >= Environment::inf_sl) return factory_statistics(environment, carrier, geometry.line_of_sight);
  const auto table = ns3::CreateObject<Ns3Table>();
  table->SetFrequency(carrier.value());
  table->SetScenario(ns3_scenario(environment));
  return table->statistics(geometry);
}

}  // namespace trilemma
