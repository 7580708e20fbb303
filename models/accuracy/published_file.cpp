#include "models/accuracy/published_file.h"

#include <set>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "core/config/text.h"
#include "core/csv.h"
#include "models/codec/config.h"

namespace trilemma {
namespace {

using config::printable;
using config::Text;

class PublishedReader {
 public:
  PublishedReader(const std::filesystem::path& path, const std::string& shown, const config::Catalogue& catalogue)
      : csv_(path, shown,
             {.required = {"llm", "method", "task", "ratio", "ratio_is", "accuracy", "source"},
              .optional = {},
              .row = "a published value"}),
        shown_(shown),
        catalogue_(catalogue) {}

  std::vector<PublishedPoint> read() {
    while (csv_.next()) add();
    if (points_.empty()) csv_.fail("has no row below the header; write one row a published value");
    refuse_missing_baselines();
    refuse_gaps();
    return std::move(points_);
  }

 private:
  void add() {
    for (const char* column : {"llm", "method", "task", "ratio", "ratio_is", "accuracy", "source"}) {
      if (csv_.cell(column).empty()) csv_.fail(fmt::format("{}: is missing; a row has no gaps", column));
    }
    PublishedPoint point{.line = csv_.line(),
                         .llm = entry("llm", "llms"),
                         .method = csv_.word<Method>("method"),
                         .task = entry("task", "tasks"),
                         .ratio = number<double>("ratio", 1, max_compression_ratio),
                         .ratio_is = csv_.word<RatioIs>("ratio_is"),
                         .accuracy = number<Fraction>("accuracy", 0, 1),
                         .source = csv_.cell("source")};
    if (point.method == Method::baseline && (point.ratio != 1 || point.ratio_is != RatioIs::swept))
      csv_.fail(fmt::format("ratio: '{}' is none of a baseline, which compresses nothing; write ratio 1 and swept",
                            csv_.cell("ratio")));
    refuse_twin(point);
    points_.push_back(std::move(point));
  }

  std::string entry(const std::string& column, const std::string& family) const {
    std::string name = csv_.cell(column);
    if (catalogue_.contains(family, name)) return name;
    const std::string close = config::nearest(name, catalogue_.names(family));
    csv_.fail(fmt::format("{}: '{}' is not in configs/{}; {}", column, printable(name), family,
                          close.empty() ? "write the name of a file there" : fmt::format("write '{}'", close)));
  }

  template <class T>
  T number(const std::string& column, double min, double max) const {
    const std::string text = csv_.cell(column);
    const auto parsed = Text<T>::parse(text);
    if (const auto* problem = std::get_if<std::string>(&parsed))
      csv_.fail(fmt::format("{}: '{}' {}", column, printable(text), *problem));
    const double value = config::bounded_value(std::get<0>(parsed));
    if (value < min || value > max)
      csv_.fail(fmt::format("{}: '{}' is outside {} to {}", column, printable(text), config::bound_text<T>(min),
                            config::bound_text<T>(max)));
    return std::get<0>(parsed);
  }

  void refuse_twin(const PublishedPoint& point) {
    const auto [twin, is_new] =
        lines_.emplace(std::tuple(point.llm, point.method, point.task, point.ratio, point.ratio_is), point.line);
    if (!is_new) csv_.fail(fmt::format("repeats line {}; write each published value once", twin->second));
  }

  [[noreturn]] void fail_at(const PublishedPoint& point, const std::string& problem) const {
    throw config::Error(fmt::format("{}:{}: {}", shown_, point.line, problem));
  }

  void refuse_missing_baselines() const {
    for (const PublishedPoint& point : points_) {
      if (!lines_.contains({point.llm, Method::baseline, point.task, 1.0, RatioIs::swept}))
        fail_at(point, fmt::format("{} has no baseline on {}; add its row", point.llm, point.task));
    }
  }

  void refuse_gaps() const {
    std::map<Method, std::set<double>> swept;
    for (const PublishedPoint& point : points_) {
      if (point.ratio_is == RatioIs::swept) swept[point.method].insert(point.ratio);
    }
    for (const PublishedPoint& point : points_) {
      if (point.ratio_is != RatioIs::swept) continue;
      for (const double ratio : swept[point.method]) {
        if (lines_.contains({point.llm, point.method, point.task, ratio, RatioIs::swept})) continue;
        fail_at(point, fmt::format("{} with {} on {} has a gap at ratio {}, which others have; add its row",
                                   config::name_of(point.method), point.llm, point.task, config::format_number(ratio)));
      }
    }
  }

  CsvReader csv_;
  std::string shown_;
  const config::Catalogue& catalogue_;
  std::map<std::tuple<std::string, Method, std::string, double, RatioIs>, std::int64_t> lines_;
  std::vector<PublishedPoint> points_;
};

}  // namespace

std::vector<PublishedPoint> read_published(const std::filesystem::path& path, const std::string& shown,
                                           const config::Catalogue& catalogue) {
  return PublishedReader(path, shown, catalogue).read();
}

}  // namespace trilemma
