#include "models/processor/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/processor/sheet.h"

namespace trilemma {
namespace {

const PrecisionRate& known_rate(const ProcessorConfig& processor, Precision precision) {
  const PrecisionRate* rate = rate_for(processor, precision);
  TRILEMMA_ENSURE(rate != nullptr, "a processor runs only precisions that it has a rate for");
  return *rate;
}

/// Shares of the peaks that a kind of kernel reaches.
struct Shares {
  Fraction compute;
  Fraction memory;
};

Duration roof(const ProcessorConfig& processor, const PrecisionRate& rate, const Load& load, Shares shares) {
  const Duration compute = load.operations / (rate.compute * shares.compute.value());
  const Duration memory = load.bytes / (processor.bandwidth * shares.memory.value());
  const auto [shorter, longer] = std::minmax(compute, memory);
  return longer + to_duration((1 - rate.overlap.value()) * to_seconds(shorter));
}

/// Whether a lower triangle is positive semidefinite, as far as three digits show: no pivot of its Cholesky
/// decomposition is below 0.
bool is_covariance(const std::vector<double>& triangle, std::size_t size) {
  constexpr double rounding = 0.02;
  std::vector<double> root = triangle;
  const auto at = [&](std::size_t row, std::size_t column) -> double& { return root[row * (row + 1) / 2 + column]; };
  for (std::size_t i = 0; i < size; ++i) {
    const double variance = at(i, i);
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = at(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      if (i == j && sum < -rounding * variance) return false;
      if (i == j)
        at(i, i) = std::sqrt(std::max(sum, rounding * variance));
      else if (at(j, j) > 0)
        at(i, j) = sum / at(j, j);
      else if (sum != 0)
        return false;
    }
  }
  return true;
}

}  // namespace

std::vector<config::FieldProblem> PrecisionRate::problems() const {
  const std::size_t count = uncertain.size();
  for (const std::string& name : uncertain) {
    if (std::count(uncertain.begin(), uncertain.end(), name) > 1)
      return {{"uncertain", fmt::format("names {} twice; write it once", name)}};
    const auto is_it = [&](const auto& known) { return known.text == name; };
    if (std::any_of(config::names<Parameter>.begin(), config::names<Parameter>.end(), is_it)) continue;
    return {{"uncertain", fmt::format("has '{}', which is no fitted parameter; write those of a calibration", name)}};
  }
  if (count == 0 && !covariance.empty()) return {{"covariance", "is of no parameter; name them in 'uncertain'"}};
  if (covariance.size() != count * (count + 1) / 2) {
    return {{"covariance", fmt::format("has {} numbers for {} fitted parameters; write the {} of the lower triangle",
                                       covariance.size(), count, count * (count + 1) / 2)}};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double variance = covariance[i * (i + 3) / 2];
    if (variance >= 0 && variance <= 1) continue;
    return {{"covariance", fmt::format("has a variance outside 0 to 1 for {}; write the square of its error: of an "
                                       "efficiency's logarithm, the overlap, a cost in seconds",
                                       uncertain[i])}};
  }
  if (!is_covariance(covariance, count))
    return {{"covariance", "is of no distribution, some correlation is beyond 1; write that of the fit"}};
  return {};
}

const PrecisionRate* rate_for(const ProcessorConfig& processor, Precision precision) {
  for (const PrecisionRate& rate : processor.rates) {
    if (rate.precision == precision && rate.runtime == processor.runtime.value_or(rate.runtime)) return &rate;
  }
  return nullptr;
}

WeightFormat weight_format(const ProcessorConfig& processor, Precision precision) {
  const PrecisionRate* rate = rate_for(processor, precision);
  WeightFormat format{.precision = precision, .block = processor.quantisation_block};
  if (rate == nullptr) return format;
  format.head_bits = rate->head_bits;
  format.cache_bits = rate->cache_bits;
  return format;
}

Duration forward_time(const ProcessorConfig& processor, Precision precision, const Work& work) {
  if (!work.any) return Duration{0};
  const PrecisionRate& rate = known_rate(processor, precision);
  const Shares matrices{rate.compute_efficiency, rate.memory_efficiency};
  const Shares attention{rate.attention_efficiency.value_or(matrices.compute),
                         rate.cache_efficiency.value_or(matrices.memory)};
  const Duration block = rate.per_layer + roof(processor, rate, work.matrices, matrices) +
                         roof(processor, rate, work.attention, attention);
  return rate.per_call + work.layers * block + roof(processor, rate, work.head, matrices);
}

void for_each_pass(const ProcessorConfig& processor, Precision precision, const Run& run,
                   const std::function<void(const Work&)>& use) {
  if (run.part.empty()) return;
  const PrecisionRate& rate = known_rate(processor, precision);
  const WeightFormat format = weight_format(processor, precision);
  const auto pass = [&](Tokens fresh, Tokens cached) {
    if (rate.cache_tokens) cached = std::max(cached, *rate.cache_tokens - fresh);
    use(forward_work(run.llm, run.part, format, {fresh, cached, run.tokens.batch}));
  };
  const Tokens fresh = run.tokens.fresh;
  if (!rate.chunk || fresh == Tokens(1)) return pass(fresh, run.tokens.cached);
  const Tokens size(*rate.chunk);
  for (Tokens done{0}; done < fresh; done += size) pass(size, run.tokens.cached + done);
}

Duration run_time(const ProcessorConfig& processor, Precision precision, const Run& run) {
  Duration time{0};
  for_each_pass(processor, precision, run, [&](const Work& work) { time += forward_time(processor, precision, work); });
  return time;
}

Duration batch_time(const ProcessorConfig& processor, Precision precision, const BatchRun& run) {
  Work work = forward_work(run.llm, run.part, weight_format(processor, precision), run.tokens);
  if (run.ways > 1) {
    for (Load* load : {&work.matrices, &work.attention, &work.head}) {
      load->operations = load->operations * (1 / static_cast<double>(run.ways));
      load->bytes = Bytes((load->bytes.value() + run.ways - 1) / run.ways);
    }
  }
  return forward_time(processor, precision, work);
}

Bytes network_bytes(const ProcessorConfig& processor, Precision precision, const NetworkConfig& network) {
  const double bits = static_cast<double>(network.parameters) * bits_per_weight(weight_format(processor, precision));
  return Bytes(static_cast<std::int64_t>(std::ceil(bits / 8)));
}

Duration network_time(const ProcessorConfig& processor, Precision precision, const NetworkConfig& network) {
  const PrecisionRate& rate = known_rate(processor, precision);
  // A fully connected layer has one weight a multiply-add, which is two operations; the others belong to convolutions.
  const WeightFormat format = weight_format(processor, precision);
  const Bytes bytes = network_bytes(processor, precision, network);
  const Bytes connected =
      std::min(bytes, Bytes(std::llround(network.fully_connected.value() / 2 * bits_per_weight(format) / 8)));
  return rate.per_call +
         roof(processor, rate, {network.fully_connected, connected},
              {rate.compute_efficiency, rate.memory_efficiency}) +
         roof(processor, rate, {network.convolution, bytes - connected},
              {rate.convolution_efficiency.value_or(rate.compute_efficiency), rate.memory_efficiency});
}

Duration codec_time(const ProcessorConfig& processor, Precision precision, const Load& load, std::int64_t values) {
  if (load.operations == Operations(0) && load.bytes == Bytes(0)) return Duration{0};
  const PrecisionRate& rate = known_rate(processor, precision);
  if (!processor.signal) return roof(processor, rate, load, {rate.compute_efficiency, rate.memory_efficiency});
  if (const auto* pipeline = std::get_if<SignalPipeline>(&*processor.signal)) {
    return pipeline->fill + to_duration(static_cast<long double>(values) / pipeline->values.value());
  }
  const auto& unit = std::get<SignalProcessor>(*processor.signal);
  return unit.per_call +
         std::max(load.operations / unit.rate, load.bytes / (processor.bandwidth * rate.memory_efficiency.value()));
}

MemoryNeed memory_need(const ProcessorConfig& processor, const LlmConfig& llm, const ModelPart& part,
                       Precision precision, RequestTokens tokens) {
  if (part.empty()) return {};
  const WeightFormat format = weight_format(processor, precision);
  const PrecisionRate* rate = rate_for(processor, precision);
  const Tokens kept = rate == nullptr ? Tokens(0) : rate->cache_tokens.value_or(Tokens(0));
  const Tokens cached = std::max(tokens.prompt + tokens.output, kept);
  return {.weights = weight_bytes(llm, part, format),
          .kv = kv_bytes(llm, part, cached, format.cache_bits),
          .activations = activation_bytes(llm, tokens.prompt),
          .reserve = processor.reserve};
}

bool fits(const ProcessorConfig& processor, const MemoryNeed& need) {
  if (!processor.storage) return need.total() <= processor.memory;
  return need.weights <= *processor.storage && need.working() <= processor.memory;
}

Bytes capacity(const ProcessorConfig& processor) { return processor.memory + processor.storage.value_or(Bytes(0)); }

}  // namespace trilemma
