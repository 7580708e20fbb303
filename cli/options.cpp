#include "cli/options.h"

#include <cstdlib>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "cli/parse.h"
#include "core/config/problems.h"

namespace trilemma::cli {
namespace {

namespace po = boost::program_options;

std::vector<std::string> long_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back(option->long_name());
  return names;
}

std::string help_text(const Syntax& syntax) {
  std::ostringstream options;
  options << syntax.options;
  return fmt::format("NAME\n  trilemma {} - {}\n\nSYNOPSIS\n  trilemma {}\n\n{}\n{}", syntax.verb, syntax.description,
                     syntax.synopsis, options.str(), syntax.details);
}

[[noreturn]] void fail(const Syntax& syntax, const std::string& problem) {
  throw UsageError(fmt::format("trilemma {}: {}; see 'trilemma {} --help'", syntax.verb, problem, syntax.verb));
}

}  // namespace

ParsedWords parse(Syntax& syntax, const Arguments& arguments) {
  syntax.options.add_options()("help,h", "print this page");
  po::options_description all;
  all.add(syntax.options);
  po::positional_options_description positional;
  if (!syntax.positional.empty()) {
    all.add_options()(syntax.positional.c_str(), po::value<std::vector<std::string>>());
    positional.add(syntax.positional.c_str(), syntax.positional_count);
  }
  using namespace po::command_line_style;
  constexpr int strict = unix_style & ~allow_guessing;
  ParsedWords parsed;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(strict).run(),
              parsed.values);
    po::notify(parsed.values);
  } catch (const po::unknown_option& error) {
    const std::string word = error.get_option_name();
    const std::string close = config::nearest(word.substr(word.find_first_not_of('-')), long_names(syntax.options));
    fail(syntax, fmt::format("'{}' is not an option{}", config::printable(word),
                             close.empty() ? "" : fmt::format("; write '--{}'", close)));
  } catch (const po::too_many_positional_options_error&) {
    fail(syntax, fmt::format("takes at most {} word{} without dashes", syntax.positional_count,
                             syntax.positional_count == 1 ? "" : "s"));
  } catch (const po::error& error) {
    fail(syntax, error.what());
  }
  parsed.help = parsed.values.count("help") > 0;
  if (parsed.help) std::cout << help_text(syntax);
  return parsed;
}

config::Catalogue find_catalogue(const std::string& option) {
  const auto usable = [](const std::filesystem::path& path) { return std::filesystem::is_directory(path / "devices"); };
  if (!option.empty()) {
    if (!usable(option))
      throw UsageError(
          fmt::format("--catalogue {}: is not a catalogue; name a folder with 'devices', 'llms' and so on", option));
    return config::Catalogue(option);
  }
  if (const char* variable = std::getenv("TRILEMMA_CATALOGUE")) {
    if (!usable(variable))
      throw UsageError(fmt::format(
          "TRILEMMA_CATALOGUE={}: is not a catalogue; name a folder with 'devices', 'llms' and so on", variable));
    return config::Catalogue(variable);
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (std::filesystem::path folder = program.parent_path();; folder = folder.parent_path()) {
    for (const auto& candidate : {folder / "configs", folder / "share" / "trilemma" / "configs"}) {
      if (usable(candidate)) return config::Catalogue(candidate);
    }
    if (folder == folder.parent_path()) break;
  }
  throw UsageError(
      "the catalogue 'configs' was not found above the program; write --catalogue DIR or set TRILEMMA_CATALOGUE");
}

}  // namespace trilemma::cli
