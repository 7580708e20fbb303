#include "models/llm/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/ensure.h"
#include "models/llm/work.h"
#include "sim/experiment.h"
#include "tests/support/small_model.h"

namespace trilemma::test {
namespace {

using nlohmann::json;

Matrix run(const Transformer& model, std::span<const int> ids, LayerRange layers) {
  KvCache cache(model.llm());
  Activations x = model.embed(ids);
  model.forward(x, layers, cache);
  return x;
}

void expect_row(const Matrix& rows, Eigen::Index row, const json& values, double tolerance) {
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(rows(row, static_cast<Eigen::Index>(i)), values[i].get<double>(), tolerance) << i;
}

Sequence greedy(const Transformer& model, Sequence ids, std::int64_t tokens) {
  const Sequence more = continuations({model, model, 1, identity}, {ids}, tokens).front();
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

double max_difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

TEST(PackedMatrix, IsTheProductForEveryNumberOfRowsAndOutputs) {
  for (const Eigen::Index outputs : {1, 15, 16, 17, 40}) {
    for (const Eigen::Index rows : {1, 3, 4, 9}) {
      const Matrix weights = Matrix::Random(outputs, 23);
      const Matrix x = Matrix::Random(rows, 23);
      const Eigen::MatrixXd exact = x.cast<double>() * weights.cast<double>().transpose();
      // 23 products of at most 1, each sum rounded to 2^-24 of at most 23.
      EXPECT_LT((PackedMatrix(weights).times(x).cast<double>() - exact).cwiseAbs().maxCoeff(), 23 * 23 * 0x1p-23);
    }
  }
}

// In whatever company a row is multiplied, and whatever the vectors of the machine: sums run in the order of the
// inputs.
TEST(PackedMatrix, SumsInTheOrderOfTheInputs) {
  const Matrix weights = Matrix::Random(18, 100);
  const Matrix x = Matrix::Random(6, 100);
  const Matrix y = PackedMatrix(weights).times(x);
  for (Eigen::Index row = 0; row < y.rows(); ++row) {
    for (Eigen::Index out = 0; out < y.cols(); ++out) {
      volatile float sum = 0;
      for (Eigen::Index k = 0; k < x.cols(); ++k) {
        const volatile float product = x(row, k) * weights(out, k);
        sum = sum + product;
      }
      EXPECT_EQ(y(row, out), sum);
    }
  }
}

TEST(Kjv, ComputesWhatAnIndependentImplementationDoes) {
  const json golden = json::parse(read_bytes(TRILEMMA_TEST_DATA "/kjv_golden.json"));
  const Tokenizer tokenizer(kjv_folder / "kjv_tok1024.bin", kjv().llm().vocabulary);
  const Sequence prompt = tokenizer.encode(golden["prompt"].get<std::string>());
  EXPECT_EQ(prompt, golden["prompt_ids"].get<Sequence>());
  const auto last = static_cast<Eigen::Index>(prompt.size()) - 1;
  expect_row(run(kjv(), prompt, {0, 2}), last, golden["layer2_last_token"], 1e-4);
  expect_row(kjv().logits(run(kjv(), prompt, kjv().all_layers())), last, golden["logits_last_token"], 1e-4);
  const Sequence text = greedy(kjv(), prompt, 40);
  EXPECT_EQ(text, golden["greedy_ids"].get<Sequence>());
  EXPECT_EQ(tokenizer.decode(text), golden["greedy_text"]);
}

TEST(Kjv, HasTheShapeOfItsCatalogueEntry) {
  const config::Json entry = read_catalogue_entry(config::Catalogue(TRILEMMA_SOURCE_DIR "/configs"), "llms", "kjv-4m");
  const LlmConfig& llm = kjv().llm();
  EXPECT_EQ(entry["layers"], llm.layers);
  EXPECT_EQ(entry["hidden"], llm.hidden);
  EXPECT_EQ(entry["heads"], llm.heads);
  EXPECT_EQ(entry["kv_heads"], llm.kv_heads);
  EXPECT_EQ(entry["head_size"], llm.head_size);
  EXPECT_EQ(entry["feed_forward"], llm.feed_forward);
  EXPECT_EQ(entry["vocabulary"], llm.vocabulary);
  EXPECT_EQ(parameters(llm, whole_model(llm)), 4'197'632);
}

TEST(Transformer, PrefillIsDecodingTokenByToken) {
  const Transformer model(random_weights(1));
  const Sequence ids{1, 5, 36, 0, 7, 7, 12, 30, 2};
  const Activations prefill = run(model, ids, model.all_layers());
  KvCache cache(model.llm());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Activations x = model.embed(std::span(ids).subspan(i, 1));
    model.forward(x, model.all_layers(), cache);
    EXPECT_LT(max_difference(x, prefill.row(static_cast<Eigen::Index>(i))), 1e-5);
  }
  EXPECT_EQ(cache.tokens(2), 9);
}

TEST(Transformer, CutAnywhereIsTheSameToTheLastBit) {
  const Transformer model(random_weights(2));
  const Sequence ids{1, 5, 36, 0, 7, 7, 12, 30, 2};
  const Activations whole = run(model, ids, model.all_layers());
  for (std::int64_t cut = 0; cut <= model.llm().layers; ++cut) {
    KvCache device(model.llm());
    KvCache edge(model.llm());
    Activations x = model.embed(ids);
    model.forward(x, {0, cut}, device);
    model.forward(x, {cut, model.llm().layers}, edge);
    EXPECT_EQ(x, whole) << cut;
    EXPECT_EQ(edge.tokens(2), cut < 3 ? 9 : 0);
    EXPECT_EQ(device.tokens(0), cut > 0 ? 9 : 0);
  }
}

TEST(Transformer, SequencesSideBySideDoNotSeeEachOther) {
  const Transformer model(random_weights(3));
  const Sequence first{1, 5, 36};
  const Sequence second{1, 9, 9};
  std::vector<KvCache> caches(2, KvCache(model.llm()));
  Activations x = model.embed(Sequence{1, 5, 36, 1, 9, 9});
  model.forward(x, model.all_layers(), caches);
  EXPECT_LT(max_difference(x.topRows(3), run(model, first, model.all_layers())), 1e-6);
  EXPECT_LT(max_difference(x.bottomRows(3), run(model, second, model.all_layers())), 1e-6);
}

TEST(Transformer, RefusesTokensThatDoNotExistAndSequencesThatDoNotFit) {
  const Transformer model(random_weights(4));
  EXPECT_THROW(static_cast<void>(model.embed(Sequence{37})), InvariantViolation);
  EXPECT_NO_THROW(static_cast<void>(run(model, Sequence(40, 1), model.all_layers())));
  EXPECT_THROW(static_cast<void>(run(model, Sequence(41, 1), model.all_layers())), InvariantViolation);
}

// Third-party weights with values of their own implementation.
TEST(Stories, ComputesItsGoldenValues) {
  const std::filesystem::path folder = reference_weights();
  if (folder.empty())
    GTEST_SKIP() << "stories260K.bin is not shipped; set TRILEMMA_REFERENCE to a folder with weights/";
  const json golden = json::parse(read_bytes(folder / "golden.json"));
  const Transformer model(read_checkpoint(folder / "stories260K.bin"));
  const Tokenizer tokenizer(folder / "tok512.bin", model.llm().vocabulary);
  const Sequence prompt = tokenizer.encode("Once upon a time");
  EXPECT_EQ(prompt, golden["prompt_ids"].get<Sequence>());
  const Sequence text = greedy(model, prompt, 40);
  EXPECT_EQ(text, golden["greedy_first_40"].get<Sequence>());
  EXPECT_THAT(tokenizer.decode(text), testing::StartsWith(golden["greedy_text"].get<std::string>().substr(0, 90)));
  const auto first = golden["window0_first8_ids"].get<Sequence>();
  expect_row(run(model, first, {0, 1}), 7, golden["window0_layer1_token7_first8"], 1e-4);
  const Matrix logits = model.logits(run(model, first, model.all_layers()));
  expect_row(logits, 7, golden["window0_logits_token7_first8"], 1e-4);
  EXPECT_EQ(argmax_rows(logits), golden["window0_first8_argmax"].get<Sequence>());
}

TEST(Stories, PredictsItsOwnText) {
  const std::filesystem::path folder = reference_weights();
  if (folder.empty())
    GTEST_SKIP() << "stories260K.bin is not shipped; set TRILEMMA_REFERENCE to a folder with weights/";
  const json golden = json::parse(read_bytes(folder / "golden.json"));
  const Transformer model(read_checkpoint(folder / "stories260K.bin"));
  const Evaluation evaluation(model, read_sequences(folder / "eval_selfsampled_96x273_u16.bin", 273, 512), 256);
  EXPECT_NEAR(evaluation.reference().cross_entropy(), golden["self_sampled_ce_nats_per_token_S256"], 1e-5);
  EXPECT_NEAR(evaluation.reference().top1(), golden["top1_acc"], 1e-4);  // two tokens of 24,576 may be ties
}

}  // namespace
}  // namespace trilemma::test
