#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include <fmt/format.h>

#include "analysis/manifest.h"
#include "analysis/records.h"
#include "analysis/summary_json.h"
#include "analysis/table.h"
#include "cli/parse.h"
#include "cli/point_folder.h"
#include "cli/progress.h"
#include "core/config/problems.h"
#include "sim/classes.h"
#include "sim/experiment.h"

namespace trilemma::cli {
namespace {

namespace po = boost::program_options;

enum class Format { table, csv, json, md };
constexpr std::array all_formats{Format::table, Format::csv, Format::json, Format::md};

/// Where a point's folder keeps a rendering.
std::string file_of(Format format) {
  switch (format) {
    case Format::table:
      return "table.txt";
    case Format::csv:
      return "table.csv";
    case Format::md:
      return "table.md";
    case Format::json:
      break;
  }
  return "table.json";
}

struct RunOptions {
  std::filesystem::path file;
  std::vector<std::string> sets;
  std::filesystem::path out;
  Format format = Format::table;
  bool records = false;
  bool check = false;
  ProgressMode progress = ProgressMode::automatic;
  std::string catalogue;
  std::string command;
};

constexpr const char* details = R"(
OUTPUT
  The result goes to standard output, progress to standard error. With --out, DIR/<name>-<hash>/ gets summary.json with
  everything, table.txt/.csv/.md/.json as printed, and with --records records.csv, one row a request. The hash is of the
  resolved scenario and the program version: a finished point is shown again, never overwritten. A run that a limit ended
  is kept as <name>-<hash>.partial.

EXIT CODES
  0 done   1 with --check: the target fails or is undecided   2 wrong input   3 every request failed
  4 a limit ended the run

EXAMPLES
  trilemma run scenarios/quickstart.yaml --set cut=0
  trilemma run scenarios/quickstart.yaml --out out --records --format json
)";

Format format_of(const std::string& word) {
  if (word == "table") return Format::table;
  if (word == "csv") return Format::csv;
  if (word == "json") return Format::json;
  if (word == "md") return Format::md;
  throw UsageError(
      fmt::format("trilemma run: --format '{}' is not known; write table, csv, json or md", config::printable(word)));
}

ProgressMode progress_of(const std::string& word) {
  if (word == "auto") return ProgressMode::automatic;
  if (word == "json") return ProgressMode::json;
  if (word == "none") return ProgressMode::none;
  throw UsageError(
      fmt::format("trilemma run: --progress '{}' is not known; write auto, json or none", config::printable(word)));
}

std::optional<RunOptions> read_options(const Arguments& arguments, const std::string& command) {
  Syntax syntax{.verb = "run",
                .synopsis =
                    "run FILE [--set a.b=c]... [--out DIR] [--records] [--format table|csv|json|md] [--check] "
                    "[--progress auto|json|none] [--catalogue DIR]",
                .description = "simulate a scenario",
                .positional = "file",
                .details = details};
  RunOptions options{.command = command};
  std::string format = "table";
  std::string progress = "auto";
  std::string out;
  syntax.options.add_options()("set", po::value(&options.sets)->composing(),
                               "override one value, e.g. workload.clients=20; may be repeated")(
      "out", po::value(&out), "folder for results")("records", po::bool_switch(&options.records),
                                                    "also write records.csv, one row a request; needs --out")(
      "format", po::value(&format), "table (default), csv, json or md")(
      "check", po::bool_switch(&options.check), "exit 1 unless the target holds")("progress", po::value(&progress),
                                                                                  "auto (default), json or none")(
      "catalogue", po::value(&options.catalogue), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return std::nullopt;
  if (parsed.values.count("file") == 0)
    throw UsageError("trilemma run: no scenario file; write for example 'trilemma run scenarios/quickstart.yaml'");
  options.file = parsed.values["file"].as<std::vector<std::string>>().front();
  options.format = format_of(format);
  options.progress = progress_of(progress);
  if (parsed.values.count("out") > 0 && out.empty()) throw UsageError("trilemma run: --out is empty; name a folder");
  options.out = out;
  if (options.records && out.empty()) throw UsageError("trilemma run: --records has nowhere to write; add --out DIR");
  return options;
}

struct Outcomes {
  Summary summary;
  RunFacts facts;
};

Outcomes simulate(const Scenario& scenario, const RunOptions& options, PointFolder* folder) {
  const Duration start = wall_clock();
  ProgressDisplay progress(options.progress, scenario.replications);
  Collector total(scenario);
  std::optional<RecordWriter> writer;
  if (options.records) writer.emplace(folder->draft() / "records.csv", total);
  std::vector<Replication> replications;
  for (std::int64_t index = 0; index < scenario.replications; ++index) {
    if (writer) writer->start_replication(static_cast<std::uint32_t>(index));
    RecordSink& sink = writer ? static_cast<RecordSink&>(*writer) : total;
    replications.push_back(replicate(scenario, static_cast<std::uint32_t>(index), sink, &progress));
    if (replications.back().end != RunEnd::done) break;
  }
  if (writer) writer->close();
  return {.summary = summarize(scenario, total, replications),
          .facts = {.command = options.command, .wall = wall_clock() - start}};
}

/// Without host and clock: the same input gives the same bytes.
std::string render(const Scenario& scenario, const Summary& summary, Format format) {
  switch (format) {
    case Format::table:
      return summary_to_text(scenario, summary);
    case Format::csv:
      return summary_to_csv(scenario, summary);
    case Format::md:
      return summary_to_markdown(scenario, summary);
    case Format::json:
      break;
  }
  config::Json json = summary_to_json(scenario, summary);
  json["manifest"] = manifest(scenario, summary);
  return json.dump(2) + "\n";
}

/// The files of a finished point; the renderings let a later run show it without simulating again.
void store(PointFolder& folder, const Scenario& scenario, const Outcomes& outcomes) {
  config::Json json = summary_to_json(scenario, outcomes.summary);
  json["manifest"] = manifest(scenario, outcomes.summary, outcomes.facts);
  // The command line may hold a file name that is not UTF-8.
  folder.write("summary.json", json.dump(2, ' ', false, config::Json::error_handler_t::replace) + "\n");
  for (const Format format : all_formats) folder.write(file_of(format), render(scenario, outcomes.summary, format));
  if (outcomes.summary.end == RunEnd::done)
    folder.publish();
  else
    folder.publish_partial();
}

void print_speed(const Outcomes& outcomes) {
  const double wall = to_seconds(outcomes.facts.wall);
  std::cerr << fmt::format("{:.2f} s simulated in {:.2f} s: {:.3g} requests/s, {:.3g} events/s\n",
                           to_seconds(outcomes.summary.simulated), wall,
                           static_cast<double>(outcomes.summary.requests.completed) / wall,
                           static_cast<double>(outcomes.summary.events) / wall);
}

int exit_code(const std::string& status, const std::string& verdict, bool check) {
  if (status == "failed") return exit_points;
  if (status != run_end_word(RunEnd::done)) return exit_limit;
  return check && verdict != verdict_word(Verdict::holds) ? exit_verdict : exit_done;
}

/// Shows a point that was finished earlier by the same program; nothing when there is none.
std::optional<int> reuse(const PointFolder& folder, const RunOptions& options) {
  const auto summary = folder.read("summary.json");
  const auto shown = folder.read(file_of(options.format));
  if (!summary || !shown || (options.records && !folder.read("records.csv"))) return std::nullopt;
  const config::Json json = config::Json::parse(*summary, nullptr, false);
  if (json.is_discarded())
    throw config::Error(fmt::format("{}: is damaged; remove its folder to run the point again",
                                    (folder.path() / "summary.json").string()));
  std::cout << *shown;
  std::cerr << fmt::format("reused: {}\n", folder.path().string());
  const config::Json verdict = json.contains("verdict")   ? json["verdict"]
                               : json["target"].is_null() ? config::Json(nullptr)
                                                          : json["target"]["verdict"];
  return exit_code(json["status"].get<std::string>(), verdict.is_null() ? "" : verdict.get<std::string>(),
                   options.check);
}

bool has_target(const Scenario& scenario) {
  const std::vector<Scenario> classes = class_scenarios(scenario);
  return std::any_of(classes.begin(), classes.end(), [](const Scenario& one) { return one.target.has_value(); });
}

}  // namespace

int run(const Arguments& arguments, const std::string& command) {
  const auto options = read_options(arguments, command);
  if (!options) return exit_done;
  const Scenario scenario = read_experiment(options->file, options->sets, find_catalogue(options->catalogue)).scenario;
  if (options->check && !has_target(scenario)) {
    throw config::Error(
        fmt::format("{}: target: is missing, so --check has nothing to judge; write 'target: {{latency: 10 ms, "
                    "reliability: 99.9 %}}'",
                    options->file.string()));
  }
  std::optional<PointFolder> folder;
  if (!options->out.empty()) folder.emplace(options->out, point_id(scenario));
  if (folder) {
    if (const auto code = reuse(*folder, *options)) return *code;
    folder->draft();  // an unwritable place is found out before the work is done
  }
  const Outcomes outcomes = simulate(scenario, *options, folder ? &*folder : nullptr);
  if (folder) store(*folder, scenario, outcomes);
  std::cout << render(scenario, outcomes.summary, options->format);
  if (options->progress == ProgressMode::automatic) print_speed(outcomes);
  if (folder) std::cerr << fmt::format("results: {}\n", folder->path().string());
  const auto verdict = outcomes.summary.verdict();
  return exit_code(status_word(outcomes.summary), verdict ? std::string(verdict_word(*verdict)) : "", options->check);
}

}  // namespace trilemma::cli
