#include "analysis/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "core/config/text.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

ProcessorConfig hardware(const HardwareSheet& sheet) {
  return {.title = sheet.title,
          .tier = sheet.tier,
          .memory = sheet.memory,
          .reserve = sheet.reserve,
          .storage = sheet.storage,
          .bandwidth = sheet.bandwidth,
          .quantisation_block = sheet.quantisation_block};
}

PrecisionRate given(const SheetRate& peak) {
  return {.precision = peak.precision,
          .runtime = peak.runtime,
          .compute = peak.compute,
          .compute_efficiency = peak.compute_efficiency.value_or(Fraction(1)),
          .memory_efficiency = peak.memory_efficiency.value_or(Fraction(1)),
          .attention_efficiency = peak.attention_efficiency,
          .cache_efficiency = peak.cache_efficiency,
          .convolution_efficiency = peak.convolution_efficiency,
          .overlap = peak.overlap.value_or(Fraction(1)),
          .per_call = peak.per_call.value_or(Duration{0}),
          .per_layer = peak.per_layer.value_or(Duration{0}),
          .chunk = peak.chunk,
          .cache_tokens = peak.cache_tokens,
          .cache_bits = peak.cache_bits,
          .head_bits = peak.head_bits,
          .quality = peak.quality};
}

Duration predicted_by(ProcessorConfig processor, const PrecisionRate& rate, const Measurement& row) {
  processor.rates = {rate};
  return predicted(processor, row);
}

/// Models of one shape, such as Llama 3 and 3.1 of 8B, are one model to a processor.
std::string shape(const Measurement& row) {
  const LlmConfig& llm = row.llm;
  if (llm.layers == 0) return row.model;
  return fmt::format("{} {} {} {} {} {} {}", llm.layers, llm.hidden, llm.heads, llm.kv_heads, llm.head_size,
                     llm.feed_forward, llm.vocabulary);
}

/// Fits without the rows that share something with a row, and says what that fit makes of it.
class LeaveOut {
 public:
  LeaveOut(const ProcessorConfig& processor, const SheetRate& peak, std::vector<Measurement> rows)
      : processor_(processor), peak_(peak), rows_(std::move(rows)) {
    std::set<std::string> shapes;
    for (const Measurement& row : rows_) shapes.insert(shape(row));
    by_model_ = shapes.size() > 1;
  }
  [[nodiscard]] bool by_model() const { return by_model_; }
  [[nodiscard]] std::optional<Duration> unseen(const Measurement& row) {
    const std::string key = by_model_ ? shape(row) : std::to_string(fold(row));
    if (key != key_) {
      key_ = key;
      rate_ = fit_without(row);
    }
    if (!rate_) return std::nullopt;
    return predicted_by(processor_, *rate_, row);
  }

 private:
  /// Of one model each row is left out by itself, of many rows several together.
  [[nodiscard]] std::int64_t fold(const Measurement& row) const {
    constexpr std::int64_t most_folds = 32;
    return static_cast<std::int64_t>(rows_.size()) <= most_folds ? row.line : row.line % most_folds;
  }
  std::optional<PrecisionRate> fit_without(const Measurement& row) const {
    std::vector<Measurement> rest;
    for (const Measurement& other : rows_) {
      if (by_model_ ? shape(other) != shape(row) : fold(other) != fold(row)) rest.push_back(other);
    }
    try {
      return fit_rate(processor_, given(peak_), peak_.fit, rest).rate;
    } catch (const FitProblem&) {
      return std::nullopt;  // what is left does not decide the parameters: no figure
    }
  }

  const ProcessorConfig& processor_;
  const SheetRate& peak_;
  std::vector<Measurement> rows_;
  bool by_model_ = false;
  std::string key_;
  std::optional<PrecisionRate> rate_;
};

Duration bound_of(const ProcessorConfig& processor, const Measurement& row, const std::string& shown) {
  try {
    return hardware_bound(processor, row);
  } catch (const OutOfRange&) {
    throw config::Error(
        fmt::format("{}:{}: prompt: with these numbers of tokens and sequences the hardware would take "
                    "more than 30 years; check them",
                    shown, row.line));
  }
}

void refuse_impossible(const ProcessorConfig& hardware, const SheetRate& peak, std::span<const Measurement> rows,
                       const std::string& shown) {
  ProcessorConfig processor = hardware;
  processor.rates = {given(peak)};
  for (const Measurement& row : rows) {
    const Duration bound = bound_of(processor, row, shown);
    if (row.time >= bound) continue;
    throw config::Error(fmt::format(
        "{}:{}: value: {} is faster than the hardware can, {} at its peaks; check unit, model, precision and lengths",
        shown, row.line, config::Text<Duration>::format(row.time), config::Text<Duration>::format(bound)));
  }
}

bool belongs(const Measurement& row, const SheetRate& peak) {
  return row.precision == peak.precision &&
         (peak.runtimes.empty() ||
          std::find(peak.runtimes.begin(), peak.runtimes.end(), row.runtime) != peak.runtimes.end());
}

