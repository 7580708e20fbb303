#include "core/config/yaml.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "core/config/problems.h"

namespace trilemma::config {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::uintmax_t largest_file = 1U << 20U;

[[noreturn]] void fail(const Origin& where, const std::string& problem) { throw Error(where.text() + ": " + problem); }

/// Builds our tree from yaml-cpp's events; its own Node keeps neither duplicate keys apart nor places of keys.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Origin base) : base_(std::move(base)) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    place(Node{.origin = at(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    fail(at(mark), "aliases (*name) are not supported; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key()) return begin_entry(mark, value);
    place(Node{.kind = Node::Kind::scalar, .scalar = value, .origin = at(mark)});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node node;
    std::optional<Entry> pending;  // key read, value still to come
  };

  [[nodiscard]] Origin at(const YAML::Mark& mark) const {
    if (base_.line == 0) return base_;
    return {.source = base_.source, .line = mark.line + base_.line, .column = mark.column + 1};
  }
  [[nodiscard]] bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == Node::Kind::map && !stack_.back().pending;
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) fail(at(mark), "anchors (&name) are not supported; write the value out");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail(at(mark), fmt::format("'{}' tags are not supported; write the plain value", printable(tag)));
    }
  }
  void begin_entry(const YAML::Mark& mark, const std::string& key) {
    Level& level = stack_.back();
    for (const Entry& entry : level.node.entries) {
      if (entry.key != key) continue;
      fail(at(mark),
           fmt::format("duplicate key '{}'; it already stands at {}", printable(key), entry.key_origin.text()));
    }
    level.pending = Entry{.key = key, .key_origin = at(mark), .value = {}};
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key()) fail(at(mark), "a key is a list or a map; write a plain word");
    if (stack_.size() >= deepest) fail(at(mark), fmt::format("nested deeper than {} levels", deepest));
    stack_.push_back({.node = Node{.kind = kind, .origin = at(mark)}, .pending = {}});
  }
  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    place(std::move(node));
  }
  void place(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    if (expects_key()) fail(node.origin, "a key is empty; write a plain word");
    Level& level = stack_.back();
    if (level.node.kind == Node::Kind::list) {
      level.node.items.push_back(std::move(node));
      return;
    }
    level.pending->value = std::move(node);
    level.node.entries.push_back(std::move(*level.pending));
    level.pending.reset();
  }

  Origin base_;
  Node root_;
  std::vector<Level> stack_;
};

/// The first byte that no text file contains, as an offset.
std::optional<std::size_t> binary_byte(std::string_view text) {
  const auto found = std::find_if(text.begin(), text.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f;
  });
  if (found == text.end()) return std::nullopt;
  return static_cast<std::size_t>(found - text.begin());
}

std::string read_file(const std::filesystem::path& path, const std::string& shown) {
  const Origin where{.source = shown};
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail(where, "no such file");
  if (std::filesystem::is_directory(status)) fail(where, "is a directory; name a YAML file in it");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(where, "cannot be opened for reading; check its permissions");
  std::string text(largest_file + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > largest_file) fail(where, "is larger than 1 MiB; a scenario file is a few KB of YAML");
  return text;
}

}  // namespace

Node read_yaml_text(const std::string& text, const Origin& origin) {
  if (const auto offset = binary_byte(text)) {
    fail(origin, fmt::format("byte {} is 0x{:02x}; this is not a text file", *offset + 1,
                             static_cast<unsigned char>(text[*offset])));
  }
  TreeBuilder builder(origin);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return Node{.origin = origin};
    Node root = builder.take();
    TreeBuilder second(origin);
    if (parser.HandleNextDocument(second)) {
      fail(second.take().origin, "a second YAML document starts here; put each in a file of its own");
    }
    return root;
  } catch (const YAML::Exception& error) {
    Origin where = origin;
    if (where.line != 0) {
      where.line += std::max(error.mark.line, 0);
      where.column = std::max(error.mark.column, 0) + 1;
    }
    fail(where, "not valid YAML: " + error.msg);
  }
}

Node read_yaml_file(const std::filesystem::path& path, const std::string& shown) {
  const std::string text = read_file(path, shown);
  const Origin start{.source = shown, .line = 1, .column = 1};
  Node root = read_yaml_text(text, start);
  if (root.kind == Node::Kind::null) fail(Origin{.source = shown}, "is empty; write a map of keys and values");
  if (root.kind != Node::Kind::map) {
    fail(root.origin, fmt::format("the file holds {}; write a map of keys and values",
                                  root.kind == Node::Kind::list ? "a list" : "a single value"));
  }
  return root;
}

void apply_set(Node& root, std::string_view option) {
  const Origin where{.source = "--set " + printable(option)};
  const std::size_t equals = option.find('=');
  if (equals == std::string_view::npos || equals == 0)
    fail(where, "has no '='; write for example '--set workload.clients=10'");
  std::string_view path = option.substr(0, equals);
  Node* node = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (key.empty()) fail(where, "has an empty part in its path; write for example '--set workload.clients=10'");
    if (node->kind == Node::Kind::scalar) {
      // The short form `device: jetson` grows into the map it stands for.
      Node kind = *node;
      *node = Node{.kind = Node::Kind::map, .origin = kind.origin};
      node->entries.push_back({.key = "kind", .key_origin = kind.origin, .value = kind});
    } else if (node->kind == Node::Kind::null) {
      *node = Node{.kind = Node::Kind::map, .origin = where};
    } else if (node->kind == Node::Kind::list) {
      fail(where, fmt::format("'{}' lies inside a list; set the whole list instead", key));
    }
    Node* child = node->find(key);
    if (child == nullptr) {
      node->entries.push_back({.key = key, .key_origin = where, .value = Node{.origin = where}});
      child = &node->entries.back().value;
    }
    node = child;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  *node = read_yaml_text(std::string(option.substr(equals + 1)), where);
}

}  // namespace trilemma::config
