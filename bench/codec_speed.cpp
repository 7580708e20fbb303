// Time of the Fourier codec over that of FFTW's bare transform of the same matrix plus one memory pass, which is the
// least that a codec on FFTW can take:
//     build/release/codec_speed
// Both sides are measured in turn, by the CPU time of this process; a factor is the median over the rounds of their
// ratio, so that load from others falls on both. The required factor is at most 1.5.

#include <algorithm>
#include <ctime>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "models/codec/codec.h"
#include "models/codec/real_transform.h"

namespace {

using namespace trilemma;

template <class Run>
double cpu_seconds(Run run) {
  const std::clock_t start = std::clock();
  run();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<float> noise(Shape shape) {
  std::mt19937 numbers(1);  // fixed seed; the time does not depend on the values
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(elements(shape)));
  for (float& value : values) value = normal(numbers);
  return values;
}

/// FFTW alone, with the plans of the codec, and a copy of the matrix as the memory pass.
class Bare {
 public:
  Bare(Shape shape, const std::vector<float>& values) : transform_(shape), values_(values), copy_(values) {
    std::ranges::copy(values, transform_.values().begin());
    transform_.forward();
    spectrum_.assign(transform_.spectrum().begin(), transform_.spectrum().end());
  }

  double forward_seconds() {
    return cpu_seconds([&] {
      std::ranges::copy(values_, transform_.values().begin());
      transform_.forward();
    });
  }

  double inverse_seconds() {
    std::ranges::copy(spectrum_, transform_.spectrum().begin());  // the inverse destroys it
    return cpu_seconds([&] {
      transform_.inverse();
      std::ranges::copy(transform_.values(), copy_.begin());
    });
  }

 private:
  RealTransform transform_;
  const std::vector<float>& values_;
  std::vector<float> copy_;
  std::vector<std::complex<float>> spectrum_;
};

void measure(Shape shape, double ratio, NumberFormat format, const std::string& name) {
  const std::vector<float> values = noise(shape);
  Bare bare(shape, values);
  const auto codec = make_codec(FourierCodec{.ratio = ratio, .coefficients = format});
  std::vector<std::byte> message(static_cast<std::size_t>(codec->encoded_size(shape).value()));
  std::vector<float> restored(values.size());
  codec->encode_into(values, shape, message);  // makes the plans
  std::vector<double> forward, encode, encode_factor, inverse, decode, decode_factor;
  const auto rounds = std::clamp<std::int64_t>((std::int64_t{1} << 25) / elements(shape), 7, 31);
  for (std::int64_t round = 0; round < rounds; ++round) {
    forward.push_back(1e3 * bare.forward_seconds());
    encode.push_back(1e3 * cpu_seconds([&] { codec->encode_into(values, shape, message); }));
    encode_factor.push_back(encode.back() / forward.back());
    inverse.push_back(1e3 * bare.inverse_seconds());
    decode.push_back(1e3 * cpu_seconds([&] { codec->decode_into(message, restored); }));
    decode_factor.push_back(decode.back() / inverse.back());
  }
  fmt::print("| {} x {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", shape.tokens,
             shape.hidden, ratio, name, median(forward), median(encode), median(encode_factor), median(inverse),
             median(decode), median(decode_factor));
}

}  // namespace

int main() {
  fmt::print(
      "| shape | ratio | format | r2c + pass, ms | encode, ms | factor | c2r + pass, ms | decode, ms | factor |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const std::int64_t tokens : {128, 512, 2048}) {
    for (const std::int64_t hidden : {2048, 4096}) {
      for (const double ratio : {7.6, 2.0}) {
        const Shape shape{.tokens = tokens, .hidden = hidden};
        measure(shape, ratio, NumberFormat::fp32, "fp32");
        measure(shape, ratio, NumberFormat::fp16, "fp16");
        measure(shape, ratio, NumberFormat::int8, "int8");
      }
    }
  }
}
