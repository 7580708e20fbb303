#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace trilemma::cli {

/// A file that an option asks for; messages name both.
struct OutputFile {
  std::string option;  // "trilemma calibrate: --out"
  std::filesystem::path path;
};

/// The whole file or nothing: `write` gets a draft beside it and says whether that is complete; then the draft gets the
/// name. What is no regular file, such as /dev/stdout, is written to. Throws UsageError.
void write_whole(const OutputFile& output, const std::function<bool(const std::filesystem::path& draft)>& write);

/// Throws UsageError if the output would replace `input`; `purpose` completes "is an input of ...".
void refuse_input(const OutputFile& output, const std::filesystem::path& input, const std::string& purpose);

}  // namespace trilemma::cli
