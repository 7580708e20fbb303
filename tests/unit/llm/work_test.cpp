#include "models/llm/work.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/config/reader.h"
#include "core/ensure.h"

namespace trilemma {
namespace {

const config::Catalogue& catalogue() {
  static const config::Catalogue configs(std::string(TRILEMMA_SOURCE_DIR) + "/configs");
  return configs;
}

LlmConfig llm(const std::string& name) {
  config::Problems problems;
  config::Reader reader(catalogue(), problems);
  const LlmConfig result = reader.read<LlmConfig>(catalogue().read("llms", name));
  problems.throw_if_any();
  return result;
}

constexpr WeightFormat fp16{.precision = Precision::fp16};
constexpr WeightFormat int4{.precision = Precision::int4};
constexpr WeightFormat int4_in_blocks{.precision = Precision::int4, .block = 32};

// Of Llama 3.2 1B, with its 16 blocks of 2048 values, 32 query and 8 KV heads of 64, feed-forward 8192:
constexpr std::int64_t matrices = 2048 * (2 * 32 + 2 * 8) * 64 + 3 * 2048 * 8192;  // 60,817,408 in a block
constexpr std::int64_t embedding = 128'256 * 2048;                                 // 262,668,288

/// Totals of the safetensors files on huggingface.co; llama2.c's two models and ours as the checkpoints hold them;
/// DeepSC as its parts add up, since no total is published.
const std::map<std::string, std::int64_t> published_parameters{
    {"deepsc-encoder", 3'635'072},   {"llama-2-7b", 6'738'415'616},         {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-8b", 8'030'261'248}, {"llama-3.2-1b", 1'235'814'400},       {"llama-3.2-3b", 3'212'749'824},
    {"phi-3-mini", 3'821'079'552},   {"qwen2.5-0.5b", 494'032'768},         {"qwen2.5-1.5b", 1'543'714'304},
    {"qwen2.5-3b", 3'085'938'688},   {"tinystories-15m", 15'191'712},       {"tinystories-260k", 260'032},
    {"baichuan2-7b", 7'505'973'248}, {"gemma-2-2b", 2'614'341'888},         {"gemma-2-9b", 9'241'705'984},
    {"gemma-2b", 2'506'172'416},     {"gemma-3-1b", 999'885'952},           {"granite-3.1-8b", 8'170'848'256},
    {"llama-1-33b", 32'528'943'616}, {"llama-2-13b", 13'015'864'320},       {"llama-2-70b", 68'976'648'192},
    {"llama-3-8b", 8'030'261'248},   {"llama-3.1-70b", 70'553'706'496},     {"openllama-3b", 3'426'473'600},
    {"phi-2", 2'779'683'840},        {"phi-3.5-mini", 3'821'079'552},       {"phi-4-mini", 3'836'021'760},
    {"qwen2-7b", 7'615'616'512},     {"qwen2.5-14b", 14'770'033'664},       {"qwen2.5-7b", 7'615'616'512},
    {"qwen3-0.6b", 596'049'920},     {"qwen3-1.7b", 1'720'574'976},         {"qwen3-4b", 4'022'468'096},
    {"qwen3-8b", 8'190'735'360},     {"sheared-llama-1.3b", 1'345'423'360}, {"sheared-llama-2.7b", 2'701'560'320},
    {"smollm2-1.7b", 1'711'376'384}, {"smollm2-135m", 134'515'008},         {"stablelm-2-1.6b", 1'644'515'328},
    {"stablelm-3b", 2'795'443'200},  {"tinyllama-1.1b", 1'100'048'384},     {"kjv-4m", 4'197'632}};

/// Of them, what the shape does not describe: norms of queries and keys (Qwen3), further norms (Gemma 2 and 3), biases
/// of norms and matrices (Phi-2, StableLM).
const std::map<std::string, std::int64_t> besides{
    {"gemma-2-2b", 119'808},      {"gemma-2-9b", 301'056}, {"gemma-3-1b", 73'216}, {"phi-2", 791'040},
    {"qwen3-0.6b", 7'168},        {"qwen3-1.7b", 7'168},   {"qwen3-4b", 9'216},    {"qwen3-8b", 9'216},
    {"stablelm-2-1.6b", 100'352}, {"stablelm-3b", 166'400}};

/// What the shapes describe of the published totals.
std::map<std::string, std::int64_t> described_parameters() {
  auto totals = published_parameters;
  for (const auto& [name, more] : besides) totals.at(name) -= more;
  return totals;
}

TEST(Parameters, OfEveryCatalogueEntryAddUpToThePublishedTotal) {
  for (const std::string& name : catalogue().names("llms")) {
    const auto totals = described_parameters();
    const auto described = totals.find(name);
    ASSERT_NE(described, totals.end()) << name << " needs its published total in this test";
    const LlmConfig model = llm(name);
    EXPECT_EQ(parameters(model, whole_model(model)), described->second) << name;
  }
  EXPECT_EQ(catalogue().names("llms").size(), published_parameters.size());
}

TEST(Parameters, OfABlockAreItsMatricesBiasesAndNorms) {
  EXPECT_EQ(layer_parameters(llm("llama-3.2-1b")), matrices + 2 * 2048);
  // Qwen2.5 0.5B: Q 896 x 896, K and V 896 x 128 each with biases, O 896 x 896, three of 896 x 4864, two norms.
  EXPECT_EQ(layer_parameters(llm("qwen2.5-0.5b")),
            896 * 896 + 896 + 2 * (896 * 128 + 128) + 896 * 896 + 3 * 896 * 4864 + 2 * 896);
}

TEST(Parameters, ATiedEmbeddingIsHeldOnBothSidesOfACut) {
  for (const auto& [name, total] : described_parameters()) {
    const LlmConfig model = llm(name);
    const std::int64_t second_copy = model.tied_embeddings ? model.vocabulary * model.hidden : 0;
    for (std::int64_t cut = 1; cut <= model.layers; ++cut) {
      EXPECT_EQ(parameters(model, device_part(model, cut)) + parameters(model, edge_part(model, cut)),
                total + second_copy)
          << name << ", cut " << cut;
    }
    EXPECT_EQ(parameters(model, device_part(model, 0)), 0) << name;
    EXPECT_EQ(parameters(model, edge_part(model, 0)), total) << name;
  }
}

TEST(ModelPart, ACutOutsideTheModelBreaksAnInvariant) {
  const LlmConfig model = llm("llama-3.2-1b");
  EXPECT_THROW(device_part(model, -1), InvariantViolation);
  EXPECT_THROW(device_part(model, 17), InvariantViolation);
  EXPECT_THROW(edge_part(model, 17), InvariantViolation);
}

TEST(ModelPart, IsEmptyWhenItHasNeitherBlocksNorHead) {
  const LlmConfig model = llm("llama-3.2-1b");
  EXPECT_TRUE(device_part(model, 0).empty());
  EXPECT_FALSE(device_part(model, 1).empty());
  EXPECT_FALSE(edge_part(model, 16).empty());  // the head is left
}

TEST(Weights, OfLlama1BTakeTwoBytesOrHalfAByteAParameter) {
  const LlmConfig model = llm("llama-3.2-1b");
  EXPECT_EQ(weight_bytes(model, whole_model(model), fp16), Bytes(2'471'628'800));
  EXPECT_EQ(weight_bytes(model, whole_model(model), int4), Bytes(617'907'200));
  // Blocks of 32 weights with a 16-bit scale: 4.5 bits.
  EXPECT_EQ(weight_bytes(model, whole_model(model), int4_in_blocks), Bytes(695'145'600));
}

TEST(Weights, OfLlama70BDoNotFitIntoTwiceSeventyGigabytes) {
  const LlmConfig model = llm("llama-3-70b");
  EXPECT_GT(weight_bytes(model, whole_model(model), fp16), Bytes(140'000'000'000));
}

TEST(Weights, ScalesAreCountedAtEightBitsAndBelow) {
  EXPECT_EQ(bits_per_weight({Precision::fp32, 32}), 32);
  EXPECT_EQ(bits_per_weight({Precision::bf16, 32}), 16);
  EXPECT_EQ(bits_per_weight({Precision::fp16, 32}), 16);
  EXPECT_EQ(bits_per_weight({Precision::int8, 32}), 8.5);
  EXPECT_EQ(bits_per_weight({Precision::int8, 0}), 8);
  EXPECT_EQ(bits_per_weight({Precision::int4, 64}), 4.25);
  EXPECT_EQ(bits_per_weight({Precision::int2, 16}), 3);
  EXPECT_EQ(bits_per_weight({Precision::int1, 16}), 2);
}

TEST(Weights, ABrokenByteIsRoundedUp) {
  LlmConfig model = llm("tinystories-260k");
  model.hidden = 63;  // an odd number of parameters
  const std::int64_t count = parameters(model, whole_model(model));
  ASSERT_EQ(count % 2, 1);
  EXPECT_EQ(weight_bytes(model, whole_model(model), int4), Bytes(count / 2 + 1));
}

TEST(KvCache, TakesTwoBytesForEachKeyAndValue) {
  const auto per_token = [](const std::string& name) {
    const LlmConfig model = llm(name);
    return kv_bytes(model, whole_model(model), Tokens(1));
  };
  EXPECT_EQ(per_token("llama-3.2-1b"), Bytes(2 * 16 * 8 * 64 * 2));   // 32 KiB
  EXPECT_EQ(per_token("llama-3.1-8b"), Bytes(2 * 32 * 8 * 128 * 2));  // 128 KiB: grouped queries
  EXPECT_EQ(per_token("llama-2-7b"), Bytes(2 * 32 * 32 * 128 * 2));   // 512 KiB
  EXPECT_EQ(per_token("llama-3-70b"), Bytes(2 * 80 * 8 * 128 * 2));
}

TEST(KvCache, OfTheTwoSidesOfACutAddsUp) {
  const LlmConfig model = llm("llama-3.2-1b");
  const Bytes whole = kv_bytes(model, whole_model(model), Tokens(1000));
  EXPECT_EQ(whole, Bytes(32'768'000));
  for (std::int64_t cut = 0; cut <= 16; ++cut) {
    EXPECT_EQ(
        kv_bytes(model, device_part(model, cut), Tokens(1000)) + kv_bytes(model, edge_part(model, cut), Tokens(1000)),
        whole);
  }
}

TEST(Activations, AreTokensTimesHidden) {
  const LlmConfig model = llm("llama-3.2-1b");
  EXPECT_EQ(activation_values(model, Tokens(128)), 128 * 2048);
  EXPECT_EQ(activation_bytes(model, Tokens(128)), Bytes(128 * (2 * 2048 + 8192) * 2));
}

TEST(ForwardWork, PrefillIsTwoOperationsAParameterAndTokenAndAttention) {
  const LlmConfig model = llm("llama-3.2-1b");
  const std::int64_t n = 128;
  // 32 heads of 64: 4 x 2048 operations for each of the 128 x 129 / 2 pairs of a block. The head works once.
  const std::int64_t attention = 16 * 4 * 2048 * (128 * 129 / 2);
  const std::int64_t expected = 2 * 16 * matrices * n + attention + 2 * embedding;
  EXPECT_EQ(expected, 250'715'570'176);
  const Work work = forward_work(model, whole_model(model), fp16, {Tokens(n), Tokens(0)});
  EXPECT_EQ(work.operations(), Operations(static_cast<double>(expected)));
  EXPECT_EQ(work.layers, 16);
}

TEST(ForwardWork, IsNearTwoParametersTimesTokensForEveryModel) {
  for (const auto& [name, total] : described_parameters()) {
    const LlmConfig model = llm(name);
    const ModelPart blocks{.first = 0, .last = model.layers, .embedding = true, .head = false};
    const double n = 16;
    const double work =
        forward_work(model, blocks, fp16, {Tokens(static_cast<std::int64_t>(n)), Tokens(0)}).operations().value();
    const double attention = static_cast<double>(model.layers * 4 * model.heads * model.head_size) * n * (n + 1) / 2;
    const auto outside = static_cast<double>(model.vocabulary * model.hidden * (model.tied_embeddings ? 1 : 2));
    const double weights = static_cast<double>(total) - outside;
    // What is left besides the matrices are norms and biases: most in DeepSC, 640 of 197,248 parameters a block.
    EXPECT_LE(work - attention, 2 * weights * n) << name;
    EXPECT_GE(work - attention, 0.996 * 2 * weights * n) << name;
  }
}

TEST(ForwardWork, DecodingReadsEveryWeightAndTheCacheOnce) {
  const LlmConfig model = llm("llama-3.2-1b");
  const Work work = forward_work(model, whole_model(model), fp16, {Tokens(1), Tokens(128)});
  // One query on 129 keys in each block.
  const std::int64_t operations = 2 * 16 * matrices + 16 * 4 * 2048 * 129 + 2 * embedding;
  EXPECT_EQ(work.operations(), Operations(static_cast<double>(operations)));
  // Blocks with their norms, head; 128 tokens of cache read, one written.
  const std::int64_t bytes = 2 * (16 * (matrices + 2 * 2048) + embedding) + 129 * 32'768;
  EXPECT_EQ(bytes, 2'475'851'776);
  EXPECT_EQ(work.bytes(), Bytes(bytes));
}

TEST(ForwardWork, OfTheTwoSidesOfACutAddsUp) {
  for (const auto& [name, total] : described_parameters()) {
    const LlmConfig model = llm(name);
    const Work whole = forward_work(model, whole_model(model), fp16, {Tokens(7), Tokens(5)});
    for (std::int64_t cut = 0; cut <= model.layers; ++cut) {
      const Work device = forward_work(model, device_part(model, cut), fp16, {Tokens(7), Tokens(5)});
      const Work edge = forward_work(model, edge_part(model, cut), fp16, {Tokens(7), Tokens(5)});
      // Every term is a whole number below 2^53, so that the sums are exact.
      EXPECT_EQ(device.operations() + edge.operations(), whole.operations()) << name << ", cut " << cut;
      EXPECT_EQ(device.bytes() + edge.bytes(), whole.bytes()) << name << ", cut " << cut;
      EXPECT_EQ(device.layers + edge.layers, whole.layers);
    }
  }
}

TEST(ForwardWork, OfAPromptInTwoChunksIsThatOfTheWholePrompt) {
  const LlmConfig model = llm("llama-3.2-1b");
  const ModelPart blocks{.first = 0, .last = 16, .embedding = true, .head = false};
  const auto operations = [&](std::int64_t tokens, std::int64_t context) {
    return forward_work(model, blocks, fp16, {Tokens(tokens), Tokens(context)}).operations();
  };
  for (const std::int64_t first : {1, 50, 99}) {
    EXPECT_EQ(operations(first, 0) + operations(100 - first, first), operations(100, 0));
  }
}

TEST(Pruning, TakesHeadsWidthAndBlocksAndLeavesTheRest) {
  const LlmConfig whole = llm("llama-3.2-1b");  // 32 heads on 8 of keys and values, 8192 wide, 16 blocks
  const LlmConfig left = pruned(whole, {.heads = Fraction(0.25), .feed_forward = Fraction(0.4), .layers = 4});
  EXPECT_EQ(left.kv_heads, 6);
  EXPECT_EQ(left.heads, 24);
  EXPECT_EQ(left.feed_forward, 4915);
  EXPECT_EQ(left.layers, 12);
  EXPECT_EQ(left.hidden, whole.hidden);
  EXPECT_EQ(left.vocabulary, whole.vocabulary);
  EXPECT_EQ(kv_bytes(left, whole_model(left), Tokens(1)), Bytes(2 * 12 * 6 * 64 * 2));
  // Projections of 2048 x 64 for 2 x 24 + 2 x 6 heads, three matrices of 2048 x 4915, two norms.
  EXPECT_EQ(layer_parameters(left), 2048 * 64 * 60 + 3 * 2048 * 4915 + 2 * 2048);
  EXPECT_EQ(parameters(pruned(whole, {}), whole_model(whole)), parameters(whole, whole_model(whole)));
  EXPECT_EQ(pruned(whole, {.heads = Fraction(0.99)}).kv_heads, 1);
}

TEST(ForwardWork, OfAnEmptyPartIsNothing) {
  const LlmConfig model = llm("llama-3.2-1b");
  const Work work = forward_work(model, device_part(model, 0), fp16, {Tokens(128), Tokens(0)});
  EXPECT_FALSE(work.any);
  EXPECT_EQ(work.operations(), Operations(0));
  EXPECT_EQ(work.bytes(), Bytes(0));
  EXPECT_TRUE(forward_work(model, edge_part(model, 16), fp16, {Tokens(1), Tokens(0)}).any);
}

}  // namespace
}  // namespace trilemma
