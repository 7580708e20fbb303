#include <gtest/gtest.h>

#include "core/config/problems.h"
#include "core/config/yaml.h"

namespace trilemma::config {
namespace {

Node with(const std::string& text, const std::vector<std::string>& sets) {
  Node root = read_yaml_text(text, {.source = "f", .line = 1, .column = 1});
  for (const std::string& set : sets) apply_set(root, set);
  return root;
}

std::string problem(const std::string& text, const std::string& set) {
  try {
    (void)with(text, {set});
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(SetOption, ReplacesAValueAndNamesItself) {
  const Node root = with("a: {b: 1, c: 2}\n", {"a.b=3"});
  EXPECT_EQ(root.find("a")->find("b")->scalar, "3");
  EXPECT_EQ(root.find("a")->find("b")->origin.text(), "--set a.b=3");
  EXPECT_EQ(root.find("a")->find("c")->origin.text(), "f:1:14");
}

TEST(SetOption, MakesTheMapsOnItsWay) {
  const Node root = with("x: 1\n", {"a.b.c=3"});
  EXPECT_EQ(root.find("a")->find("b")->find("c")->scalar, "3");
}

TEST(SetOption, GrowsTheShortFormIntoAMap) {
  const Node root = with("device: jetson\n", {"device.memory=8 GiB"});
  const Node* device = root.find("device");
  ASSERT_EQ(device->kind, Node::Kind::map);
  EXPECT_EQ(device->find("kind")->scalar, "jetson");
  EXPECT_EQ(device->find("kind")->origin.text(), "f:1:9");  // the word is still the file's
  EXPECT_EQ(device->find("memory")->scalar, "8 GiB");
  EXPECT_EQ(device->origin.text(), "--set device.memory=8 GiB");
}

TEST(SetOption, TakesListsMapsAndNothing) {
  EXPECT_EQ(with("", {"a=[1, 2]"}).find("a")->items.size(), 2U);
  EXPECT_EQ(with("a: 1\n", {"a={b: 2}"}).find("a")->find("b")->scalar, "2");
  EXPECT_EQ(with("a: 1\n", {"a="}).find("a")->kind, Node::Kind::null);
  EXPECT_EQ(with("", {"a=x=y"}).find("a")->scalar, "x=y");
  EXPECT_EQ(with("", {"a= 2 "}).find("a")->scalar, "2");
}

TEST(SetOption, LetsTheLastOneWin) {
  EXPECT_EQ(with("", {"a=1", "a=2"}).find("a")->scalar, "2");
  EXPECT_EQ(with("", {"a={b: 1}", "a.b=2"}).find("a")->find("b")->scalar, "2");
}

TEST(SetOption, RefusesABadPath) {
  EXPECT_EQ(problem("a: 1\n", "a"), "--set a: has no '='; write for example '--set workload.clients=10'");
  EXPECT_EQ(problem("a: 1\n", ""), "--set : has no '='; write for example '--set workload.clients=10'");
  for (const std::string set : {"=1", ".a=1", "a.=1", "a..b=1"}) {
    EXPECT_EQ(problem("", set),
              "--set " + set + ": has an empty part in its path; write for example '--set workload.clients=10'");
  }
  EXPECT_EQ(problem("a: [1]\n", "a.b=1"), "--set a.b=1: 'b' lies inside a list; set the whole list instead");
}

TEST(SetOption, RefusesBrokenYaml) {
  EXPECT_EQ(problem("", "a=b: c: d"), "--set a=b: c: d: not valid YAML: illegal map value");
  EXPECT_EQ(
      problem("", "a={b: 1, b: 2}"),
      "--set a={b: 1, b: 2}: duplicate key 'b'; it already stands at --set a={b: 1, b: 2}, delete one of the two");
  EXPECT_EQ(problem("", "a=&x 1"), "--set a=&x 1: anchors (&name) are not supported; write the value out");
  EXPECT_EQ(problem("", "a=\xff"), "--set a=\xff: byte 1 is 0xff, which is not UTF-8; save the text as UTF-8");
}

TEST(SetOption, StaysOnOneLineInMessages) {
  EXPECT_EQ(problem("", "a\nb"), "--set a\\x0ab: has no '='; write for example '--set workload.clients=10'");
  EXPECT_LT(problem("", std::string(100'000, 'x')).size(), 200U);
}

TEST(Overlay, MergesMapsAndReplacesTheRest) {
  const auto read = [](const std::string& text, const char* source) {
    return read_yaml_text(text, {.source = source, .line = 1, .column = 1});
  };
  const Node merged =
      overlay(read("a: 1\nm: {x: 1, y: 2}\nl: [1, 2]\n", "low"), read("m: {y: 3, z: 4}\nl: [5]\nb: 6\n", "high"));
  EXPECT_EQ(merged.find("a")->origin.text(), "low:1:4");
  EXPECT_EQ(merged.find("m")->find("x")->origin.source, "low");
  EXPECT_EQ(merged.find("m")->find("y")->scalar, "3");
  EXPECT_EQ(merged.find("m")->find("y")->origin.source, "high");
  EXPECT_EQ(merged.find("m")->find("z")->scalar, "4");
  EXPECT_EQ(merged.find("l")->items.size(), 1U);
  EXPECT_EQ(merged.find("b")->scalar, "6");
  EXPECT_EQ(merged.entries[0].key, "a") << "the order of the lower map is kept";
}

}  // namespace
}  // namespace trilemma::config
