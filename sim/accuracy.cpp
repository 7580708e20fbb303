#include "sim/accuracy.h"

#include <type_traits>

#include <fmt/format.h>

#include "models/accuracy/published_file.h"
#include "sim/experiment.h"
#include "sim/measured_accuracy.h"

namespace trilemma {
namespace {

bool quantised(Precision precision) {
  return precision != Precision::fp32 && precision != Precision::bf16 && precision != Precision::fp16;
}

/// The model is the published one, of the shape and with the weights that were measured; else what differs.
std::optional<NotPublished> model_problem(const Scenario& scenario) {
  const auto entry = scenario.accuracies.llms.find(scenario.llm.kind);
  if (entry != scenario.accuracies.llms.end() && scenario.llm != entry->second)
    return NotPublished{fmt::format("{} with other values than its catalogue entry", scenario.llm.kind)};
  if (scenario.pruning != PruningConfig{}) return NotPublished{"a pruned model; published for whole ones"};
  const auto weights = [](Precision precision, const char* tier) {
    return NotPublished{fmt::format("{} weights on the {}; published without quantisation of weights",
                                    config::name_of(precision), tier)};
  };
  if (!scenario.raw_input() && quantised(scenario.device.precision))
    return weights(scenario.device.precision, "device");
  if (!scenario.part(Station::edge).empty() && quantised(scenario.edge.precision))
    return weights(scenario.edge.precision, "edge");
  if (scenario.uses_cloud() && quantised(scenario.cloud->precision)) return weights(scenario.cloud->precision, "cloud");
  return std::nullopt;
}

/// Compression was measured at one cut, and of the prompt only.
std::optional<NotPublished> split_problem(const Scenario& scenario, const PaperCodec& codec) {
  if (codec.method == Method::baseline) return std::nullopt;
  if (scenario.cut.layers != scenario.accuracies.cut)
    return NotPublished{fmt::format("{} at cut {}; published for cut {}", config::name_of(codec.method),
                                    config::Text<Cut>::format(scenario.cut), scenario.accuracies.cut)};
  if (longest(scenario.workload.output) > Tokens(1))
    return NotPublished{fmt::format("{} of generated tokens; published for prompts alone, with 'output: 1'",
                                    config::name_of(codec.method))};
  return std::nullopt;
}

std::optional<PaperCodec> codec_of(const Scenario& scenario) {
  if (scenario.on_device() || scenario.raw_input()) return PaperCodec{};  // no activation is sent
  return std::visit([](const auto& codec) { return paper_codec(codec); }, scenario.codec);
}

std::string codec_name(const CodecConfig& config) {
  return std::visit([]<class Codec>(const Codec&) { return std::string(Codec::kind); }, config);
}

/// The kinds of codec that something is published for.
template <class... Codec>
std::vector<std::string> published_kinds(std::type_identity<std::variant<Codec...>>) {
  std::vector<std::string> kinds;
  const auto add = [&](std::string_view kind, const std::optional<PaperCodec>& known) {
    if (known) kinds.emplace_back(kind);
  };
  (add(Codec::kind, paper_codec(Codec{})), ...);
  return kinds;
}

}  // namespace

AccuracyTable read_accuracies(const config::Catalogue& catalogue) {
  const std::string name = "fouriercompress";
  AccuracyTable table{.cut = read_part<AccuracySource>(catalogue, "accuracy", name).cut, .points = {}, .llms = {}};
  table.points = read_published(catalogue.path("accuracy", name).replace_extension(".csv"),
                                fmt::format("configs/accuracy/{}.csv", name), catalogue);
  for (const PublishedPoint& point : table.points) {
    if (table.llms.contains(point.llm)) continue;
    table.llms[point.llm] = read_part<LlmConfig>(catalogue, "llms", point.llm);
    table.llms[point.llm].kind = point.llm;
  }
  return table;
}

AccuracyAnswer accuracy_with(const Scenario& scenario, const PaperCodec& codec) {
  AccuracyQuery query{.llm = scenario.llm.kind, .method = Method::baseline, .task = scenario.workload.task->kind};
  AccuracyAnswer baseline = published_accuracy(scenario.accuracies, query);
  if (std::holds_alternative<NotPublished>(baseline)) return baseline;
  if (const auto problem = model_problem(scenario)) return *problem;
  if (const auto problem = split_problem(scenario, codec)) return *problem;
  query.method = codec.method;
  query.paper_ratio = codec.ratio;
  return published_accuracy(scenario.accuracies, query);
}

std::optional<AccuracyAnswer> accuracy_of(const Scenario& scenario) {
  if (!scenario.workload.task) return std::nullopt;
  if (scenario.uses_cloud() && !scenario.part(Station::edge).empty())
    return NotPublished{"two cuts; published and measured for one"};
  if (scenario.workload.task->kind == measured_task) return measured_accuracy(scenario);
  const auto codec = codec_of(scenario);
  AccuracyAnswer answer = accuracy_with(scenario, codec.value_or(PaperCodec{}));
  if (codec || std::holds_alternative<NotPublished>(answer)) return answer;
  return NotPublished{fmt::format("codec {}; published for {}", codec_name(scenario.codec),
                                  fmt::join(published_kinds(std::type_identity<CodecConfig>{}), ", "))};
}

}  // namespace trilemma
