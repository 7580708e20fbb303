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
#include "core/config/problems.h"
#include "sim/experiment.h"

namespace trilemma::cli {
namespace {

namespace po = boost::program_options;

enum class Format { table, csv, json, md };

struct RunOptions {
  std::filesystem::path file;
  std::vector<std::string> sets;
  std::filesystem::path out;
  Format format = Format::table;
  bool records = false;
  bool check = false;
  bool quiet = false;
  std::string catalogue;
  std::string command;
};

constexpr const char* details = R"(
OUTPUT
  The result goes to standard output, progress to standard error. With --out, DIR/<name>-<hash>/summary.json holds
  everything, records.csv one row a request. The hash is of the resolved scenario and the program version: an existing
  result is reused, never overwritten.

EXIT CODES
  0 done   1 with --check: the target fails or is undecided   2 wrong input   4 a limit ended the run

EXAMPLES
  trilemma run scenarios/quickstart.yaml --set cut=0
  trilemma run scenarios/quickstart.yaml --out out --records --format json
)";

Format format_of(const std::string& word) {
  if (word == "table") return Format::table;
  if (word == "csv") return Format::csv;
  if (word == "json") return Format::json;
  if (word == "md") return Format::md;
  throw UsageError(fmt::format("trilemma run: --format '{}' is not known; write table, csv, json or md", word));
}

std::optional<RunOptions> read_options(const Arguments& arguments, const std::string& command) {
  Syntax syntax{.verb = "run",
                .synopsis = "run FILE [--set a.b=c]... [--out DIR] [--records] [--format table|csv|json|md] [--check]",
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
                                                                                  "auto (default) or none")(
      "catalogue", po::value(&options.catalogue), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return std::nullopt;
  if (parsed.values.count("file") == 0)
    throw UsageError("trilemma run: no scenario file; write for example 'trilemma run scenarios/quickstart.yaml'");
  options.file = parsed.values["file"].as<std::vector<std::string>>().front();
  options.format = format_of(format);
  if (progress != "auto" && progress != "none")
    throw UsageError(fmt::format("trilemma run: --progress '{}' is not known; write auto or none", progress));
  options.quiet = progress == "none";
  if (parsed.values.count("out") > 0 && out.empty()) throw UsageError("trilemma run: --out is empty; name a folder");
  options.out = out;
  if (options.records && out.empty()) throw UsageError("trilemma run: --records has nowhere to write; add --out DIR");
  return options;
}

Duration wall_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

struct Outcomes {
  Summary summary;
  RunFacts facts;
};

/// A folder that gets its final name only when everything in it is written.
class PointFolder {
 public:
  PointFolder(const std::filesystem::path& out, const std::string& id)
      : target_(out / id), draft_(out / fmt::format(".{}.{}.tmp", id, getpid())) {
    std::error_code error;
    std::filesystem::create_directories(draft_, error);
    if (error)
      throw config::Error(
          fmt::format("{}: cannot be created: {}; choose another --out", out.string(), error.message()));
  }
  PointFolder(const PointFolder&) = delete;
  PointFolder& operator=(const PointFolder&) = delete;
  ~PointFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(draft_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& draft() const { return draft_; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream stream(draft_ / name, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream)
      throw config::Error(fmt::format("{}: cannot be written; is the disk full?", (target_ / name).string()));
  }
  /// Publishes the folder; an existing one without records gives way to one with them, and is otherwise kept.
  void publish() const {
    std::error_code error;
    std::filesystem::rename(draft_, target_, error);
    if (!error) return;
    if (!std::filesystem::exists(target_))
      throw config::Error(fmt::format("{}: cannot be created: {}", target_.string(), error.message()));
    if (std::filesystem::exists(draft_ / "records.csv") && !std::filesystem::exists(target_ / "records.csv")) {
      std::filesystem::rename(draft_ / "records.csv", target_ / "records.csv");
    }
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path draft_;
};

Outcomes simulate(const Scenario& scenario, const RunOptions& options, const PointFolder* folder) {
  const Duration start = wall_now();
  Collector total(scenario);
  std::optional<RecordWriter> writer;
  if (options.records) writer.emplace(folder->draft() / "records.csv", total);
  std::vector<Replication> replications;
  for (std::int64_t index = 0; index < scenario.replications; ++index) {
    if (writer) writer->start_replication(static_cast<std::uint32_t>(index));
    RecordSink& sink = writer ? static_cast<RecordSink&>(*writer) : total;
    replications.push_back(replicate(scenario, static_cast<std::uint32_t>(index), sink));
    if (!options.quiet && scenario.replications > 1 && isatty(STDERR_FILENO) != 0) {
      std::cerr << fmt::format("\rreplication {} of {}", index + 1, scenario.replications)
                << (index + 1 == scenario.replications ? "\n" : "") << std::flush;
    }
    if (replications.back().end != RunEnd::done) break;
  }
  if (writer) writer->close();
  return {.summary = summarize(scenario, total, replications),
          .facts = {.command = options.command, .wall = wall_now() - start}};
}

void print(const Scenario& scenario, const Summary& summary, Format format) {
  switch (format) {
    case Format::table:
      std::cout << summary_to_text(scenario, summary);
      return;
    case Format::csv:
      std::cout << summary_to_csv(scenario, summary);
      return;
    case Format::md:
      std::cout << summary_to_markdown(scenario, summary);
      return;
    case Format::json:
      break;
  }
  config::Json json = summary_to_json(scenario, summary);
  json["manifest"] = manifest(scenario, summary);  // without host and clock: the same input prints the same bytes
  std::cout << json.dump(2) << "\n";
}

void print_speed(const Outcomes& outcomes) {
  const double wall = to_seconds(outcomes.facts.wall);
  std::cerr << fmt::format("{:.2f} s simulated in {:.2f} s: {:.3g} requests/s, {:.3g} events/s\n",
                           to_seconds(outcomes.summary.simulated), wall,
                           static_cast<double>(outcomes.summary.requests.completed) / wall,
                           static_cast<double>(outcomes.summary.events) / wall);
}

int exit_code(const Summary& summary, bool check) {
  if (summary.end != RunEnd::done) return exit_limit;
  if (check && (!summary.target || summary.target->verdict != Verdict::holds)) return exit_verdict;
  return exit_done;
}

}  // namespace

int run(const Arguments& arguments, const std::string& command) {
  const auto options = read_options(arguments, command);
  if (!options) return exit_done;
  const config::Catalogue catalogue = find_catalogue(options->catalogue);
  const Scenario scenario = read_experiment(options->file, options->sets, catalogue).scenario;
  if (options->check && !scenario.target)
    throw config::Error(
        fmt::format("{}: target: is missing, so --check has nothing to judge; write 'target: {{latency: 10 ms, "
                    "reliability: 99.9 %}}'",
                    options->file.string()));
  std::optional<PointFolder> folder;
  const std::string id = point_id(scenario);
  if (!options->out.empty()) folder.emplace(options->out, id);
  const Outcomes outcomes = simulate(scenario, *options, folder ? &*folder : nullptr);
  if (folder) {
    config::Json json = summary_to_json(scenario, outcomes.summary);
    json["manifest"] = manifest(scenario, outcomes.summary, outcomes.facts);
    folder->write("summary.json", json.dump(2) + "\n");
    folder->publish();
  }
  print(scenario, outcomes.summary, options->format);
  if (!options->quiet) print_speed(outcomes);
  if (folder) std::cerr << fmt::format("results: {}\n", (options->out / id).string());
  return exit_code(outcomes.summary, options->check);
}

}  // namespace trilemma::cli
