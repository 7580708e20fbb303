#include <exception>
#include <iostream>

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "core/config/problems.h"
#include "core/ensure.h"
#include "trilemma_version.h"

namespace {

using namespace trilemma;

constexpr std::string_view usage = R"(NAME
  trilemma - latency of split language-model inference over a 6G radio, a fibre and an edge server

SYNOPSIS
  trilemma VERB [options]        trilemma VERB --help        trilemma --version

VERBS
  run FILE       simulate a scenario: where each millisecond goes, percentiles with bounds, verdict
  check FILE     validate a scenario and print it with the origin of each value; runs nothing
  calibrate CSV  fit the compute model of a device to measurements: errors by point, model and held-out row
  accuracy       what codecs do to the answers of a real transformer: agreement, perplexity, error, bytes, time
  codec NPY      encode and decode real activations: bytes, errors, times, energy, entropy
  show [NAME]    the catalogue: devices, models, links, targets, with their sources
  schema         JSON Schema (or a Markdown page) of the scenario file

EXIT CODES
  0 done   1 with --check: a verdict fails or is undecided   2 usage or input error
  3 every request failed   4 a limit ended the run   70 an internal invariant broke

EXAMPLES
  trilemma run scenarios/quickstart.yaml
  trilemma run scenarios/quickstart.yaml --set cut=4 --set workload.clients=20 --out out
)";

int dispatch(const std::string& verb, const cli::Arguments& arguments, const std::string& command) {
  if (verb == "run") return cli::run(arguments, command);
  if (verb == "check") return cli::check(arguments);
  if (verb == "calibrate") return cli::calibrate(arguments);
  if (verb == "accuracy") return cli::accuracy(arguments);
  if (verb == "codec") return cli::codec(arguments);
  if (verb == "show") return cli::show(arguments);
  if (verb == "schema") return cli::schema(arguments);
  const std::string close = config::nearest(
      verb, {"run", "check", "calibrate", "accuracy", "codec", "show", "schema", "--version", "--help"});
  throw cli::UsageError(fmt::format("trilemma: '{}' is not a verb{}; see 'trilemma --help'", config::printable(verb),
                                    close.empty() ? "" : fmt::format("; write '{}'", close)));
}

void warn_about_slow_build() {
  if (std::string_view(TRILEMMA_BUILD_TYPE) == "Release") return;
  std::cerr << "*** " TRILEMMA_BUILD_TYPE
               " BUILD: results are the same, but it is many times slower than a release build ***\n";
}

int guarded(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "--help" || words.front() == "-h" || words.front() == "help") {
    (words.empty() ? std::cerr : std::cout) << usage;
    return words.empty() ? cli::exit_input : cli::exit_done;
  }
  if (words.front() == "--version") {
    std::cout << "trilemma " TRILEMMA_VERSION " (" TRILEMMA_COMMIT "), " TRILEMMA_BUILD_TYPE ", " TRILEMMA_COMPILER
                 "\n" TRILEMMA_LIBRARIES "\n";
    return cli::exit_done;
  }
  warn_about_slow_build();
  return dispatch(words.front(), {words.begin() + 1, words.end()}, fmt::format("trilemma {}", fmt::join(words, " ")));
}

/// Output that did not reach its place (a full disk) is no success.
int flushed(int code) {
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "trilemma: standard output could not be written completely\n";
  return code == cli::exit_done ? cli::exit_input : code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return flushed(guarded({argv + 1, argv + argc}));
  } catch (const cli::Interrupted& interrupted) {
    std::cerr << "trilemma: " << interrupted.what() << "\n";
    return interrupted.exit_code();
  } catch (const config::Error& error) {
    std::cerr << error.what() << "\n";
    return cli::exit_input;
  } catch (const OutOfRange& error) {
    std::cerr << "trilemma: " << error.what() << "\n";
    return cli::exit_input;
  } catch (const cli::UsageError& error) {
    std::cerr << error.what() << "\n";
    return cli::exit_input;
  } catch (const InvariantViolation& error) {
    std::cerr << error.what()
              << "\nThis is a defect of trilemma, not of the scenario; please report it with the scenario file.\n";
    return cli::exit_invariant;
  } catch (const std::exception& error) {
    std::cerr << "trilemma: " << error.what() << "\n";
    return cli::exit_input;
  }
}
