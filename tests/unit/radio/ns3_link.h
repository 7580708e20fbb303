#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <vector>

#include "ns3/boolean.h"
#include "ns3/channel-condition-model.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/isotropic-antenna-model.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/three-gpp-antenna-model.h"
#include "ns3/three-gpp-channel-model.h"
#include "ns3/uinteger.h"
#include "ns3/uniform-planar-array.h"
#include <gtest/gtest.h>

#include "models/radio/multipath.h"
#include "tests/support/estimate.h"

/// ns-3's channel model of one link, for comparison.
namespace trilemma {
namespace {

using std::numbers::pi;

constexpr std::array all_environments = {Environment::umi,    Environment::uma,    Environment::inh,
                                         Environment::inf_sl, Environment::inf_dl, Environment::inf_sh,
                                         Environment::inf_dh, Environment::inf_hh};

LinkGeometry geometry(Environment environment, bool line_of_sight, double metres = 20) {
  return {.heights = default_heights(environment), .distance = Metres(metres), .line_of_sight = line_of_sight};
}

/// Realisations of a link, each from a stream of its own.
std::vector<Multipath> realisations(const ClusterStatistics& statistics, const LinkGeometry& link, int count) {
  std::vector<Multipath> drawn;
  for (int i = 0; i < count; ++i) {
    Rng rng(1, static_cast<std::uint64_t>(i), 0);
    drawn.push_back(draw_multipath(statistics, link, rng));
  }
  return drawn;
}

// ---- ns-3's own generator, with the nodes that it cannot do without -------------------------------------------------

class Ns3Channel final : public ns3::ThreeGppChannelModel {
 public:
  static ns3::TypeId GetTypeId() {
    static const ns3::TypeId id =
        ns3::TypeId("trilemma::test::Ns3Channel").SetParent<ns3::ThreeGppChannelModel>().HideFromDocumentation();
    return id;
  }

  struct Ends {
    ns3::Ptr<ns3::MobilityModel> base_station;
    ns3::Ptr<ns3::MobilityModel> client;
  };

  [[nodiscard]] ns3::Ptr<ThreeGppChannelParams> draw(const Ends& ends, const LinkGeometry& link) const {
    return GenerateChannelParameters(condition(link), table(link), ends.base_station, ends.client);
  }

  [[nodiscard]] Complex3DVector matrix(const ns3::Ptr<ThreeGppChannelParams>& params, const Ends& ends,
                                       const LinkGeometry& link, const ns3::Ptr<ns3::UniformPlanarArray>& base_station,
                                       const ns3::Ptr<ns3::UniformPlanarArray>& client) const {
    return GetNewChannel(params, table(link), ends.base_station, ends.client, base_station, client)->m_channel;
  }

  /// The same realisation as ours: ns-3 keeps the parts of strong clusters behind all others, and counts their rays
  /// from 1 where it means from 0.
  [[nodiscard]] static Multipath translated(const ThreeGppChannelParams& params, const LinkGeometry& link) {
    Multipath multipath{.k_factor = link.line_of_sight ? std::pow(10, params.m_K_factor / 10) : 0,
                        .delay_spread = params.m_DS,
                        .departure = direct_departure(link),
                        .arrival = direct_arrival(link)};
    const auto add = [&](std::size_t n, double delay, const std::function<bool(std::size_t)>& belongs) {
      Cluster cluster{.power = 0, .delay = delay, .arrival = {}, .rays = {}};
      for (std::size_t m = 0; m < 20; ++m) {
        if (!belongs(m)) continue;
        cluster.rays.push_back({.departure = {params.m_rayAodRadian[n][m], params.m_rayZodRadian[n][m]},
                                .arrival = {params.m_rayAoaRadian[n][m], params.m_rayZoaRadian[n][m]},
                                .phase = params.m_clusterPhase[n][m][0]});
        cluster.power += params.m_clusterPower[n] / 20;
      }
      multipath.clusters.push_back(cluster);
    };
    const auto second = [](std::size_t m) { return (9 <= m && m <= 12) || m == 17 || m == 18; };
    const auto third = [](std::size_t m) { return 13 <= m && m <= 16; };
    const std::size_t clusters = params.m_reducedClusterNumber;
    const auto strong = [&](std::size_t n) { return n == params.m_cluster1st || n == params.m_cluster2nd; };
    for (std::size_t n = 0; n < clusters; ++n) {
      add(n, params.m_delay[n], [&](std::size_t m) { return !strong(n) || !(second(m) || third(m)); });
    }
    std::size_t next = clusters;
    for (std::size_t n = 0; n < clusters; ++n) {
      if (!strong(n)) continue;
      add(n, params.m_delay[next++], second);
      add(n, params.m_delay[next++], third);
    }
    return multipath;
  }

