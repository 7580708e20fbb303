#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "analysis/codec_report.h"
#include "analysis/table.h"
#include "cli/parse.h"
#include "core/config/problems.h"
#include "sim/experiment.h"

namespace trilemma::cli {
namespace {

std::string title_of(const config::Json& entry) { return entry.value("title", ""); }

void list_family(const config::Catalogue& catalogue, const std::string& family) {
  Table table{.header = {family, "title"}, .rows = {}, .left = 3};
  const bool graded = family == "devices";
  if (graded) table.header.emplace_back("quality");
  for (const std::string& name : catalogue.names(family)) {
    const config::Json entry = read_catalogue_entry(catalogue, family, name);
    table.rows.push_back({name, title_of(entry)});
    if (graded) table.rows.back().push_back(entry.value("quality", ""));
  }
  std::cout << table_to_text(table) << "\n";
}

/// The file itself: its comments hold the source of each number.
void print_entry(const config::Catalogue& catalogue, const std::string& family, const std::string& name) {
  (void)read_catalogue_entry(catalogue, family, name);
  std::ifstream stream(catalogue.path(family, name));
  std::cout << fmt::format("# configs/{}/{}.yaml\n", family, name) << stream.rdbuf();
}

bool is_codec(const std::string& name) {
  const auto kinds = config::kinds_of<CodecConfig>();
  return name == "codecs" || std::find(kinds.begin(), kinds.end(), name) != kinds.end();
}

}  // namespace

int show(const Arguments& arguments) {
  namespace po = boost::program_options;
  Syntax syntax{.verb = "show",
                .synopsis = "show [devices|llms|networks|radios|links|targets|tasks|accuracy|calibration|codecs|NAME]",
                .description = "the catalogue, with sources and quality",
                .positional = "name",
                .details =
                    "\nWithout a name, everything is listed. A family lists its entries; an entry is printed with the "
                    "source of each number.\n"};
  std::string catalogue_option;
  syntax.options.add_options()("catalogue", po::value(&catalogue_option),
                               "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return exit_done;
  const config::Catalogue catalogue = find_catalogue(catalogue_option);
  std::vector<std::string> families = catalogue.families();
  // The sheet of a device comes after what was made of it.
  std::stable_partition(families.begin(), families.end(), [](const auto& family) { return family != "calibration"; });
  if (parsed.values.count("name") == 0) {
    for (const std::string& family : families) list_family(catalogue, family);
    std::cout << codec_kinds_text();
    return exit_done;
  }
  const std::string name = parsed.values["name"].as<std::vector<std::string>>().front();
  if (is_codec(name)) {
    std::cout << codec_kinds_text();
    return exit_done;
  }
  std::vector<std::string> known{"codecs"};
  bool found = false;
  for (const std::string& family : families) {
    if (name == family) {
      list_family(catalogue, family);
      return exit_done;
    }
    known.push_back(family);
    for (const std::string& entry : catalogue.names(family)) {
      known.push_back(entry);
      if (entry != name) continue;
      print_entry(catalogue, family, name);
      found = true;
    }
  }
  if (found) return exit_done;
  const std::string close = config::nearest(name, known);
  throw UsageError(fmt::format("trilemma show: '{}' is not in the catalogue{}; 'trilemma show' lists everything",
                               config::printable(name), close.empty() ? "" : fmt::format("; write '{}'", close)));
}

}  // namespace trilemma::cli
