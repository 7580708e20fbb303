#include "core/config/writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

struct Line {
  std::string text;
  std::string origin;  // empty for a line that only opens a map
};

/// Quotes only what YAML would read as something else.
std::string scalar_text(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const bool null = text == "~" || text == "null" || text == "Null" || text == "NULL";
  const bool plain = !text.empty() && !null && text.front() != ' ' && text.back() != ' ' &&
                     std::string_view("-?:,[]{}#&*!|>'\"%@`").find(text.front()) == std::string_view::npos &&
                     text.find(": ") == std::string::npos && text.find(" #") == std::string::npos &&
                     text.back() != ':' && text.find_first_of("\n\t") == std::string::npos;
  return plain ? text : value.dump();
}

/// Walks a JSON value and collects its lines.
class YamlLines {
 public:
  explicit YamlLines(const Origins& origins) : origins_(origins) {}

  /// `lead` stands before the value on its line ("  key: "), `indent` before the lines of its children.
  void add(const Json& value, const std::string& path, const std::string& lead, const std::string& indent) {
    const bool unsaid = (value == Json("") && !origins_.contains(path)) || (value.is_structured() && value.empty());
    if (unsaid && !lead.empty()) return;
    if (!value.is_structured()) {
      lines_.push_back({lead + scalar_text(value), origin_text(path)});
      return;
    }
    if (!lead.empty()) lines_.push_back({lead.substr(0, lead.find_last_not_of(' ') + 1), ""});
    std::size_t index = 0;
    for (const auto& [key, child] : value.items()) {
      const std::string child_path = value.is_array() ? fmt::format("{}[{}]", path, index++) : join_path(path, key);
      add(child, child_path, value.is_array() ? indent + "- " : indent + key + ": ", indent + "  ");
    }
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

 private:
  [[nodiscard]] std::string origin_text(const std::string& path) const {
    const auto found = origins_.find(path);
    return found == origins_.end() ? "built-in" : found->second.text();
  }

  const Origins& origins_;
  std::vector<Line> lines_;
};

}  // namespace

std::string to_yaml(const Json& value, const Origins& origins) {
  YamlLines yaml(origins);
  yaml.add(value, "", "", "");
  const std::vector<Line>& lines = yaml.lines();
  constexpr std::size_t widest_column = 60;
  std::size_t width = 0;
  for (const Line& line : lines) {
    if (!line.origin.empty() && line.text.size() <= widest_column) width = std::max(width, line.text.size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += line.origin.empty() ? line.text : fmt::format("{:<{}}  # {}", line.text, width, line.origin);
    text += '\n';
  }
  return text;
}

}  // namespace trilemma::config
