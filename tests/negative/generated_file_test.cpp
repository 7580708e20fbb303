#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

/// Files that are too large, too deep or too strange to be kept in the repository.
namespace trilemma::test {
namespace {

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

/// `expected` as in line_holds(), for a file of this content.
void expect_file_refused(const std::string& content, const std::vector<std::string>& expected) {
  const Folder home;
  write_file(home.path() / "strange.yaml", content);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check", "strange.yaml"}, {"run", "strange.yaml", "--records", "--out", "out"}}) {
    expect_refused(run_program(words, home.path()), expected, "strange.yaml");
    EXPECT_FALSE(std::filesystem::exists(home.path() / "out"));
  }
}

const std::string good = file_text(TRILEMMA_SOURCE_DIR "/tests/negative/good.yaml");

TEST(StrangeFile, OfNothingIsEmpty) {
  expect_file_refused("", {": is empty; write a map of keys and values"});
  expect_file_refused("\n\n", {": is empty; write a map of keys and values"});
  expect_file_refused("---\n", {": is empty; write a map of keys and values"});
}

TEST(StrangeFile, OfBinaryIsNoText) {
  expect_file_refused({"\x7f"
                       "ELF\x02\x01\x01\x00",
                       8},
                      {":1:1: byte 1 is 0x7f; this is not a text file; write YAML in UTF-8"});
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  expect_file_refused(all_bytes, {":1:1: byte 1 is 0x00; this is not a text file; write YAML in UTF-8"});
}

TEST(StrangeFile, InAnotherEncodingIsNotUtf8) {
  expect_file_refused("name: \xc4rger\n" + good, {":1:1: byte 7 is 0xc4, which is not UTF-8; save the text as UTF-8"});
  // UTF-16 with its byte order mark: the second byte of the 'n' is the first that no text holds.
  expect_file_refused({"\xff\xfen\0a\0", 6}, {":1:1: byte 4 is 0x00; this is not a text file; write YAML in UTF-8"});
  // Overlong '/', a surrogate, and a sequence that the end cuts.
  expect_file_refused("name: \xc0\xaf\n", {":1:1: byte 7 is 0xc0, which is not UTF-8; save the text as UTF-8"});
  expect_file_refused("name: \xed\xa0\x80\n", {":1:1: byte 7 is 0xed, which is not UTF-8; save the text as UTF-8"});
  expect_file_refused("name: \xe2\x82", {":1:1: byte 7 is 0xe2, which is not UTF-8; save the text as UTF-8"});
}

TEST(StrangeFile, WithByteOrderMarkOrCarriageReturnsKeepsItsPlaces) {
  const std::string typo = "sede: 1\n" + good;
  expect_file_refused("\xef\xbb\xbf" + typo, {":1:1: 'sede' is not a known key; write 'seed' (of ..."});
  std::string windows;
  for (const std::string& line : lines(typo)) windows += line + "\r\n";
  expect_file_refused(windows, {":1:1: 'sede' is not a known key; write 'seed' (of ..."});
}

TEST(StrangeFile, OfTenMegabytesIsTooLarge) {
  const std::vector<std::string> expected{": is larger than 1 MiB; a scenario file is a few KB of YAML"};
  expect_file_refused(repeated("# ten characters\n", 600'000), expected);
  expect_file_refused("a: " + repeated("[", 10'000'000), expected);
  expect_file_refused(good + repeated(" ", 1U << 20U), expected);
}

TEST(StrangeFile, NestedDeeperThan64LevelsIsRefusedWhereItGoesTooDeep) {
  // The map at the top is level 1, so the 64th bracket opens level 65, in column 3 + 64.
  expect_file_refused("a: " + repeated("[", 64) + repeated("]", 64),
                      {":1:67: nested deeper than 64 levels; write a flatter file"});
  // A dash and a blank a level: the 65th dash stands in column 2 64 + 1.
  expect_file_refused(repeated("- ", 500'000), {":1:129: nested deeper than 64 levels; write a flatter file"});
  std::string stairs;
  for (std::size_t level = 0; level < 1000; ++level) stairs += std::string(level, ' ') + "a:\n";
  expect_file_refused(stairs, {":65:65: nested deeper than 64 levels; write a flatter file"});
}

TEST(StrangeFile, OfOpenBracketsEndsQuickly) {
  for (const std::string bracket : {"[", "{", "? "}) {
    const Folder home;
    write_file(home.path() / "strange.yaml", "a: " + repeated(bracket, 1'000'000 / bracket.size()));
    const Ended ended = run_program({"check", "strange.yaml"}, home.path());
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(lines(ended.err).size(), 1U);
  }
}

/// Telling each key from all others one by one took 33 s for a file of this size.
// A reader that compared each key with all others would not end within any patience.
TEST(StrangeFile, OfManyUnknownKeysNamesThemAll) {
  std::string keys;
  for (int i = 0; i < 50'000; ++i) keys += "k" + std::to_string(i) + ":\n";
  const Folder home;
  write_file(home.path() / "strange.yaml", keys + good);
  const Ended ended = run_program({"check", "strange.yaml"}, home.path());
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(lines(ended.err).size(), 50'000U);
}

TEST(StrangeFile, LongValuesAreCutInMessages) {
  std::string text = good;
  const std::string clients = "clients: 2";
  text.replace(text.find(clients), clients.size(), "clients: " + std::string(100'000, 'x'));
  expect_file_refused(
      text, {":8:12: workload.clients: '" + std::string(60, 'x') + "...' is not a number; write for example '100'"});
}

TEST(StrangeFile, WithBrokenCatalogueEntryNamesThePlaceInTheCatalogue) {
  const Folder home;
  std::filesystem::copy(TRILEMMA_SOURCE_DIR "/configs", home.path() / "own", std::filesystem::copy_options::recursive);
  write_file(home.path() / "good.yaml", good);
  write_file(home.path() / "own" / "devices" / "rtx-4090.yaml", "title: no more\nmemory: 24\n");
  expect_refused(
      run_program({"check", "good.yaml", "--catalogue", "own"}, home.path()),
      {"configs/devices/rtx-4090.yaml:1:1: edge.bandwidth: is missing; write for example 'bandwidth: 76.8 GB/s'",
       "configs/devices/rtx-4090.yaml:1:1: edge.rates: is missing; write 'rates:' with its value",
       "configs/devices/rtx-4090.yaml:2:9: edge.memory: '24' has no unit; write for example '64 KiB'"},
      "");
  write_file(home.path() / "own" / "devices" / "rtx-4090.yaml", "title: [no more\n");
  expect_refused(run_program({"check", "good.yaml", "--catalogue", "own"}, home.path()),
                 {"good.yaml:6:7: edge: 'rtx-4090' cannot be read: configs/devices/rtx-4090.yaml:2:1: not valid YAML: "
                  "end of sequence flow not found"},
                 "");
}

TEST(StrangeFile, WithBrokenAccuraciesNamesTheirLine) {
  const Folder home;
  std::filesystem::copy(TRILEMMA_SOURCE_DIR "/configs", home.path() / "own", std::filesystem::copy_options::recursive);
  const std::string clients = "  clients: 2\n";
  std::string text = good;
  text.insert(text.find(clients), "  task: piqa\n");
  write_file(home.path() / "task.yaml", text);
  write_file(home.path() / "good.yaml", good);
  const std::filesystem::path csv = home.path() / "own" / "accuracy" / "fouriercompress.csv";
  write_file(csv, file_text(csv) + "llama-3.2-1b,fc,piqa,11,swept,101 %,nowhere\n");
  const auto check = [&](const std::string& file) {
    return run_program({"check", file, "--catalogue", "own"}, home.path());
  };
  expect_refused(check("task.yaml"),
                 {"configs/accuracy/fouriercompress.csv:482: accuracy: '101 %' is outside 0 % to 100 %"}, "");
  std::filesystem::remove(csv);
  expect_refused(check("task.yaml"),
                 {"configs/accuracy/fouriercompress.csv: cannot be read; write the path of a CSV file"}, "");
  EXPECT_EQ(check("good.yaml").exit_code, 0) << "without a task, nobody asks";
}

TEST(StrangeSheet, HasItsPeaksLast) {
  const Folder home;
  const std::string above = "memory: 16 GiB\nbandwidth: 100 GB/s\n";
  const std::string peaks =
      "peaks:\n  - {precision: int4, compute: 20 TOP/s, fit: [memory_efficiency], "
      "compute_efficiency: 40 %}\n";
  write_file(home.path() / "good.csv",
             "use,model,precision,metric,value\nfit,llama-3.2-1b,int4,decode,50 token/s\n"
             "fit,llama-3.2-3b,int4,decode,20 token/s\n");
  const auto calibrate = [&](const std::string& sheet) {
    write_file(home.path() / "sheet.yaml", sheet);
    return run_program({"calibrate", "good.csv", "--device", "sheet.yaml", "--out", "device.yaml"}, home.path());
  };
  expect_refused(
      calibrate(above + peaks + "quantisation_block: 0\n"),
      {"sheet.yaml:5:1: quantisation_block: stands below 'peaks', which comes last in a sheet; write it above"}, "");
  expect_refused(calibrate("{memory: 16 GiB, bandwidth: 100 GB/s, peaks: [{precision: int4, compute: 20 TOP/s, "
                           "fit: [memory_efficiency], compute_efficiency: 40 %}]}\n"),
                 {"sheet.yaml:1:39: peaks: is not a block of its own; write ..."}, "");
  EXPECT_FALSE(std::filesystem::exists(home.path() / "device.yaml"));
  EXPECT_EQ(calibrate("\xef\xbb\xbf" + above + "title: \"two\n  peaks: lines\"\n" + peaks).exit_code, 0);
  EXPECT_THAT(file_text(home.path() / "device.yaml"), testing::HasSubstr("title: \"two\n  peaks: lines\"\nrates:"));
}

TEST(CalibrationOutput, NeverReplacesWhatItIsMadeOfNorWhatIsNoFile) {
  const Folder home;
  const std::filesystem::path configs = TRILEMMA_SOURCE_DIR "/configs/calibration";
  std::filesystem::copy(configs / "stm32f746.csv", home.path() / "board.csv");
  std::filesystem::copy(configs / "stm32f746.yaml", home.path() / "board.yaml");
  const auto to = [&](const std::string& out) {
    return run_program({"calibrate", "board.csv", "--device", "board.yaml", "--out", out}, home.path());
  };
  expect_refused(to("board.csv"),
                 {"trilemma calibrate: --out 'board.csv' is an input of the calibration; write another path"}, "");
  expect_refused(to("./board.yaml"),
                 {"trilemma calibrate: --out './board.yaml' is an input of the calibration; write another path"}, "");
  expect_refused(to("."), {"trilemma calibrate: --out '.' is a folder; write the path of a file"}, "");
  write_file(home.path() / "old.yaml", "old");
  std::filesystem::create_symlink("old.yaml", home.path() / "link.yaml");
  EXPECT_EQ(to("link.yaml").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(home.path() / "link.yaml"));
  EXPECT_NE(file_text(home.path() / "old.yaml"), "old");
  EXPECT_EQ(to("/dev/null").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(home.path()), {}), 4) << "nothing is left behind";
}

}  // namespace
}  // namespace trilemma::test