 private:
  static ns3::Ptr<ns3::ChannelCondition> condition(const LinkGeometry& link) {
    auto condition = ns3::CreateObject<ns3::ChannelCondition>();
    condition->SetLosCondition(link.line_of_sight ? ns3::ChannelCondition::LOS : ns3::ChannelCondition::NLOS);
    condition->SetO2iCondition(ns3::ChannelCondition::O2O);
    return condition;
  }
  [[nodiscard]] ns3::Ptr<const ParamsTable> table(const LinkGeometry& link) const {
    return GetThreeGppTable(condition(link), link.heights.base_station.value(), link.heights.ue.value(),
                            link.distance.value());
  }
};

/// ns-3's generator between two nodes, which end with it.
struct Ns3Link {
  LinkGeometry link;
  ns3::Ptr<Ns3Channel> channel = ns3::CreateObject<Ns3Channel>();
  Ns3Channel::Ends ends;

  Ns3Link(Environment environment, const LinkGeometry& the_link, Frequency carrier) : link(the_link) {
    const std::map<Environment, std::string> names{
        {Environment::umi, "UMi-StreetCanyon"}, {Environment::uma, "UMa"}, {Environment::inh, "InH-OfficeOpen"}};
    channel->SetFrequency(carrier.value());
    channel->SetScenario(names.at(environment));
    channel->AssignStreams(1);
    ends = {.base_station = end(0, link.heights.base_station), .client = end(link.distance.value(), link.heights.ue)};
  }
  ~Ns3Link() { ns3::Simulator::Destroy(); }
  Ns3Link(const Ns3Link&) = delete;
  Ns3Link& operator=(const Ns3Link&) = delete;

 private:
  static ns3::Ptr<ns3::MobilityModel> end(double x, Metres height) {
    auto place = ns3::CreateObject<ns3::ConstantPositionMobilityModel>();
    place->SetPosition({x, 0, height.value()});
    ns3::CreateObject<ns3::Node>()->AggregateObject(place);
    return place;
  }
};

ns3::Ptr<ns3::UniformPlanarArray> ns3_array(const ArrayConfig& config, double facing) {
  ns3::Ptr<ns3::AntennaModel> element = ns3::CreateObject<ns3::ThreeGppAntennaModel>();
  if (config.element == ElementPattern::isotropic) element = ns3::CreateObject<ns3::IsotropicAntennaModel>();
  auto array = ns3::CreateObject<ns3::UniformPlanarArray>();
  array->SetAttribute("NumRows", ns3::UintegerValue(static_cast<std::uint64_t>(config.rows)));
  array->SetAttribute("NumColumns", ns3::UintegerValue(static_cast<std::uint64_t>(config.columns)));
  array->SetAttribute("BearingAngle", ns3::DoubleValue(facing));
  array->SetAttribute("AntennaElement", ns3::PointerValue(element));
  return array;
}

/// ns-3's way: matrices of all pairs of elements, then steering vectors / sqrt(elements) on both sides.
std::vector<std::complex<double>> ns3_amplitudes(const ns3::MatrixBasedChannelModel::Complex3DVector& matrix,
                                                 const ns3::Ptr<ns3::UniformPlanarArray>& base_station,
                                                 const ns3::Ptr<ns3::UniformPlanarArray>& client,
                                                 const LinkGeometry& link) {
  const auto weights = [](const ns3::UniformPlanarArray& array, WaveAngles target) {
    std::vector<std::complex<double>> w =
        array.GetSteeringVector(ns3::Angles(std::remainder(target.azimuth, 2 * pi), target.zenith));
    for (auto& weight : w) weight /= std::sqrt(static_cast<double>(w.size()));
    return w;
  };
  const auto out = weights(*base_station, direct_departure(link));
  const auto in = weights(*client, direct_arrival(link));
  std::vector<std::complex<double>> sums(matrix[0][0].size());
  for (std::size_t u = 0; u < in.size(); ++u) {
    for (std::size_t s = 0; s < out.size(); ++s) {
      for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += in[u] * matrix[u][s][n] * out[s];
    }
  }
  return sums;
}

}  // namespace
}  // namespace trilemma
