#include "program.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace trilemma::test {
namespace {

/// In the child: standard output and error go to files, then the program takes over.
[[noreturn]] void become_program(const std::vector<std::string>& arguments, const std::filesystem::path& home,
                                 const std::filesystem::path& out, const std::filesystem::path& err) {
  std::vector<char*> words{const_cast<char*>("trilemma")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const auto redirect = [](const std::filesystem::path& path, int descriptor) {
    dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  setenv("TRILEMMA_CATALOGUE", TRILEMMA_SOURCE_DIR "/configs", 1);
  if (chdir(home.c_str()) == 0) execv(TRILEMMA_BINARY, words.data());
  _exit(127);
}

std::vector<std::string> fragments(const std::string& expected) {
  constexpr std::string_view gap = " ... ";
  std::vector<std::string> found;
  std::string rest = expected;
  if (rest.ends_with(" ...")) rest.erase(rest.size() - 4);
  for (std::size_t at = rest.find(gap); at != std::string::npos; at = rest.find(gap)) {
    found.push_back(rest.substr(0, at));
    rest.erase(0, at + gap.size());
  }
  found.push_back(rest);
  return found;
}

/// A build that is not the release says so in a first line of its own; the messages follow it.
std::string without_build_warning(const std::string& text) {
  return text.starts_with("*** ") ? text.substr(text.find('\n') + 1) : text;
}

}  // namespace

Ended run_program(const std::vector<std::string>& arguments, const std::filesystem::path& home) {
  const Folder captured;
  const std::filesystem::path out = captured.path() / "out";
  const std::filesystem::path err = captured.path() / "err";
  const pid_t child = fork();
  if (child == 0) become_program(arguments, home, out, err);
  int status = 0;
  waitpid(child, &status, 0);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = file_text(out),
          .err = without_build_warning(file_text(err))};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "trilemma-test-XXXXXX").string();
  path_ = mkdtemp(name.data());
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool line_holds(const std::string& line, const std::string& expected, const std::string& file) {
  std::size_t at = 0;
  bool first = true;
  for (const std::string& fragment : fragments(expected)) {
    const bool at_start = first && fragment.starts_with(':');
    const std::string wanted = at_start ? file + fragment : fragment;
    const std::size_t found = line.find(wanted, at);
    if (found == std::string::npos || (at_start && found != 0)) return false;
    at = found + wanted.size();
    first = false;
  }
  return true;
}

void expect_refused(const Ended& ended, const std::vector<std::string>& expected, const std::string& file) {
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  const std::vector<std::string> found = lines(ended.err);
  EXPECT_EQ(found.size(), expected.size()) << ended.err;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_TRUE(line_holds(found[i], expected[i], file)) << "found:    " << found[i] << "\nexpected: " << expected[i];
  }
}

}  // namespace trilemma::test
