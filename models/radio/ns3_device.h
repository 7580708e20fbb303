#pragma once

#include <cstdint>
#include <optional>

#include "ns3/channel.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "core/object_pool.h"
#include "core/scheduler.h"
#include "models/radio/radio.h"

/// The radio as ns-3 sees it. Any ns-3 application runs over a cell: install() its nodes and assign IP addresses.
namespace trilemma {

struct NrDeviceConfig {
  Bytes mtu{1500};                         // largest packet from above, 1 to 65,535 B
  Bytes headers = nr_packet_headers;       // added to each packet over the air, >= 0
  std::optional<std::int64_t> queue = {};  // packets in the device, the one on the air included; empty: any number
};

struct PacketCount {
  std::int64_t packets = 0;
  Bytes bytes{0};  // as handed down, without the headers of the device
  void add(Bytes size) {
    ++packets;
    bytes += size;
  }
  bool operator==(const PacketCount&) const = default;
};

/// What became of the packets of one device: offered = refused + delivered + lost + held, always.
struct NrDeviceCounts {
  PacketCount offered;    // handed down to this device
  PacketCount refused;    // by the queue or the MTU
  PacketCount delivered;  // to the other end
  PacketCount lost;       // on the air
  PacketCount held;       // waiting or on the air
  PacketCount received;   // from the other end and handed up
};

class NrNetDevice;

/// The air between a client and its base station, for ns-3's topology walks (global routing).
class NrChannel final : public ns3::Channel {
 public:
  static ns3::TypeId GetTypeId();
  NrChannel(ns3::Ptr<NrNetDevice> client, ns3::Ptr<NrNetDevice> base_station);
  [[nodiscard]] std::size_t GetNDevices() const override { return ends_.GetN(); }
  [[nodiscard]] ns3::Ptr<ns3::NetDevice> GetDevice(std::size_t i) const override;

 protected:
  void DoDispose() override;

 private:
  ns3::NetDeviceContainer ends_;
};

/// One end of the radio link between one client and its base station. A packet becomes a RadioMessage of its size and
/// the device's headers, and comes out of the device at the other end when the radio says that it is done. The base
/// station has a device a client: ns-3 then sees point-to-point links (no ARP, no addresses to look up, any network
/// protocol), and routing needs no knowledge of the cell. The queue is the radio's own; the device counts what it
/// holds.
///
/// Trace sources, as in ns-3's other devices: MacTx, MacTxDrop (refused), MacRx, PhyRxDrop (lost on the air, at the
/// receiver), all with the packet without the device's headers; and RadioTransfer (at the sender, packet and
/// RadioTransfer) when the radio is done with a packet, just before MacRx or PhyRxDrop. The radio outlives the run.
class NrNetDevice final : public ns3::NetDevice {
 public:
  static ns3::TypeId GetTypeId();
  /// `sends`: uplink at the client, downlink at the base station.
  NrNetDevice(Scheduler& scheduler, Radio& radio, Direction sends, ClientIndex client, NrDeviceConfig config);

  [[nodiscard]] const NrDeviceCounts& counts() const { return counts_; }

  // ns-3's interface.
  void SetIfIndex(std::uint32_t index) override { if_index_ = index; }
  [[nodiscard]] std::uint32_t GetIfIndex() const override { return if_index_; }
  [[nodiscard]] ns3::Ptr<ns3::Channel> GetChannel() const override;
  void SetAddress(ns3::Address address) override { address_ = ns3::Mac48Address::ConvertFrom(address); }
  [[nodiscard]] ns3::Address GetAddress() const override { return address_; }
  bool SetMtu(std::uint16_t mtu) override;
  [[nodiscard]] std::uint16_t GetMtu() const override { return static_cast<std::uint16_t>(config_.mtu.value()); }
  [[nodiscard]] bool IsLinkUp() const override { return channel_ != nullptr; }
  void AddLinkChangeCallback(ns3::Callback<void> changed) override;
  [[nodiscard]] bool IsBroadcast() const override { return true; }
  [[nodiscard]] ns3::Address GetBroadcast() const override { return ns3::Mac48Address::GetBroadcast(); }
  [[nodiscard]] bool IsMulticast() const override { return true; }
  [[nodiscard]] ns3::Address GetMulticast(ns3::Ipv4Address group) const override;
  [[nodiscard]] ns3::Address GetMulticast(ns3::Ipv6Address group) const override;
  [[nodiscard]] bool IsBridge() const override { return false; }
  [[nodiscard]] bool IsPointToPoint() const override { return true; }
  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& to, std::uint16_t protocol) override;
  bool SendFrom(ns3::Ptr<ns3::Packet> packet, const ns3::Address& from, const ns3::Address& to,
                std::uint16_t protocol) override;
  [[nodiscard]] ns3::Ptr<ns3::Node> GetNode() const override;
  void SetNode(ns3::Ptr<ns3::Node> node) override;
  [[nodiscard]] bool NeedsArp() const override { return false; }
  void SetReceiveCallback(ReceiveCallback receive) override { receive_ = receive; }
  void SetPromiscReceiveCallback(PromiscReceiveCallback receive) override { overhear_ = receive; }
  [[nodiscard]] bool SupportsSendFrom() const override { return false; }

 protected:
  void DoDispose() override;

 private:
  friend class NrChannel;

  /// A packet that the radio has; taken from and given back to `sendings_`.
  struct Sending {
    NrNetDevice& device;
    RadioMessage message;
    ns3::Ptr<ns3::Packet> packet;
    std::uint16_t protocol = 0;
    Instant since{0};
    void done() { device.finish(*this); }
  };

  void attach(const ns3::Ptr<NrChannel>& channel, NrNetDevice& peer);
  [[nodiscard]] bool takes(Bytes size) const;
  void finish(Sending& sending);
  void receive(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol);

  Scheduler& scheduler_;
  Radio& radio_;
  Direction sends_;
  ClientIndex client_;
  NrDeviceConfig config_;
  ns3::Mac48Address address_;
  std::uint32_t if_index_ = 0;
  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<NrChannel> channel_;
  NrNetDevice* peer_ = nullptr;  // lives as long: both go with the event list
  ReceiveCallback receive_;
  PromiscReceiveCallback overhear_;
  NrDeviceCounts counts_;
  ObjectPool<Sending> sendings_;

  ns3::TracedCallback<> link_changed_;
  ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> mac_tx_;
  ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> mac_tx_drop_;
  ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> mac_rx_;
  ns3::TracedCallback<ns3::Ptr<const ns3::Packet>> phy_rx_drop_;
  ns3::TracedCallback<ns3::Ptr<const ns3::Packet>, const RadioTransfer&> radio_transfer_;
};

/// The devices of some clients of a cell, in order of their nodes.
struct NrDevices {
  ns3::NetDeviceContainer clients;
  ns3::NetDeviceContainer base_station;  // one a client
};

/// Puts the devices of one cell on nodes: the first node installed is the cell's client 0, and so on. The radio
/// outlives the run; the scheduler is the one that runs it.
class NrCellNodes {
 public:
  NrCellNodes(Scheduler& scheduler, Radio& radio, NrDeviceConfig config = {});
  NrDevices install(const ns3::NodeContainer& clients, const ns3::Ptr<ns3::Node>& base_station);

 private:
  Scheduler& scheduler_;
  Radio& radio_;
  NrDeviceConfig config_;
  ClientIndex next_client_ = 0;
};

}  // namespace trilemma
