#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The real program, run the way a user runs it.
namespace trilemma::test {

struct Ended {
  int exit_code = -1;  // meaningless after a signal
  int signal = 0;      // 0 = none
  std::string out;
  std::string err;
};

/// Runs the program with `arguments` in the folder `home` (which exists) and waits for its end.
Ended run_program(const std::vector<std::string>& arguments, const std::filesystem::path& home);

std::vector<std::string> lines(const std::string& text);
std::string file_text(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

/// An empty folder that goes with its owner.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a line of standard error has to hold: fragments between " ... ", in this order. Where the text starts with
/// ':', the line starts with `file` and the first fragment ("file:line:column: path: 'value' problem; advice").
bool line_holds(const std::string& line, const std::string& expected, const std::string& file);

/// Exit code 2 without a signal, standard output empty, and exactly the expected lines on standard error, in order.
void expect_refused(const Ended& ended, const std::vector<std::string>& expected, const std::string& file);

}  // namespace trilemma::test
