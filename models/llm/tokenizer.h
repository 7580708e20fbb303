#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trilemma {

/// Byte-pair tokenizer of llama2.c (tokenizer.bin): ids 0 <unk>, 1 BOS, 2 EOS, 3 .. 258 single bytes, then pieces.
class Tokenizer {
 public:
  static constexpr int bos = 1;

  /// Throws config::Error, naming the file, if it is no such tokenizer of `vocabulary` pieces.
  Tokenizer(const std::filesystem::path& path, std::int64_t vocabulary);

  /// BOS, a space, then the characters of the UTF-8 `text` (bytes where no piece has the character); then the
  /// neighbours whose union is the piece of the best score are merged, leftmost first, until no union is a piece.
  [[nodiscard]] std::vector<int> encode(std::string_view text) const;
  /// The text of the ids; without BOS and without the space that encode() put behind it.
  [[nodiscard]] std::string decode(std::span<const int> ids) const;

 private:
  struct Piece {
    std::string text;
    float score = 0;
  };
  [[nodiscard]] std::optional<int> find(const std::string& text) const;
  void append_character(std::vector<int>& ids, const std::string& character) const;
  bool merge_best(std::vector<int>& ids) const;

  std::vector<Piece> pieces_;
  std::map<std::string, int, std::less<>> ids_;
};

}  // namespace trilemma
