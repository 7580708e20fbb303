#include "core/config/catalogue.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/config/yaml.h"

namespace trilemma::config {
namespace {

/// Names from a scenario become file names: only these characters may do so.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> Catalogue::families() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_, error)) {
    std::string family = entry.path().filename().string();
    if (entry.is_directory() && !names(family).empty()) found.push_back(std::move(family));
  }
  return sorted(std::move(found));
}

std::vector<std::string> Catalogue::names(std::string_view family) const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / family, error)) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path().stem().string());
  }
  return sorted(std::move(found));
}

std::filesystem::path Catalogue::path(std::string_view family, std::string_view name) const {
  return root_ / family / (std::string(name) + ".yaml");
}

bool Catalogue::contains(std::string_view family, std::string_view name) const {
  std::error_code error;
  return is_plain_name(name) && std::filesystem::is_regular_file(path(family, name), error);
}

Node Catalogue::read(std::string_view family, std::string_view name) const {
  return read_yaml_file(path(family, name), fmt::format("configs/{}/{}.yaml", family, name));
}

}  // namespace trilemma::config
