#include "core/config/yaml.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <unordered_map>

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
    // The mark of an omitted value is that of the next token, perhaps lines below.
    const bool of_key = !stack_.empty() && stack_.back().pending;
    place(Node{.origin = of_key ? stack_.back().pending->key_origin : at(mark)});
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
    std::unordered_map<std::string, Origin> keys;
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
    if (const auto [first, fresh] = level.keys.try_emplace(key, at(mark)); !fresh)
      fail(at(mark), fmt::format("duplicate key '{}'; it already stands at {}, delete one of the two", printable(key),
                                 first->second.text()));
    level.pending = Entry{.key = key, .key_origin = at(mark), .value = {}};
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (expects_key()) fail(at(mark), "a key is a list or a map; write a plain word");
    if (stack_.size() >= deepest)
      fail(at(mark), fmt::format("nested deeper than {} levels; write a flatter file", deepest));
    stack_.push_back({.node = Node{.kind = kind, .origin = at(mark)}, .pending = {}, .keys = {}});
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

/// Offset of the first byte that is not part of a UTF-8 sequence (RFC 3629: no overlong forms, no surrogates).
std::optional<std::size_t> non_utf8_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned lead = byte(at);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    bool valid = length > 0 && (length == 1 || (byte(at + 1) >= low && byte(at + 1) <= high));
    for (std::size_t i = 2; i < length; ++i) valid = valid && (byte(at + i) & 0xc0U) == 0x80;
    if (!valid) return at;
    at += length;
  }
  return std::nullopt;
}

/// Column of a tab before the first word of `line` (from 0). yaml-cpp blames the word and speaks of map values.
std::optional<int> indenting_tab(const std::string& text, int line) {
  std::istringstream stream(text);
  std::string found;
  for (int i = 0; i <= line; ++i) std::getline(stream, found);
  const std::size_t tab = found.substr(0, found.find_first_not_of(" \t")).find('\t');
  if (tab == std::string::npos) return std::nullopt;
  return static_cast<int>(tab) + 1;
}

std::string read_file(const std::filesystem::path& path, const std::string& shown) {
  const Origin where{.source = shown.empty() ? "''" : shown};
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail(where, "no such file; write the path of a YAML file");
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
    fail(origin, fmt::format("byte {} is 0x{:02x}; this is not a text file; write YAML in UTF-8", *offset + 1,
                             static_cast<unsigned char>(text[*offset])));
  }
  if (const auto offset = non_utf8_byte(text)) {
    fail(origin, fmt::format("byte {} is 0x{:02x}, which is not UTF-8; save the text as UTF-8", *offset + 1,
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
    if (const auto column = indenting_tab(text, error.mark.line)) {
      if (where.line != 0) where.column = *column;
      fail(where, "not valid YAML: a tab indents this line; write spaces");
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
  if (equals == std::string_view::npos) fail(where, "has no '='; write for example '--set workload.clients=10'");
  std::string_view path = option.substr(0, equals);
  Node* node = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (key.empty()) fail(where, "has an empty part in its path; write for example '--set workload.clients=10'");
    if (node->kind == Node::Kind::scalar) {
      // The short form `device: jetson` grows into the map it stands for.
      Node kind = *node;
      *node = Node{.kind = Node::Kind::map, .origin = where};
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
