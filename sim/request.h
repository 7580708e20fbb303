#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/units.h"
#include "models/radio/radio.h"
#include "models/server/visit.h"

namespace trilemma {

/// Where the time of a request goes. Every nanosecond is charged to exactly one stage.
enum class Stage {
  device_queue,             // waiting for the client's own earlier requests
  device,                   // blocks before the cut
  codec,                    // encoding on the device, decoding at the edge
  uplink_grant,             // processing, scheduling request and grant
  uplink_alignment,         // until the frame lets the first block start
  uplink_queue,             // other clients, other messages, gaps between blocks
  uplink_air,               // first transmissions
  uplink_retransmission,    // repetitions, with all they wait for
  uplink_decoding,          // from the last symbol to the bits
  backhaul,                 // both ways: queue, serialisation, switches, propagation
  edge_queue,               // waiting at the edge: for a processor, a batch, memory
  edge,                     // blocks after the cut and the LM head
  wan,                      // between edge and cloud, both ways
  cloud_queue,              // waiting in the cloud, likewise
  cloud,                    // its blocks
  downlink_wait,            // the answer over the air: processing, frame alignment, other clients
  downlink_air,             // first transmissions
  downlink_retransmission,  // repetitions, with all they wait for
  downlink_decoding,        // from the last symbol to the bits
};
inline constexpr std::size_t stage_count = 19;
inline constexpr std::array<std::string_view, stage_count> stage_names{"device_queue",
                                                                       "device",
                                                                       "codec",
                                                                       "uplink_grant",
                                                                       "uplink_alignment",
                                                                       "uplink_queue",
                                                                       "uplink_air",
                                                                       "uplink_retransmission",
                                                                       "uplink_decoding",
                                                                       "backhaul",
                                                                       "edge_queue",
                                                                       "edge",
                                                                       "wan",
                                                                       "cloud_queue",
                                                                       "cloud",
                                                                       "downlink_wait",
                                                                       "downlink_air",
                                                                       "downlink_retransmission",
                                                                       "downlink_decoding"};

/// Stages of the cloud, which most scenarios do without.
constexpr bool is_of_cloud(Stage stage) { return stage >= Stage::wan && stage <= Stage::cloud; }

using StageTimes = std::array<Duration, stage_count>;
Duration total(const StageTimes& stages);

/// What a client asks for.
struct Ask {
  std::size_t kind = 0;  // class of the mix
  Tokens prompt{1};
  Tokens output{1};
  auto operator<=>(const Ask&) const = default;
};

struct Request {
  std::uint64_t id = 0;  // in order of arrival, from 0
  std::int64_t client = 0;
  Instant arrival{0};
  Tokens prompt{1};
  Tokens output{1};
  std::size_t kind = 0;  // class of the mix

  [[nodiscard]] Ask ask() const { return {kind, prompt, output}; }
};

enum class Outcome {
  completed,
  failed,   // a transport block was lost after its last retransmission
  dropped,  // a site turned it away
};

/// All that is known of one request when it has left the world.
struct RequestRecord {
  Request request;
  Outcome outcome = Outcome::completed;
  Instant finish{0};
  Duration first_token{0};  // from arrival; of completed requests
  StageTimes stages{};
  Duration floor{0};      // zero-load latency at the luckiest instants
  Duration bound{0};      // no completed request is faster: as floor, and every grant is on its way already
  Bytes uplink_bytes{0};  // handed to the radio, headers included
  Bytes downlink_bytes{0};
  Rejection rejection = Rejection::none;  // why it was dropped
  std::int32_t blocks = 0;                // transport blocks, up and down, first transmissions
  std::int32_t retransmissions = 0;

  [[nodiscard]] Duration latency() const { return finish - request.arrival; }
  /// Adds the blocks of a radio transfer; a lost one fails the request.
  void count(const RadioTransfer& transfer) {
    blocks += transfer.blocks;
    retransmissions += transfer.retransmissions;
    if (transfer.lost) outcome = Outcome::failed;
  }
};

/// Charges time to stages.
class StageClock {
 public:
  void charge(Stage stage, Duration time) { times_[static_cast<std::size_t>(stage)] += time; }
  /// A transfer over the air, by its parts; `messages` like it.
  void charge(Direction direction, const RadioTimes& times, std::int64_t messages = 1) {
    if (direction == Direction::uplink) {
      charge(Stage::uplink_grant, messages * times.grant);
      charge(Stage::uplink_alignment, messages * times.alignment);
      charge(Stage::uplink_queue, messages * times.queueing);
      charge(Stage::uplink_air, messages * times.air);
      charge(Stage::uplink_retransmission, messages * times.retransmission);
      charge(Stage::uplink_decoding, messages * times.decoding);
      return;
    }
    charge(Stage::downlink_wait, messages * (times.grant + times.alignment + times.queueing));
    charge(Stage::downlink_air, messages * times.air);
    charge(Stage::downlink_retransmission, messages * times.retransmission);
    charge(Stage::downlink_decoding, messages * times.decoding);
  }
  [[nodiscard]] const StageTimes& times() const { return times_; }

 private:
  StageTimes times_{};
};

/// Receives each request as it leaves the world, in order of leaving.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void add(const RequestRecord& record) = 0;
};

}  // namespace trilemma
