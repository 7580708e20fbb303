// Real ns-3 applications over small cells.

#include "models/radio/ns3_device.h"

#include <memory>
#include <utility>
#include <vector>

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/channel-list.h"
#include "ns3/data-rate.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-list.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

using PacketTimes = std::vector<std::pair<Instant, Bytes>>;

NrNetDevice& as_nr(const ns3::Ptr<ns3::NetDevice>& device) { return *ns3::StaticCast<NrNetDevice>(device); }

bool balanced(const NrDeviceCounts& c) {
  const auto sum = [](std::initializer_list<PacketCount> parts) {
    PacketCount total;
    for (const PacketCount& part : parts) {
      total.packets += part.packets;
      total.bytes += part.bytes;
    }
    return total;
  };
  return c.offered == sum({c.refused, c.delivered, c.lost, c.held});
}

/// A cell with an IP stack on every node. Client i and its base station are 10.0.i.1 and 10.0.i.2.
class IpCell {
 public:
  explicit IpCell(const RadioConfig& config, std::uint32_t count = 1, const NrDeviceConfig& device = {},
                  std::uint64_t replication = 1, RunLimits limits = {})
      : scheduler(limits), streams(1, replication), radio(make_radio(scheduler, config, {.clients = count}, streams)) {
    streams.seed_ns3();
    clients.Create(count);
    devices = NrCellNodes(scheduler, *radio, device).install(clients, station);
    ns3::InternetStackHelper internet;
    internet.Install(clients);
    internet.Install(station);
    ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    for (std::uint32_t i = 0; i < count; ++i) {
      client_addresses.push_back(addresses.Assign(devices.clients.Get(i)).GetAddress(0));
      station_addresses.push_back(addresses.Assign(devices.base_station.Get(i)).GetAddress(0));
      addresses.NewNetwork();
    }
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  }

  [[nodiscard]] NrNetDevice& client(std::uint32_t i = 0) const { return as_nr(devices.clients.Get(i)); }
  [[nodiscard]] NrNetDevice& base_station(std::uint32_t i = 0) const { return as_nr(devices.base_station.Get(i)); }

  /// Nothing is left between the two ends, and nothing came from nowhere.
  void expect_settled() const {
    for (std::uint32_t i = 0; i < clients.GetN(); ++i) {
      for (const auto& [from, to] :
           {std::pair{&client(i), &base_station(i)}, std::pair{&base_station(i), &client(i)}}) {
        EXPECT_TRUE(balanced(from->counts()));
        EXPECT_EQ(from->counts().held, PacketCount{});
        EXPECT_EQ(from->counts().delivered, to->counts().received);
      }
    }
  }

  Scheduler scheduler;
  Streams streams;
  std::unique_ptr<Radio> radio;
  ns3::Ptr<ns3::Node> station = ns3::CreateObject<ns3::Node>();
  ns3::NodeContainer clients;
  NrDevices devices;
  std::vector<ns3::Ipv4Address> client_addresses;
  std::vector<ns3::Ipv4Address> station_addresses;
};

constexpr std::uint16_t protocol = 0x88B5;  // for experiments (IEEE 802): no stack answers to it
const FixedRadio microsecond_a_byte{.rate = BitRate(8e6), .delay = 50us};

/// Writes down when a trace source names a packet.
struct Trace {
  explicit Trace(Scheduler& owner) : scheduler(owner) {}
  void hear(const NrNetDevice& device, const char* source) {
    const_cast<NrNetDevice&>(device).TraceConnectWithoutContext(source, ns3::MakeCallback(&Trace::on, this));
  }
  void on(ns3::Ptr<const ns3::Packet> packet) { seen.emplace_back(scheduler.now(), Bytes(packet->GetSize())); }
  Scheduler& scheduler;
  PacketTimes seen;
};

