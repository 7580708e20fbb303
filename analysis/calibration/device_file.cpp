#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/calibration/calibration.h"
#include "analysis/table.h"
#include "core/config/text.h"

/// What a calibration looks like: the device file and the tables.
namespace trilemma {
namespace {

using config::name_of;
using config::Text;

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

/// Four digits, in the unit that a person would use.
std::string time_text(Duration time) {
  const auto ns = static_cast<double>(time.count());
  if (ns >= 1e6) return fmt::format("{:.4g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.4g} us", ns / 1e3);
  return fmt::format("{} ns", time.count());
}

/// What the median error on models that were not fitted should not exceed.
constexpr double decode_goal = 0.08;
constexpr double prefill_goal = 0.12;

double two_digits(double value) {
  if (value <= 0) return 0;
  const double step = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / step) * step;
}

const FittedParameter* fitted(const CalibratedRate& rate, Parameter parameter) {
  for (const FittedParameter& one : rate.parameters) {
    if (one.parameter == parameter) return &one;
  }
  return nullptr;
}

std::string origin(const CalibratedRate& rate, Parameter parameter) {
  const FittedParameter* one = fitted(rate, parameter);
  if (one == nullptr) return "given, see the sheet";
  std::string text = one->at_bound ? "fit, at the end of its range" : "fit";
  if (parameter == Parameter::per_call || parameter == Parameter::per_layer)
    return text + fmt::format(", +- {}", time_text(to_duration(two_digits(one->error))));
  return text + fmt::format(", +- {:.2g} {}", 100 * one->error, parameter == Parameter::overlap ? "points" : "%");
}

/// A double-quoted scalar of YAML.
std::string double_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (static_cast<unsigned char>(letter) < ' ')
      result += fmt::format("\\x{:02x}", letter);
    else
      result += letter;
  }
  return result + '"';
}

class RateWriter {
 public:
  explicit RateWriter(const CalibratedRate& calibrated) : calibrated_(calibrated) {}

  std::string write() {
    const PrecisionRate& rate = calibrated_.rate;
    text_ = fmt::format("  - precision: {}\n", name_of(rate.precision));
    if (!rate.runtime.empty()) text_ += fmt::format("    runtime: {}\n", double_quoted(rate.runtime));
    line("compute", Text<OperationRate>::format(rate.compute), "peak, see the sheet");
    line(Parameter::compute_efficiency, percent4(rate.compute_efficiency.value()));
    line(Parameter::memory_efficiency, percent4(rate.memory_efficiency.value()));
    if (rate.attention_efficiency) line(Parameter::attention_efficiency, percent4(rate.attention_efficiency->value()));
    if (rate.cache_efficiency) line(Parameter::cache_efficiency, percent4(rate.cache_efficiency->value()));
    if (rate.convolution_efficiency)
      line(Parameter::convolution_efficiency, percent4(rate.convolution_efficiency->value()));
    line(Parameter::overlap, percent4(rate.overlap.value()));
    line(Parameter::per_call, time_text(rate.per_call));
    line(Parameter::per_layer, time_text(rate.per_layer));
    if (rate.chunk) line("chunk", std::to_string(*rate.chunk), "given, see the sheet");
    if (rate.cache_tokens) line("cache_tokens", std::to_string(rate.cache_tokens->value()), "given, see the sheet");
    if (rate.cache_bits != 16) line("cache_bits", fmt::format("{}", rate.cache_bits), "given, see the sheet");
    if (rate.head_bits) line("head_bits", fmt::format("{}", *rate.head_bits), "given, see the sheet");
    write_errors();
    return text_;
  }

 private:
  static std::string percent4(double share) { return fmt::format("{:.4g} %", 100 * share); }

  void line(std::string_view key, const std::string& value, const std::string& comment) {
    text_ += fmt::format("    {:<32}# {}\n", fmt::format("{}: {} ", key, value), comment);
  }
  void line(Parameter parameter, const std::string& value) {
    line(name_of(parameter), value, origin(calibrated_, parameter));
  }

  void write_errors() {
    const PrecisionRate& rate = calibrated_.rate;
    std::size_t rows = 0;
    for (const Point& point : calibrated_.points) rows += point.row.purpose == Purpose::fit ? 1 : 0;
    if (!calibrated_.parameters.empty()) {
      line("spread", percent(rate.spread.value()), fmt::format("of {} rows about the fit", rows));
    }
    if (!rate.uncertain.empty()) {
      text_ += fmt::format("    uncertain: [{}]\n", fmt::join(rate.uncertain, ", "));
      std::vector<std::string> numbers;
      for (const double number : rate.covariance) numbers.push_back(fmt::format("{:.6g}", number));
      text_ += fmt::format("    covariance: [{}]  # {}\n", fmt::join(numbers, ", "), covariance_units());
    }
    write_error("decode_error", rate.decode_error, Phase::decode);
    write_error("prefill_error", rate.prefill_error, Phase::prefill);
    write_error("convolution_error", rate.convolution_error, Phase::convolution);
    text_ += fmt::format("    quality: {}\n", name_of(rate.quality.value_or(Quality::guess)));
  }

