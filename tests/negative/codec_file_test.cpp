#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/codec/npy.h"
#include "program.h"

/// Files and options that `trilemma codec` does not take.
namespace trilemma::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A folder with acts.npy, 4 x 6 values, and whatever else a test needs.
class CodecFile : public testing::Test {
 protected:
  CodecFile() { array("acts.npy", {4, 6}, ramp(24)); }

  static std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((7 * i) % 11) - 3;
    return values;
  }
  void array(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
    write_npy(home_.path() / name, shape, values);
  }
  Ended codec(const Words& words) {
    Words all{"codec"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, home_.path());
  }
  void refused(const Words& words, const std::string& line) {
    const auto before = files();
    expect_refused(codec(words), {line}, "");
    EXPECT_EQ(files(), before) << "a refused command leaves nothing behind";
  }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(home_.path()), {}); }
  [[nodiscard]] fs::path path(const std::string& name) const { return home_.path() / name; }

 private:
  Folder home_;
};

TEST_F(CodecFile, OptionsAreChecked) {
  refused({}, "trilemma codec: no file; write for example 'trilemma codec acts.npy --kind fourier'");
  refused({"acts.npy"}, "codec: kind: is missing; write one of identity, fourier, ...");
  refused({"acts.npy", "--kind", "furier"}, "--kind furier: kind: 'furier' is not known here; write 'fourier'");
  refused({"acts.npy", "--kind", "fourier", "--ratio", "0.5"}, "--ratio 0.5: ratio: '0.5' is below 1; ...");
  refused({"acts.npy", "--kind", "fourier", "--ratio", "much"}, "--ratio much: ratio: 'much' is not a number; ...");
  refused({"acts.npy", "--kind", "identity", "--ratio", "2"}, "--ratio 2: 'ratio' is not a known key; ...");
  refused({"acts.npy", "--kind", "fourier", "--set", "ratioo=2"},
          "--set ratioo=2: 'ratioo' is not a known key; write 'ratio'");
  refused({"acts.npy", "--kind", "fourier", "--set", "ratio"}, "--set ratio: has no '='; ...");
  refused({"acts.npy", "--kind", "fourier", "--format", "xml"},
          "trilemma codec: --format 'xml' is not known; write table, csv, json or md");
  refused({"acts.npy", "--sweep", "--ratio", "2"},
          "trilemma codec: --sweep takes every kind and ratio; leave out --kind, --ratio and --set");
  refused({"acts.npy", "--sweep", "--calibrate", "basis.npy"},
          "trilemma codec: --calibrate writes a basis and codes nothing; leave out ...");
  refused({"acts.npy", "--kin", "fourier"}, "trilemma codec: '--kin' is not an option; write '--kind'; ...");
  refused({"acts.npy", "more.npy", "--sweep"}, "trilemma codec: takes at most 1 word without dashes; ...");
}

TEST_F(CodecFile, RatiosThatLeaveNothingNameTheLargest) {
  refused({"acts.npy", "--kind", "fourier", "--ratio", "1000"},
          "trilemma codec: fourier ratio=1000: ... choose a ratio of at most ...");
  refused({"acts.npy", "--kind", "quantise", "--set", "format=fp16"}, "trilemma codec: quantise format=fp16: ...");
  const Ended sweep = codec({"acts.npy", "--sweep", "--format", "csv"});
  EXPECT_EQ(sweep.exit_code, 0);
  EXPECT_EQ(lines(sweep.out).size(), 1U + 9 * 6 + 3 * 3);
  EXPECT_THAT(sweep.out, testing::HasSubstr("fourier ratio=16,,,,,,,,,,,,,,,,\"ratio 16 leaves"));
}

TEST_F(CodecFile, FilesAreChecked) {
  const auto file = [&](const std::string& name, const std::string& line) {
    refused({name, "--kind", "identity"}, line);
  };
  file("nowhere.npy", "trilemma: nowhere.npy: cannot be read; write the name of an .npy file");
  file(".", "trilemma: .: cannot be read; write the name of an .npy file");
  write_file(path("empty.npy"), "");
  file("empty.npy", "trilemma: empty.npy: does not start as an .npy file; write one with numpy.save");
  const std::string whole = file_text(path("acts.npy"));
  write_file(path("short.npy"), whole.substr(0, whole.size() - 1));
  file("short.npy", "trilemma: short.npy: has 95 bytes for 24 values of 4");
  array("cube.npy", {1, 2, 3, 4}, ramp(24));
  file("cube.npy", "trilemma: cube.npy: has 4 sides; write ...");
  array("none.npy", {0, 6}, {});
  file("none.npy", "trilemma: none.npy: has no usable shape; ...");
  array("nan.npy", {1, 2}, {1, std::numeric_limits<float>::quiet_NaN()});
  file("nan.npy", "trilemma: nan.npy: value 1 (counted from 0 in C order) is nan as FP32; write finite values");
}

TEST_F(CodecFile, OneTokenOneHiddenValueAndOddSidesAreCoded) {
  array("token.npy", {7}, ramp(7));
  array("column.npy", {5, 1}, ramp(5));
  array("one.npy", {1, 1}, ramp(1));
  array("windows.npy", {2, 3, 5}, ramp(30));
  for (const std::string file : {"token.npy", "column.npy", "one.npy", "windows.npy"}) {
    for (const Words& words : {Words{file, "--kind", "fourier"}, Words{file, "--sweep", "--streaming"}}) {
      const Ended ended = codec(words);
      EXPECT_EQ(ended.exit_code, 0) << file << ": " << ended.err;
      EXPECT_THAT(ended.out, testing::HasSubstr("H(V) <= H(Z) <= H(X)"));
    }
  }
}

TEST_F(CodecFile, ABasisIsWrittenWholeOrNotAtAll) {
  EXPECT_EQ(codec({"acts.npy", "--calibrate", "basis.npy"}).exit_code, 0);
  EXPECT_EQ(read_npy(path("basis.npy")).shape, (std::vector<std::int64_t>{8, 6}));
  const Words with_basis{"acts.npy", "--kind", "transform", "--set", "basis=basis.npy"};
  EXPECT_EQ(codec(with_basis).exit_code, 0);
  array("wide.npy", {4, 7}, ramp(28));
  refused({"wide.npy", "--kind", "transform", "--set", "basis=basis.npy"},
          "trilemma codec: transform ratio=1 basis=basis.npy: ...");
  refused({"acts.npy", "--kind", "transform", "--set", "basis=no.npy"},
          "trilemma codec: ... no.npy: cannot be read; ...");
  refused({"acts.npy", "--calibrate", "./acts.npy"},
          "trilemma codec: --calibrate './acts.npy' is an input of the calibration; write another path");
  refused({"acts.npy", "--calibrate", "no/basis.npy"},
          "trilemma codec: --calibrate 'no/basis.npy' cannot be written; write a path in a folder that exists and is "
          "yours");
  refused({"acts.npy", "--calibrate", "."}, "trilemma codec: --calibrate '.' is a folder; write the path of a file");
  refused({"acts.npy", "--calibrate", ""}, "trilemma codec: --calibrate is empty; write the path of the basis");
  refused({"acts.npy", "--calibrate", "/dev/full"}, "trilemma codec: --calibrate '/dev/full' cannot be written; ...");
  array("token.npy", {7}, ramp(7));
  refused({"token.npy", "--calibrate", "new.npy"},
          "trilemma codec: 'token.npy' has one token; a basis needs at least two");
}

}  // namespace
}  // namespace trilemma::test
