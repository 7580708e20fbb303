#include "models/link/ns3.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/udp-socket-factory.h"
#include <fmt/format.h>

#include "core/ensure.h"
#include "models/link/link.h"
#include "models/radio/ns3_device.h"

namespace trilemma {
namespace {

constexpr std::uint16_t port = 9;
constexpr std::uint32_t first_client_address = 0x0A'00'00'01;  // 10.0.0.1
constexpr std::int64_t most_clients = (1 << 24) - 2;           // of 10.0.0.0/8
constexpr std::uint32_t edge_address = 0xAC'10'00'01;          // 172.16.0.1
constexpr Bytes ppp{2};
constexpr double lowest_rate = 1;
constexpr double highest_rate = 1e18;  // bit/s: a frame takes no time

ns3::Time to_ns3(Duration duration) { return ns3::NanoSeconds(static_cast<std::uint64_t>(duration.count())); }
Duration from_ns3(const ns3::Time& time) { return Duration(time.GetNanoSeconds()); }

/// A chain of equal hops, whatever the configuration calls it.
struct Wire {
  double rate = highest_rate;
  Bytes overhead{0};
  std::int64_t switches = 0;
  Duration switch_latency{0};
  Duration delay{0};  // propagation and the rest, once
};
Wire wire(const NoLink& /*none*/) { return {}; }
Wire wire(const FixedLink& fixed) { return {.rate = fixed.rate.value(), .delay = fixed.delay}; }
Wire wire(const FibreLink& fibre) {
  return {.rate = fibre.rate.value(),
          .overhead = fibre.frame_overhead,
          .switches = fibre.switches,
          .switch_latency = fibre.switch_latency,
          .delay = fibre_propagation(fibre.length) + fibre.delay};
}
Wire wire(const LinkConfig& config) {
  return std::visit([](const auto& kind) { return wire(kind); }, config);
}

/// Times of one hop as ns-3 counts them. The device adds PPP's header to what it serialises; the rest of the overhead
/// goes into its gap between frames (which the receiver does not wait for) and, for the receiver, into the delay. Both
/// are negative where the configuration knows no overhead.
class Hop {
 public:
  explicit Hop(const Wire& wire) : rate_(static_cast<std::uint64_t>(wire.rate)) {
    const Bytes rest = wire.overhead - ppp;
    const auto time = [&](Bytes size) { return rate_.CalculateBytesTxTime(static_cast<std::uint32_t>(size.value())); };
    gap_ = rest >= Bytes(0) ? time(rest) : ns3::Time(0) - time(Bytes(0) - rest);
  }
  [[nodiscard]] ns3::DataRate rate() const { return rate_; }
  [[nodiscard]] ns3::Time gap() const { return gap_; }
  [[nodiscard]] Duration serialisation(Bytes packet) const {
    return from_ns3(rate_.CalculateBytesTxTime(static_cast<std::uint32_t>((packet + ppp).value())) + gap_);
  }

 private:
  ns3::DataRate rate_;
  ns3::Time gap_;
};

/// The message that a packet is part of. The message outlives its packets, since it waits for all of them.
class MessageTag final : public ns3::Tag {
 public:
  static ns3::TypeId GetTypeId() {
    static const ns3::TypeId id =
        ns3::TypeId("trilemma::MessageTag").SetParent<ns3::Tag>().HideFromDocumentation().AddConstructor<MessageTag>();
    return id;
  }
  MessageTag() = default;
  explicit MessageTag(DatagramMessage& message) : message_(&message) {}
  static DatagramMessage& of(const ns3::Packet& packet) {
    MessageTag tag;
    TRILEMMA_ENSURE(packet.PeekPacketTag(tag), "every packet belongs to a message");
    return *tag.message_;
  }

  [[nodiscard]] ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  [[nodiscard]] std::uint32_t GetSerializedSize() const override { return sizeof(std::uint64_t); }
  void Serialize(ns3::TagBuffer buffer) const override { buffer.WriteU64(std::bit_cast<std::uint64_t>(message_)); }
  void Deserialize(ns3::TagBuffer buffer) override { message_ = std::bit_cast<DatagramMessage*>(buffer.ReadU64()); }
  void Print(std::ostream& out) const override { out << "message"; }

