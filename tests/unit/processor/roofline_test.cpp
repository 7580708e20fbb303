#include "models/processor/roofline.h"

#include <map>

#include <gtest/gtest.h>

#include "core/ensure.h"
#include "sim/experiment.h"
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

/// A second of arithmetic and a quarter of memory time outside the blocks.
TEST(Roofline, OverlapLiesBetweenTheSumAndTheLonger) {
  ProcessorConfig processor_with = processor();
  const Work both = work(500e9, 20'000'000'000);
  const std::map<double, Duration> expected{{1, 1000ms}, {0.5, 1125ms}, {0, 1250ms}};
  for (const auto& [overlap, time] : expected) {
    processor_with.rates[0].overlap = Fraction(overlap);
    EXPECT_EQ(forward_time(processor_with, Precision::fp16, both), 1ms + time) << overlap;
  }
}

TEST(Roofline, AttentionHasItsOwnShares) {
  ProcessorConfig own = processor();
  own.rates[0].per_call = own.rates[0].per_layer = 0ns;
  Work attention{.layers = 2, .attention = {Operations(250e9), Bytes(1)}, .any = true};
  EXPECT_EQ(forward_time(own, Precision::fp16, attention), 1s);
  own.rates[0].attention_efficiency = Fraction(0.25);
  EXPECT_EQ(forward_time(own, Precision::fp16, attention), 2s);
  attention.attention = {Operations(1), Bytes(8'000'000'000)};
  EXPECT_EQ(forward_time(own, Precision::fp16, attention), 200ms);
  own.rates[0].cache_efficiency = Fraction(0.2);
  EXPECT_EQ(forward_time(own, Precision::fp16, attention), 800ms);
}

/// All devices, models and cuts: the parts of a model take together what the whole takes, and one call more.
TEST(Roofline, PartsOfAModelAddUpToTheNanosecond) {
  const config::Catalogue catalogue(TRILEMMA_SOURCE_DIR "/configs");
  const auto llm = read_part<LlmConfig>(catalogue, "llms", "llama-3.2-1b");
  for (const std::string& name : catalogue.names("devices")) {
    auto device = read_part<ProcessorConfig>(catalogue, "devices", name);
    const std::vector<PrecisionRate> rates = device.rates;
    for (const PrecisionRate& rate : rates) {
      device.runtime = rate.runtime;
      for (const PassTokens& tokens : {PassTokens{.fresh = Tokens(1), .cached = Tokens(100)}, {.fresh = Tokens(96)}}) {
        const auto time = [&](const ModelPart& part) { return run_time(device, rate.precision, {llm, part, tokens}); };
        for (std::int64_t cut = 1; cut <= llm.layers; ++cut) {
          EXPECT_EQ(time(device_part(llm, cut)) + time(edge_part(llm, cut)), time(whole_model(llm)) + rate.per_call)
              << name << " " << cut;
        }
      }
    }
  }
}

TEST(Roofline, APromptRunsInPaddedChunks) {
  ProcessorConfig chunked = processor();
  chunked.rates[0].chunk = 16;
  const LlmConfig llm = test::toy_llm();
  const auto time = [&](std::int64_t tokens) {
    return run_time(chunked, Precision::fp16, {llm, whole_model(llm), {.fresh = Tokens(tokens)}});
  };
  EXPECT_EQ(time(2), time(16));
  EXPECT_GT(time(17), time(16));
  EXPECT_EQ(time(17), time(32));
  // One token is no prompt.
  EXPECT_LT(time(1), time(2) + 1ns);
}

TEST(Roofline, AStaticCacheIsReadWhole) {
  ProcessorConfig fixed = processor();
  fixed.rates[0].memory_efficiency = Fraction(1e-4);
  const LlmConfig llm = test::toy_llm();
  const auto time = [&](std::int64_t context) {
    return run_time(fixed, Precision::fp16, {llm, whole_model(llm), {.fresh = Tokens(1), .cached = Tokens(context)}});
  };
  EXPECT_LT(time(1), time(1000));
  fixed.rates[0].cache_tokens = Tokens(1001);
  EXPECT_EQ(time(1), time(1000));
  EXPECT_LT(time(1000), time(2000));
}

TEST(Roofline, FewerBitsAreNeverSlower) {
  const LlmConfig llm = test::toy_llm();
  for (const double overlap : {0.0, 0.3, 1.0}) {
    Duration before = Duration::max();
    for (const Precision precision :
         {Precision::fp32, Precision::fp16, Precision::int8, Precision::int4, Precision::int2, Precision::int1}) {
      ProcessorConfig one = processor();
      one.rates = {{.precision = precision, .compute = OperationRate(1e12), .overlap = Fraction(overlap)}};
      const Duration now = run_time(one, precision, {llm, whole_model(llm), {.fresh = Tokens(4)}});
      EXPECT_LE(now, before) << config::name_of(precision);
      before = now;
    }
  }
}

TEST(MemoryNeed, OfAWideHeadAndANarrowCache) {
  const LlmConfig llm = test::toy_llm();
  ProcessorConfig own = processor();
  own.rates[0].head_bits = 32;
  own.rates[0].cache_bits = 8;
  const MemoryNeed need = memory_need(own, llm, whole_model(llm), Precision::fp16, {Tokens(10), Tokens(3)});
  // Four blocks of 592 weights and 8 of the final norm in 16 bits, two times 256 of embedding and head in 32.
  EXPECT_EQ(need.weights, Bytes(2 * (4 * 592 + 8) + 4 * 2 * 256));
  EXPECT_EQ(need.kv, Bytes(4 * 2 * 4 * 13));
}

TEST(Roofline, EachPrecisionHasItsOwnRates) {
  // int4 reaches all of 4 Top/s and of 100 GB/s.
  EXPECT_EQ(forward_time(processor(), Precision::int4, work(4e12, 1)), 1ms + 1s);
  EXPECT_EQ(forward_time(processor(), Precision::int4, work(1, 100'000'000'000)), 1ms + 1s);
  const ProcessorConfig unknown = processor();
  EXPECT_EQ(rate_for(unknown, Precision::fp32), nullptr);
  EXPECT_THROW(forward_time(processor(), Precision::fp32, work(1, 1)), InvariantViolation);
}

TEST(Roofline, CodecsRunInsideTheForwardPass) {
  EXPECT_EQ(codec_time(processor(), Precision::fp16, {Operations(500e9), Bytes(1)}, 1), 1s);
  EXPECT_EQ(codec_time(processor(), Precision::fp16, {Operations(1), Bytes(80'000'000'000)}, 1), 1s);
  EXPECT_EQ(codec_time(processor(), Precision::fp16, {Operations(0), Bytes(0)}, 1), 0ns);
}

TEST(Covariance, IsThatOfTheParametersThatAreNamed) {
  const auto key = [](std::vector<std::string> names, std::vector<double> numbers) {
    const PrecisionRate rate{.uncertain = std::move(names), .covariance = std::move(numbers)};
    const auto found = rate.problems();
    return found.empty() ? "" : found[0].key;
  };
  EXPECT_EQ(key({}, {}), "");
  EXPECT_EQ(key({"per_layer", "overlap"}, {0.1, -0.1, 0.2}), "");
  EXPECT_EQ(key({"per_layer", "overlap"}, {0.1, 0.2}), "covariance");
  EXPECT_EQ(key({"per_layer", "overlap"}, {0.1, 0.1, -0.2}), "covariance");
  EXPECT_EQ(key({"per_lair"}, {0.1}), "uncertain");
  EXPECT_EQ(key({"overlap", "overlap"}, {0.1, 0.1, 0.1}), "uncertain");
  EXPECT_EQ(key({}, {0.1}), "covariance");
  EXPECT_EQ(key({"overlap"}, {1e6}), "covariance");
  EXPECT_EQ(key({"per_layer", "overlap"}, {0.1, 0.1005, 0.1}), "") << "a correlation of 1, rounded";
  EXPECT_EQ(key({"per_layer", "overlap"}, {0.1, 0.12, 0.1}), "covariance");
  EXPECT_EQ(key({"per_layer", "overlap"}, {0, 0.12, 0.1}), "covariance");
}

// 50 Gop in fully connected layers at 500 Gop/s are 100 ms, 80 Gop in convolutions at 800 Gop/s as many.
TEST(Networks, ConvolutionsHaveTheirOwnRate) {
  ProcessorConfig fast = processor();
  fast.rates[0].convolution_efficiency = Fraction(0.8);
  const auto time_of = [&](double connected, double convolution) {
    return network_time(fast, Precision::fp16,
                        {.fully_connected = Operations(connected), .convolution = Operations(convolution)});
  };
  EXPECT_EQ(time_of(50e9, 0), 1ms + 100ms);
  EXPECT_EQ(time_of(0, 80e9), 1ms + 100ms);
  EXPECT_EQ(time_of(50e9, 80e9), 1ms + 200ms);
  fast.rates[0].convolution_efficiency.reset();
  EXPECT_EQ(time_of(0, 80e9), 1ms + 160ms) << "as matrices";
}

// A billion weights of two bytes at 80 GB/s: 25 ms.
TEST(Networks, AreBoundByTheirWeights) {
  const NetworkConfig large{.convolution = Operations(1e9), .parameters = 1'000'000'000};
  EXPECT_EQ(network_bytes(processor(), Precision::fp16, large), Bytes(2'000'000'000));
  EXPECT_EQ(network_time(processor(), Precision::fp16, large), 1ms + 25ms);
}

TEST(Roofline, ARuntimeIsChosenByItsName) {
  ProcessorConfig several = processor();
  several.rates[0].runtime = "first";
  several.rates.push_back(several.rates[0]);
  several.rates.back().runtime = "second";
  EXPECT_EQ(rate_for(several, Precision::fp16), &several.rates[0]);
  several.runtime = "second";
  EXPECT_EQ(rate_for(several, Precision::fp16), &several.rates.back());
  several.runtime = "third";
  EXPECT_EQ(rate_for(several, Precision::fp16), nullptr);
}

TEST(Codecs, RunAtTheRateOfASignalProcessor) {
  ProcessorConfig own = processor();
  own.signal = SignalProcessor{.rate = OperationRate(1e9), .per_call = 5us};
  EXPECT_EQ(codec_time(own, Precision::fp16, {Operations(1e9), Bytes(1)}, 1), 5us + 1s);
  EXPECT_EQ(codec_time(own, Precision::fp16, {Operations(1), Bytes(80'000'000'000)}, 1), 5us + 1s);
  EXPECT_EQ(codec_time(own, Precision::fp16, {Operations(0), Bytes(0)}, 1), 0ns);
}

TEST(Codecs, StreamThroughAPipeline) {
  ProcessorConfig own = processor();
  own.signal = SignalPipeline{.values = EventRate(250e6), .fill = 10us};
  // 128 x 2048 values, 4 ns each, whatever the arithmetic.
  EXPECT_EQ(codec_time(own, Precision::fp16, {Operations(1e12), Bytes(1)}, 128 * 2048), 10us + 128 * 2048 * 4ns);
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
