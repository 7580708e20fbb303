#include "analysis/calibration/measurement.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "core/config/text.h"
#include "core/csv.h"
#include "core/ensure.h"
#include "models/llm/work.h"
#include "models/processor/roofline.h"
#include "sim/experiment.h"

namespace trilemma {
namespace {

/// More than three years.
constexpr long double longest_s = 1e8L;

using config::printable;
using config::Text;

CsvColumns columns() {
  return {.required = {"use", "model", "precision", "metric", "value"},
          .optional = {"prompt", "output", "context", "batch", "weight_bytes", "operations", "runtime", "version",
                       "date", "source", "confidence", "note"},
          .row = "a measurement"};
}

class MeasurementReader {
 public:
  MeasurementReader(const std::filesystem::path& path, const std::string& shown, const config::Catalogue& catalogue)
      : csv_(path, shown, columns()), catalogue_(catalogue) {}

  std::vector<Measurement> read() {
    while (csv_.next()) add();
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { csv_.fail(problem); }

  [[nodiscard]] std::string cell(const std::string& column) const { return csv_.cell(column); }

  std::int64_t count(const std::string& column, std::int64_t absent, std::int64_t min) const {
    const std::string text = cell(column);
    if (text.empty()) return absent;
    const auto parsed = Text<std::int64_t>::parse(text);
    if (const auto* problem = std::get_if<std::string>(&parsed))
      fail(fmt::format("{}: '{}' {}", column, printable(text), *problem));
    const std::int64_t value = std::get<std::int64_t>(parsed);
    const bool sizes = column == "weight_bytes" || column == "operations";
    const std::int64_t most = sizes ? 1'000'000'000'000'000 : 10'000'000;
    if (value < min || value > most)
      fail(fmt::format("{}: '{}' is outside {} to {}; write a count", column, printable(text), min, most));
    return value;
  }

  LlmConfig llm(const std::string& name) {
    const auto known = llms_.find(name);
    if (known != llms_.end()) return known->second;
    if (!catalogue_.contains("llms", name)) {
      const std::string close = config::nearest(name, catalogue_.names("llms"));
      fail(fmt::format("model: '{}' is not in configs/llms; {}", printable(name),
                       close.empty() ? "write the name of a file there" : fmt::format("write '{}'", close)));
    }
    return llms_[name] = read_part<LlmConfig>(catalogue_, "llms", name);
  }

  /// Time of what was measured, from a time or from a rate of `tokens`.
  Duration time(std::int64_t tokens) const {
    constexpr std::string_view advice = "write for example '17.9 token/s' or '55.8 ms'";
    const std::string text = cell("value");
    if (text.empty()) fail(fmt::format("value: is missing; {}", advice));
    constexpr std::string_view rate_unit = "token/s";
    Duration time{0};
    if (text.ends_with(rate_unit)) {
      std::string number = text.substr(0, text.size() - rate_unit.size());
      while (number.ends_with(' ')) number.pop_back();
      const auto parsed = Text<double>::parse(number);
      const auto* rate = std::get_if<double>(&parsed);
      if (rate == nullptr || !(*rate > 0))
        fail(fmt::format("value: '{}' is not a rate above 0; {}", printable(text), advice));
      const long double seconds = static_cast<long double>(tokens) / static_cast<long double>(*rate);
      if (seconds > longest_s)
        fail(fmt::format("value: '{}' would take more than three years; {}", printable(text), advice));
      time = to_duration(seconds);
    } else {
      const auto parsed = rounded_up(text);
      if (const auto* problem = std::get_if<std::string>(&parsed)) {
        fail(fmt::format("value: '{}' {}; {}", printable(text),
                         text.find_first_not_of("0123456789.+-eE") == std::string::npos
                             ? "has no unit"
                             : problem->substr(0, problem->find(';')),
                         advice));
      }
      time = std::get<Duration>(parsed);
    }
    if (time <= Duration{0}) fail(fmt::format("value: '{}' is not above 0; {}", printable(text), advice));
    return time;
  }

  /// A time; one with a fraction of a nanosecond is rounded up, since measured averages have as many digits as they
  /// like.
  static std::variant<Duration, std::string> rounded_up(const std::string& text) {
    auto exact = Text<Duration>::parse(text);
    const std::size_t end = text.find_last_of("0123456789.");
    if (std::holds_alternative<Duration>(exact) || end == std::string::npos) return exact;
    const auto number = Text<double>::parse(text.substr(0, end + 1));
    const auto unit = Text<Duration>::parse("1" + text.substr(end + 1));
    if (!std::holds_alternative<double>(number) || !std::holds_alternative<Duration>(unit)) return exact;
    const long double seconds =
        static_cast<long double>(std::get<double>(number)) * to_seconds(std::get<Duration>(unit));
    if (!(seconds >= 0) || seconds > longest_s) return exact;
    return to_duration(seconds);
  }

  void add() {
    Measurement row{.line = csv_.line(),
                    .purpose = csv_.word<Purpose>("use"),
                    .model = cell("model"),
                    .precision = csv_.word<Precision>("precision"),
                    .metric = csv_.word<Metric>("metric")};
    const bool network = row.is_network();
    if (network) {
      row.operations = Operations(static_cast<double>(count("operations", 0, 1)));
      if (row.operations == Operations(0))
        fail(fmt::format("operations: is missing; a row of metric '{}' needs two a multiply-add", cell("metric")));
      if (row.metric == Metric::convolution && cell("weight_bytes").empty())
        fail(
            "weight_bytes: is missing; a convolutional network has fewer weights than multiply-adds, write their "
            "bytes");
    } else {
      row.llm = llm(row.model);
    }
    const bool asks_prompt = row.metric != Metric::decode && !network;
    row.prompt = Tokens(count("prompt", asks_prompt ? 0 : 1, 1));
    if (row.prompt == Tokens(0))
      fail(fmt::format("prompt: is missing; a row of metric '{}' needs its number of tokens", cell("metric")));
    row.output = Tokens(count("output", 1, 1));
    const bool generates = row.metric == Metric::decode || row.metric == Metric::request;
    const std::int64_t usual = generates ? row.prompt.value() + row.output.value() / 2 : 0;
    row.context = Tokens(count("context", usual, 0));
    row.cache_stated = !cell("context").empty();
    row.batch = count("batch", 1, 1);
    if (!network && row.prompt + row.context > row.llm.context)
      fail(fmt::format("prompt: {} tokens with those in the cache exceed the context of {}, {}; check them",
                       (row.prompt + row.context).value(), row.model, row.llm.context.value()));
    if (const std::int64_t weights = count("weight_bytes", 0, 1); weights > 0) row.weights = Bytes(weights);
    const std::int64_t per_sequence = row.metric == Metric::decode    ? 1
                                      : row.metric == Metric::request ? row.output.value()
                                                                      : row.prompt.value();
    row.time = time(per_sequence * row.batch);
    row.runtime = cell("runtime");
    row.version = cell("version");
    row.source = cell("source");
    refuse_twin(row.time);
    found_.push_back(std::move(row));
  }

  /// The same row again would count twice, however its value is written.
  void refuse_twin(Duration time) {
    std::string key = std::to_string(time.count()) + '\n';
    for (const std::string& name : columns().all()) {
      if (name != "use" && name != "note" && name != "confidence" && name != "value") key += cell(name) + '\n';
    }
    const auto [twin, is_new] = keys_.emplace(key, csv_.line());
    if (!is_new) fail(fmt::format("repeats line {}; write each measurement once", twin->second));
  }

  CsvReader csv_;
  const config::Catalogue& catalogue_;
  std::map<std::string, LlmConfig> llms_;
  std::map<std::string, std::int64_t> keys_;
  std::vector<Measurement> found_;
};

/// Weights of a pass in the format that was measured, where the row says how many bytes they are.
void apply_weights(const Measurement& row, Work& work) {
  if (!row.weights) return;
  const double usual = static_cast<double>((work.layers * work.matrices.bytes + work.head.bytes).value());
  const double factor = static_cast<double>(row.weights->value()) / usual;
  const auto scaled = [&](Bytes bytes) { return Bytes(std::llround(static_cast<double>(bytes.value()) * factor)); };
  work.matrices.bytes = scaled(work.matrices.bytes);
  work.head.bytes = scaled(work.head.bytes);
}

Duration run(ProcessorConfig processor, const Measurement& row, const ModelPart& part, const PassTokens& tokens) {
  for (PrecisionRate& rate : processor.rates) {
    if (row.cache_stated && rate.cache_tokens) rate.cache_tokens = row.context;
  }
  Duration time{0};
  for_each_pass(processor, row.precision, {row.llm, part, tokens}, [&](Work work) {
    apply_weights(row, work);
    time += forward_time(processor, row.precision, work);
  });
  return time;
}

/// Without the call, of which this is a small part.
Duration one_block_without_attention(const ProcessorConfig& processor, const Measurement& row) {
  const ModelPart block{.first = 0, .last = 1};
  Work work = forward_work(row.llm, block, weight_format(processor, row.precision), {row.prompt, Tokens(0), row.batch});
  work.attention = {};
  return forward_time(processor, row.precision, work) - rate_for(processor, row.precision)->per_call;
}

/// Weights as many as make the row's bytes; a fully connected network has one a multiply-add.
NetworkConfig network(const ProcessorConfig& processor, const Measurement& row) {
  if (row.metric == Metric::fully_connected)
    return {.fully_connected = row.operations, .parameters = std::llround(row.operations.value() / 2)};
  const double bits = bits_per_weight(weight_format(processor, row.precision));
  return {.convolution = row.operations,
          .parameters = std::llround(static_cast<double>(row.weights->value()) * 8 / bits)};
}

}  // namespace

Duration predicted(const ProcessorConfig& processor, const Measurement& row) {
  const ModelPart whole = whole_model(row.llm);
  const PassTokens prompt{row.prompt, Tokens(0), row.batch};
  const PassTokens token{Tokens(1), row.context, row.batch};
  switch (row.metric) {
    case Metric::decode:
      return run(processor, row, whole, token);
    case Metric::prefill:
      return run(processor, row, whole, prompt);
    case Metric::blocks:
      return run(processor, row, {.first = 0, .last = row.llm.layers}, {row.prompt, row.context, row.batch});
    case Metric::matrices:
      return one_block_without_attention(processor, row);
    case Metric::fully_connected:
    case Metric::convolution:
      return network_time(processor, row.precision, network(processor, row));
    case Metric::request:
      return run(processor, row, whole, prompt) + (row.output.value() - 1) * run(processor, row, whole, token);
  }
  TRILEMMA_ENSURE(false, "every metric has a prediction");
  return {};
}

Duration hardware_bound(const ProcessorConfig& processor, const Measurement& row) {
  ProcessorConfig ideal = processor;
  for (PrecisionRate& rate : ideal.rates) {
    rate = {.precision = rate.precision,
            .compute = rate.compute,
            .cache_bits = rate.cache_bits,
            .head_bits = rate.head_bits};
  }
  return predicted(ideal, row);
}

std::vector<Measurement> read_measurements(const std::filesystem::path& path, const std::string& shown,
                                           const config::Catalogue& catalogue) {
  return MeasurementReader(path, shown, catalogue).read();
}

}  // namespace trilemma
