#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

/// Committed results. TRILEMMA_UPDATE_GOLDEN=1 in the environment rewrites them instead of comparing: look at what
/// `git diff` shows, and explain it in the commit.
namespace trilemma::test {

inline bool updates_golden() {
  const char* wish = std::getenv("TRILEMMA_UPDATE_GOLDEN");
  return wish != nullptr && std::string(wish) == "1";
}

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The committed text; after an update, `text` itself.
inline std::string golden_text(const std::filesystem::path& file, const std::string& text) {
  if (updates_golden()) std::ofstream(file, std::ios::binary) << text;
  EXPECT_TRUE(std::filesystem::exists(file)) << "run with TRILEMMA_UPDATE_GOLDEN=1 to write " << file;
  return read_text(file);
}

}  // namespace trilemma::test