  [[nodiscard]] std::string covariance_units() const {
    const bool costs =
        fitted(calibrated_, Parameter::per_call) != nullptr || fitted(calibrated_, Parameter::per_layer) != nullptr;
    const bool overlap = fitted(calibrated_, Parameter::overlap) != nullptr;
    const std::size_t others = (overlap ? 1U : 0U) + (fitted(calibrated_, Parameter::per_call) != nullptr ? 1U : 0U) +
                               (fitted(calibrated_, Parameter::per_layer) != nullptr ? 1U : 0U);
    std::vector<std::string_view> parts;
    if (calibrated_.parameters.size() > others) parts.emplace_back("efficiencies' logarithms");
    if (overlap) parts.emplace_back("overlap itself");
    if (costs) parts.emplace_back("costs in seconds");
    return fmt::format("of {}", fmt::join(parts, ", "));
  }

  void write_error(std::string_view key, const std::optional<Fraction>& error, Phase phase) {
    if (!error) return;
    const auto held_out = errors_of(calibrated_, Sample::held_out, phase);
    const auto left_out = errors_of(calibrated_, Sample::left_out, phase);
    const ErrorSummary& summary = held_out ? *held_out : *left_out;
    const double goal = phase == Phase::decode ? decode_goal : prefill_goal;
    line(key, percent(error->value()),
         fmt::format("median of {} {} {}, worst {}{}", summary.points, summary.points == 1 ? "row" : "rows",
                     held_out ? "held out" : "with their model left out", percent(summary.worst),
                     error->value() > goal ? fmt::format("; misses the goal of {}", percent(goal)) : ""));
  }

  const CalibratedRate& calibrated_;
  std::string text_;
};

std::string signed_percent(Duration model, Duration measured) {
  return fmt::format("{:+.1f} %", 100 * (to_seconds(model) / to_seconds(measured) - 1));
}

constexpr std::array<std::pair<std::string_view, Phase>, 3> phases{
    {{"decode", Phase::decode}, {"prefill", Phase::prefill}, {"convolution", Phase::convolution}}};

std::string summary_text(const CalibratedRate& rate, Sample sample, Phase phase) {
  const auto errors = errors_of(rate, sample, phase);
  if (!errors) return "-";
  const bool row_by_row = sample == Sample::left_out && !rate.by_model;
  return fmt::format("{:.1f} / {:.0f} % ({}){}", 100 * errors->median, 100 * errors->worst, errors->points,
                     row_by_row ? "*" : "");
}

}  // namespace

std::string device_file(const std::string& head, std::span<const CalibratedRate> rates, const std::string& files) {
  std::string text = fmt::format("# Written by trilemma calibrate from {}: change those and run it again.\n", files);
  text += head;
  text += "rates:  # +- is one standard error of the fit\n";
  for (const CalibratedRate& rate : rates) text += RateWriter(rate).write();
  const Quality quality = rates.empty() ? Quality::guess : rates[0].rate.quality.value_or(Quality::guess);
  return text + fmt::format("quality: {}  # of the first precision; each has its own\n", name_of(quality));
}

std::string point_table(std::span<const CalibratedRate> rates) {
  Table table{
      .header = {"line", "use", "precision", "model", "metric", "tokens", "measured", "predicted", "error", "left out"},
      .rows = {},
      .left = 5};
  for (const CalibratedRate& rate : rates) {
    for (const Point& point : rate.points) {
      const Measurement& row = point.row;
      const bool decode = row.metric == Metric::decode;
      table.rows.push_back({std::to_string(row.line), std::string(name_of(row.purpose)),
                            std::string(name_of(row.precision)), row.model, std::string(name_of(row.metric)),
                            std::to_string(decode ? row.context.value() : row.prompt.value()), time_text(row.time),
                            time_text(point.predicted), signed_percent(point.predicted, row.time),
                            point.unseen ? signed_percent(*point.unseen, row.time) : "-"});
    }
  }
  return table_to_text(table);
}

std::vector<std::vector<std::string>> error_rows(const std::string& device, std::span<const CalibratedRate> rates) {
  std::vector<std::vector<std::string>> rows;
  for (const CalibratedRate& rate : rates) {
    const std::vector<std::string> about{device, std::string(name_of(rate.rate.precision)), rate.rate.runtime,
                                         std::string(name_of(rate.rate.quality.value_or(Quality::guess)))};
    const std::size_t before = rows.size();
    for (const auto& [name, phase] : phases) {
      std::vector<std::string> row = about;
      row.emplace_back(name);
      for (const Sample sample : {Sample::fit, Sample::left_out, Sample::held_out}) {
        row.push_back(summary_text(rate, sample, phase));
      }
      if (std::any_of(row.end() - 3, row.end(), [](const auto& cell) { return cell != "-"; })) rows.push_back(row);
    }
    if (rows.size() > before) continue;
    rows.push_back(about);
    rows.back().resize(about.size() + 4, "-");
  }
  return rows;
}

}  // namespace trilemma
