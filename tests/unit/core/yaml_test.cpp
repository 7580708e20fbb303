#include "core/config/yaml.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "core/config/problems.h"

namespace trilemma::config {
namespace {

Node read(const std::string& text) { return read_yaml_text(text, {.source = "f", .line = 1, .column = 1}); }

std::string problem(const std::string& text) {
  try {
    (void)read(text);
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Yaml, GivesScalarsListsAndMapsTheirPlaces) {
  const Node root = read("a: 1\nb:\n  c: [x, \"y z\"]\n");
  ASSERT_EQ(root.kind, Node::Kind::map);
  EXPECT_EQ(root.find("a")->scalar, "1");
  EXPECT_EQ(root.find("a")->origin.text(), "f:1:4");
  EXPECT_EQ(root.entries[1].key_origin.text(), "f:2:1");
  const Node* list = root.find("b")->find("c");
  ASSERT_EQ(list->kind, Node::Kind::list);
  EXPECT_EQ(list->items[1].scalar, "y z");
  EXPECT_EQ(list->items[1].origin.text(), "f:3:10");
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Yaml, KeepsScalarsAsTheirText) {
  for (const std::string text : {"010", "0x1F", "1e3", "yes", "~x", ".nan", "2024-01-01"})
    EXPECT_EQ(read("a: " + text).find("a")->scalar, text);
}

TEST(Yaml, ReadsBlockTextsQuotesAndComments) {
  EXPECT_EQ(read("a: |\n  x\n  y\n").find("a")->scalar, "x\ny\n");
  EXPECT_EQ(read("a: 'it''s' # why\n").find("a")->scalar, "it's");
  EXPECT_EQ(read("a: \"t\\tb\"\n").find("a")->scalar, "t\tb");
  EXPECT_EQ(read("a: x#y\n").find("a")->scalar, "x#y");
}

TEST(Yaml, SaysNothingWhereNothingStands) {
  EXPECT_EQ(read("").kind, Node::Kind::null);
  EXPECT_EQ(read("# only a comment\n").kind, Node::Kind::null);
  EXPECT_EQ(read("a:\n").find("a")->kind, Node::Kind::null);
  EXPECT_EQ(read("a: ~\n").find("a")->kind, Node::Kind::null);
  EXPECT_EQ(read("a: \"\"\n").find("a")->kind, Node::Kind::scalar);
}

TEST(Yaml, PlacesAnOmittedValueAtItsKey) {
  EXPECT_EQ(read("a:\n\n\nb: 1\n").find("a")->origin.text(), "f:1:1");
  EXPECT_EQ(read("x: {a: , b: 1}\n").find("x")->find("a")->origin.text(), "f:1:5");
}

TEST(Yaml, NamesBothPlacesOfADuplicateKeyAtEveryDepth) {
  EXPECT_EQ(problem("a: 1\nb: 2\na: 1\n"),
            "f:3:1: duplicate key 'a'; it already stands at f:1:1, delete one of the two");
  EXPECT_EQ(problem("x:\n  a: 1\n  a: 2\n"),
            "f:3:3: duplicate key 'a'; it already stands at f:2:3, delete one of the two");
  EXPECT_EQ(problem("x:\n  y: {a: 1, b: 2, a: 3}\n"),
            "f:2:19: duplicate key 'a'; it already stands at f:2:7, delete one of the two");
  EXPECT_EQ(problem("x: [{a: 1}, {a: 1, 'a': 2}]\n"),
            "f:1:20: duplicate key 'a'; it already stands at f:1:14, delete one of the two");
  EXPECT_EQ(problem("x: {a: 1}\ny: {a: 1}\n"), "accepted");
}

TEST(Yaml, RefusesAnchorsAliasesTagsAndMergeKeys) {
  EXPECT_EQ(problem("a: &x 1\nb: *x\n"), "f:1:4: anchors (&name) are not supported; write the value out");
  EXPECT_EQ(problem("a: &x [1]\n"), "f:1:4: anchors (&name) are not supported; write the value out");
  EXPECT_EQ(problem("a: &x {b: 1}\n"), "f:1:4: anchors (&name) are not supported; write the value out");
  EXPECT_EQ(problem("a: *x\n"), "f:1:4: not valid YAML: the referenced anchor is not defined");
  EXPECT_EQ(problem("a: !!int 1\n"), "f:1:4: 'tag:yaml.org,2002:int' tags are not supported; write the plain value");
  EXPECT_EQ(problem("a: !own {b: 1}\n"), "f:1:4: '!own' tags are not supported; write the plain value");
  // To this reader a merge key is a key like any other; the struct behind it does not know it.
  EXPECT_EQ(read("<<: {b: 1}\n").entries[0].key, "<<");
}

TEST(Yaml, RefusesKeysThatAreNoWords) {
  EXPECT_EQ(problem("? [a, b]\n: 1\n"), "f:1:3: a key is a list or a map; write a plain word");
  EXPECT_EQ(problem("{{a: 1}: 2}\n"), "f:1:2: a key is a list or a map; write a plain word");
  EXPECT_EQ(problem(": 1\n"), "f:1:1: a key is empty; write a plain word");
}

TEST(Yaml, RefusesASecondDocument) {
  EXPECT_EQ(problem("a: 1\n---\nb: 2\n"), "f:3:1: a second YAML document starts here; put each in a file of its own");
  EXPECT_EQ(problem("---\na: 1\n...\n"), "accepted");
}

TEST(Yaml, TellsATabThatIndents) {
  EXPECT_EQ(problem("a:\n\tb: 1\n"), "f:2:1: not valid YAML: a tab indents this line; write spaces");
  EXPECT_EQ(problem("a:\n  b: 1\n \tc: 1\n"), "f:3:2: not valid YAML: a tab indents this line; write spaces");
  EXPECT_EQ(problem("a: b: c\n"), "f:1:5: not valid YAML: illegal map value");
}

TEST(Yaml, TakesByteOrderMarksCarriageReturnsAndUtf8) {
  const Node marked = read(
      "\xef\xbb\xbf"
      "a: 1\n");
  EXPECT_EQ(marked.find("a")->origin.text(), "f:1:4");
  const Node windows = read("a: 1\r\nb: two\r\n");
  EXPECT_EQ(windows.find("b")->scalar, "two");
  EXPECT_EQ(windows.find("b")->origin.text(), "f:2:4");
  EXPECT_EQ(read("größe: weiß 漢字 😀\n").find("größe")->scalar, "weiß 漢字 😀");
}

TEST(Yaml, RefusesBytesThatAreNoUtf8) {
  // Lone continuation, overlong forms, a surrogate, beyond U+10FFFF, and sequences cut short (RFC 3629).
  for (const std::string bytes : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                  "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98"}) {
    const std::string found = problem("a: " + bytes);
    EXPECT_EQ(found.substr(0, 16), "f:1:1: byte 4 is") << found;
    EXPECT_NE(found.find("which is not UTF-8; save the text as UTF-8"), std::string::npos);
  }
  for (const std::string bytes : {"\xc2\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(problem("a: x" + bytes), "accepted");
}

TEST(Yaml, RefusesBinary) {
  EXPECT_EQ(problem(std::string("a: \0", 4)), "f:1:1: byte 4 is 0x00; this is not a text file; write YAML in UTF-8");
  EXPECT_EQ(problem("\x7f"
                    "ELF"),
            "f:1:1: byte 1 is 0x7f; this is not a text file; write YAML in UTF-8");
}

TEST(Yaml, NestsSixtyFourLevelsAndNoMore) {
  EXPECT_EQ(problem(repeated("[", 64) + repeated("]", 64)), "accepted");
  EXPECT_EQ(problem(repeated("[", 65) + repeated("]", 65)),
            "f:1:65: nested deeper than 64 levels; write a flatter file");
  EXPECT_EQ(problem("a: " + repeated("{b: ", 63) + "1" + repeated("}", 63)), "accepted");
  EXPECT_EQ(problem("a: " + repeated("{b: ", 64) + "1" + repeated("}", 64)),
            "f:1:256: nested deeper than 64 levels; write a flatter file");  // 3 + 4 63 + 1
}

class YamlFile : public testing::Test {
 protected:
  YamlFile() {
    std::string name = (std::filesystem::temp_directory_path() / "trilemma-yaml-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~YamlFile() override { std::filesystem::remove_all(folder_); }

  std::string problem_of(const std::string& text) const {
    std::ofstream(folder_ / "f", std::ios::binary) << text;
    return problem_at(folder_ / "f");
  }
  static std::string problem_at(const std::filesystem::path& path) {
    try {
      (void)read_yaml_file(path, "shown.yaml");
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(YamlFile, HoldsAMap) {
  EXPECT_EQ(problem_of("a: 1\n"), "accepted");
  EXPECT_EQ(problem_of(""), "shown.yaml: is empty; write a map of keys and values");
  EXPECT_EQ(problem_of("# comment\n"), "shown.yaml: is empty; write a map of keys and values");
  EXPECT_EQ(problem_of("\n- a\n"), "shown.yaml:2:1: the file holds a list; write a map of keys and values");
  EXPECT_EQ(problem_of("a\n"), "shown.yaml:1:1: the file holds a single value; write a map of keys and values");
}

TEST_F(YamlFile, ExistsAndIsNoFolder) {
  EXPECT_EQ(problem_at(folder_ / "no"), "shown.yaml: no such file; write the path of a YAML file");
  EXPECT_EQ(problem_at(folder_), "shown.yaml: is a directory; name a YAML file in it");
}

TEST_F(YamlFile, HasAtMostOneMebibyte) {
  const std::string start = "a: 1\n#";
  const std::string largest = start + std::string((1U << 20U) - start.size(), '.');
  EXPECT_EQ(problem_of(largest), "accepted");
  EXPECT_EQ(problem_of(largest + "."), "shown.yaml: is larger than 1 MiB; a scenario file is a few KB of YAML");
  EXPECT_EQ(problem_of(repeated("[", 10'000'000)),
            "shown.yaml: is larger than 1 MiB; a scenario file is a few KB of YAML");
}

}  // namespace
}  // namespace trilemma::config
