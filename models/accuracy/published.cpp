#include "models/accuracy/published.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/config/text.h"
#include "core/ensure.h"
#include "models/accuracy/monotone_cubic.h"

namespace trilemma {
namespace {

using config::format_number;
using config::name_of;
using Points = std::vector<PublishedPoint>;

template <class Condition>
Points select(const Points& points, Condition condition) {
  Points found;
  std::copy_if(points.begin(), points.end(), std::back_inserter(found), condition);
  return found;
}

/// What a word of the points can be, each once, in their order.
template <class Word>
std::string choices(const Points& points, Word word) {
  std::vector<std::string> found;
  for (const PublishedPoint& point : points) {
    const std::string name(word(point));
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Points of one model, method and task; or, in words, the first of the three that nothing is published for.
std::variant<Points, NotPublished> curve(const AccuracyTable& table, const AccuracyQuery& query) {
  const auto same_llm = [&](const PublishedPoint& point) { return point.llm == query.llm; };
  const auto same_task = [&](const PublishedPoint& point) { return point.task == query.task; };
  const auto same_method = [&](const PublishedPoint& point) { return point.method == query.method; };
  const Points of_llm = select(table.points, same_llm);
  if (of_llm.empty()) {
    return NotPublished{fmt::format("{}; published for {}", query.llm,
                                    choices(table.points, [](const PublishedPoint& point) { return point.llm; }))};
  }
  const Points of_task = select(of_llm, same_task);
  if (of_task.empty()) {
    return NotPublished{fmt::format("task {}; published for {}", query.task,
                                    choices(of_llm, [](const PublishedPoint& point) { return point.task; }))};
  }
  Points found = select(of_task, same_method);
  if (!found.empty()) return found;
  return NotPublished{fmt::format("{} on {}; published for {}", name_of(query.method), query.task,
                                  choices(of_task, [](const PublishedPoint& point) { return name_of(point.method); }))};
}

/// The value at one of the points, a swept ratio before an average one.
const PublishedPoint* at_ratio(const Points& points, double ratio) {
  for (const RatioIs kind : {RatioIs::swept, RatioIs::average}) {
    for (const PublishedPoint& point : points) {
      if (point.ratio_is == kind && point.ratio == ratio) return &point;
    }
  }
  return nullptr;
}

Points swept_ascending(const Points& points) {
  Points swept = select(points, [](const PublishedPoint& point) { return point.ratio_is == RatioIs::swept; });
  std::sort(swept.begin(), swept.end(), [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  return swept;
}

Accuracy interpolated(const Points& swept, double ratio, Fraction baseline) {
  std::vector<Knot> knots;
  knots.reserve(swept.size());
  for (const PublishedPoint& point : swept) knots.push_back({.x = point.ratio, .y = point.accuracy.value()});
  const auto right = std::find_if(swept.begin(), swept.end(), [&](const auto& point) { return point.ratio > ratio; });
  const auto left = right - 1;
  return {.value = Fraction(monotone_cubic(knots, ratio)),
          .baseline = baseline,
          .kind = AccuracyKind::interpolated,
          .source = fmt::format("between ratios {} and {} of {}", format_number(left->ratio),
                                format_number(right->ratio), left->source)};
}

NotPublished beyond(const Points& points, const AccuracyQuery& query) {
  const auto nearest = std::min_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
    return std::abs(a.ratio - query.paper_ratio) < std::abs(b.ratio - query.paper_ratio);
  });
  return {fmt::format("{} at ratio {} on {}; nearest: ratio {} with {:.4g} %, {}", name_of(query.method),
                      format_number(query.paper_ratio), query.task, format_number(nearest->ratio),
                      100 * nearest->accuracy.value(), nearest->source)};
}

}  // namespace

AccuracyAnswer published_accuracy(const AccuracyTable& table, const AccuracyQuery& query) {
  const auto found = curve(table, query);
  if (const auto* nothing = std::get_if<NotPublished>(&found)) return *nothing;
  const auto& points = std::get<Points>(found);
  const auto plain = curve(table, {.llm = query.llm, .method = Method::baseline, .task = query.task, .paper_ratio = 1});
  TRILEMMA_ENSURE(std::holds_alternative<Points>(plain), "each model and task of a table has a baseline");
  const Fraction baseline = std::get<Points>(plain).front().accuracy;
  if (const PublishedPoint* point = at_ratio(points, query.paper_ratio))
    return Accuracy{.value = point->accuracy, .baseline = baseline, .source = point->source};
  const Points swept = swept_ascending(points);
  const bool within =
      !swept.empty() && swept.front().ratio < query.paper_ratio && query.paper_ratio < swept.back().ratio;
  if (within) return interpolated(swept, query.paper_ratio, baseline);
  return beyond(points, query);
}

}  // namespace trilemma
