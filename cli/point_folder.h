#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/config/writer.h"

namespace trilemma::cli {

/// A point's folder, OUT/<id>. It is written under a hidden name and gets its own when everything is in it; a folder
/// that exists is never changed, except that records may be added. Throws config::Error where it cannot be written.
class PointFolder {
 public:
  PointFolder(std::filesystem::path out, std::string id);
  PointFolder(const PointFolder&) = delete;
  PointFolder& operator=(const PointFolder&) = delete;
  /// Removes what was not published.
  ~PointFolder();

  [[nodiscard]] std::filesystem::path path() const { return out_ / id_; }
  /// A file of the finished point, or nothing.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;

  /// Makes the hidden folder that files are written to.
  const std::filesystem::path& draft();
  void write(const std::string& name, const std::string& text);
  void publish();
  /// A run that a limit ended is kept beside the finished ones, as <id>.partial (-2, -3 ...).
  void publish_partial();

 private:
  std::filesystem::path out_;
  std::string id_;
  std::optional<std::filesystem::path> draft_;
};

}  // namespace trilemma::cli
