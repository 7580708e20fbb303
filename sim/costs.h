#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/codec/codec.h"
#include "models/server/roofline_step.h"
#include "sim/scenario.h"

namespace trilemma {

/// What a site does in a trip, known in advance.
struct SiteWork {
  Duration before{0};  // decoding what came, encoding what goes on
  Duration model{0};   // its blocks, of this sequence alone
  Tokens fresh{0};     // tokens that come with it; 0: the site has nothing to do
  Tokens outputs{1};   // tokens that it generates by itself
  std::int64_t heads = 1;

  [[nodiscard]] bool any() const { return fresh > Tokens(0); }
};

/// One trip of a request through the chain: the prompt (prefill) or one more token (decode). What is known in advance,
/// with every message's packet headers. MessageCount of size 0 are not sent.
struct Pass {
  Duration device{0};  // blocks before the cut
  Duration encode{0};
  Bytes payload{0};  // of the uplink message, without packet headers
  Bytes uplink{0};   // with them
  SiteWork edge;
  Bytes to_cloud{0};
  SiteWork cloud;
  Bytes from_cloud{0};
  Bytes downlink{0};         // the answer, or a token of it
  bool is_streamed = false;  // tokens go down while the next one is generated
  bool is_last = false;      // of the request
  Bytes token_over_wan{0};   // of a streamed token, if it comes from the cloud and nobody waits for it at the edge

  [[nodiscard]] Duration on_device() const { return device + encode; }
};

/// Work of several passes on one machine.
struct WorkSum {
  Duration codec{0};
  Duration model{0};
  std::int64_t passes = 0;

  [[nodiscard]] Duration total() const { return codec + model; }
};
/// What several trips add up to.
struct PassSum {
  WorkSum device;
  WorkSum edge;
  WorkSum cloud;
};
PassSum operator+(const PassSum& a, const PassSum& b);
PassSum operator-(const PassSum& a, const PassSum& b);

/// MessageCount of one size.
struct MessageCount {
  Bytes size{0};
  std::int64_t count = 0;
};
/// All that a request does if it is alone, by kind; what waits for each other, and what runs beside it.
struct Bill {
  PassSum work;
  std::vector<MessageCount> uplink;
  std::vector<MessageCount> downlink;
  std::vector<MessageCount> to_cloud;
  std::vector<MessageCount> from_cloud;
  MessageCount streamed;           // further tokens on their way down while the next one is made
  MessageCount streamed_over_wan;  // likewise
};

/// Turns a scenario without classes into the costs of its passes.
class Costs {
 public:
  /// Wire size of one token id (32 bits).
  static constexpr Bytes token_id{4};

  explicit Costs(const Scenario& scenario);

  /// Number of trips of a request without speculation: one, and one more per further token unless a site behind the
  /// device generates the answer by itself.
  [[nodiscard]] std::int64_t trips(Tokens output) const { return scenario_.is_remote() ? 1 : output.value(); }
  /// The first trip of a request.
  [[nodiscard]] Pass prefill(Tokens prompt, Tokens output);
  /// A further token, the last of `sequence` tokens of prompt and answer; those before it are in the KV cache.
  [[nodiscard]] const Pass& decode(Tokens sequence);
  /// All trips of a request; with speculation those where every draft is accepted and no context grows.
  [[nodiscard]] Bill bill(Tokens prompt, Tokens output);

  /// Speculative decoding: the draft model's prefill, and a round of `drafts` tokens after `context` tokens.
  [[nodiscard]] Duration draft_prefill(Tokens prompt);
  [[nodiscard]] Pass round(Tokens context, std::int64_t drafts);

  /// Answer of `tokens` tokens as one message.
  [[nodiscard]] Bytes answer(Tokens tokens) const { return with_headers(tokens.value() * token_id); }
  /// Message with the headers of its packets.
  [[nodiscard]] Bytes with_headers(Bytes payload) const;
  /// The uncompressed message at the cut in the format of the codec's reference; 0 where nothing is compressed.
  [[nodiscard]] Bytes uncompressed(Tokens prompt) const;

 private:
  /// On the device before the first block: tokenisation and the front end.
  [[nodiscard]] Duration preparation(Tokens prompt) const;
  [[nodiscard]] Pass pass(Tokens tokens, Tokens context);
  [[nodiscard]] Duration on_device(const LlmConfig& llm, const ModelPart& part, PassTokens tokens) const;
  void add_device(Pass& pass, PassTokens tokens);
  void add_message(Pass& pass, Tokens tokens);
  void add_hop_to_cloud(Pass& pass, Tokens tokens);
  void add_answer(Pass& pass, Tokens output);
  void add_rounds(Bill& bill, Tokens prompt, Tokens output);
  /// Sum of decode(1) .. decode(sequence).
  [[nodiscard]] PassSum decoded(Tokens sequence);

  const Scenario& scenario_;
  LlmConfig llm_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Codec> cloud_codec_;  // between edge and cloud
  std::optional<RooflineStep> edge_step_;
  std::optional<RooflineStep> cloud_step_;
  std::map<std::int64_t, Pass> prefills_;  // by prompt, one token generated
  std::vector<Pass> decodes_;              // [n]: of sequence n + 1
  std::vector<PassSum> decoded_;           // [n]: the first n of them
};

}  // namespace trilemma
