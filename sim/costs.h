#pragma once

#include <map>
#include <memory>

#include "models/codec/codec.h"
#include "sim/scenario.h"

namespace trilemma {

/// One trip of a request through the chain: the prompt (prefill) or one more token (decode). What is known in advance.
struct Pass {
  Duration device{0};  // blocks before the cut
  Duration encode{0};
  Bytes payload{0};  // of the uplink message, without packet headers
  Bytes uplink{0};   // with them
  Duration decode{0};
  Duration edge{0};   // blocks after the cut
  Bytes downlink{0};  // the answer, with packet headers
  bool leaves_device = false;

  [[nodiscard]] Duration on_device() const { return device + encode; }
  [[nodiscard]] Duration at_edge() const { return decode + edge; }
};

/// Turns a scenario into the costs of its passes.
class Costs {
 public:
  /// Wire size of one token id (32 bits).
  static constexpr Bytes token_id{4};

  explicit Costs(const Scenario& scenario);

  /// Number of trips of a request: one, and one more per further token where the device takes part in each. Where the
  /// edge has the whole model it generates the whole answer in one trip.
  [[nodiscard]] std::int64_t passes(Tokens output) const { return scenario_.raw_input() ? 1 : output.value(); }
  /// The n-th trip (0 = prefill) of a request.
  [[nodiscard]] const Pass& prefill(Tokens prompt, Tokens output);
  /// A further token, the last of `sequence` tokens of prompt and answer; those before it are in the KV cache.
  [[nodiscard]] Pass decode(Tokens sequence);
  /// All trips after the prompt's together: times summed, sizes of one message (they are alike).
  struct Further {
    std::int64_t trips = 0;
    Pass sum;
  };
  [[nodiscard]] const Further& further(Tokens prompt, Tokens output);

  /// Message with the headers of its packets.
  [[nodiscard]] Bytes with_headers(Bytes payload) const;
  /// The uncompressed message at the cut in the format of the codec's reference; 0 where nothing is compressed.
  [[nodiscard]] Bytes uncompressed(Tokens prompt) const;

 private:
  /// On the device before the first block: tokenisation and the front end.
  [[nodiscard]] Duration preparation(Tokens prompt) const;
  [[nodiscard]] Pass pass(Tokens tokens, Tokens context, Tokens output);
  void add_message(Pass& pass, Tokens tokens);

  const Scenario& scenario_;
  LlmConfig llm_;
  ModelPart head_;
  ModelPart tail_;
  std::unique_ptr<Codec> codec_;
  std::map<std::pair<std::int64_t, std::int64_t>, Pass> prefills_;  // by prompt and output
  std::map<std::pair<std::int64_t, std::int64_t>, Further> further_;
};

}  // namespace trilemma