void refuse_homeless(const HardwareSheet& sheet, const Measurement& row, const std::string& shown) {
  std::vector<std::string> runtimes;
  bool precision = false;
  for (const SheetRate& peak : sheet.peaks) {
    if (belongs(row, peak)) return;
    if (peak.precision != row.precision) continue;
    precision = true;
    runtimes.insert(runtimes.end(), peak.runtimes.begin(), peak.runtimes.end());
  }
  if (precision)
    throw config::Error(fmt::format(
        "{}:{}: runtime: '{}' belongs to no peak of {} in the sheet; add it to one of "
        "their 'runtimes', or write one of {}",
        shown, row.line, config::printable(row.runtime), config::name_of(row.precision), fmt::join(runtimes, ", ")));
  throw config::Error(fmt::format("{}:{}: precision: '{}' has no peak in the sheet; add it there, or drop the row",
                                  shown, row.line, config::name_of(row.precision)));
}

/// On models that no fit has seen; rows of a model that others of its rows were fitted to say nothing of that.
std::optional<Fraction> unseen_error(const CalibratedRate& rate, Phase phase) {
  auto found = errors_of(rate, Sample::held_out, phase);
  if (!found && rate.by_model) found = errors_of(rate, Sample::left_out, phase);
  if (!found) return std::nullopt;
  return Fraction(found->median);
}

CalibratedRate calibrate_one(const ProcessorConfig& processor, const SheetRate& peak,
                             const std::vector<Measurement>& rows, const std::string& shown) {
  CalibratedRate result{.rate = given(peak)};
  std::vector<Measurement> fitted;
  for (const Measurement& row : rows) {
    if (row.purpose == Purpose::fit) fitted.push_back(row);
  }
  if (!peak.fit.empty()) {
    try {
      RateFit fit = fit_rate(processor, given(peak), peak.fit, fitted);
      result.rate = fit.rate;
      result.parameters = std::move(fit.parameters);
      result.rate.quality = Quality::fitted;
    } catch (const FitProblem& problem) {
      const std::string place = fitted.empty() ? shown : fmt::format("{}:{}", shown, fitted.front().line);
      throw config::Error(fmt::format("{}: {}{}: {}", place, config::name_of(peak.precision),
                                      peak.runtimes.empty() ? "" : fmt::format(" with {}", peak.runtime),
                                      problem.what()));
    }
  } else if (!fitted.empty()) {
    throw config::Error(
        fmt::format("{}:{}: is to be fitted, but the sheet has nothing to fit for {}; write 'test', or "
                    "'fit: [memory_efficiency]' in the sheet",
                    shown, fitted.front().line, config::name_of(peak.precision)));
  }
  LeaveOut leave_out(processor, peak, fitted);
  result.by_model = leave_out.by_model();
  for (const Measurement& row : rows) {
    result.points.push_back({.row = row, .predicted = predicted_by(processor, result.rate, row)});
    if (row.purpose == Purpose::fit) result.points.back().unseen = leave_out.unseen(row);
  }
  std::sort(result.points.begin(), result.points.end(),
            [](const Point& a, const Point& b) { return a.row.line < b.row.line; });
  result.rate.decode_error = unseen_error(result, Phase::decode);
  result.rate.prefill_error = unseen_error(result, Phase::prefill);
  result.rate.convolution_error = unseen_error(result, Phase::convolution);
  return result;
}

Phase phase_of(Metric metric) {
  if (metric == Metric::convolution) return Phase::convolution;
  const bool prefill = metric == Metric::prefill || metric == Metric::blocks || metric == Metric::matrices;
  return prefill ? Phase::prefill : Phase::decode;
}

}  // namespace

std::optional<ErrorSummary> errors_of(const CalibratedRate& rate, Sample sample, Phase phase) {
  std::vector<double> errors;
  for (const Point& point : rate.points) {
    const bool test = point.row.purpose == Purpose::test;
    if (phase_of(point.row.metric) != phase || test != (sample == Sample::held_out)) continue;
    const std::optional<Duration> model = sample == Sample::left_out ? point.unseen : point.predicted;
    if (model) errors.push_back(std::abs(to_seconds(*model) / to_seconds(point.row.time) - 1));
  }
  if (errors.empty()) return std::nullopt;
  std::sort(errors.begin(), errors.end());
  const std::size_t half = errors.size() / 2;
  const double median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  return ErrorSummary{.points = errors.size(), .median = median, .worst = errors.back()};
}

std::vector<CalibratedRate> calibrate(const HardwareSheet& sheet, std::span<const Measurement> rows,
                                      const std::string& shown) {
  const ProcessorConfig processor = hardware(sheet);
  const bool fits =
      std::any_of(sheet.peaks.begin(), sheet.peaks.end(), [](const auto& peak) { return !peak.fit.empty(); });
  if (rows.empty() && fits)
    throw config::Error(fmt::format("{}: has no row below the header; write one row a measurement", shown));
  for (const Measurement& row : rows) refuse_homeless(sheet, row, shown);
  std::vector<CalibratedRate> result;
  for (const SheetRate& peak : sheet.peaks) {
    std::vector<Measurement> own;
    for (const Measurement& row : rows) {
      if (belongs(row, peak)) own.push_back(row);
    }
    // Models together: each is left out once.
    std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) {
      return std::pair(shape(a), a.model) < std::pair(shape(b), b.model);
    });
    refuse_impossible(processor, peak, own, shown);
    result.push_back(calibrate_one(processor, peak, own, shown));
  }
  return result;
}

}  // namespace trilemma
