#include "tests/property/random_scenario.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/config/writer.h"
#include "models/radio/frame_grid.h"
#include "sim/experiment.h"
#include "tests/property/draw.h"

namespace trilemma::test {
namespace {

constexpr std::uint32_t master_seed = 20260101;

LlmConfig random_llm(Draw& draw) {
  LlmConfig llm{.title = "random", .source = "drawn"};
  llm.layers = draw.whole(1, 8);
  llm.kv_heads = draw.one_of<std::int64_t>({1, 2, 4});
  llm.heads = llm.kv_heads * draw.one_of<std::int64_t>({1, 2});
  llm.head_size = draw.one_of<std::int64_t>({4, 8, 16});
  llm.hidden = llm.heads * llm.head_size;
  llm.feed_forward = llm.hidden * draw.whole(1, 4);
  llm.feed_forward_matrices = draw.whole(2, 3);
  llm.vocabulary = draw.whole(16, 2000);
  llm.tied_embeddings = draw.chance(0.5);
  llm.attention_bias = draw.chance(0.3);
  llm.context = Tokens(draw.one_of<std::int64_t>({64, 512, 4096}));
  return llm;
}

Cut random_cut(Draw& draw, std::int64_t layers) {
  switch (draw.whole(0, 5)) {
    case 0:
      return {0};
    case 1:
      return {layers};
    case 2:
      return {std::nullopt};
    case 3:
      return {1};
    default:
      return {draw.whole(1, layers)};
  }
}

/// `processor` gets a rate for the precision that it is to run, most of the time.
void draw_processor(Draw& draw, ProcessorConfig& processor, Precision precision) {
  processor.title = "random";
  processor.memory = draw.chance(0.9) ? Bytes(std::int64_t{8} << 30) : Bytes(draw.whole(1'000, 1'000'000));
  if (draw.chance(0.2)) processor.storage = Bytes(draw.whole(10'000, 100'000'000));
  processor.bandwidth = ByteRate(std::round(draw.magnitude(1e8, 1e12)));
  processor.quantisation_block = draw.one_of<std::int64_t>({0, 32, 128});
  for (const Precision known : {Precision::fp32, draw.chance(0.95) ? precision : Precision::fp16}) {
    processor.rates.push_back({.precision = known,
                               .compute = OperationRate(std::round(draw.magnitude(1e9, 1e14))),
                               .compute_efficiency = Fraction(draw.whole(5, 100) / 100.0),
                               .memory_efficiency = Fraction(draw.whole(5, 100) / 100.0)});
    PrecisionRate& rate = processor.rates.back();
    if (draw.chance(0.5)) rate.per_call = draw.time(1us, 1ms);
    if (draw.chance(0.5)) rate.per_layer = draw.time(100ns, 200us);
    if (draw.chance(0.3)) rate.overlap = Fraction(draw.whole(0, 100) / 100.0);
    if (draw.chance(0.3)) rate.attention_efficiency = Fraction(draw.whole(1, 100) / 100.0);
    if (draw.chance(0.2)) rate.chunk = draw.whole(1, 200);
    if (draw.chance(0.2)) rate.cache_tokens = Tokens(draw.whole(1, 2000));
    if (draw.chance(0.3)) rate.cache_bits = draw.one_of({4.0, 8.0, 32.0});
    if (draw.chance(0.3)) rate.head_bits = draw.one_of({4.5, 8.0, 16.0});
    if (draw.chance(0.5)) rate.spread = Fraction(draw.whole(0, 40) / 100.0);
    if (draw.chance(0.3)) {
      rate.uncertain = {"memory_efficiency", "compute_efficiency"};
      rate.covariance = {0.01, 0.005, 0.04};
    }
  }
  if (draw.chance(0.2))
    processor.signal = SignalProcessor{.rate = OperationRate(std::round(draw.magnitude(1e6, 1e12)))};
  if (draw.chance(0.1))
    processor.signal = SignalPipeline{.values = EventRate(std::round(draw.magnitude(1e4, 1e9))), .fill = 10us};
  processor.source = "drawn";
}

Precision random_precision(Draw& draw) {
  return config::names<Precision>[static_cast<std::size_t>(draw.whole(0, 6))].value;
}

NumberFormat random_format(Draw& draw) {
  return draw.one_of({NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16});
}

CodecConfig random_codec(Draw& draw) {
  if (draw.chance(0.4)) return IdentityCodec{.format = random_format(draw)};
  const auto coefficients = config::names<NumberFormat>[static_cast<std::size_t>(draw.whole(0, 4))].value;
  const double ratio = draw.chance(0.2) ? 1 : std::round(draw.magnitude(1, 20) * 10) / 10;
  return FourierCodec{.ratio = ratio, .coefficients = coefficients, .reference = random_format(draw)};
}

TransportConfig random_transport(Draw& draw) {
  if (draw.chance(0.4)) return NoTransport{};
  if (draw.chance(0.5)) return UdpTransport{};
  return UdpTransport{.mtu = Bytes(draw.whole(64, 9000)), .headers = Bytes(draw.whole(0, 63))};
}

std::vector<TraceRow> random_trace(Draw& draw, std::int64_t clients) {
  std::vector<TraceRow> rows;
  Instant time{0};
  const Duration gap = draw.time(1us, 50ms);
  for (auto left = draw.whole(20, 100); left > 0; --left) {
    TraceRow row{.time = time, .client = draw.whole(0, clients - 1), .prompt = {}, .output = {}};
    if (draw.chance(0.5)) row.prompt = Tokens(draw.whole(1, 32));
    if (draw.chance(0.3)) row.output = Tokens(draw.whole(1, 4));
    rows.push_back(row);
    if (draw.chance(0.7)) time += Duration(draw.whole(0, gap.count()));  // bursts and exact ties included
  }
  return rows;
}

Duration random_think(Draw& draw) { return draw.chance(0.3) ? 0ns : draw.time(100us, 100ms); }

void draw_site(Draw& draw, SiteConfig& site) {
  site.servers = draw.whole(1, 3);
  site.balancer = draw.one_of({Balancer::round_robin, Balancer::join_shortest_queue, Balancer::power_of_two});
  site.scheduling = draw.one_of({Scheduling::fcfs, Scheduling::priority, Scheduling::sjf});
  site.kv_cache.block = draw.whole(1, 32);
  if (draw.chance(0.2)) {
    site.tensor_parallel = site.count;
    if (site.count > 1)
      site.interconnect =
          InterconnectConfig{.rate = ByteRate(draw.whole(1, 100) * 1e9), .latency = draw.time(1us, 50us)};
  }
  if (draw.chance(0.2)) site.drop = DropBeyond{.limit = draw.whole(0, 20)};
  if (draw.chance(0.3)) return;
  BatchingConfig& batching = site.batching.emplace();
  batching.kind = draw.one_of({Batching::static_batch, Batching::dynamic, Batching::continuous});
  if (batching.kind != Batching::continuous || draw.chance(0.5)) batching.max_batch = draw.whole(1, 16);
  if (batching.kind == Batching::dynamic && draw.chance(0.7)) batching.max_wait = draw.time(1us, 5ms);
  if (batching.kind == Batching::continuous && draw.chance(0.5)) batching.max_tokens = draw.whole(1, 100);
}

/// A cloud behind the edge, or a draft model on the device, where the cut allows it.
void draw_tiers(Draw& draw, Scenario& scenario) {
  if (!scenario.cut.layers || scenario.target) return;
  if (draw.chance(0.15)) {
    CloudConfig& cloud = scenario.cloud.emplace();
    cloud.precision = random_precision(draw);
    draw_processor(draw, cloud, cloud.precision);
    draw_site(draw, cloud);
    cloud.rtt = draw.time(1us, 20ms);
    scenario.cut.cloud = draw.whole(*scenario.cut.layers, scenario.model().layers);
  }
  if (!scenario.is_remote() || longest(scenario.workload.output) == Tokens(1) || draw.chance(0.7)) return;
  SpeculationConfig& speculation = scenario.speculation.emplace();
  speculation.draft = scenario.llm;
  speculation.tokens = draw.whole(1, 5);
  speculation.acceptance = Fraction(draw.whole(0, 100) / 100.0);
}

void draw_workload(Draw& draw, Scenario& scenario) {
  WorkloadConfig& workload = scenario.workload;
  workload.clients = draw.chance(0.2) ? 1 : draw.whole(1, 60);
  workload.prompt = FixedLength{Tokens(draw.chance(0.2) ? 1 : draw.whole(1, 48))};
  workload.output = FixedLength{Tokens(draw.chance(0.5) ? 1 : draw.whole(2, 4))};
  const std::int64_t requests = draw.whole(20, 150);
  // Mean time between requests of all clients together.
  const Duration gap = draw.time(10us, 100ms);
  const Duration own_gap = gap * workload.clients;
  switch (draw.whole(0, 5)) {
    case 0:
    case 1:
      workload.arrivals = PoissonArrivals{.rate = EventRate(std::round(1e12 / to_seconds(own_gap)) / 1e12)};
      break;
    case 2:
      workload.arrivals = PeriodicArrivals{.period = own_gap, .jitter = Duration(draw.whole(0, own_gap.count()))};
      break;
    case 3:
      workload.arrivals = PeriodicArrivals{.period = own_gap, .aligned = true};
      break;
    case 4:
      workload.arrivals = ClosedArrivals{.think = random_think(draw)};
      scenario.requests = requests;
      return;
    default:
      workload.arrivals = TraceArrivals{.file = "trace.csv", .time_unit = 1ns};
      scenario.trace = random_trace(draw, workload.clients);
      if (draw.chance(0.5)) return;
  }
  if (draw.chance(0.5)) {
    scenario.requests = requests;
  } else {
    scenario.duration = requests * gap;
    if (draw.chance(0.3)) scenario.warmup = *scenario.duration / 4;
  }
}

std::string random_frame(Draw& draw) {
  if (draw.chance(0.2)) return std::string(full_uplink);
  if (draw.chance(0.2)) return "DDDSU";
  std::string frame;
  for (auto left = draw.whole(1, 9); left > 0; --left) frame += draw.one_of({'D', 'S', 'U'});
  return frame;
}

SpecialSlot random_special(Draw& draw) {
  if (draw.chance(0.5)) return {};
  const std::int64_t guard = draw.whole(1, 4);
  const std::int64_t uplink = draw.whole(0, symbols_per_slot - guard);
  return {.downlink = symbols_per_slot - guard - uplink, .guard = guard, .uplink = uplink};
}

/// Half of the placements lie in the outer part of what the environment allows, where links are bad.
Metres random_distance(Draw& draw, const DistanceRange& range) {
  const double outer = range.max.value();
  const double whole = std::round(draw.chance(0.5) ? draw.real(outer / 2, outer) : draw.magnitude(10, outer));
  return Metres(whole);
}

PlacementConfig random_placement(Draw& draw, Environment environment) {
  const DistanceRange range = distance_range(environment);
  const Metres far = random_distance(draw, range);
  if (draw.chance(0.5)) return RingPlacement{.distance = draw.chance(0.1) ? draw.one_of({range.min, range.max}) : far};
  return DiscPlacement{.radius = far, .nearest = range.min};
}

NrRadio random_nr(Draw& draw) {
  NrRadio radio;
  radio.carrier = Frequency(draw.one_of({26e9, 28e9, 39e9, 60e9}));
  radio.numerology = draw.one_of<std::int64_t>({2, 3, 5, 6});
  const auto bandwidths = channel_bandwidths(static_cast<int>(radio.numerology), radio.carrier);
  radio.bandwidth = bandwidths[static_cast<std::size_t>(draw.whole(0, std::ssize(bandwidths) - 1))];
  radio.frame = random_frame(draw);
  radio.special = random_special(draw);
  radio.access = draw.one_of({Access::dynamic, Access::configured_grant});
  radio.symbols = draw.one_of<std::int64_t>({2, 4, 7, 14, 14});
  radio.mcs_table = draw.one_of({McsTable::qam64, McsTable::qam256, McsTable::qam64_low_se});
  radio.layers = draw.whole(1, 4);
  radio.capability = radio.numerology == 2 && draw.chance(0.5) ? UeCapability::two : UeCapability::one;
  radio.harq = {.max_transmissions = draw.whole(1, 6), .target = Fraction(draw.one_of({0.1, 0.01, 1e-5, 0.5}))};
  radio.environment = config::names<Environment>[static_cast<std::size_t>(draw.whole(0, 7))].value;
  radio.placement = random_placement(draw, radio.environment);
  radio.line_of_sight = draw.one_of({LineOfSight::drawn, LineOfSight::always, LineOfSight::never});
  radio.shadowing = draw.one_of({Shadowing::on, Shadowing::off});
  if (draw.chance(0.3)) radio.device.power = PowerLevel(static_cast<double>(draw.whole(-10, 23)));
  if (draw.chance(0.3)) radio.base_station.gain = Decibels(static_cast<double>(draw.whole(0, 30)));
  if (draw.chance(0.2)) radio.device.height = Metres(static_cast<double>(draw.whole(1, 10)));
  return radio;
}

RadioConfig random_radio(Draw& draw) {
  if (draw.chance(0.1)) return NoRadio{};
  if (draw.chance(0.2)) {
    return FixedRadio{.rate = BitRate(std::round(draw.magnitude(1e6, 1e11))),
                      .delay = draw.chance(0.3) ? 0ns : draw.time(1us, 5ms)};
  }
  return random_nr(draw);
}

LinkConfig random_backhaul(Draw& draw) {
  const BitRate rate(std::round(draw.magnitude(1e6, 1e12)));
  switch (draw.whole(0, 3)) {
    case 0:
      return NoLink{};
    case 1:
      return FixedLink{.rate = rate, .delay = draw.chance(0.3) ? 0ns : draw.time(1us, 5ms)};
    default:
      return FibreLink{.length = Metres(std::round(draw.magnitude(1, 1e6))),
                       .rate = rate,
                       .switches = draw.whole(0, 4),
                       .switch_latency = Duration(draw.whole(0, 5'000)),
                       .frame = Bytes(draw.one_of<std::int64_t>({64, 1500, 9000})),
                       .frame_overhead = Bytes(draw.whole(0, 60))};
  }
}

template <class T>
void add_problems(const T& value, std::vector<std::string>& found) {
  if constexpr (config::is_variant<T>) {
    std::visit([&](const auto& chosen) { add_problems(chosen, found); }, value);
  } else if constexpr (config::is_optional<T>) {
    if (value) add_problems(*value, found);
  } else if constexpr (config::Struct<T>) {
    std::apply([&](const auto&... field) { (add_problems(value.*field.member, found), ...); }, T::fields());
    if constexpr (config::SelfChecking<T>) {
      // A whole is judged once its parts are sound, as the reader does.
      if (!found.empty()) return;
      for (const auto& problem : value.problems()) found.push_back(problem.key + " " + problem.problem);
    }
  }
}

}  // namespace

Scenario random_scenario(std::uint32_t number) {
  Draw draw(master_seed, number);
  Scenario scenario{.name = fmt::format("random-{}", number)};
  scenario.seed = draw.whole(1, 1'000'000);
  if (draw.chance(0.2)) scenario.jitter = Switch::on;
  if (draw.chance(0.2)) scenario.uncertainty = Switch::on;
  scenario.llm = random_llm(draw);
  if (draw.chance(0.2)) {
    scenario.pruning = {.heads = Fraction(draw.whole(0, 90) / 100.0),
                        .feed_forward = Fraction(draw.whole(0, 90) / 100.0),
                        .layers = draw.whole(0, scenario.llm.layers - 1)};
  }
  scenario.cut = random_cut(draw, scenario.model().layers);
  if (draw.chance(0.2)) scenario.device.tokenisation = draw.time(1us, 1ms);
  if (draw.chance(0.1)) scenario.device.front_end = NetworkConfig{.convolution = Operations(5e6), .parameters = 25'000};
  scenario.device.precision = random_precision(draw);
  draw_processor(draw, scenario.device, scenario.device.precision);
  scenario.edge.precision = random_precision(draw);
  draw_processor(draw, scenario.edge, scenario.edge.precision);
  scenario.edge.count = draw.whole(1, 4);
  scenario.codec = random_codec(draw);
  scenario.transport = random_transport(draw);
  draw_workload(draw, scenario);
  scenario.radio = random_radio(draw);
  scenario.cells = std::min(draw.whole(1, 4), scenario.workload.clients);
  scenario.backhaul = random_backhaul(draw);
  if (draw.chance(0.7)) {
    scenario.target = TargetConfig{.latency = draw.time(100us, 100ms),
                                   .reliability = Fraction(draw.one_of({0.5, 0.9, 0.99, 0.99999}))};
  }
  Draw servers(20261203, number);
  if (servers.chance(0.5)) draw_site(servers, scenario.edge);
  scenario.workload.stream = servers.chance(0.7);
  draw_tiers(servers, scenario);
  return scenario;
}

std::vector<std::string> problems_of(const Scenario& scenario) {
  std::vector<std::string> found;
  add_problems(scenario, found);
  Scenario sized = scenario;
  for (const TraceRow& row : scenario.trace) {
    sized.workload.prompt = FixedLength{row.prompt.value_or(longest(scenario.workload.prompt))};
    sized.workload.output = FixedLength{row.output.value_or(longest(scenario.workload.output))};
    if (!found.empty()) return found;
    for (const auto& problem : sized.problems()) found.push_back(problem.key + " " + problem.problem);
  }
  return found;
}

std::string as_yaml(const Scenario& scenario) {
  std::string text = config::to_yaml(scenario_to_json(scenario), {});
  // Nothing here came from a file, so the origin of each value says nothing.
  const std::string_view origin = "  # built-in";
  for (std::size_t at = text.find(origin); at != std::string::npos; at = text.find(origin, at)) {
    const std::size_t end = text.find_last_not_of(' ', at) + 1;
    text.erase(end, at + origin.size() - end);
  }
  if (scenario.trace.empty()) return text;
  text += "# trace.csv\n# time,client,prompt,output\n";
  for (const TraceRow& row : scenario.trace) {
    text += fmt::format("# {},{},{},{}\n", row.time.count(), row.client,
                        row.prompt.value_or(longest(scenario.workload.prompt)).value(),
                        row.output.value_or(longest(scenario.workload.output)).value());
  }
  return text;
}

}  // namespace trilemma::test
