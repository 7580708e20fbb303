#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/field.h"
#include "core/units.h"
#include "models/llm/config.h"

/// How right the answers are: what was published for a model, a compression method, a task and a ratio, and nothing
/// else. Nothing is extrapolated. docs/models.md, section 15.
namespace trilemma {

/// What compresses the activations, in the words of FourierCompress (arXiv 2510.16418v1); baseline: nothing does.
enum class Method { baseline, fc, top_k, svd_llm, asvd, fwsvd, qr };
/// What the ratio of a published value is: one that was set, or a mean over models beside which the value is printed.
enum class RatioIs { swept, average };
enum class AccuracyKind { published, interpolated, measured };

namespace config {
template <>
inline constexpr auto names<Method> = std::array{Name{"baseline", Method::baseline},
                                                 Name{"fc", Method::fc},
                                                 Name{"top-k", Method::top_k},
                                                 Name{"svd-llm", Method::svd_llm},
                                                 Name{"asvd", Method::asvd},
                                                 Name{"fwsvd", Method::fwsvd},
                                                 Name{"qr", Method::qr}};
template <>
inline constexpr auto names<RatioIs> = std::array{Name{"swept", RatioIs::swept}, Name{"average", RatioIs::average}};
template <>
inline constexpr auto names<AccuracyKind> =
    std::array{Name{"published", AccuracyKind::published}, Name{"interpolated", AccuracyKind::interpolated},
               Name{"measured", AccuracyKind::measured}};
}  // namespace config

/// What the answers of a request are scored on; a catalogue entry of configs/tasks.
struct TaskConfig {
  static constexpr std::string_view catalogue = "tasks";
  std::string kind = "custom";
  std::string title;
  std::string source;

  static constexpr auto fields() {
    using config::field;
    return std::tuple{field("kind", &TaskConfig::kind, "catalogue entry in configs/tasks, or 'custom'"),
                      field("title", &TaskConfig::title, "full name"),
                      field("source", &TaskConfig::source, "where the questions come from")};
  }
};

/// A publication of accuracies; a catalogue entry of configs/accuracy, whose rows are in the CSV file beside it.
struct AccuracySource {
  static constexpr std::string_view catalogue = "accuracy";
  std::string kind = "custom";
  std::string title;
  std::int64_t cut = 0;
  std::string source;

  static constexpr auto fields() {
    using config::field, config::required;
    return std::tuple{field("kind", &AccuracySource::kind, "catalogue entry in configs/accuracy, or 'custom'"),
                      field("title", &AccuracySource::title, "full name"),
                      required("cut", &AccuracySource::cut, "blocks before the compression", config::between(1, 999)),
                      field("source", &AccuracySource::source, "where the numbers come from")};
  }
};

/// One published value: a row of configs/accuracy/SOURCE.csv.
struct PublishedPoint {
  std::int64_t line = 0;  // of the file
  std::string llm;        // catalogue entry of configs/llms
  Method method = Method::baseline;
  std::string task;  // catalogue entry of configs/tasks
  double ratio = 1;  // in the convention of the source
  RatioIs ratio_is = RatioIs::swept;
  Fraction accuracy{0};
  std::string source;
};

/// All of one publication. Each model and task has a baseline, and no two points are of the same case.
struct AccuracyTable {
  std::int64_t cut = 0;
  std::vector<PublishedPoint> points;
  std::map<std::string, LlmConfig> llms;  // as in the catalogue: what the values are valid for
};

struct AccuracyQuery {
  std::string llm;
  Method method = Method::baseline;
  std::string task;
  double paper_ratio = 1;  // in the convention of the source, not bytes on the wire
};

struct Accuracy {
  Fraction value{0};
  Fraction baseline{0};
  AccuracyKind kind = AccuracyKind::published;
  std::string source;
};

/// Why there is no value, and what is published instead: "llama-3-8b; published for ...".
struct NotPublished {
  std::string reason;
};

using AccuracyAnswer = std::variant<Accuracy, NotPublished>;

/// The value itself at a published ratio (a swept one, if both kinds are there); between two swept ratios a monotone
/// cubic through them, which values of average ratio have no part in. Nothing elsewhere, so nothing between the
/// baseline and the smallest swept ratio either.
AccuracyAnswer published_accuracy(const AccuracyTable& table, const AccuracyQuery& query);

}  // namespace trilemma
