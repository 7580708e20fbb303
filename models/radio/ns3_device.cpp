#include "models/radio/ns3_device.h"

#include <array>
#include <utility>

#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr std::int64_t largest_packet = 65'535;

Bytes size_of(const ns3::Packet& packet) { return Bytes(packet.GetSize()); }

/// Locally administered, the same in every run: ns-3's own allocation counts through the whole process.
ns3::Mac48Address address_of(Direction sends, ClientIndex client) {
  std::array<std::uint8_t, 6> bytes{0x02, static_cast<std::uint8_t>(sends)};
  for (std::size_t i = 2; i < bytes.size(); ++i) bytes.at(i) = static_cast<std::uint8_t>(client >> (8 * (5 - i)));
  ns3::Mac48Address address;
  address.CopyFrom(bytes.data());
  return address;
}

}  // namespace

// ---- The channel
// -----------------------------------------------------------------------------------------------------

ns3::TypeId NrChannel::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("trilemma::NrChannel").SetParent<ns3::Channel>().HideFromDocumentation();
  return id;
}

NrChannel::NrChannel(ns3::Ptr<NrNetDevice> client, ns3::Ptr<NrNetDevice> base_station) {
  client->attach(ns3::Ptr<NrChannel>(this), *base_station);
  base_station->attach(ns3::Ptr<NrChannel>(this), *client);
  ends_.Add(client);
  ends_.Add(base_station);
}

ns3::Ptr<ns3::NetDevice> NrChannel::GetDevice(std::size_t i) const { return ends_.Get(static_cast<std::uint32_t>(i)); }

void NrChannel::DoDispose() {
  ends_ = {};
  Channel::DoDispose();
}

// ---- The device
// ------------------------------------------------------------------------------------------------------

ns3::TypeId NrNetDevice::GetTypeId() {
  const char* packet = "ns3::Packet::TracedCallback";
  static const ns3::TypeId id = ns3::TypeId("trilemma::NrNetDevice")
                                    .SetParent<ns3::NetDevice>()
                                    .HideFromDocumentation()
                                    .AddTraceSource("MacTx", "A packet is handed down.",
                                                    ns3::MakeTraceSourceAccessor(&NrNetDevice::mac_tx_), packet)
                                    .AddTraceSource("MacTxDrop", "A packet is refused.",
                                                    ns3::MakeTraceSourceAccessor(&NrNetDevice::mac_tx_drop_), packet)
                                    .AddTraceSource("MacRx", "A packet is handed up.",
                                                    ns3::MakeTraceSourceAccessor(&NrNetDevice::mac_rx_), packet)
                                    .AddTraceSource("PhyRxDrop", "A packet for this device is lost on the air.",
                                                    ns3::MakeTraceSourceAccessor(&NrNetDevice::phy_rx_drop_), packet)
                                    .AddTraceSource("RadioTransfer", "The radio is done with a packet of this device.",
                                                    ns3::MakeTraceSourceAccessor(&NrNetDevice::radio_transfer_),
                                                    "trilemma::NrNetDevice::RadioTransferCallback");
  return id;
}

NrNetDevice::NrNetDevice(Scheduler& scheduler, Radio& radio, Direction sends, ClientIndex client, NrDeviceConfig config)
    : scheduler_(scheduler),
      radio_(radio),
      sends_(sends),
      client_(client),
      config_(config),
      address_(address_of(sends, client)) {
  TRILEMMA_ENSURE(config.mtu >= Bytes(1) && config.mtu <= Bytes(largest_packet), "the MTU is 1 to 65,535 B");
  TRILEMMA_ENSURE(config.headers >= Bytes(0), "headers have a size");
}

void NrNetDevice::attach(const ns3::Ptr<NrChannel>& channel, NrNetDevice& peer) {
  channel_ = channel;
  peer_ = &peer;
  link_changed_();
}

ns3::Ptr<ns3::Channel> NrNetDevice::GetChannel() const { return channel_; }
ns3::Ptr<ns3::Node> NrNetDevice::GetNode() const { return node_; }
void NrNetDevice::SetNode(ns3::Ptr<ns3::Node> node) { node_ = node; }
ns3::Address NrNetDevice::GetMulticast(ns3::Ipv4Address group) const { return ns3::Mac48Address::GetMulticast(group); }
ns3::Address NrNetDevice::GetMulticast(ns3::Ipv6Address group) const { return ns3::Mac48Address::GetMulticast(group); }
void NrNetDevice::AddLinkChangeCallback(ns3::Callback<void> changed) { link_changed_.ConnectWithoutContext(changed); }