TEST(NrNetDevice, ADatagramTakesAsLongAsAMessageOfItsSizeAndHeaders) {
  IpCell cell(microsecond_a_byte);
  const auto socket = ns3::Socket::CreateSocket(cell.clients.Get(0), ns3::UdpSocketFactory::GetTypeId());
  Trace sent(cell.scheduler);
  Trace received(cell.scheduler);
  sent.hear(cell.client(), "MacTx");
  received.hear(cell.base_station(), "MacRx");
  const ns3::InetSocketAddress to(cell.station_addresses[0], 9);
  ns3::Simulator::Schedule(ns3::MicroSeconds(10), [&] { socket->SendTo(ns3::Create<ns3::Packet>(100), 0, to); });
  cell.scheduler.run();
  // 100 B of payload, 8 B of UDP, 20 B of IPv4; 1 B of the device over the air, a microsecond each; then 50 us.
  EXPECT_EQ(sent.seen, (PacketTimes{{10us, Bytes(128)}}));
  EXPECT_EQ(received.seen, (PacketTimes{{10us + 129us + 50us, Bytes(128)}}));
  EXPECT_EQ(cell.client().counts().offered, (PacketCount{1, Bytes(128)}));
}

TEST(NrNetDevice, PacketsWaitForEachOtherInTheRadio) {
  IpCell cell(microsecond_a_byte, 2, {.headers = Bytes(0)});
  Trace received(cell.scheduler);
  received.hear(cell.base_station(0), "MacRx");
  received.hear(cell.base_station(1), "MacRx");
  for (std::uint32_t i = 0; i < 2; ++i)
    cell.client(i).Send(ns3::Create<ns3::Packet>(100), cell.client(i).GetBroadcast(), protocol);
  EXPECT_EQ(cell.client(0).counts().held, (PacketCount{1, Bytes(100)}));
  cell.scheduler.run();
  EXPECT_EQ(received.seen, (PacketTimes{{150us, Bytes(100)}, {250us, Bytes(100)}}));
  cell.expect_settled();
}

TEST(NrNetDevice, OverNrAPacketArrivesWhenTheRadioHasDecodedIt) {
  const auto alone = test::run(test::loud_radio(), {{10us, Bytes(1500 + 4)}}).transfers.at(0);
  IpCell cell(test::loud_radio());
  Trace received(cell.scheduler);
  received.hear(cell.base_station(), "MacRx");
  ns3::Simulator::Schedule(ns3::MicroSeconds(10), [&] {
    cell.client().Send(ns3::Create<ns3::Packet>(1500), cell.client().GetBroadcast(), protocol);
  });
  cell.scheduler.run();
  EXPECT_EQ(received.seen, (PacketTimes{{alone.done, Bytes(1500)}}));
}

TEST(NrNetDevice, AnEchoComesBack) {
  IpCell cell(test::loud_radio());
  const auto server = ns3::UdpEchoServerHelper(7).Install(cell.station);
  ns3::UdpEchoClientHelper echo(cell.station_addresses[0], 7);
  echo.SetAttribute("MaxPackets", ns3::UintegerValue(3));
  echo.SetAttribute("Interval", ns3::TimeValue(ns3::MilliSeconds(5)));
  echo.SetAttribute("PacketSize", ns3::UintegerValue(200));
  echo.Install(cell.clients);
  Trace back(cell.scheduler);
  back.hear(cell.client(), "MacRx");
  cell.scheduler.run();
  ASSERT_EQ(back.seen.size(), 3U);
  for (const auto& [time, size] : back.seen) EXPECT_EQ(size, Bytes(228));
  // Up and down through an idle cell, never faster than its floor.
  const RadioFloor up = cell.radio->floor(Direction::uplink, 0, Bytes(232));
  const RadioFloor down = cell.radio->floor(Direction::downlink, 0, Bytes(232));
  EXPECT_GE(back.seen[0].first, up.total() + down.total());
  EXPECT_LE(back.seen[0].first, up.total() + down.total() + 2 * 625us) << "two periods of the frame";
  cell.expect_settled();
}

ns3::Ptr<ns3::PacketSink> sink_of(const ns3::Ptr<ns3::Node>& node, const std::string& factory) {
  ns3::PacketSinkHelper helper(factory, ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), 5000));
  return ns3::StaticCast<ns3::PacketSink>(helper.Install(node).Get(0));
}

/// One UDP stream from each client at 100 Mbit/s for 10 ms.
std::uint64_t stream_from_all(IpCell& cell) {
  const auto sink = sink_of(cell.station, "ns3::UdpSocketFactory");
  for (std::uint32_t i = 0; i < cell.clients.GetN(); ++i) {
    ns3::OnOffHelper source("ns3::UdpSocketFactory", ns3::InetSocketAddress(cell.station_addresses[i], 5000));
    source.SetConstantRate(ns3::DataRate(100'000'000), 1000);
    auto applications = source.Install(cell.clients.Get(i));
    source.AssignStreams(ns3::NodeContainer(cell.clients.Get(i)), i);
    applications.Stop(ns3::MilliSeconds(10));
  }
  cell.scheduler.run();
  return sink->GetTotalRx();
}

