#include "core/config/schema.h"

#include <iostream>

#include <fmt/format.h>

#include "cli/parse.h"
#include "core/config/problems.h"
#include "core/config/writer.h"
#include "sim/experiment.h"

namespace trilemma::cli {

int schema(const Arguments& arguments) {
  namespace po = boost::program_options;
  Syntax syntax{.verb = "schema",
                .synopsis = "schema [--format json|md|defaults]",
                .description = "what a scenario file may contain",
                .details =
                    "\nGenerated from the same field lists that the reader uses. Editors with a YAML language server "
                    "can use it:\n"
                    "  trilemma schema > scenario.schema.json\n"};
  std::string format = "json";
  std::string catalogue_option;
  syntax.options.add_options()("format", po::value(&format),
                               "json (default): JSON Schema, draft 2020-12; md: a page for people; defaults: what "
                               "holds where a file says nothing, as YAML")(
      "catalogue", po::value(&catalogue_option), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return exit_done;
  if (format == "defaults") {
    std::cout << config::to_yaml(scenario_defaults(), {});
    return exit_done;
  }
  if (format != "json" && format != "md")
    throw UsageError(fmt::format("trilemma schema: --format '{}' is not known; write json, md or defaults",
                                 config::printable(format)));
  const config::Json json = scenario_schema(find_catalogue(catalogue_option));
  std::cout << (format == "json" ? json.dump(2) + "\n" : config::schema_to_markdown(json, "Scenario file"));
  return exit_done;
}

}  // namespace trilemma::cli
