#include "models/llm/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/llm/binary_file.h"

namespace trilemma {
namespace {

constexpr std::uint64_t magic = 0x616b3432;  // "ak42"
constexpr std::size_t header_bytes = 256;    // version 2

struct Header {
  LlmConfig llm;
  std::size_t group = 0;  // values that share a scale; 0 = float32
};

using Sizes = std::array<std::int32_t, 7>;  // hidden, feed-forward, layers, heads, kv heads, vocabulary, context

LlmConfig shape(const BinaryFile& file, const Sizes& sizes) {
  constexpr std::int32_t largest = 1 << 20;
  for (const std::int32_t size : sizes) {
    if (size < 1 || size > largest)
      file.fail(fmt::format("is no llama2.c checkpoint: its header has a size of {}, not 1 to {}", size, largest));
  }
  const auto [hidden, feed_forward, layers, heads, kv_heads, vocabulary, context] = sizes;
  if (hidden % heads != 0 || heads % kv_heads != 0 || hidden / heads % 2 != 0)
    file.fail(
        fmt::format("has a width of {}, {} heads and {} key/value heads, which do not divide each other into "
                    "heads of even width",
                    hidden, heads, kv_heads));
  LlmConfig llm;
  llm.layers = layers;
  llm.hidden = hidden;
  llm.heads = heads;
  llm.kv_heads = kv_heads;
  llm.head_size = hidden / heads;
  llm.feed_forward = feed_forward;
  llm.vocabulary = vocabulary;
  llm.tied_embeddings = true;
  llm.context = Tokens(context);
  return llm;
}

Sizes read_sizes(BinaryFile& file) {
  Sizes sizes{};
  for (std::int32_t& size : sizes) size = file.int32();
  return sizes;
}

Header read_header(BinaryFile& file) {
  if (file.integer(4) != magic) {
    file.rewind();
    const Sizes sizes = read_sizes(file);
    if (sizes[5] < 0) file.fail("has an LM head of its own; only models with tied embeddings are read");
    return {shape(file, sizes)};
  }
  if (const std::int32_t version = file.int32(); version != 2)
    file.fail(fmt::format("is a llama2.c checkpoint of version {}; only versions 0 and 2 are read", version));
  Header header{shape(file, read_sizes(file))};
  if (file.integer(1) != 1) file.fail("has an LM head of its own; only models with tied embeddings are read");
  const std::int32_t group = file.int32();
  if (group < 1) file.fail(fmt::format("has groups of {} weights", group));
  header.group = static_cast<std::size_t>(group);
  const auto padding = file.take(header_bytes - (file.size() - file.left()));
  if (std::any_of(padding.begin(), padding.end(), [](std::byte byte) { return byte != std::byte{0}; }))
    file.fail("has a header that is not filled up with zeros");
  return header;
}

/// Bytes behind the header. Doubles cannot overflow and are exact up to 2^53, far above the largest file.
double expected_bytes(const BinaryFile& file, const Header& header) {
  const LlmConfig& llm = header.llm;
  const auto hidden = static_cast<double>(llm.hidden);
  const auto layers = static_cast<double>(llm.layers);
  const auto kv_width = static_cast<double>(llm.kv_heads * llm.head_size);
  const double norms = (2 * layers + 1) * hidden;
  const std::array<double, 4> matrices{static_cast<double>(llm.vocabulary) * hidden, hidden * hidden, kv_width * hidden,
                                       static_cast<double>(llm.feed_forward) * hidden};
  const double values = matrices[0] + layers * (2 * matrices[1] + 2 * matrices[2] + 3 * matrices[3]);
  if (header.group == 0) {
    const auto rotations = static_cast<double>(llm.context.value() * llm.head_size);
    return sizeof(float) * (norms + values + rotations);
  }
  const auto group = static_cast<double>(header.group);
  for (const double matrix : matrices) {
    if (std::fmod(matrix, group) != 0)
      file.fail(fmt::format("has groups of {} weights, which do not divide its matrices", header.group));
  }
  return sizeof(float) * norms + values + sizeof(float) * values / group;
}

void check_size(const BinaryFile& file, const Header& header) {
  const double expected = expected_bytes(file, header);
  if (static_cast<double>(file.left()) != expected)
    file.fail(fmt::format("has {} bytes behind its header, whose sizes ask for {:.0f}", file.left(), expected));
}

class WeightReader {
 public:
  WeightReader(BinaryFile& file, std::size_t group) : file_(file), group_(group) {}

