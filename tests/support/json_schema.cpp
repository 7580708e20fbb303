#include "tests/support/json_schema.h"

#include <algorithm>
#include <regex>

namespace trilemma::test {
namespace {

using Faults = std::vector<std::string>;

bool is_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool is_one_of(const Json& value, const Json& types) {
  if (types.is_string()) return is_type(value, types.get<std::string>());
  return std::any_of(types.begin(), types.end(), [&](const Json& type) { return is_type(value, type); });
}

bool keeps_bound(const std::string& keyword, double number, double bound) {
  if (keyword == "minimum") return number >= bound;
  if (keyword == "exclusiveMinimum") return number > bound;
  if (keyword == "maximum") return number <= bound;
  return number < bound;
}

void check_properties(const Json& schema, const Json& value, const std::string& path, Faults& faults) {
  const Json& known = schema["properties"];
  for (const auto& [key, child] : value.items()) {
    if (known.contains(key)) {
      for (auto& fault : schema_faults(known[key], child, path + "/" + key)) faults.push_back(std::move(fault));
    } else if (schema.value("additionalProperties", true) == false) {
      faults.push_back(path + ": unknown key " + key);
    }
  }
}

void check_choices(const Json& choices, const Json& value, const std::string& path, Faults& faults) {
  Faults all;
  for (const Json& choice : choices) {
    const Faults found = schema_faults(choice, value, path);
    if (found.empty()) return;
    all.insert(all.end(), found.begin(), found.end());
  }
  faults.push_back(path + ": no choice fits");
  faults.insert(faults.end(), all.begin(), all.end());
}

void check_keyword(const Json& schema, const std::string& keyword, const Json& value, const std::string& path,
                   Faults& faults) {
  const Json& rule = schema[keyword];
  const auto expect = [&](bool kept) {
    if (!kept) faults.push_back(path + ": " + value.dump() + " breaks " + keyword + " " + rule.dump());
  };
  if (keyword == "type") return expect(is_one_of(value, rule));
  if (keyword == "enum") return expect(std::find(rule.begin(), rule.end(), value) != rule.end());
  if (keyword == "const") return expect(value == rule);
  if (keyword == "pattern")
    return expect(!value.is_string() ||
                  std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())));
  if (keyword.ends_with("imum"))
    return expect(!value.is_number() || keeps_bound(keyword, value.get<double>(), rule.get<double>()));
  if (keyword == "minItems") return expect(!value.is_array() || value.size() >= rule.get<std::size_t>());
  if (keyword == "anyOf") return check_choices(rule, value, path, faults);
  if (keyword == "properties") return value.is_object() ? check_properties(schema, value, path, faults) : void();
  if (keyword == "items" && value.is_array()) {
    for (const Json& item : value) {
      for (auto& fault : schema_faults(rule, item, path + "[]")) faults.push_back(std::move(fault));
    }
    return;
  }
  if (keyword == "required") {
    for (const Json& key : rule) expect(!value.is_object() || value.contains(key.get<std::string>()));
    return;
  }
  const Faults silent{"items",   "additionalProperties", "$schema", "title", "description", "default", "examples",
                      "$comment"};
  if (std::find(silent.begin(), silent.end(), keyword) == silent.end())
    faults.push_back(path + ": unknown keyword " + keyword);
}

Json scalar(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (std::regex_match(text, std::regex("[-+]?[0-9]+"))) return std::stoll(text);
  if (std::regex_match(text, std::regex(R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)")))
    return std::stod(text);
  return text;
}

}  // namespace

std::vector<std::string> schema_faults(const Json& schema, const Json& value, const std::string& path) {
  Faults faults;
  for (const auto& [keyword, rule] : schema.items()) check_keyword(schema, keyword, value, path, faults);
  return faults;
}

Json as_json(const config::Node& node) {
  Json json;
  switch (node.kind) {
    case config::Node::Kind::null:
      return nullptr;
    case config::Node::Kind::scalar:
      return scalar(node.scalar);
    case config::Node::Kind::list:
      json = Json::array();
      for (const config::Node& item : node.items) json.push_back(as_json(item));
      return json;
    case config::Node::Kind::map:
      break;
  }
  json = Json::object();
  for (const config::Entry& entry : node.entries) json[entry.key] = as_json(entry.value);
  return json;
}

}  // namespace trilemma::test
