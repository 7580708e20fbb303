#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "core/config/field.h"
#include "core/units.h"

namespace trilemma {

/// Number format of values on the wire. The numbers are part of the wire format (models/codec/wire.h): never renumber.
enum class NumberFormat { fp32 = 0, fp16 = 1, bf16 = 2, int8 = 3, int4 = 4, int2 = 5 };
/// Along which side of the activation integers share a scale.
enum class QuantisedAxis { token, channel };
enum class SvdAlgorithm { exact, randomised };
/// Windows before a Fourier transform.
enum class Window { none, hann };
/// Tasks to which the second text gives ratios of their own.
enum class TextTask { qa, reasoning, generation };
/// How quantised coefficients become bytes.
enum class EntropyCoder { range, zstd };

namespace config {
template <>
inline constexpr auto names<NumberFormat> =
    std::array{Name{"fp32", NumberFormat::fp32}, Name{"fp16", NumberFormat::fp16}, Name{"bf16", NumberFormat::bf16},
               Name{"int8", NumberFormat::int8}, Name{"int4", NumberFormat::int4}, Name{"int2", NumberFormat::int2}};
template <>
inline constexpr auto names<QuantisedAxis> =
    std::array{Name{"token", QuantisedAxis::token}, Name{"channel", QuantisedAxis::channel}};
template <>
inline constexpr auto names<SvdAlgorithm> =
    std::array{Name{"exact", SvdAlgorithm::exact}, Name{"randomised", SvdAlgorithm::randomised}};
template <>
inline constexpr auto names<Window> = std::array{Name{"none", Window::none}, Name{"hann", Window::hann}};
template <>
inline constexpr auto names<TextTask> = std::array{Name{"qa", TextTask::qa}, Name{"reasoning", TextTask::reasoning},
                                                   Name{"generation", TextTask::generation}};
template <>
inline constexpr auto names<EntropyCoder> =
    std::array{Name{"range", EntropyCoder::range}, Name{"zstd", EntropyCoder::zstd}};
}  // namespace config

/// Largest compression ratio a codec accepts. It also bounds how much memory a short message can ask a decoder for.
inline constexpr double max_compression_ratio = 1e4;

/// The keys of all codecs with a ratio.
template <class Codec>
constexpr auto ratio_fields() {
  return std::tuple{
      config::field("ratio", &Codec::ratio, "bytes of the uncompressed message / bytes sent, headers included",
                    config::between(1, max_compression_ratio)),
      config::field("reference", &Codec::reference, "number format of the uncompressed message: fp32, fp16 or bf16")};
}

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
    return std::tuple_cat(
        ratio_fields<FourierCodec>(),
        std::tuple{config::field("coefficients", &FourierCodec::coefficients, "number format of the coefficients")});
  }
};

/// The paper's own block: the top-left K_S x K_D of the spectrum, zeros elsewhere, real part. For the audit.
struct FourierPublishedCodec {
  static constexpr std::string_view kind = "fourier-published";
  double ratio = 1;
  NumberFormat coefficients = NumberFormat::fp32;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple_cat(ratio_fields<FourierPublishedCodec>(),
                          std::tuple{config::field("coefficients", &FourierPublishedCodec::coefficients,
                                                   "number format of real and imaginary parts")});
  }
};

/// The second text's two functions, with its options. For the audit.
struct FourierTextCodec {
  static constexpr std::string_view kind = "fourier-text";
  double ratio = 1;
  NumberFormat coefficients = NumberFormat::fp32;
  NumberFormat reference = NumberFormat::fp32;
  std::optional<Fraction> keep;      // the text's keep_ratio, instead of a ratio
  std::optional<TextTask> task;      // its keep_ratio for a task, instead of a ratio
  Fraction mid_band{0};              // coefficients next to the block, as a share of the whole spectrum
  Window window = Window::none;      // before the transform, divided out after it
  std::optional<Fraction> fallback;  // sent uncompressed if more of the energy lies outside the block

  static constexpr auto fields() {
    using config::between, config::field;
    return std::tuple_cat(
        ratio_fields<FourierTextCodec>(),
        std::tuple{
            field("coefficients", &FourierTextCodec::coefficients, "number format of real and imaginary parts"),
            field("keep", &FourierTextCodec::keep, "share of the complex coefficients; instead of ratio",
                  between(0, 1)),
            field("task", &FourierTextCodec::task, "keeps 12, 18 or 25 %: qa, reasoning, generation; instead of ratio"),
            field("mid_band", &FourierTextCodec::mid_band, "coefficients next to the block, share of the spectrum",
                  between(0, 1)),
            field("window", &FourierTextCodec::window, "before the transform, divided out after it: none or hann"),
            field("fallback", &FourierTextCodec::fallback,
                  "share of energy outside the block from which the activation is sent uncompressed; real tensors only",
                  between(0, 1))});
  }
};

