#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/node.h"

namespace trilemma::config {

/// The folder of calibrated parts: one sub-folder a family, one YAML file a part, named by the file.
class Catalogue {
 public:
  /// `root` is the `configs` folder; it need not exist when nothing is looked up.
  explicit Catalogue(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::vector<std::string> families() const;                      // folders with entries, sorted
  [[nodiscard]] std::vector<std::string> names(std::string_view family) const;  // sorted
  [[nodiscard]] bool contains(std::string_view family, std::string_view name) const;
  [[nodiscard]] std::filesystem::path path(std::string_view family, std::string_view name) const;
  /// Throws config::Error when the file is missing or malformed. Places read "configs/FAMILY/NAME.yaml:line:col".
  [[nodiscard]] Node read(std::string_view family, std::string_view name) const;

 private:
  std::filesystem::path root_;
};

}  // namespace trilemma::config
