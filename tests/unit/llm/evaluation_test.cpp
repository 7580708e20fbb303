#include "models/llm/evaluation.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/config/problems.h"
#include "models/llm/weight_change.h"
#include "models/llm/work.h"
#include "tests/support/small_model.h"

namespace trilemma::test {
namespace {

Activations nothing(const Activations& x) { return Activations::Zero(x.rows(), x.cols()); }

SplitModel cut_after(const Transformer& model, std::int64_t cut, Crossing crossing = identity) {
  return {model, model, cut, std::move(crossing)};
}

std::vector<Sequence> random_sequences(std::size_t rows, std::size_t length) {
  std::vector<Sequence> sequences(rows, Sequence(length, Tokenizer::bos));
  std::mt19937 engine(5);
  for (Sequence& sequence : sequences) {
    for (std::size_t i = 1; i < length; ++i) sequence[i] = static_cast<int>(engine() % 37);
  }
  return sequences;
}

TEST(Evaluation, AgreesWithAnIndependentImplementation) {
  const auto golden = nlohmann::json::parse(read_bytes(TRILEMMA_TEST_DATA "/kjv_golden.json"));
  const Evaluation evaluation(kjv(), kjv_windows(golden["windows"]), golden["tokens"]);
  EXPECT_EQ(evaluation.reference().total().tokens, 8 * 128);
  EXPECT_NEAR(evaluation.reference().cross_entropy(), golden["cross_entropy"], 1e-5);
  EXPECT_NEAR(evaluation.reference().perplexity(), std::exp(golden["cross_entropy"].get<double>()), 1e-4);
  EXPECT_NEAR(evaluation.reference().top1(), golden["top1"], 1.5 / 1024);  // one tie may fall the other way
  EXPECT_EQ(evaluation.reference().agreement(), 1);
}

TEST(Evaluation, IdentityAtEveryCutChangesNothing) {
  const Transformer model(random_weights(1));
  const Evaluation evaluation(model, random_sequences(3, 20), 19);
  for (std::int64_t cut = 0; cut <= model.llm().layers; ++cut) {
    const PredictionScore accuracy = evaluation.accuracy(cut_after(model, cut));
    EXPECT_EQ(accuracy.agreement(), 1);
    EXPECT_EQ(accuracy.total().nats, evaluation.reference().total().nats);
  }
}

// RMS norm of zeros is zero, so every logit is zero: the loss is that of guessing, and the first id wins.
TEST(Evaluation, NothingReceivedBehindTheLastBlockIsGuessing) {
  const Transformer model(random_weights(2));
  const std::vector<Sequence> windows = random_sequences(4, 30);
  const Evaluation evaluation(model, windows, 29);
  const PredictionScore accuracy = evaluation.accuracy(cut_after(model, model.llm().layers, nothing));
  EXPECT_NEAR(accuracy.cross_entropy(), std::log(37.0), 1e-6);
  std::int64_t zeros = 0;
  for (const Sequence& window : windows) zeros += std::count(window.begin() + 1, window.end(), 0);
  EXPECT_EQ(accuracy.total().correct, zeros);
  EXPECT_LT(accuracy.agreement(), 0.5);
}

TEST(Continuations, IdentityMatchesAndNothingDoesNot) {
  const std::vector<Sequence> prompts = random_sequences(5, 6);
  const Transformer model(random_weights(3));
  const auto whole = continuations(cut_after(model, 0), prompts, 8);
  EXPECT_EQ(whole.front().size(), 8U);
  for (std::int64_t cut = 1; cut <= model.llm().layers; ++cut)
    EXPECT_EQ(exact_match(whole, continuations(cut_after(model, cut), prompts, 8)), 1);
  EXPECT_EQ(exact_match(whole, continuations(cut_after(model, 1, nothing), prompts, 8)), 0);
}

// The crossing sees the prompt of each sequence whole, then single rows: what is on the wire.
TEST(Continuations, CrossAsPromptsAndSingleTokens) {
  const Transformer model(random_weights(4));
  std::vector<Eigen::Index> rows;
  const Crossing watch = [&](const Activations& x) {
    rows.push_back(x.rows());
    return x;
  };
  static_cast<void>(continuations(cut_after(model, 1, watch), random_sequences(2, 6), 3));
  EXPECT_EQ(rows, (std::vector<Eigen::Index>{6, 6, 1, 1, 1, 1}));
}

TEST(Sequences, AreReadOnlyFromWholeRowsOfTheVocabulary) {
  const auto file = kjv_folder / "held_out_257_u16.bin";
  const std::vector<Sequence> rows = read_sequences(file, 257, 1024);
  EXPECT_EQ(rows.size(), 192U);
  for (const Sequence& row : rows) EXPECT_EQ(row.front(), Tokenizer::bos);
  EXPECT_THROW(read_sequences(file, 256, 1024), config::Error);
  EXPECT_THROW(read_sequences(file, 257, 500), config::Error);
}

TEST(WeightRounding, MovesNoWeightByMoreThanHalfAStep) {
  const Matrix weights = Matrix::Random(7, 100);
  for (const std::int64_t group : {0, 64}) {
    for (const int bits : {2, 4, 8}) {
      const Matrix result = rounded(weights, {.bits = bits, .group = group});
      const std::int64_t width = group == 0 ? 100 : group;
      for (Eigen::Index row = 0; row < 7; ++row) {
        for (Eigen::Index first = 0; first < 100; first += width) {
          const auto length = std::min<Eigen::Index>(width, 100 - first);
          const auto before = weights.row(row).segment(first, length);
          const float step = before.cwiseAbs().maxCoeff() / static_cast<float>((1 << (bits - 1)) - 1);
          const float moved = (result.row(row).segment(first, length) - before).cwiseAbs().maxCoeff();
          EXPECT_LE(moved, step * 0.50001F);
          EXPECT_GT(moved, step * 0.2F);  // 100 or 36 uniform remainders are not all small
        }
      }
    }
  }
  EXPECT_EQ(rounded(Matrix::Zero(2, 3), {}), Matrix::Zero(2, 3));
}

TEST(WeightRounding, FewerBitsHurtMoreAndEightHardly) {
  const Evaluation evaluation(kjv(), kjv_windows(6), 64);
  const double exact = evaluation.reference().cross_entropy();
  const auto loss = [&](int bits) {
    const Transformer model(quantised(kjv_weights(), {.bits = bits, .group = 64}, WeightRounding{.group = 64}));
    return evaluation.accuracy(cut_after(model, 0)).cross_entropy() - exact;
  };
  const double at_four = loss(4);
  EXPECT_NEAR(loss(8), 0, 1e-3);
  EXPECT_GT(at_four, 1e-3);
  EXPECT_GT(loss(2), 10 * at_four);
}

TEST(Pruning, NothingTakenIsTheSameModel) {
  const TransformerWeights weights = random_weights(6);
  const TransformerWeights same = pruned(weights, {});
  const Sequence ids{1, 2, 3};
  const auto logits = [&](const TransformerWeights& of) {
    const Transformer model(of);
    KvCache cache(model.llm());
    Activations x = model.embed(ids);
    model.forward(x, model.all_layers(), cache);
    return model.logits(x);
  };
  EXPECT_EQ(logits(weights), logits(same));
}

TEST(Pruning, GivesTheShapeOfTheCostModelAndRuns) {
  const PruningConfig half{.heads = Fraction(0.5), .feed_forward = Fraction(0.5), .layers = 2};
  const TransformerWeights weights = pruned(kjv_weights(), half);
  std::int64_t count = weights.embedding.size() + weights.final_norm.size();
  for (const BlockWeights& block : weights.blocks) {
    count += block.attention_norm.size() + block.feed_forward_norm.size();
    for (const Matrix* matrix :
         {&block.query, &block.key, &block.value, &block.output, &block.gate, &block.down, &block.up})
      count += matrix->size();
  }
  const LlmConfig shape = pruned(kjv_weights().llm, half);
  EXPECT_EQ(count, parameters(shape, whole_model(shape)));
  EXPECT_EQ(weights.blocks.size(), 4U);
  EXPECT_EQ(weights.blocks.back().attention_norm, kjv_weights().blocks.back().attention_norm);
  const Evaluation evaluation(kjv(), kjv_windows(2), 32);
  const Transformer model(weights);
  EXPECT_LT(evaluation.accuracy(cut_after(model, 1)).agreement(), 1);
}

TEST(Pruning, TakesTheWeakestHeadAndChannels) {
  TransformerWeights weights = random_weights(7);
  for (BlockWeights& block : weights.blocks) {
    block.value.topRows(6).setZero();
    block.output.leftCols(12).setZero();
    block.down.col(3).setZero();
    block.up.row(3).setZero();
  }
  const TransformerWeights left = pruned(weights, {.heads = Fraction(0.5), .feed_forward = Fraction(0.05)});
  EXPECT_EQ(left.blocks[1].query, weights.blocks[1].query.bottomRows(12));
  EXPECT_EQ(left.blocks[1].output, weights.blocks[1].output.rightCols(12));
  EXPECT_EQ(left.blocks[1].gate.rows(), 19);
  EXPECT_EQ(left.blocks[1].down.col(3), weights.blocks[1].down.col(4));
}

}  // namespace
}  // namespace trilemma::test
