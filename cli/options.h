#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/catalogue.h"

namespace trilemma::cli {

/// A wrong command line; exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum ExitCode { exit_done = 0, exit_verdict = 1, exit_input = 2, exit_points = 3, exit_limit = 4, exit_invariant = 70 };

/// The `configs` folder: --catalogue, else $TRILEMMA_CATALOGUE, else the nearest one above the program or installed
/// beside it. Throws UsageError when there is none.
config::Catalogue find_catalogue(const std::string& option);

/// The words behind the verb. Each verb prints its own --help and returns an exit code.
using Arguments = std::vector<std::string>;
int accuracy(const Arguments& arguments);
int run(const Arguments& arguments, const std::string& command);
int check(const Arguments& arguments);
int calibrate(const Arguments& arguments);
int codec(const Arguments& arguments);
int show(const Arguments& arguments);
int schema(const Arguments& arguments);

}  // namespace trilemma::cli