/// A Fourier transform of each token by itself, its lowest frequencies.
struct TokenFourierCodec {
  static constexpr std::string_view kind = "token-fourier";
  double ratio = 1;
  NumberFormat coefficients = NumberFormat::fp32;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple_cat(ratio_fields<TokenFourierCodec>(),
                          std::tuple{config::field("coefficients", &TokenFourierCodec::coefficients,
                                                   "number format of the coefficients")});
  }
};

/// Truncated 2-D cosine transform.
struct DctCodec {
  static constexpr std::string_view kind = "dct";
  double ratio = 1;
  NumberFormat coefficients = NumberFormat::fp32;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple_cat(ratio_fields<DctCodec>(), std::tuple{config::field("coefficients", &DctCodec::coefficients,
                                                                             "number format of the coefficients")});
  }
};

/// The values of largest magnitude and where they are.
struct TopKCodec {
  static constexpr std::string_view kind = "topk";
  double ratio = 1;
  NumberFormat values = NumberFormat::fp16;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple_cat(ratio_fields<TopKCodec>(),
                          std::tuple{config::field("values", &TopKCodec::values, "number format of the values")});
  }
};

/// Truncated singular value decomposition.
struct SvdCodec {
  static constexpr std::string_view kind = "svd";
  double ratio = 1;
  NumberFormat factors = NumberFormat::fp16;
  NumberFormat reference = NumberFormat::fp32;
  SvdAlgorithm algorithm = SvdAlgorithm::exact;

  static constexpr auto fields() {
    return std::tuple_cat(
        ratio_fields<SvdCodec>(),
        std::tuple{config::field("factors", &SvdCodec::factors, "number format of the factors"),
                   config::field("algorithm", &SvdCodec::algorithm, "exact or randomised (two power iterations)")});
  }
};

/// Truncated QR decomposition with column pivoting.
struct QrCodec {
  static constexpr std::string_view kind = "qr";
  double ratio = 1;
  NumberFormat factors = NumberFormat::fp16;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple_cat(ratio_fields<QrCodec>(),
                          std::tuple{config::field("factors", &QrCodec::factors, "number format of the factors")});
  }
};

/// Integers with a scale for each token or channel.
struct QuantiseCodec {
  static constexpr std::string_view kind = "quantise";
  NumberFormat format = NumberFormat::int8;
  QuantisedAxis axis = QuantisedAxis::token;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple{config::field("format", &QuantiseCodec::format, "int8, int4 or int2"),
                      config::field("axis", &QuantiseCodec::axis, "what shares a scale: token or channel"),
                      config::field("reference", &QuantiseCodec::reference,
                                    "number format of the uncompressed message: fp32, fp16 or bf16")};
  }
};

/// Each token as its difference from the one before, quantised, also across the steps of a generation.
struct DeltaCodec {
  static constexpr std::string_view kind = "delta";
  NumberFormat format = NumberFormat::int8;
  NumberFormat reference = NumberFormat::fp32;

  static constexpr auto fields() {
    return std::tuple{config::field("format", &DeltaCodec::format, "int8, int4 or int2"),
                      config::field("reference", &DeltaCodec::reference,
                                    "number format of the uncompressed message: fp32, fp16 or bf16")};
  }
};

/// Rotation of each token (calibrated KLT, or Hadamard without a basis), uniform quantisation with one step for all
/// components, which is reverse water-filling, and entropy coding to exactly the bytes of the ratio.
struct TransformCodec {
  static constexpr std::string_view kind = "transform";
  double ratio = 1;
  NumberFormat reference = NumberFormat::fp32;
  std::string basis;                         // file of a calibrated basis; empty: Hadamard
  std::int64_t outliers = 0;                 // channels of largest energy that are sent apart, as fp16
  EntropyCoder coder = EntropyCoder::range;  // of the quantised components

  static constexpr auto fields() {
    using config::field;
    return std::tuple_cat(
        ratio_fields<TransformCodec>(),
        std::tuple{field("basis", &TransformCodec::basis,
                         "file of 'trilemma codec --calibrate', from the working folder; none: Hadamard"),
                   field("outliers", &TransformCodec::outliers, "channels of largest energy sent apart as fp16",
                         config::between(0, 65536)),
                   field("coder", &TransformCodec::coder, "entropy coder: range or zstd")});
  }
};

using CodecConfig =
    std::variant<IdentityCodec, FourierCodec, FourierPublishedCodec, FourierTextCodec, TokenFourierCodec, DctCodec,
                 TopKCodec, SvdCodec, QrCodec, QuantiseCodec, DeltaCodec, TransformCodec>;

}  // namespace trilemma
