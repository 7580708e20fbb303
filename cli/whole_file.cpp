#include "cli/whole_file.h"

#include <unistd.h>

#include <fmt/format.h>

#include "cli/options.h"

namespace trilemma::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const OutputFile& output, const std::string& problem) {
  throw UsageError(fmt::format("{} '{}' {}", output.option, output.path.string(), problem));
}

}  // namespace

void write_whole(const OutputFile& output, const std::function<bool(const fs::path& draft)>& write) {
  if (fs::is_directory(output.path)) fail(output, "is a folder; write the path of a file");
  const fs::path target = fs::weakly_canonical(output.path);  // a link stays, its file changes
  const bool in_place = fs::exists(target) && !fs::is_regular_file(target);
  const fs::path draft =
      in_place ? target : target.parent_path() / fmt::format(".{}.{}.tmp", target.filename().string(), getpid());
  const bool written = write(draft);
  std::error_code error;
  if (written && !in_place) fs::rename(draft, target, error);
  if (written && !error) return;
  std::error_code ignored;
  const bool opened = fs::exists(draft, ignored);
  if (!in_place) fs::remove(draft, ignored);
  fail(output, opened ? "cannot be written; is the disk full?"
                      : "cannot be written; write a path in a folder that exists and is yours");
}

void refuse_input(const OutputFile& output, const fs::path& input, const std::string& purpose) {
  std::error_code none;
  if (fs::equivalent(output.path, input, none))
    fail(output, fmt::format("is an input of {}; write another path", purpose));
}

}  // namespace trilemma::cli
