#include "models/llm/tokenizer.h"

#include <cmath>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/llm/binary_file.h"

namespace trilemma {
namespace {

constexpr int first_byte = 3;
constexpr int first_piece = first_byte + 256;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

Tokenizer::Tokenizer(const std::filesystem::path& path, std::int64_t vocabulary) {
  BinaryFile file(path);
  const std::int32_t longest = file.int32();
  while (file.left() > 0) {
    const float score = file.real();
    const std::int32_t length = file.int32();
    if (!std::isfinite(score) || length < 0 || length > longest)
      file.fail(
          fmt::format("is no llama2.c tokenizer: piece {} has score {} and {} bytes", pieces_.size(), score, length));
    const auto bytes = file.take(static_cast<std::size_t>(length));
    pieces_.push_back({std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), score});
  }
  if (static_cast<std::int64_t>(pieces_.size()) != vocabulary || vocabulary < first_piece)
    file.fail(fmt::format("has {} pieces, where the model has {}; name the tokenizer that belongs to it",
                          pieces_.size(), vocabulary));
  for (std::size_t i = 0; i < pieces_.size(); ++i) ids_.emplace(pieces_[i].text, static_cast<int>(i));
}

std::optional<int> Tokenizer::find(const std::string& text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

void Tokenizer::append_character(std::vector<int>& ids, const std::string& character) const {
  if (const auto id = find(character)) return ids.push_back(*id);
  for (const char byte : character) ids.push_back(first_byte + static_cast<unsigned char>(byte));
}

bool Tokenizer::merge_best(std::vector<int>& ids) const {
  std::optional<int> best;
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    const auto text = [&](std::size_t at) { return pieces_[static_cast<std::size_t>(ids[at])].text; };
    const auto merged = find(text(i) + text(i + 1));
    const auto score = [&](int id) { return pieces_[static_cast<std::size_t>(id)].score; };
    if (!merged || (best && score(*merged) <= score(*best))) continue;
    best = merged;
    place = i;
  }
  if (!best) return false;
  ids[place] = *best;
  ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  return true;
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids{bos};
  append_character(ids, " ");
  for (std::size_t first = 0; first < text.size();) {
    std::size_t last = first + 1;
    while (last < text.size() && continues_character(text[last])) ++last;
    append_character(ids, std::string(text.substr(first, last - first)));
    first = last;
  }
  while (merge_best(ids)) {
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    TRILEMMA_ENSURE(ids[i] >= 0 && ids[i] < static_cast<int>(pieces_.size()), "a token id names a piece");
    if (ids[i] == bos) continue;
    const bool byte = ids[i] >= first_byte && ids[i] < first_piece;
    std::string piece =
        byte ? std::string(1, static_cast<char>(ids[i] - first_byte)) : pieces_[static_cast<std::size_t>(ids[i])].text;
    if (i > 0 && ids[i - 1] == bos && piece.starts_with(' ')) piece.erase(0, 1);
    text += piece;
  }
  return text;
}

}  // namespace trilemma
