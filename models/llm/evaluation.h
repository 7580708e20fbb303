#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "models/llm/transformer.h"

/// What a cut with a lossy codec, or a changed model, does to the answers of a real (small) transformer.
namespace trilemma {

using Sequence = std::vector<int>;  // token ids

/// Reads rows of `length` token ids, uint16 little endian. Throws config::Error for a file that has no whole rows, or
/// ids outside the vocabulary.
std::vector<Sequence> read_sequences(const std::filesystem::path& path, std::size_t length, std::int64_t vocabulary);

/// What happens to the activation at the cut; returns the same shape.
using Crossing = std::function<Activations(const Activations&)>;

/// Blocks [0, cut) run on the device, the rest on the edge; without pruning and quantisation both hold the same model.
struct SplitModel {
  const Transformer& device;
  const Transformer& edge;
  std::int64_t cut = 0;
  Crossing crossing;
};

/// Counts of one window; windows are independent texts, tokens within a window are not.
struct WindowScore {
  std::int64_t tokens = 0;
  std::int64_t agreeing = 0;  // same most probable token as the reference
  std::int64_t correct = 0;   // most probable token is that of the text
  double nats = 0;            // sum of -ln p(token of the text)
};

struct PredictionScore {
  std::vector<WindowScore> windows;

  [[nodiscard]] WindowScore total() const;
  [[nodiscard]] double agreement() const;      // share of tokens
  [[nodiscard]] double top1() const;           // share of tokens
  [[nodiscard]] double cross_entropy() const;  // nats per token
  [[nodiscard]] double perplexity() const;
};

/// Next-token prediction over held-out windows. The predictions of the unmodified model are made once, here.
class Evaluation {
 public:
  /// Scores the predictions for tokens 1 .. `tokens` of each window from those before. Requires that all windows have
  /// more than `tokens` tokens.
  Evaluation(const Transformer& reference, std::vector<Sequence> windows, std::int64_t tokens);

  [[nodiscard]] const PredictionScore& reference() const { return reference_; }
  /// Activations of every window at the cut, before the crossing: reuse them for many crossings.
  [[nodiscard]] std::vector<Activations> at_cut(const Transformer& device, std::int64_t cut) const;
  /// Continues from `sent`, which at_cut() made for the same cut.
  [[nodiscard]] PredictionScore accuracy(const std::vector<Activations>& sent, const SplitModel& split) const;
  [[nodiscard]] PredictionScore accuracy(const SplitModel& split) const {
    return accuracy(at_cut(split.device, split.cut), split);
  }

 private:
  [[nodiscard]] WindowScore score(std::size_t window, const Matrix& logits) const;

  std::vector<Sequence> windows_;
  std::int64_t tokens_;
  std::vector<Sequence> predictions_;
  PredictionScore reference_;
};

/// Greedy continuations of `prompts`, all of one length, by `tokens` tokens; the crossing sees each whole prompt once,
/// then one row for each token that is fed back.
std::vector<Sequence> continuations(const SplitModel& split, const std::vector<Sequence>& prompts, std::int64_t tokens);

/// Share of the continuations that are the same to the last token.
double exact_match(const std::vector<Sequence>& a, const std::vector<Sequence>& b);

}  // namespace trilemma