  Matrix floats(Eigen::Index rows, Eigen::Index columns, const char* name) {
    Matrix values(rows, columns);
    for (float& value : values.reshaped<Eigen::RowMajor>()) value = file_.real();
    return finite(std::move(values), name);
  }

  Matrix matrix(Eigen::Index rows, Eigen::Index columns, const char* name) {
    if (group_ == 0) return floats(rows, columns, name);
    Matrix values(rows, columns);
    const auto count = static_cast<std::size_t>(values.size());
    const auto bytes = file_.take(count);
    for (std::size_t first = 0; first < count; first += group_) {
      const float scale = file_.real();
      for (std::size_t i = first; i < first + group_; ++i)
        values.data()[i] = scale * static_cast<float>(static_cast<std::int8_t>(bytes[i]));
    }
    return finite(std::move(values), name);
  }

 private:
  Matrix finite(Matrix values, const char* name) {
    if (!values.allFinite()) file_.fail(fmt::format("has weights in {} that are no finite numbers", name));
    return values;
  }

  BinaryFile& file_;
  std::size_t group_;
};

using Norm = RowVector BlockWeights::*;
using Part = Matrix BlockWeights::*;

void read_norm(TransformerWeights& weights, WeightReader& reader, Norm norm, const char* name) {
  for (BlockWeights& block : weights.blocks) block.*norm = reader.floats(1, weights.llm.hidden, name);
}

void read_matrices(TransformerWeights& weights, WeightReader& reader, Part part, const char* name) {
  const LlmConfig& llm = weights.llm;
  const bool kv = part == &BlockWeights::key || part == &BlockWeights::value;
  const bool widening = part == &BlockWeights::gate || part == &BlockWeights::up;
  const Eigen::Index rows = kv ? llm.kv_heads * llm.head_size : widening ? llm.feed_forward : llm.hidden;
  const Eigen::Index columns = part == &BlockWeights::down ? llm.feed_forward : llm.hidden;
  for (BlockWeights& block : weights.blocks) block.*part = reader.matrix(rows, columns, name);
}

constexpr std::array<std::pair<Part, const char*>, 4> attention{{{&BlockWeights::query, "wq"},
                                                                 {&BlockWeights::key, "wk"},
                                                                 {&BlockWeights::value, "wv"},
                                                                 {&BlockWeights::output, "wo"}}};
constexpr std::array<std::pair<Part, const char*>, 3> feed_forward{
    {{&BlockWeights::gate, "w1"}, {&BlockWeights::down, "w2"}, {&BlockWeights::up, "w3"}}};

/// The two versions hold the same arrays; in version 2 the norms stand in front.
void read_arrays(TransformerWeights& weights, WeightReader& reader, bool norms_first) {
  const LlmConfig& llm = weights.llm;
  const auto norm = [&](Norm which, const char* name) { read_norm(weights, reader, which, name); };
  const auto final_norm = [&] { weights.final_norm = reader.floats(1, llm.hidden, "rms_final"); };
  if (norms_first) {
    norm(&BlockWeights::attention_norm, "rms_att");
    norm(&BlockWeights::feed_forward_norm, "rms_ffn");
    final_norm();
  }
  weights.embedding = reader.matrix(llm.vocabulary, llm.hidden, "the token embedding");
  if (!norms_first) norm(&BlockWeights::attention_norm, "rms_att");
  for (const auto& [part, name] : attention) read_matrices(weights, reader, part, name);
  if (!norms_first) norm(&BlockWeights::feed_forward_norm, "rms_ffn");
  for (const auto& [part, name] : feed_forward) read_matrices(weights, reader, part, name);
  if (!norms_first) final_norm();
}

}  // namespace

TransformerWeights read_checkpoint(const std::filesystem::path& path) {
  BinaryFile file(path);
  const Header header = read_header(file);
  check_size(file, header);
  TransformerWeights weights{.llm = header.llm};
  weights.blocks.resize(static_cast<std::size_t>(header.llm.layers));
  WeightReader reader(file, header.group);
  read_arrays(weights, reader, header.group != 0);  // what is left of version 0 are tables of rotations, unused
  return weights;
}

}  // namespace trilemma