TEST(NrNetDevice, CarriesAllOfAStreamThatItIsWideEnoughFor) {
  IpCell cell(test::loud_radio(), 3);
  // 1000 B each 80 us, from 80 us to 10 ms: 125 packets, the last at 10 ms, when the application has already stopped.
  EXPECT_EQ(stream_from_all(cell), 3U * 124 * 1000);
  cell.expect_settled();
}

TEST(NrNetDevice, RefusesWhatItsQueueCannotHold) {
  IpCell cell(microsecond_a_byte, 1, {.headers = Bytes(0), .queue = 3});
  Trace refused(cell.scheduler);
  refused.hear(cell.client(), "MacTxDrop");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(cell.client().Send(ns3::Create<ns3::Packet>(100), cell.client().GetBroadcast(), protocol));
  EXPECT_FALSE(cell.client().Send(ns3::Create<ns3::Packet>(70), cell.client().GetBroadcast(), protocol));
  EXPECT_EQ(refused.seen, (PacketTimes{{0us, Bytes(70)}}));
  EXPECT_TRUE(balanced(cell.client().counts()));
  // The first has left the pipe at 100 us and arrived at 150 us: at 149 us there is no room, at 151 us there is.
  int taken = 0;
  for (const int time : {149, 151}) {
    ns3::Simulator::Schedule(ns3::MicroSeconds(time), [&] {
      taken += cell.client().Send(ns3::Create<ns3::Packet>(100), cell.client().GetBroadcast(), protocol) ? 1 : 0;
    });
  }
  cell.scheduler.run();
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(cell.client().counts().offered, (PacketCount{6, Bytes(570)}));
  EXPECT_EQ(cell.client().counts().refused, (PacketCount{2, Bytes(170)}));
  EXPECT_EQ(cell.client().counts().delivered, (PacketCount{4, Bytes(400)}));
  cell.expect_settled();
}

TEST(NrNetDevice, RefusesWhatIsLargerThanItsMtu) {
  IpCell cell(microsecond_a_byte, 1, {.mtu = Bytes(1000)});
  EXPECT_FALSE(cell.client().Send(ns3::Create<ns3::Packet>(1001), cell.client().GetBroadcast(), protocol));
  EXPECT_TRUE(cell.client().Send(ns3::Create<ns3::Packet>(1000), cell.client().GetBroadcast(), protocol));
  cell.scheduler.run();
  EXPECT_EQ(cell.client().counts().refused.packets, 1);
  cell.expect_settled();
}

TEST(NrNetDevice, CountsWhatIsLostOnTheAir) {
  IpCell cell(test::deaf_radio());
  Trace lost(cell.scheduler);
  Trace received(cell.scheduler);
  lost.hear(cell.base_station(), "PhyRxDrop");
  received.hear(cell.base_station(), "MacRx");
  EXPECT_EQ(stream_from_all(cell), 0U);
  EXPECT_TRUE(received.seen.empty());
  EXPECT_EQ(lost.seen.size(), 124U);
  EXPECT_EQ(cell.client().counts().lost, (PacketCount{124, Bytes(124 * 1028)}));
  cell.expect_settled();
}

/// An uplink that loses some blocks: the first SINR at which link adaptation accepts 5 to 10 %, sent only once.
NrRadio lossy_radio() {
  NrRadio radio = test::loud_radio();
  radio.harq.max_transmissions = 1;
  for (double sinr = 10; sinr < 25; sinr += 0.05) {
    NrRadio candidate = test::with_uplink_sinr(radio, Decibels(sinr));
    Scheduler scheduler;
    const double errors = make_radio(scheduler, candidate, {.clients = 1}, Streams(1, 1))->links()[0].uplink_bler;
    if (errors > 0.05 && errors < 0.1) return candidate;
  }
  ADD_FAILURE() << "no such SINR";
  return radio;
}

