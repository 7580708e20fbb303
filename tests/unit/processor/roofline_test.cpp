#include "models/processor/roofline.h"

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "tests/support/toy_scenario.h"

namespace trilemma {
namespace {

/// Reaches half of 1 Top/s and 80 % of 100 GB/s: the roofs meet at 500 G / 80 G = 6.25 operations a byte.
ProcessorConfig processor() {
  ProcessorConfig config;
  config.memory = Bytes(1'000'000);
  config.reserve = Bytes(100'000);
  config.bandwidth = ByteRate(100e9);
  config.rates = {{.precision = Precision::fp16,
                   .compute = OperationRate(1e12),
                   .compute_efficiency = Fraction(0.5),
                   .memory_efficiency = Fraction(0.8),
                   .per_call = 1ms,
                   .per_layer = 10us},
                  {.precision = Precision::int4, .compute = OperationRate(4e12), .per_call = 1ms}};
  return config;
}

/// All of it outside the blocks.
Work work(double operations, std::int64_t bytes, std::int64_t layers = 0) {
  return {.layers = layers, .head = {Operations(operations), Bytes(bytes)}, .any = true};
}

Duration time(const Work& of) { return forward_time(processor(), Precision::fp16, of); }

TEST(Roofline, IsBoundByComputeAboveTheRidge) {
  EXPECT_EQ(time(work(500e9, 1)), 1ms + 1s);
  EXPECT_EQ(time(work(500e9, 79'999'999'999)), 1ms + 1s);
}

TEST(Roofline, IsBoundByMemoryBelowTheRidge) {
  EXPECT_EQ(time(work(1, 80'000'000'000)), 1ms + 1s);
  EXPECT_EQ(time(work(499e9, 80'000'000'000)), 1ms + 1s);
}

TEST(Roofline, BothRoofsMeetAtTheRidge) {
  EXPECT_EQ(time(work(500e9, 80'000'000'000)), 1ms + 1s);
  EXPECT_EQ(time(work(500e9 + 1, 80'000'000'000)), 1ms + 1s + 1ns);  // 2 ps more, rounded up
  EXPECT_EQ(time(work(500e9, 80'000'000'001)), 1ms + 1s + 1ns);
}

TEST(Roofline, EveryCallAndEveryBlockHasItsFixedCost) {
  EXPECT_EQ(time(work(0, 0, 0)), 1ms);
  EXPECT_EQ(time(work(0, 0, 16)), 1ms + 160us);
  EXPECT_EQ(time(work(500e9, 0, 16)), 1ms + 160us + 1s);
}

TEST(Roofline, AnEmptyPartIsNotEvenCalled) { EXPECT_EQ(time(Work{}), 0ns); }

TEST(Roofline, NeverFallsWhenWorkGrows) {
  for (double operations = 1; operations < 1e12; operations *= 3) {
    for (std::int64_t bytes = 1; bytes < 1'000'000'000'000; bytes *= 3) {
      const Duration base = time(work(operations, bytes, 4));
      EXPECT_LE(base, time(work(operations * 1.5, bytes, 4)));
      EXPECT_LE(base, time(work(operations, bytes + bytes / 2, 4)));
      EXPECT_LE(base, time(work(operations, bytes, 5)));
    }
  }
}

TEST(Roofline, NeverRisesWithAFasterProcessor) {
  ProcessorConfig faster = processor();
  faster.bandwidth = ByteRate(200e9);
  ProcessorConfig stronger = processor();
  stronger.rates[0].compute_efficiency = Fraction(1);
  for (double operations = 1; operations < 1e12; operations *= 7) {
    for (std::int64_t bytes = 1; bytes < 1'000'000'000'000; bytes *= 7) {
      const Work of = work(operations, bytes);
      EXPECT_LE(forward_time(faster, Precision::fp16, of), time(of));
      EXPECT_LE(forward_time(stronger, Precision::fp16, of), time(of));
    }
  }
}

TEST(Roofline, EachPrecisionHasItsOwnRates) {
  // int4 reaches all of 4 Top/s and of 100 GB/s.
  EXPECT_EQ(forward_time(processor(), Precision::int4, work(4e12, 1)), 1ms + 1s);
  EXPECT_EQ(forward_time(processor(), Precision::int4, work(1, 100'000'000'000)), 1ms + 1s);
  EXPECT_FALSE(rate_for(processor(), Precision::fp32).has_value());
  EXPECT_THROW(forward_time(processor(), Precision::fp32, work(1, 1)), InvariantViolation);
}

TEST(Roofline, CodecsRunInsideTheForwardPass) {
  EXPECT_EQ(codec_time(processor(), Precision::fp16, Operations(500e9), Bytes(1)), 1s);
  EXPECT_EQ(codec_time(processor(), Precision::fp16, Operations(1), Bytes(80'000'000'000)), 1s);
  EXPECT_EQ(codec_time(processor(), Precision::fp16, Operations(0), Bytes(0)), 0ns);
}

// The toy model: one block of 592 weights, 32 x 8 = 256 embedding weights; KV cache 2 x 4 values and a token,
// activation 2 x 8 + 16 values a token, 2 bytes each.

TEST(MemoryNeed, AddsWeightsCacheActivationsAndReserve) {
  const LlmConfig llm = test::toy_llm();
  const MemoryNeed need = memory_need(processor(), llm, device_part(llm, 2), Precision::fp16, {Tokens(10), Tokens(3)});
  EXPECT_EQ(need.weights, Bytes(2 * (2 * 592 + 256)));
  EXPECT_EQ(need.kv, Bytes(2 * 2 * 4 * 2 * 13));           // prompt and answer
  EXPECT_EQ(need.activations, Bytes(10 * (16 + 16) * 2));  // of the prompt, processed at once
  EXPECT_EQ(need.reserve, Bytes(100'000));
  EXPECT_EQ(need.total(), Bytes(2880 + 416 + 640 + 100'000));
  EXPECT_EQ(need.working(), Bytes(416 + 640 + 100'000));
}

TEST(MemoryNeed, ScalesOfQuantisedWeightsAreTheProcessors) {
  const LlmConfig llm = test::toy_llm();
  ProcessorConfig blocks = processor();
  blocks.quantisation_block = 32;
  // 2 x 592 + 256 = 1440 weights of 4.5 bits.
  EXPECT_EQ(memory_need(blocks, llm, device_part(llm, 2), Precision::int4, {Tokens(1), Tokens(1)}).weights, Bytes(810));
}

TEST(MemoryNeed, OfAnEmptyPartIsNothing) {
  const LlmConfig llm = test::toy_llm();
  EXPECT_EQ(memory_need(processor(), llm, device_part(llm, 0), Precision::fp16, {Tokens(9), Tokens(9)}).total(),
            Bytes(0));
}

TEST(Fits, UpToTheLastByteOfMemory) {
  const MemoryNeed need{
      .weights = Bytes(800'000), .kv = Bytes(50'000), .activations = Bytes(50'000), .reserve = Bytes(100'000)};
  EXPECT_TRUE(fits(processor(), need));
  MemoryNeed more = need;
  more.kv += Bytes(1);
  EXPECT_FALSE(fits(processor(), more));
}

TEST(Fits, WeightsInStorageAndTheRestInMemory) {
  ProcessorConfig flash = processor();
  flash.storage = Bytes(2'000'000);
  const MemoryNeed need{
      .weights = Bytes(2'000'000), .kv = Bytes(900'000), .activations = Bytes(0), .reserve = Bytes(100'000)};
  EXPECT_TRUE(fits(flash, need));
  MemoryNeed heavy = need;
  heavy.weights += Bytes(1);
  EXPECT_FALSE(fits(flash, heavy));
  MemoryNeed busy = need;
  busy.activations += Bytes(1);
  EXPECT_FALSE(fits(flash, busy));
  EXPECT_EQ(capacity(flash), Bytes(3'000'000));
  EXPECT_EQ(capacity(processor()), Bytes(1'000'000));
}

}  // namespace
}  // namespace trilemma