 private:
  DatagramMessage* message_ = nullptr;
};

ns3::Ptr<ns3::PointToPointNetDevice> make_wire_end(const ns3::Ptr<ns3::Node>& node, const Hop& hop) {
  const auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
  const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
  queue->SetMaxSize({ns3::QueueSizeUnit::PACKETS, std::numeric_limits<std::uint32_t>::max()});
  device->SetQueue(queue);
  device->SetDataRate(hop.rate());
  device->SetInterframeGap(hop.gap());
  device->SetMtu(std::numeric_limits<std::uint16_t>::max());
  device->SetAddress(ns3::Mac48Address("02:ff:00:00:00:00"));  // nobody looks at it; ns-3's own counts by process
  node->AddDevice(device);
  return device;
}

void give_address(const ns3::Ptr<ns3::NetDevice>& device, std::uint32_t address) {
  const auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
  const std::uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, {ns3::Ipv4Address(address), ns3::Ipv4Mask::GetOnes()});
  ipv4->SetUp(interface);
  ns3::Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->SetDefaultRoute(ns3::Ipv4Address::GetZero(), interface);
}

void install_internet(const ns3::NodeContainer& nodes) {
  ns3::InternetStackHelper internet;
  internet.SetIpv6StackInstall(false);
  internet.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  internet.Install(nodes);
  internet.AssignStreams(nodes, static_cast<std::int64_t>(stream_number("ns-3/internet")));
}

bool pass_on(ns3::NetDevice& to, const ns3::Packet& packet, std::uint16_t protocol) {
  return to.Send(packet.Copy(), to.GetBroadcast(), protocol);
}

}  // namespace

Datagrams datagrams(Bytes size, Bytes mtu) {
  TRILEMMA_ENSURE(size > datagram_headers, "a message has at least one byte");
  const std::int64_t count = (size.value() + mtu.value() - 1) / mtu.value();
  const Bytes last = size - (count - 1) * mtu;
  TRILEMMA_ENSURE(last > datagram_headers, "the size of a message counts the headers of every packet");
  return {count, last};
}

std::optional<std::string> packet_problem(const LinkConfig& backhaul, Bytes mtu) {
  const Wire chain = wire(backhaul);
  if (const auto* fibre = std::get_if<FibreLink>(&backhaul); fibre != nullptr && fibre->frame < mtu)
    return fmt::format("has frames of {} B, and a packet of {} B has to fit one; write a longer frame or a smaller mtu",
                       fibre->frame.value(), mtu.value());
  if (chain.rate < lowest_rate || chain.rate > highest_rate || chain.rate != std::floor(chain.rate))
    return "has a rate that is not a whole number of bit/s up to 1e18, as ns-3 needs it; write another rate";
  return std::nullopt;
}

class DatagramNetwork::Stack {
 public:
  Stack(Scheduler& scheduler, std::span<const std::unique_ptr<Radio>> radios, const DatagramConfig& config)
      : scheduler_(scheduler), mtu_(config.mtu), wire_(wire(config.backhaul)), hop_(wire_) {
    TRILEMMA_ENSURE(config.clients <= most_clients, "every client has an address");
    nodes_.Create(static_cast<std::uint32_t>(config.clients) + 1);  // the edge is the last one
    install_internet(nodes_);
    const auto gateway = ns3::CreateObject<ns3::Node>();
    connect_clients(radios, config, gateway);
    connect_edge(gateway);
    open_sockets();
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() {
    for (const auto& socket : sockets_) socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
  }

  void send(DatagramMessage& message) {
    const Datagrams cut = datagrams(message.size, mtu_);
    message.offered = scheduler_.now();
    message.packets_due = cut.count;
    message.radio = {};
    const bool up = message.direction == Direction::uplink;
    ns3::Socket& from = up ? *sockets_[static_cast<std::size_t>(message.client)] : *sockets_.back();
    const ns3::InetSocketAddress to(ns3::Ipv4Address(up ? edge_address : client_address(message.client)), port);
    for (std::int64_t i = 1; i <= cut.count; ++i) {
      const Bytes payload = (i < cut.count ? mtu_ : cut.last) - datagram_headers;
      const auto packet = ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(payload.value()));
      packet->AddPacketTag(MessageTag(message));
      TRILEMMA_ENSURE(from.SendTo(packet, 0, to) == payload.value(), "the stack takes every packet");
    }
    if (!up) busy(Direction::downlink) += (cut.count - 1) * hop_.serialisation(mtu_) + hop_.serialisation(cut.last);
  }