TEST(NrNetDevice, EveryPacketIsEitherDeliveredOrLost) {
  IpCell cell(lossy_radio(), 2);
  Trace lost(cell.scheduler);
  lost.hear(cell.base_station(0), "PhyRxDrop");
  const std::uint64_t received = stream_from_all(cell);
  const NrDeviceCounts& counts = cell.client(0).counts();
  EXPECT_GT(counts.lost.packets, 0) << "the radio is meant to lose some";
  EXPECT_GT(counts.delivered.packets, 0) << "and not all";
  EXPECT_EQ(static_cast<std::int64_t>(lost.seen.size()), counts.lost.packets);
  EXPECT_EQ(counts.delivered.packets + counts.lost.packets, 124);
  EXPECT_EQ(static_cast<std::int64_t>(received),
            1000 * (counts.delivered.packets + cell.client(1).counts().delivered.packets));
  cell.expect_settled();
}

/// One megabyte over TCP from the client to a server behind the base station.
struct TcpRun {
  std::uint64_t received;
  Instant finished;
  NrDeviceCounts up;
  NrDeviceCounts down;
};

TcpRun bulk(const NrRadio& radio, std::uint64_t replication) {
  IpCell cell(radio, 1, {}, replication);
  ns3::NodeContainer server;
  server.Create(1);
  ns3::PointToPointHelper wire;
  wire.SetDeviceAttribute("DataRate", ns3::StringValue("10Gbps"));
  wire.SetChannelAttribute("Delay", ns3::StringValue("50us"));
  const auto ends = wire.Install(cell.station, server.Get(0));
  ns3::InternetStackHelper().Install(server);
  const auto addresses = ns3::Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(ends);
  ns3::Ipv4GlobalRoutingHelper::RecomputeRoutingTables();
  const auto sink = sink_of(server.Get(0), "ns3::TcpSocketFactory");
  ns3::BulkSendHelper source("ns3::TcpSocketFactory", ns3::InetSocketAddress(addresses.GetAddress(1), 5000));
  source.SetAttribute("MaxBytes", ns3::UintegerValue(1'000'000));
  source.Install(cell.clients);
  EXPECT_EQ(cell.scheduler.run(), RunEnd::done);
  cell.expect_settled();
  return {sink->GetTotalRx(), cell.scheduler.now(), cell.client().counts(), cell.base_station().counts()};
}

TEST(NrNetDevice, ATcpTransferArrivesInFull) {
  const TcpRun run = bulk(test::loud_radio(), 1);
  EXPECT_EQ(run.received, 1'000'000U);
  EXPECT_EQ(run.up.lost.packets, 0);
  // Segments of 536 B (ns-3's default), each with 20 B of IPv4, 20 B of TCP and 12 B of time stamps; SYN, ACKs and FIN.
  EXPECT_GE(run.up.offered.bytes, Bytes(1'000'000 + 1866 * 52));
  EXPECT_GT(run.down.delivered.packets, 1866 / 2 - 1) << "an acknowledgement every second segment";
}

TEST(NrNetDevice, ATcpTransferArrivesInFullOverARadioThatLosesPackets) {
  const TcpRun run = bulk(lossy_radio(), 1);
  EXPECT_GT(run.up.lost.packets, 0);
  EXPECT_EQ(run.received, 1'000'000U) << "TCP sends again";
}

TEST(NrNetDevice, ASecondRunInTheProcessRepeatsTheFirst) {
  const NrRadio radio = lossy_radio();
  const TcpRun first = bulk(radio, 1);
  const TcpRun other = bulk(radio, 2);
  const TcpRun again = bulk(radio, 1);
  EXPECT_EQ(again.finished, first.finished);
  EXPECT_EQ(again.up.offered, first.up.offered);
  EXPECT_EQ(again.up.lost, first.up.lost);
  EXPECT_NE(other.finished, first.finished) << "another replication has other luck";
}

TEST(NrNetDevice, ARunLeavesNoNodesAndNoChannels) {
  for (int i = 0; i < 2; ++i) {
    {
      IpCell cell(test::loud_radio(), 2, {}, 1, {.events = 200});
      EXPECT_EQ(cell.station->GetId(), 0U) << "numbers start again";
      stream_from_all(cell);
      EXPECT_GT(cell.client(0).counts().held.packets, 0) << "cut short with packets on the air";
    }
    EXPECT_EQ(ns3::NodeList::GetNNodes(), 0U);
    EXPECT_EQ(ns3::ChannelList::GetNChannels(), 0U);
  }
}

}  // namespace
}  // namespace trilemma