bool NrNetDevice::SetMtu(std::uint16_t mtu) {
  if (mtu == 0) return false;
  config_.mtu = Bytes(mtu);
  return true;
}

void NrNetDevice::DoDispose() {
  node_ = nullptr;
  channel_ = nullptr;
  peer_ = nullptr;
  NetDevice::DoDispose();
}

bool NrNetDevice::takes(Bytes size) const {
  return peer_ != nullptr && size <= config_.mtu && (!config_.queue || counts_.held.packets < *config_.queue);
}

bool NrNetDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& /*to*/, std::uint16_t protocol) {
  const Bytes size = size_of(*packet);
  counts_.offered.add(size);
  mac_tx_(packet);
  if (!takes(size)) {
    counts_.refused.add(size);
    mac_tx_drop_(packet);
    return false;
  }
  counts_.held.add(size);
  Sending& sending = sendings_.take([this] { return Sending{.device = *this, .message = {}, .packet = nullptr}; });
  sending.packet = packet;
  sending.protocol = protocol;
  sending.since = scheduler_.now();
  sending.message = {};
  sending.message.client = client_;
  sending.message.size = size + config_.headers;
  sending.message.done = Action::call<&Sending::done>(sending);
  scheduler_.guard([&] { radio_.send(sends_, sending.message); });
  return true;
}

bool NrNetDevice::SendFrom(ns3::Ptr<ns3::Packet> /*packet*/, const ns3::Address& /*from*/, const ns3::Address& /*to*/,
                           std::uint16_t /*protocol*/) {
  return false;  // see SupportsSendFrom()
}

void NrNetDevice::finish(Sending& sending) {
  const RadioTransfer transfer = transfer_of(sending.message, scheduler_.now() - sending.since);
  const ns3::Ptr<ns3::Packet> packet = std::exchange(sending.packet, nullptr);
  const Bytes size = size_of(*packet);
  --counts_.held.packets;
  counts_.held.bytes -= size;
  const std::uint16_t protocol = sending.protocol;
  sendings_.give_back(sending);  // what follows may send the next packet
  (transfer.lost ? counts_.lost : counts_.delivered).add(size);
  radio_transfer_(packet, transfer);
  if (transfer.lost) return peer_->phy_rx_drop_(packet);
  // ns-3 wants what a node does to happen in an event of that node.
  ns3::Simulator::ScheduleWithContext(peer_->node_->GetId(), ns3::Time(0), &NrNetDevice::receive,
                                      ns3::Ptr<NrNetDevice>(peer_), packet, protocol);
}

void NrNetDevice::receive(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol) {
  counts_.received.add(size_of(*packet));
  mac_rx_(packet);
  if (!overhear_.IsNull()) {
    overhear_(this, packet, protocol, peer_->GetAddress(), GetAddress(), NetDevice::PACKET_HOST);
  }
  if (!receive_.IsNull()) receive_(this, packet, protocol, peer_->GetAddress());
}

// ---- The nodes of a cell
// ---------------------------------------------------------------------------------------------

NrCellNodes::NrCellNodes(Scheduler& scheduler, Radio& radio, NrDeviceConfig config)
    : scheduler_(scheduler), radio_(radio), config_(config) {}

NrDevices NrCellNodes::install(const ns3::NodeContainer& clients, const ns3::Ptr<ns3::Node>& base_station) {
  NrDevices devices;
  for (auto node = clients.Begin(); node != clients.End(); ++node) {
    const auto client = ns3::CreateObject<NrNetDevice>(scheduler_, radio_, Direction::uplink, next_client_, config_);
    const auto station = ns3::CreateObject<NrNetDevice>(scheduler_, radio_, Direction::downlink, next_client_, config_);
    ++next_client_;
    (*node)->AddDevice(client);
    base_station->AddDevice(station);
    ns3::CreateObject<NrChannel>(client, station);
    devices.clients.Add(client);
    devices.base_station.Add(station);
  }
  return devices;
}

}  // namespace trilemma
