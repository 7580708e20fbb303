#include "sim/costs.h"

#include "core/ensure.h"
#include "models/processor/roofline.h"

namespace trilemma {
namespace {

WorkSum operator+(const WorkSum& a, const WorkSum& b) {
  return {a.codec + b.codec, a.model + b.model, a.passes + b.passes};
}
WorkSum operator-(const WorkSum& a, const WorkSum& b) {
  return {a.codec - b.codec, a.model - b.model, a.passes - b.passes};
}
WorkSum sum_of(const SiteWork& work) {
  if (!work.any()) return {};
  return {.codec = work.before, .model = work.model, .passes = work.outputs.value()};
}
PassSum sum_of(const Pass& pass) {
  PassSum sum{.edge = sum_of(pass.edge), .cloud = sum_of(pass.cloud)};
  if (pass.on_device() > Duration{0}) sum.device = {.codec = pass.encode, .model = pass.device, .passes = 1};
  return sum;
}

}  // namespace

PassSum operator+(const PassSum& a, const PassSum& b) {
  return {a.device + b.device, a.edge + b.edge, a.cloud + b.cloud};
}
PassSum operator-(const PassSum& a, const PassSum& b) {
  return {a.device - b.device, a.edge - b.edge, a.cloud - b.cloud};
}

Costs::Costs(const Scenario& scenario)
    : scenario_(scenario), llm_(scenario.model()), codec_(make_codec(scenario.codec)) {
  const auto step = [&](const EdgeConfig& tier, Station station) {
    return RooflineStep(tier, tier.precision, tier, {{llm_, scenario.part(station)}});
  };
  if (!scenario.on_device()) edge_step_.emplace(step(scenario.edge, Station::edge));
  if (!scenario.uses_cloud()) return;
  cloud_step_.emplace(step(*scenario.cloud, Station::cloud));
  cloud_codec_ = make_codec(scenario.cloud->codec.value_or(scenario.codec));
}

Pass Costs::prefill(Tokens prompt, Tokens output) {
  const auto [entry, added] = prefills_.try_emplace(prompt.value(), Pass{});
  if (added) entry->second = pass(prompt, Tokens(0));
  Pass first = entry->second;
  if (!scenario_.is_remote() || scenario_.speculation) return first;
  // The site goes on by itself.
  SiteWork& work = first.edge.any() ? first.edge : first.cloud;
  work.outputs = output;
  if (output > Tokens(1)) {
    const PassSum further = decoded(prompt + output - Tokens(1)) - decoded(prompt);
    work.model += first.edge.any() ? further.edge.model : further.cloud.model;
  }
  add_answer(first, output);
  return first;
}

const Pass& Costs::decode(Tokens sequence) {
  (void)decoded(sequence);
  return decodes_[static_cast<std::size_t>(sequence.value() - 1)];
}

PassSum Costs::decoded(Tokens sequence) {
  if (decoded_.empty()) decoded_.emplace_back();
  while (std::ssize(decodes_) < sequence.value()) {
    decodes_.push_back(pass(Tokens(1), Tokens(std::ssize(decodes_))));
    decoded_.push_back(decoded_.back() + sum_of(decodes_.back()));
  }
  return decoded_[static_cast<std::size_t>(sequence.value())];
}

Bill Costs::bill(Tokens prompt, Tokens output) {
  const Pass first = prefill(prompt, output);
  Bill bill{.work = sum_of(first)};
  const auto add = [&](const Pass& pass, std::int64_t count) {
    if (pass.uplink > Bytes(0)) bill.uplink.push_back({pass.uplink, count});
    if (pass.to_cloud > Bytes(0)) bill.to_cloud.push_back({pass.to_cloud, count});
    if (pass.from_cloud > Bytes(0)) bill.from_cloud.push_back({pass.from_cloud, count});
    if (pass.downlink > Bytes(0) && !scenario_.raw_input()) bill.downlink.push_back({pass.downlink, count});
  };
  add(first, 1);
  if (scenario_.speculation) {
    bill.downlink.push_back({first.downlink, 1});
    add_rounds(bill, prompt, output);
    return bill;
  }
  if (const std::int64_t further = trips(output) - 1; further > 0) {
    bill.work = bill.work + (decoded(prompt + output - Tokens(1)) - decoded(prompt));
    add(decode(prompt + Tokens(1)), further);
  }
  if (!scenario_.raw_input()) return bill;
  bill.downlink.push_back({first.is_streamed ? first.downlink : answer(output), 1});
  if (!first.is_streamed) return bill;
  bill.streamed = {first.downlink, output.value() - 1};
  if (first.token_over_wan == Bytes(0)) return bill;
  bill.from_cloud.push_back({first.token_over_wan, 1});
  bill.streamed_over_wan = {first.token_over_wan, output.value() - 1};
  return bill;
}

void Costs::add_rounds(Bill& bill, Tokens prompt, Tokens output) {
  const std::int64_t most = scenario_.speculation->tokens;
  const auto add = [&](std::int64_t drafts, std::int64_t count) {
    if (count == 0) return;
    const Pass pass = round(prompt, drafts);
    const PassSum once = sum_of(pass);
    for (std::int64_t i = 0; i < count; ++i) bill.work = bill.work + once;
    bill.uplink.push_back({pass.uplink, count});
    bill.downlink.push_back({pass.downlink, count});
    if (scenario_.uses_cloud()) bill.to_cloud.push_back({pass.to_cloud, count});
    if (scenario_.uses_cloud()) bill.from_cloud.push_back({pass.from_cloud, count});
  };
  // The first trip has found one token; a round finds one more than it drafts.
  const std::int64_t left = output.value() - 1;
  add(most, left / (most + 1));
  if (const std::int64_t rest = left % (most + 1); rest > 0) add(rest - 1, 1);
}

/// `tokens` new tokens after `context` ones that are in the caches.
Pass Costs::pass(Tokens tokens, Tokens context) {
  Pass result;
  add_device(result, {tokens, context});
  if (scenario_.on_device()) return result;
  // Where the device has none of the model, later trips begin behind it.
  if (!scenario_.raw_input() || context == Tokens(0)) add_message(result, tokens);
  if (scenario_.uses_cloud()) add_hop_to_cloud(result, tokens);
  const auto run = [&](SiteWork& work, const std::optional<RooflineStep>& step, Station station) {
    if (scenario_.part(station).empty()) return;
    const StepPart whole{.fresh = tokens, .cached = context};
    work.fresh = tokens;
    work.model = step->time({&whole, 1});
  };
  run(result.edge, edge_step_, Station::edge);
  if (scenario_.uses_cloud()) run(result.cloud, cloud_step_, Station::cloud);
  add_answer(result, Tokens(1));
  return result;
}

void Costs::add_answer(Pass& pass, Tokens output) {
  pass.is_streamed = scenario_.raw_input() && scenario_.workload.stream && !scenario_.speculation;
  pass.downlink = answer(pass.is_streamed ? Tokens(1) : output);
  if (!scenario_.uses_cloud()) return;
  const bool nobody_waits = pass.is_streamed && scenario_.is_remote();
  (nobody_waits ? pass.token_over_wan : pass.from_cloud) = pass.downlink;
}

void Costs::add_device(Pass& pass, PassTokens tokens) {
  pass.device = on_device(llm_, scenario_.part(Station::device), tokens);
  if (tokens.cached == Tokens(0)) pass.device += preparation(tokens.fresh);
}

Duration Costs::on_device(const LlmConfig& llm, const ModelPart& part, PassTokens tokens) const {
  return run_time(scenario_.device, scenario_.device.precision, {llm, part, tokens});
}

Duration Costs::preparation(Tokens prompt) const {
  const DeviceConfig& device = scenario_.device;
  const Duration tokenisation = prompt.value() * device.tokenisation;
  return device.front_end ? tokenisation + network_time(device, device.precision, *device.front_end) : tokenisation;
}

/// From the device to the first site that has any of the model.
void Costs::add_message(Pass& pass, Tokens tokens) {
  if (scenario_.raw_input()) {
    pass.payload = tokens.value() * token_id;
  } else {
    const Shape shape{.tokens = tokens.value(), .hidden = scenario_.llm.hidden};
    const std::int64_t values = shape.tokens * shape.hidden;
    const CodecWork encode = codec_->encode_work(shape);
    const CodecWork decode = codec_->decode_work(shape);
    const bool is_for_edge = !scenario_.part(Station::edge).empty();
    const EdgeConfig& decoder = is_for_edge ? scenario_.edge : *scenario_.cloud;
    pass.payload = codec_->encoded_size(shape);
    pass.encode = codec_time(scenario_.device, scenario_.device.precision, {encode.operations, encode.moved}, values);
    (is_for_edge ? pass.edge : pass.cloud).before =
        codec_time(decoder, decoder.precision, {decode.operations, decode.moved}, values);
  }
  pass.uplink = with_headers(pass.payload);
}

/// From the edge to the cloud: what came if the edge has none of the model, activations otherwise.
void Costs::add_hop_to_cloud(Pass& pass, Tokens tokens) {
  pass.to_cloud = pass.uplink;
  if (scenario_.part(Station::edge).empty()) return;
  const Shape shape{.tokens = tokens.value(), .hidden = scenario_.llm.hidden};
  const std::int64_t values = shape.tokens * shape.hidden;
  const CodecWork encode = cloud_codec_->encode_work(shape);
  const CodecWork decode = cloud_codec_->decode_work(shape);
  pass.edge.before += codec_time(scenario_.edge, scenario_.edge.precision, {encode.operations, encode.moved}, values);
  pass.cloud.before =
      codec_time(*scenario_.cloud, scenario_.cloud->precision, {decode.operations, decode.moved}, values);
  pass.to_cloud = with_headers(cloud_codec_->encoded_size(shape));
}

Duration Costs::draft_prefill(Tokens prompt) {
  const LlmConfig& draft = scenario_.speculation->draft;
  return on_device(draft, whole_model(draft), {prompt});
}

Pass Costs::round(Tokens context, std::int64_t drafts) {
  const LlmConfig& draft = scenario_.speculation->draft;
  // The token found last and the drafts go through the model behind the device at once.
  Pass result = pass(Tokens(drafts + 1), context);
  const bool is_at_edge = result.edge.any();
  SiteWork& work = is_at_edge ? result.edge : result.cloud;
  const StepPart checked{.fresh = work.fresh, .cached = context, .heads = drafts + 1};
  work.heads = drafts + 1;
  work.model = (is_at_edge ? *edge_step_ : *cloud_step_).time({&checked, 1});
  result.device = Duration{0};
  for (std::int64_t i = 0; i < drafts; ++i) {
    result.device += on_device(draft, whole_model(draft), {Tokens(1), context + Tokens(i)});
  }
  result.payload = token_id + drafts * scenario_.speculation->token_bytes;
  result.uplink = with_headers(result.payload);
  result.to_cloud = scenario_.uses_cloud() ? result.uplink : Bytes(0);
  result.downlink = with_headers(token_id + Bytes(1));  // how many were accepted, and the token after them
  if (scenario_.uses_cloud()) result.from_cloud = result.downlink;
  return result;
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
