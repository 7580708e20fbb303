#pragma once

#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <vector>

/// Runs the program as a user does.
namespace trilemma::test {

struct Output {
  std::string text;  // standard output
  int code = 0;      // exit code
};

/// `trilemma ARGUMENTS... --catalogue <the project's>`; standard error is dropped.
inline Output run_program(const std::vector<std::string>& arguments) {
  std::string line = "'" TRILEMMA_BINARY "'";
  for (const std::string& argument : arguments) line += " '" + argument + "'";
  line += " --catalogue '" TRILEMMA_SOURCE_DIR "/configs' 2>/dev/null";
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {.text = "cannot start: " + line, .code = -1};
  Output output;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.text.append(buffer, got);
  const int status = pclose(pipe);
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

}  // namespace trilemma::test
