#include "core/config/schema.h"

#include <vector>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

struct Section {
  std::string title;
  const Json* schema;
};

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string range_text(const Json& schema) {
  std::string text;
  const auto add = [&](const char* key, const char* sign) {
    if (schema.contains(key)) text += (text.empty() ? "" : ", ") + std::string(sign) + " " + schema[key].dump();
  };
  add("minimum", ">=");
  add("exclusiveMinimum", ">");
  add("maximum", "<=");
  add("exclusiveMaximum", "<");
  if (schema.contains("$comment")) text += schema["$comment"].get<std::string>();
  return text;
}

std::string words(const Json& list) {
  std::string text;
  for (const Json& word : list) text += (text.empty() ? "`" : ", `") + word.get<std::string>() + "`";
  return text;
}

/// What a value looks like: an example, a list of words, or a link to the section of a map.
std::string value_text(const Json& schema, const std::string& path) {
  if (schema.contains("enum")) return words(schema["enum"]);
  if (schema.contains("examples")) return "`" + schema["examples"][0].get<std::string>() + "`";
  if (schema.contains("anyOf")) return fmt::format("see `{}`", path);
  const std::string type = schema.value("type", "");
  if (type == "object") return fmt::format("see `{}`", path);
  if (type == "array") return fmt::format("list, see `{}`", path);
  return type == "string" ? "text" : type;
}

std::string default_text(const Json& schema, bool required) {
  if (required) return "required";
  if (!schema.contains("default")) return "";
  const Json& standard = schema["default"];
  return "`" + (standard.is_string() ? standard.get<std::string>() : standard.dump()) + "`";
}

bool contains(const Json& list, const std::string& word) {
  return std::any_of(list.begin(), list.end(), [&](const Json& item) { return item == word; });
}

void add_section(const std::string& title, const Json& schema, std::vector<Section>& sections) {
  if (schema.contains("anyOf")) {
    for (const Json& choice : schema["anyOf"]) {
      if (!choice.contains("properties")) continue;
      const Json& properties = choice["properties"];
      const bool variant = properties.contains("kind") && properties["kind"].contains("const");
      add_section(variant ? title + ", kind: " + properties["kind"]["const"].get<std::string>() : title, choice,
                  sections);
    }
    return;
  }
  if (schema.value("type", "") == "array") return add_section(title + "[]", schema["items"], sections);
  if (!schema.contains("properties")) return;
  sections.push_back({title, &schema});
  const std::string path = title.substr(0, title.find(','));
  for (const auto& [key, child] : schema["properties"].items()) {
    add_section(sections.size() == 1 ? key : path + "." + key, child, sections);
  }
}

}  // namespace

std::string schema_to_markdown(const Json& schema, const std::string& title) {
  std::vector<Section> sections;
  add_section(title, schema, sections);
  std::string page =
      fmt::format("# {}\n\nGenerated from the field lists of the program: `trilemma schema --format md`.\n", title);
  for (const Section& section : sections) {
    page +=
        fmt::format("\n## {}\n\n| key | value | default | range | meaning |\n|---|---|---|---|---|\n", section.title);
    const std::string path =
        &section == &sections.front() ? "" : section.title.substr(0, section.title.find(',')) + ".";
    const Json required = section.schema->value("required", Json::array());
    for (const auto& [key, child] : (*section.schema)["properties"].items()) {
      const std::string value =
          child.contains("const") ? "`" + child["const"].get<std::string>() + "`" : value_text(child, path + key);
      page +=
          fmt::format("| `{}` | {} | {} | {} | {} |\n", key, cell(value), default_text(child, contains(required, key)),
                      range_text(child), cell(child.value("description", "")));
    }
  }
  return page;
}

}  // namespace trilemma::config
