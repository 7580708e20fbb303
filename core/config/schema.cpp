#include "core/config/schema.h"

#include <vector>

#include <fmt/format.h>

namespace trilemma::config {
namespace {

struct Section {
  std::string path;  // "" for the file, "radio, kind: fixed" for one alternative
  const Json* schema;
};

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string bound_text(const Json& bound) {
  return bound.is_number_float() ? format_number(bound.get<double>()) : bound.dump();
}

std::string range_text(const Json& schema) {
  std::string text;
  const auto add = [&](const char* key, const char* sign) {
    if (schema.contains(key)) text += (text.empty() ? "" : ", ") + std::string(sign) + " " + bound_text(schema[key]);
  };
  add("minimum", ">=");
  add("exclusiveMinimum", ">");
  add("maximum", "<=");
  add("exclusiveMaximum", "<");
  if (schema.contains("$comment")) text += schema["$comment"].get<std::string>();
  return text;
}

/// The words of a list; a number stands there only beside the word that it may be read as.
std::string words(const Json& list) {
  std::string text;
  for (const Json& word : list) {
    if (word.is_string()) text += (text.empty() ? "`" : ", `") + word.get<std::string>() + "`";
  }
  return text;
}

/// What a value looks like: an example, a list of words, or where its map is described.
std::string value_text(const Json& schema, const std::string& path) {
  if (schema.contains("const")) return words(Json::array({schema["const"]}));
  if (schema.contains("enum")) return words(schema["enum"]);
  if (schema.contains("examples")) {
    // The example of the type need not lie in the range of this key; its default does.
    const Json standard = schema.value("default", Json());
    const bool telling = standard.is_string() && !standard.get_ref<const std::string&>().starts_with('0');
    return "such as " + words(telling ? Json::array({standard}) : schema["examples"]);
  }
  if (schema.contains("anyOf")) {
    constexpr std::size_t few = 8;  // longer lists of names stand where the map is described
    const Json names = schema["anyOf"].front().value("enum", Json::array());
    if (names.empty()) return fmt::format("a map: see `{}`", path);
    return fmt::format("{} or a map: see `{}`", names.size() > few ? "a name" : words(names), path);
  }
  const std::string type = schema.value("type", "");
  if (type == "object") return fmt::format("a map: see `{}`", path);
  if (type == "array") return fmt::format("a list: see `{}[]`", path);
  if (type == "boolean") return "`true`, `false`";
  return type == "string" ? "text" : type == "integer" ? "whole number" : type;
}

std::string default_text(const Json& schema, bool required) {
  if (required) return "required";
  if (!schema.contains("default")) return "";
  const Json& standard = schema["default"];
  return "`" + (standard.is_string() ? standard.get<std::string>() : bound_text(standard)) + "`";
}

bool contains(const Json& list, const std::string& word) {
  return std::any_of(list.begin(), list.end(), [&](const Json& item) { return item == word; });
}

void add_section(const std::string& path, const Json& schema, std::vector<Section>& sections) {
  if (schema.contains("anyOf")) {
    for (const Json& choice : schema["anyOf"]) {
      if (!choice.contains("properties")) continue;
      const Json kind = choice["properties"].value("kind", Json::object());
      const bool alternative = kind.contains("const");
      const bool repeated = !alternative && kind.contains("enum") && !kind.contains("type");  // with its kind above
      if (repeated) continue;
      add_section(alternative ? fmt::format("{}, kind: {}", path, kind["const"].get<std::string>()) : path, choice,
                  sections);
    }
    return;
  }
  if (schema.value("type", Json()) == "array") return add_section(path + "[]", schema["items"], sections);
  if (!schema.contains("properties")) return;
  sections.push_back({path, &schema});
  for (const auto& [key, child] : schema["properties"].items()) {
    add_section(join_path(path.substr(0, path.find(',')), key), child, sections);
  }
}

std::string section_text(const Section& section) {
  std::string text = "| key | value | default | range | meaning |\n|---|---|---|---|---|\n";
  const Json required = section.schema->value("required", Json::array());
  for (const auto& [key, child] : (*section.schema)["properties"].items()) {
    const std::string path = join_path(section.path.substr(0, section.path.find(',')), key);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key, cell(value_text(child, path)),
                        default_text(child, contains(required, key)), range_text(child),
                        cell(child.value("description", "")));
  }
  return text;
}

}  // namespace

std::string schema_to_markdown(const Json& schema, const std::string& title) {
  std::vector<Section> sections;
  add_section("", schema, sections);
  std::string page = fmt::format(R"(# {}

Every key, from the field lists that the reader itself uses: `trilemma schema --format md` prints this page.

A quantity is a number with its unit (`0.5 ms`, `100 Mbit/s`, `64 KiB`); the column *value* shows one example. Where a name
may stand for a map, the name alone means that catalogue entry, or that kind with its defaults; a map gives the name as
`kind:` and overrides what it likes. A key that is neither required nor has a default may be left out; what the catalogue
entry gives need not be repeated.
)",
                                 title);
  for (const Section& section : sections) {
    page += fmt::format("\n## {}\n\n", section.path.empty() ? "The file" : section.path) + section_text(section);
  }
  return page;
}

}  // namespace trilemma::config
