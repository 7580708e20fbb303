#include "sim/costs.h"

#include "core/ensure.h"
#include "models/processor/roofline.h"

namespace trilemma {

Costs::Costs(const Scenario& scenario)
    : scenario_(scenario),
      llm_(scenario.model()),
      head_(scenario.head()),
      tail_(scenario.tail()),
      codec_(make_codec(scenario.codec)) {}

const Pass& Costs::prefill(Tokens prompt, Tokens output) {
  const Tokens at_once = scenario_.raw_input() ? output : Tokens(1);
  const auto [entry, added] = prefills_.try_emplace({prompt.value(), at_once.value()}, Pass{});
  if (added) entry->second = pass(prompt, Tokens(0), at_once);
  return entry->second;
}

Pass Costs::decode(Tokens sequence) { return pass(Tokens(1), sequence - Tokens(1), Tokens(1)); }

const Costs::Further& Costs::further(Tokens prompt, Tokens output) {
  const auto [entry, added] = further_.try_emplace({prompt.value(), output.value()}, Further{});
  if (!added) return entry->second;
  Further result{.trips = passes(output) - 1};
  for (std::int64_t trip = 1; trip <= result.trips; ++trip) {
    Pass pass = decode(prompt + Tokens(trip));
    pass.device += result.sum.device;
    pass.encode += result.sum.encode;
    pass.decode += result.sum.decode;
    pass.edge += result.sum.edge;
    result.sum = pass;
  }
  return entry->second = result;
}

Pass Costs::pass(Tokens tokens, Tokens context, Tokens output) {
  const auto time = [&](const ProcessorConfig& processor, Precision precision, const ModelPart& part, Tokens count,
                        Tokens before) {
    return run_time(processor, precision, {llm_, part, {count, before}});
  };
  Pass result;
  result.device = time(scenario_.device, scenario_.device.precision, head_, tokens, context);
  if (context == Tokens(0)) result.device += preparation(tokens);
  if (scenario_.on_device()) return result;
  result.leaves_device = true;
  const ModelPart tail = tail_;
  result.edge = time(scenario_.edge, scenario_.edge.precision, tail, tokens, context);
  for (Tokens token{1}; token < output; token += Tokens(1)) {
    result.edge += time(scenario_.edge, scenario_.edge.precision, tail, Tokens(1), tokens + token - Tokens(1));
  }
  result.downlink = with_headers(output.value() * token_id);
  add_message(result, tokens);
  return result;
}

Duration Costs::preparation(Tokens prompt) const {
  const DeviceConfig& device = scenario_.device;
  const Duration tokenisation = prompt.value() * device.tokenisation;
  return device.front_end ? tokenisation + network_time(device, device.precision, *device.front_end) : tokenisation;
}

void Costs::add_message(Pass& pass, Tokens tokens) {
  if (scenario_.raw_input()) {
    pass.payload = tokens.value() * token_id;
  } else {
    const Shape shape{.tokens = tokens.value(), .hidden = scenario_.llm.hidden};
    const std::int64_t values = shape.tokens * shape.hidden;
    const CodecWork encode = codec_->encode_work(shape);
    const CodecWork decode = codec_->decode_work(shape);
    pass.payload = codec_->encoded_size(shape);
    pass.encode = codec_time(scenario_.device, scenario_.device.precision, {encode.operations, encode.moved}, values);
    pass.decode = codec_time(scenario_.edge, scenario_.edge.precision, {decode.operations, decode.moved}, values);
  }
  pass.uplink = with_headers(pass.payload);
}

Bytes Costs::with_headers(Bytes payload) const {
  const auto* udp = std::get_if<UdpTransport>(&scenario_.transport);
  if (udp == nullptr) return payload;
  const std::int64_t room = (udp->mtu - udp->headers).value();
  TRILEMMA_ENSURE(room > 0, "a packet has room for payload");
  const std::int64_t packets = std::max<std::int64_t>(1, (payload.value() + room - 1) / room);
  return payload + packets * udp->headers;
}

Bytes Costs::uncompressed(Tokens prompt) const {
  if (scenario_.on_device() || scenario_.raw_input()) return Bytes(0);
  return codec_->reference_size({.tokens = prompt.value(), .hidden = scenario_.llm.hidden});
}

}  // namespace trilemma
