#pragma once

#include <array>
#include <tuple>
#include <variant>

#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// Number format of values on the wire. The numbers are part of the wire format (models/codec/wire.h): never renumber.
enum class NumberFormat { fp32 = 0, fp16 = 1, bf16 = 2, int8 = 3, int4 = 4 };

namespace config {
template <>
inline constexpr auto names<NumberFormat> =
    std::array{Name{"fp32", NumberFormat::fp32}, Name{"fp16", NumberFormat::fp16}, Name{"bf16", NumberFormat::bf16},
               Name{"int8", NumberFormat::int8}, Name{"int4", NumberFormat::int4}};
}  // namespace config

/// Largest compression ratio a codec accepts. It also bounds how much memory a short message can ask a decoder for.
inline constexpr double max_compression_ratio = 1e4;

/// Sends every activation value as it is (rounded to `format`).
struct IdentityCodec {
  static constexpr std::string_view kind = "identity";
  NumberFormat format = NumberFormat::fp16;

  static constexpr auto fields() {
    return std::tuple{config::field("format", &IdentityCodec::format, "number format: fp32, fp16 or bf16")};
  }
};

/// Truncated 2-D Fourier transform of the token x hidden matrix, symmetric low-pass (all four corners).
struct FourierCodec {
  static constexpr std::string_view kind = "fourier";
  double ratio = 1;                                // bytes of the uncompressed message / bytes of this one
  NumberFormat coefficients = NumberFormat::fp32;  // number format of the coefficients
  NumberFormat reference = NumberFormat::fp32;     // number format the uncompressed message would have

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple{
        field("ratio", &FourierCodec::ratio, "bytes of the uncompressed message / bytes sent, headers included",
              between(1, max_compression_ratio)),
        field("coefficients", &FourierCodec::coefficients, "number format of the coefficients"),
        field("reference", &FourierCodec::reference, "number format of the uncompressed message: fp32, fp16 or bf16"),
    };
  }
};

using CodecConfig = std::variant<IdentityCodec, FourierCodec>;

}  // namespace trilemma
