#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/config/node.h"

/// As much of JSON Schema (draft 2020-12) as `trilemma schema` uses.
namespace trilemma::test {

using Json = nlohmann::ordered_json;

/// Why `value` is not valid, one sentence a fault; empty when it is. A keyword that this validator does not know is a
/// fault too, so that nothing passes because nobody looked.
std::vector<std::string> schema_faults(const Json& schema, const Json& value, const std::string& path = "");

/// YAML as an editor reads it: plain scalars that look like numbers or truth values are such.
Json as_json(const config::Node& node);

}  // namespace trilemma::test
