#include "models/llm/checkpoint.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/problems.h"
#include "tests/support/small_model.h"

namespace trilemma::test {
namespace {

using testing::HasSubstr;

/// A file of this test, gone at its end.
class Scratch {
 public:
  explicit Scratch(const std::string& bytes)
      : path_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~Scratch() { std::filesystem::remove(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
std::string with(std::string bytes, std::size_t place, Value value) {
  std::memcpy(bytes.data() + place, &value, sizeof value);
  return bytes;
}

/// A version 0 file: width 4, feed-forward 6, 2 layers, 2 heads, 1 key/value head, 5 tokens, context 3. Weights count
/// up.
std::string small_file() {
  std::string bytes;
  for (const std::int32_t size : {4, 6, 2, 2, 1, 5, 3}) append(bytes, size);
  const int values = 5 * 4 + 2 * (4 + 16 + 8 + 8 + 16 + 4 + 3 * 24) + 4 + 3 * 2;
  for (int i = 0; i < values; ++i) append(bytes, static_cast<float>(i));
  return bytes;
}

/// A version 2 file of the same shape with groups of 4.
std::string small_rounded_file() {
  std::string bytes;
  append(bytes, std::uint32_t{0x616b3432});
  for (const std::int32_t size : {2, 4, 6, 2, 2, 1, 5, 3}) append(bytes, size);
  append(bytes, std::uint8_t{1});
  append(bytes, std::int32_t{4});
  bytes.resize(256);
  for (int i = 0; i < 20; ++i) append(bytes, 1.F);
  for (const int count : {20, 16, 16, 8, 8, 8, 8, 16, 16, 24, 24, 24, 24, 24, 24}) {
    for (int i = 0; i < count; ++i) append(bytes, static_cast<std::int8_t>(i - 7));
    for (int i = 0; i < count / 4; ++i) append(bytes, 0.5F * static_cast<float>(i + 1));
  }
  return bytes;
}

TransformerWeights read(const std::string& bytes) { return read_checkpoint(Scratch(bytes).path()); }

std::string problem(const std::string& bytes) {
  try {
    static_cast<void>(read(bytes));
  } catch (const config::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, Version0PutsEveryArrayInItsPlace) {
  const TransformerWeights weights = read(small_file());
  EXPECT_EQ(weights.llm.head_size, 2);
  EXPECT_EQ(weights.embedding(4, 3), 19);
  EXPECT_EQ(weights.blocks[1].attention_norm(0), 24);  // behind 20 of the embedding and 4 of the first block
  EXPECT_EQ(weights.blocks[0].query(0, 1), 29);        // behind both norms
  EXPECT_EQ(weights.blocks[1].key.rows(), 2);
  EXPECT_EQ(weights.blocks[1].key(1, 3), 28 + 32 + 15);
  EXPECT_EQ(weights.blocks[0].feed_forward_norm(0), 28 + 32 + 16 + 16 + 32);
  EXPECT_EQ(weights.blocks[0].gate(0, 0), 132);
  EXPECT_EQ(weights.blocks[0].down(0, 0), 132 + 48);
  EXPECT_EQ(weights.blocks[0].down.cols(), 6);
  EXPECT_EQ(weights.blocks[1].up(5, 3), 132 + 144 - 1);
  EXPECT_EQ(weights.final_norm(3), 132 + 144 + 3);
}

TEST(Checkpoint, Version2MultipliesByTheScaleOfTheGroup) {
  const TransformerWeights weights = read(small_rounded_file());
  EXPECT_EQ(weights.embedding(0, 0), -7 * 0.5F);
  EXPECT_EQ(weights.embedding(4, 3), 12 * 2.5F);
  EXPECT_EQ(weights.blocks[1].key(1, 2), -1 * 1.F);
  EXPECT_EQ(weights.blocks[1].up(5, 3), 16 * 3.F);
}

TEST(Checkpoint, EveryShorterAndLongerFileIsRefused) {
  for (const std::string& whole : {small_file(), small_rounded_file()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(problem(whole.substr(0, size)), "") << size;
    EXPECT_THAT(problem(whole + "x"), HasSubstr("bytes behind its header, whose sizes ask for"));
    EXPECT_EQ(problem(whole), "");
  }
}

// Flips in the context of version 2 and among heads may give another valid shape; none may do worse than that.
TEST(Checkpoint, NoFlippedBitOfAHeaderCrashes) {
  int refused = 0;
  for (const auto& [whole, header] : {std::pair{small_file(), 28}, {small_rounded_file(), 256}}) {
    for (int bit = 0; bit < 8 * header; ++bit) {
      std::string bytes = whole;
      bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<char>(1 << bit % 8);
      refused += problem(bytes).empty() ? 0 : 1;
    }
  }
  EXPECT_GE(refused, 8 * (28 + 256) - 32);
}

TEST(Checkpoint, SaysWhatIsWrong) {
  EXPECT_THAT(problem(with(small_rounded_file(), 4, 1)), HasSubstr("version 1; only versions 0 and 2"));
  EXPECT_THAT(problem(with(small_rounded_file(), 0, 0)), HasSubstr("no llama2.c checkpoint"));
  EXPECT_THAT(problem(with(small_file(), 0, 2'000'000'000)), HasSubstr("a size of 2000000000"));
  EXPECT_THAT(problem(with(small_file(), 20, -5)), HasSubstr("an LM head of its own"));
  EXPECT_THAT(problem(with(small_file(), 12, 3)), HasSubstr("3 heads"));
  EXPECT_THAT(problem(with(small_rounded_file(), 37, 7)), HasSubstr("groups of 7"));
  EXPECT_THAT(problem(with(small_rounded_file(), 200, 1)), HasSubstr("filled up with zeros"));
  EXPECT_THAT(problem(with(small_file(), 28 + 4 * 30, NAN)), HasSubstr("wq that are no finite numbers"));
  EXPECT_THROW(static_cast<void>(read_checkpoint("/no/such/file")), config::Error);
  EXPECT_THROW(static_cast<void>(read_checkpoint("/tmp")), config::Error);
}

Tokenizer tokenizer_of(const std::string& bytes, std::int64_t vocabulary) {
  return {Scratch(bytes).path(), vocabulary};
}

std::string small_tokenizer() {
  std::string bytes;
  append(bytes, std::int32_t{8});
  const auto piece = [&](const std::string& text, float score) {
    append(bytes, score);
    append(bytes, static_cast<std::int32_t>(text.size()));
    bytes += text;
  };
  for (int i = 0; i < 259; ++i) piece("<" + std::to_string(i) + ">", 0);
  for (const auto& [text, score] :
       {std::pair{" ", -9.F}, {"a", -9.F}, {"b", -9.F}, {"ab", -2.F}, {"ba", -1.F}, {" a", -3.F}, {"aba", -4.F}}) {
    piece(text, score);
  }
  return bytes;
}

TEST(Tokenizer, MergesTheBestPairFirst) {
  const Tokenizer tokenizer = tokenizer_of(small_tokenizer(), 266);
  // " aba": "ba" scores best and leaves " ", "a", "ba"; then "aba" (-4) loses to " a" (-3).
  EXPECT_EQ(tokenizer.encode("aba"), (Sequence{1, 264, 263}));
  EXPECT_EQ(tokenizer.encode("ab"), (Sequence{1, 259, 262}));
  EXPECT_EQ(tokenizer.encode(""), (Sequence{1, 259}));
}

TEST(Tokenizer, WritesUnknownCharactersAsBytes) {
  const Tokenizer tokenizer = tokenizer_of(small_tokenizer(), 266);
  EXPECT_EQ(tokenizer.encode("\xc3\xa4"), (Sequence{1, 259, 3 + 0xc3, 3 + 0xa4}));
  for (const char* text : {"aba", "", " ", "b\xc3\xa4\xff q"})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, RefusesFilesOfAnotherModelAndDamagedOnes) {
  const std::string whole = small_tokenizer();
  EXPECT_THROW(tokenizer_of(whole, 267), config::Error);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(tokenizer_of(whole.substr(0, size), 266), config::Error) << size;
  }
  EXPECT_THROW(tokenizer_of(with(whole, 8, -1), 266), config::Error);
}

}  // namespace
}  // namespace trilemma::test
