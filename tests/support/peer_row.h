#pragma once

#include <string>
#include <vector>

#include "tests/support/message_cell.h"
#include "tests/unit/radio/csv.h"

/// The runs of the packet-level simulator 5G-LENA in tests/data/peer_mmwave_latency.csv, and the same with the preset
/// 5g-lena.
namespace trilemma::test {

/// A message of M bytes travels as datagrams of 1400 B; each carries 28 B of UDP and IP and about 5 B of PDCP and RLC.
inline Bytes with_packet_headers(std::int64_t message) { return Bytes(message + (message + 1399) / 1400 * 33); }

/// Backhaul of the peer for the last packet: 10 us and the serialisation of 1400 B at 10 Gbit/s.
inline constexpr double peer_backhaul_us = 11.4;

/// "DL_DL_DL_S_UL_" -> "DDDSU", "F_F_..." -> "F".
inline std::string peer_frame(const std::string& pattern) {
  if (pattern.find('F') != std::string::npos) return "F";
  std::string frame;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (i == 0 || pattern[i - 1] == '_') frame += pattern[i];
  }
  return frame;
}

inline NrRadio peer_radio(const Row& row) {
  std::vector<std::string> sets{"radio.frame=" + peer_frame(row.at("tdd")),
                                "radio.placement={kind: ring, distance: " + row.at("dist_m") + " m}"};
  if (integer(row, "n_ue") > 8) sets.push_back("radio.sounding=160");
  if (row.at("tag") == "sat_NrEesmIrT2") sets.push_back("radio.mcs_table=qam256");
  return catalogue_radio("5g-lena", sets);
}

inline MessageLoad peer_load(const Row& row) {
  return {.direction = row.at("dir") == "ul" ? Direction::uplink : Direction::downlink,
          .clients = integer(row, "n_ue"),
          .size = with_packet_headers(std::stoll(row.at("msg_bytes"))),
          .rate = EventRate(number(row, "rate_per_ue_msg_s")),
          .active = to_duration(number(row, "active_s")),
          // A simulation begins with 0.2 s of attachment; a message that is late for its end is not counted.
          .end = to_duration(number(row, "sim_s") - 0.2)};
}

}  // namespace trilemma::test
