#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "models/codec/codec.h"
#include "tests/unit/codec/activations.h"

// NOLINTBEGIN(cppcoreguidelines-no-malloc): operator new itself
namespace {

std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

/// Codecs on FFTW allocate when they meet a shape, never again. Counts operator new, so not what FFTW itself takes from
/// malloc() in a call: nothing for Fourier transforms, a small buffer a row and column pass for cosine transforms.
namespace trilemma {
namespace {

template <class Run>
std::size_t allocations_of(Run run) {
  const std::size_t before = allocations;
  run();
  return allocations - before;
}

struct Counts {
  std::size_t first = 0;  // both directions
  std::size_t encode = 0;
  std::size_t decode = 0;
};

Counts count(const CodecConfig& config, Shape shape) {
  const auto codec = make_codec(config);
  const auto values = test::random_activation(shape, 1);
  std::vector<std::byte> message(static_cast<std::size_t>(codec->encoded_size(shape).value()));
  std::vector<float> restored(values.size());
  const auto encode = [&] { codec->encode_into(values, shape, message); };
  const auto decode = [&] { codec->decode_into(message, restored); };
  const std::size_t first = allocations_of(encode) + allocations_of(decode);
  return {.first = first, .encode = allocations_of(encode), .decode = allocations_of(decode)};
}

TEST(CodecAllocation, HappensAtTheFirstMessageOfAShapeOnly) {
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16, NumberFormat::int8,
                                    NumberFormat::int4, NumberFormat::int2}) {
    for (const CodecConfig& config : {CodecConfig(FourierCodec{.ratio = 7.6, .coefficients = format}),
                                      CodecConfig(TokenFourierCodec{.ratio = 7.6, .coefficients = format}),
                                      CodecConfig(DctCodec{.ratio = 7.6, .coefficients = format})}) {
      for (const Shape shape : {Shape{.tokens = 128, .hidden = 512}, Shape{.tokens = 1, .hidden = 2048}}) {
        const Counts counts = count(config, shape);
        EXPECT_GT(counts.first, 0U) << "the hook counts";
        EXPECT_EQ(counts.encode, 0U) << config.index();
        EXPECT_EQ(counts.decode, 0U) << config.index();
      }
    }
  }
}

}  // namespace
}  // namespace trilemma