  [[nodiscard]] Duration backhaul_floor(Bytes size) const {
    const Datagrams cut = datagrams(size, mtu_);
    // The last packet follows the others over the first hop, and is stored and forwarded over the rest.
    return (cut.count - 1) * hop_.serialisation(mtu_) + (wire_.switches + 1) * hop_.serialisation(cut.last) +
           wire_.switches * wire_.switch_latency + wire_.delay;
  }
  Duration& busy(Direction direction) { return busy_.at(static_cast<std::size_t>(direction)); }

 private:
  static std::uint32_t client_address(std::int64_t client) {
    return first_client_address + static_cast<std::uint32_t>(client);
  }

  void connect_clients(std::span<const std::unique_ptr<Radio>> radios, const DatagramConfig& config,
                       const ns3::Ptr<ns3::Node>& gateway) {
    const auto cells = static_cast<std::int64_t>(radios.size());
    std::vector<NrCellNodes> cell;
    for (const auto& radio : radios)
      cell.emplace_back(scheduler_, *radio, NrDeviceConfig{.mtu = mtu_, .headers = config.radio_headers});
    for (std::int64_t client = 0; client < config.clients; ++client) {
      const NrDevices devices = cell[static_cast<std::size_t>(client % cells)].install(
          nodes_.Get(static_cast<std::uint32_t>(client)), gateway);
      give_address(devices.clients.Get(0), client_address(client));
      const auto station = devices.base_station.Get(0);
      station->SetReceiveCallback(ns3::MakeCallback(&Stack::pass_to_edge, this));
      base_station_.push_back(station);
      for (const auto& device : {devices.clients.Get(0), station})
        device->TraceConnectWithoutContext("RadioTransfer", ns3::MakeCallback(&Stack::radio_done, this));
    }
  }

  void connect_edge(const ns3::Ptr<ns3::Node>& gateway) {
    ns3::Ptr<ns3::Node> from = gateway;
    Duration delay = wire_.delay;  // the fibre; further hops have the latency of the switch before them
    for (std::int64_t left = wire_.switches; left >= 0; --left) {
      const ns3::Ptr<ns3::Node> to = left > 0 ? ns3::CreateObject<ns3::Node>() : nodes_.Get(nodes_.GetN() - 1);
      const auto near = make_wire_end(from, hop_);
      const auto far = make_wire_end(to, hop_);
      const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
      channel->SetAttribute("Delay", ns3::TimeValue(to_ns3(delay) + hop_.gap()));
      near->Attach(channel);
      far->Attach(channel);
      if (from == gateway)
        to_edge_ = near;
      else
        join_at_switch(from->GetDevice(0), near);
      from = to;
      delay = wire_.switch_latency;
    }
    to_edge_->SetReceiveCallback(ns3::MakeCallback(&Stack::pass_to_client, this));
    give_address(from->GetDevice(from->GetNDevices() - 1), edge_address);
  }

