#pragma once

#include <string>

#include <boost/program_options.hpp>

#include "cli/options.h"

namespace trilemma::cli {

/// One verb's command line: its name, its synopsis, what it does, its options and its one positional word.
struct Syntax {
  std::string verb;
  std::string synopsis;
  std::string description;
  boost::program_options::options_description options{"Options", 100};
  std::string positional;  // option that takes the words without dashes; empty for none
  int positional_count = 1;
  std::string details;  // after the options: files, exit codes, examples
};

struct ParsedWords {
  boost::program_options::variables_map values;
  bool help = false;  // the help was printed; nothing else to do
};

/// Parses strictly: options are never abbreviated and a wrong word is a UsageError with the nearest right one.
ParsedWords parse(Syntax& syntax, const Arguments& arguments);

}  // namespace trilemma::cli
