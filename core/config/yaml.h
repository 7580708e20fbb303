#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/config/node.h"

namespace trilemma::config {

/// Reads a YAML file as a tree with places. Stricter than YAML 1.2: one document, a map at the top, unique plain keys,
/// no anchors, aliases or tags, at most 64 levels and 1 MiB.
/// Throws config::Error. `shown` is the name that messages use, normally the path as the user typed it.
Node read_yaml_file(const std::filesystem::path& path, const std::string& shown);

/// The same for text; any value may stand at the top. `origin` is used for every place when it has no line of its own
/// (a --set option), otherwise its source names the text and lines are counted from it.
Node read_yaml_text(const std::string& text, const Origin& origin);

/// Applies one `a.b=c` option on a tree: the value is YAML text, intermediate maps are created, and a scalar such as
/// `device: jetson` on the way becomes `{kind: jetson}`. Throws config::Error when the option has no '=' or a bad path.
void apply_set(Node& root, std::string_view option);

}  // namespace trilemma::config
