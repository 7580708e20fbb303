#include "models/llm/evaluation.h"

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/ensure.h"
#include "models/llm/binary_file.h"

namespace trilemma {
namespace {

using Eigen::Index;

double share(std::int64_t count, std::int64_t all) { return static_cast<double>(count) / static_cast<double>(all); }

Activations crossed(const SplitModel& split, const Activations& x) {
  Activations received = split.crossing(x);
  TRILEMMA_ENSURE(received.rows() == x.rows() && received.cols() == x.cols(), "a crossing keeps the shape");
  return received;
}

/// Caches of the sequences that are decoded side by side.
struct Sessions {
  std::vector<KvCache> device, edge;
};

/// One pass of all sequences, `x` their rows one after the other; the most probable token behind each sequence.
Sequence step(const SplitModel& split, Sessions& sessions, Activations x) {
  split.device.forward(x, {0, split.cut}, sessions.device);
  const auto count = static_cast<Index>(sessions.device.size());
  const Index rows = x.rows() / count;
  for (Index first = 0; first < x.rows(); first += rows)
    x.middleRows(first, rows) = crossed(split, x.middleRows(first, rows));
  split.edge.forward(x, {split.cut, split.edge.llm().layers}, sessions.edge);
  Activations last(count, x.cols());
  for (Index i = 0; i < count; ++i) last.row(i) = x.row((i + 1) * rows - 1);
  return argmax_rows(split.edge.logits(last));
}

}  // namespace

std::vector<Sequence> read_sequences(const std::filesystem::path& path, std::size_t length, std::int64_t vocabulary) {
  constexpr std::size_t id_bytes = 2;
  BinaryFile file(path);
  if (length == 0 || file.size() == 0 || file.size() % (length * id_bytes) != 0)
    file.fail(fmt::format("has {} bytes, not whole rows of {} token ids of 2 bytes", file.size(), length));
  std::vector<Sequence> rows(file.size() / (length * id_bytes), Sequence(length));
  for (Sequence& row : rows) {
    for (int& id : row) {
      id = static_cast<int>(file.integer(id_bytes));
      if (id >= vocabulary)
        file.fail(fmt::format("has the token id {}, where the model has {} tokens", id, vocabulary));
    }
  }
  return rows;
}

WindowScore PredictionScore::total() const {
  WindowScore sum;
  for (const WindowScore& window : windows) {
    sum.tokens += window.tokens;
    sum.agreeing += window.agreeing;
    sum.correct += window.correct;
    sum.nats += window.nats;
  }
  return sum;
}

double PredictionScore::agreement() const { return share(total().agreeing, total().tokens); }
double PredictionScore::top1() const { return share(total().correct, total().tokens); }
double PredictionScore::cross_entropy() const { return total().nats / static_cast<double>(total().tokens); }
double PredictionScore::perplexity() const { return std::exp(cross_entropy()); }

Evaluation::Evaluation(const Transformer& reference, std::vector<Sequence> windows, std::int64_t tokens)
    : windows_(std::move(windows)), tokens_(tokens) {
  TRILEMMA_ENSURE(tokens_ > 0 && !windows_.empty(), "there is something to score");
  for (const Sequence& window : windows_)
    TRILEMMA_ENSURE(static_cast<std::int64_t>(window.size()) > tokens_, "a window has a token behind the last scored");
  const std::int64_t all = reference.llm().layers;
  std::vector<Activations> ends = at_cut(reference, all);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Matrix logits = reference.logits(ends[i]);
    predictions_.push_back(argmax_rows(logits));
    reference_.windows.push_back(score(i, logits));
  }
}

std::vector<Activations> Evaluation::at_cut(const Transformer& device, std::int64_t cut) const {
  std::vector<Activations> sent;
  for (const Sequence& window : windows_) {
    KvCache cache(device.llm());
    Activations x = device.embed(std::span(window).first(static_cast<std::size_t>(tokens_)));
    device.forward(x, {0, cut}, cache);
    sent.push_back(std::move(x));
  }
  return sent;
}

PredictionScore Evaluation::accuracy(const std::vector<Activations>& sent, const SplitModel& split) const {
  TRILEMMA_ENSURE(sent.size() == windows_.size(), "there is an activation for each window");
  PredictionScore accuracy;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    Activations x = crossed(split, sent[i]);
    KvCache cache(split.edge.llm());
    split.edge.forward(x, {split.cut, split.edge.llm().layers}, cache);
    accuracy.windows.push_back(score(i, split.edge.logits(x)));
  }
  return accuracy;
}

WindowScore Evaluation::score(std::size_t window, const Matrix& logits) const {
  const Sequence best = argmax_rows(logits);
  WindowScore score{.tokens = tokens_};
  for (std::size_t token = 0; token < best.size(); ++token) {
    const int truth = windows_[window][token + 1];
    score.agreeing += best[token] == predictions_[window][token] ? 1 : 0;
    score.correct += best[token] == truth ? 1 : 0;
    const auto row = logits.row(static_cast<Index>(token)).array();
    const float top = row(best[token]);
    score.nats += std::log(static_cast<double>((row - top).exp().sum())) + static_cast<double>(top - row(truth));
  }
  return score;
}

std::vector<Sequence> continuations(const SplitModel& split, const std::vector<Sequence>& prompts,
                                    std::int64_t tokens) {
  TRILEMMA_ENSURE(!prompts.empty() && tokens > 0, "there is something to continue");
  Sessions sessions{std::vector(prompts.size(), KvCache(split.device.llm())),
                    std::vector(prompts.size(), KvCache(split.edge.llm()))};
  Sequence fed;
  for (const Sequence& prompt : prompts) {
    TRILEMMA_ENSURE(!prompt.empty() && prompt.size() == prompts.front().size(), "prompts have one length");
    fed.insert(fed.end(), prompt.begin(), prompt.end());
  }
  std::vector<Sequence> answers(prompts.size());
  for (std::int64_t i = 0; i < tokens; ++i) {
    fed = step(split, sessions, split.device.embed(fed));
    for (std::size_t k = 0; k < answers.size(); ++k) answers[k].push_back(fed[k]);
  }
  return answers;
}

double exact_match(const std::vector<Sequence>& a, const std::vector<Sequence>& b) {
  TRILEMMA_ENSURE(a.size() == b.size() && !a.empty(), "the same prompts were continued");
  std::int64_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
  return share(same, static_cast<std::int64_t>(a.size()));
}

}  // namespace trilemma
