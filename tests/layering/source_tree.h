#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

/// The project's own source text.
namespace trilemma::test {

struct SourceLine {
  int number;        // 1-based
  std::string text;  // as written
  std::string code;  // without what follows `//` and without the contents of string literals
};

struct SourceFile {
  std::string path;  // from the root of the project
  std::vector<SourceLine> lines;
};

/// `text` without comment and literals. A `//` inside a literal is no comment; a literal becomes "".
inline std::string code_of(const std::string& text) {
  std::string code;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == quote)
        code += std::exchange(quote, '\0');
      continue;
    }
    if (text[i] == '/' && i + 1 < text.size() && text[i + 1] == '/') break;
    // A ' between digits separates them: 1'000.
    const bool digits = text[i] == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    if (text[i] == '"' || (text[i] == '\'' && !digits)) quote = text[i];
    code += text[i];
  }
  return code;
}

inline SourceFile read_source(const std::filesystem::path& root, const std::filesystem::path& file) {
  SourceFile source{.path = file.lexically_relative(root).generic_string(), .lines = {}};
  std::ifstream stream(file);
  int number = 0;
  for (std::string text; std::getline(stream, text);) source.lines.push_back({++number, text, code_of(text)});
  return source;
}

/// All .h and .cpp files below the folders, sorted by path.
inline std::vector<SourceFile> sources_below(const std::vector<std::string>& folders) {
  const std::filesystem::path root = TRILEMMA_SOURCE_DIR;
  std::vector<std::filesystem::path> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<SourceFile> sources;
  for (const auto& file : files) sources.push_back(read_source(root, file));
  return sources;
}

}  // namespace trilemma::test