  /// What one end of a switch receives, the other one sends.
  void join_at_switch(const ns3::Ptr<ns3::NetDevice>& one, const ns3::Ptr<ns3::NetDevice>& other) {
    one->SetReceiveCallback(ns3::MakeCallback(&Stack::pass_through, this));
    other->SetReceiveCallback(ns3::MakeCallback(&Stack::pass_through, this));
  }
  // NOLINTBEGIN(performance-unnecessary-value-param): ns-3's signatures
  bool pass_through(ns3::Ptr<ns3::NetDevice> at, ns3::Ptr<const ns3::Packet> packet, std::uint16_t protocol,
                    const ns3::Address& /*from*/) {
    const auto node = at->GetNode();
    return pass_on(*node->GetDevice(node->GetDevice(0) == at ? 1 : 0), *packet, protocol);
  }
  bool pass_to_edge(ns3::Ptr<ns3::NetDevice> /*at*/, ns3::Ptr<const ns3::Packet> packet, std::uint16_t protocol,
                    const ns3::Address& /*from*/) {
    busy(Direction::uplink) += hop_.serialisation(Bytes(packet->GetSize()));
    return pass_on(*to_edge_, *packet, protocol);
  }
  bool pass_to_client(ns3::Ptr<ns3::NetDevice> /*at*/, ns3::Ptr<const ns3::Packet> packet, std::uint16_t protocol,
                      const ns3::Address& /*from*/) {
    ns3::Ipv4Header header;
    packet->PeekHeader(header);
    return pass_on(*base_station_[header.GetDestination().Get() - first_client_address], *packet, protocol);
  }
  // NOLINTEND(performance-unnecessary-value-param)

  void open_sockets() {
    for (auto node = nodes_.Begin(); node != nodes_.End(); ++node) {
      const auto socket = ns3::Socket::CreateSocket(*node, ns3::UdpSocketFactory::GetTypeId());
      socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
      socket->SetRecvCallback(ns3::MakeCallback(&Stack::receive, this));
      sockets_.push_back(socket);
      (*node)->GetObject<ns3::Ipv4L3Protocol>()->TraceConnectWithoutContext("Drop",
                                                                            ns3::MakeCallback(&Stack::refuse, this));
    }
  }

  // NOLINTBEGIN(performance-unnecessary-value-param): ns-3's signatures
  /// A packet of a message has left the radio, lost or not.
  void radio_done(ns3::Ptr<const ns3::Packet> packet, const RadioTransfer& transfer) {
    DatagramMessage& message = MessageTag::of(*packet);
    const RadioTransfer before = std::exchange(message.radio, transfer);
    message.radio.blocks += before.blocks;
    message.radio.retransmissions += before.retransmissions;
    message.radio.lost = transfer.lost || before.lost;
    if (transfer.lost) settle(message);
  }

  void receive(ns3::Ptr<ns3::Socket> socket) {
    scheduler_.guard([&] {
      while (const auto packet = socket->Recv()) settle(MessageTag::of(*packet));
    });
  }

  /// One packet less to wait for.
  void settle(DatagramMessage& message) {
    if (--message.packets_due > 0) return;
    message.backhaul = scheduler_.now() - message.offered - message.radio.times.total();
    message.done();
  }

  void refuse(const ns3::Ipv4Header& /*header*/, ns3::Ptr<const ns3::Packet> /*packet*/,
              ns3::Ipv4L3Protocol::DropReason /*reason*/, ns3::Ptr<ns3::Ipv4> /*ipv4*/, std::uint32_t /*interface*/) {
    scheduler_.guard([] { TRILEMMA_ENSURE(false, "only the radio loses packets"); });
  }
  // NOLINTEND(performance-unnecessary-value-param)

  Scheduler& scheduler_;
  Bytes mtu_;
  Wire wire_;
  Hop hop_;
  ns3::NodeContainer nodes_;                            // clients, then the edge
  std::vector<ns3::Ptr<ns3::NetDevice>> base_station_;  // by client
  ns3::Ptr<ns3::PointToPointNetDevice> to_edge_;        // the base stations' end of the backhaul
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;          // by node
  std::array<Duration, 2> busy_{};                      // by direction
};

DatagramNetwork::DatagramNetwork(Scheduler& scheduler, std::span<const std::unique_ptr<Radio>> radios,
                                 const DatagramConfig& config, const Streams& streams) {
  streams.seed_ns3();
  stack_ = std::make_unique<Stack>(scheduler, radios, config);
}
DatagramNetwork::~DatagramNetwork() = default;
void DatagramNetwork::send(DatagramMessage& message) { stack_->send(message); }
Duration DatagramNetwork::backhaul_floor(Bytes size) const { return stack_->backhaul_floor(size); }
Duration DatagramNetwork::backhaul_busy(Direction direction) const { return stack_->busy(direction); }

}  // namespace trilemma
