#pragma once

#include <optional>

#include "models/accuracy/published.h"
#include "models/codec/config.h"
#include "models/codec/number_format.h"

namespace trilemma {

/// A codec in the words of the paper.
struct PaperCodec {
  Method method = Method::baseline;
  double ratio = 1;  // in the paper's convention
};

/// The one place that knows which of our codecs the paper measured, and what it would call their ratio. One overload a
/// codec; a codec without one was not measured, `fourier` among them: it keeps all four corners of the spectrum, where
/// the paper keeps one.
///
/// Our ratios are bytes over bytes, the paper's are not defined. Its own method keeps K_S K_D complex coefficients of
/// S D real values; r = S D / (K_S K_D) counts a coefficient as one number where it takes the bytes of two, so r is
/// twice the ratio in bytes at equal number formats. The other methods have the ratio of the task and no other.
template <class Codec>
std::optional<PaperCodec> paper_codec(const Codec&) {
  return std::nullopt;
}
inline std::optional<PaperCodec> paper_codec(const IdentityCodec&) { return PaperCodec{}; }
inline std::optional<PaperCodec> paper_codec(const FourierPublishedCodec& codec) {
  const auto bytes = [](NumberFormat format) { return static_cast<double>(packed_size(format, quantisation_block)); };
  return PaperCodec{Method::fc, 2 * codec.ratio * bytes(codec.coefficients) / bytes(codec.reference)};
}
inline std::optional<PaperCodec> paper_codec(const TopKCodec& codec) { return PaperCodec{Method::top_k, codec.ratio}; }
inline std::optional<PaperCodec> paper_codec(const SvdCodec& codec) { return PaperCodec{Method::svd_llm, codec.ratio}; }
inline std::optional<PaperCodec> paper_codec(const QrCodec& codec) { return PaperCodec{Method::qr, codec.ratio}; }

}  // namespace trilemma
