#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "analysis/codec_report.h"
#include "analysis/table.h"

namespace trilemma {
namespace {

std::string sends(const IdentityCodec&) { return "every activation value"; }
std::string sends(const FourierCodec&) { return "a symmetric low-pass block of the 2-D Fourier transform"; }
std::string sends(const FourierPublishedCodec&) { return "the paper's top-left block of that transform"; }
std::string sends(const FourierTextCodec&) { return "the second text's block, with its options"; }
std::string sends(const TokenFourierCodec&) { return "the lowest frequencies of each token by itself"; }
std::string sends(const DctCodec&) { return "a low-pass block of the 2-D cosine transform"; }
std::string sends(const TopKCodec&) { return "the values of largest magnitude and where they are"; }
std::string sends(const SvdCodec&) { return "a truncated singular value decomposition"; }
std::string sends(const QrCodec&) { return "a truncated QR decomposition with column pivoting"; }
std::string sends(const QuantiseCodec&) { return "integers with a scale for each token or channel"; }
std::string sends(const DeltaCodec&) { return "integers of each token's difference from the one before"; }
std::string sends(const TransformCodec&) { return "rotated tokens, quantised and entropy-coded"; }

template <class Kind>
std::vector<std::string> line() {
  std::vector<std::string> keys;
  std::apply([&](const auto&... field) { (keys.emplace_back(field.key), ...); }, Kind::fields());
  return {std::string(Kind::kind), sends(Kind{}), fmt::format("{}", fmt::join(keys, ", "))};
}

}  // namespace

std::string codec_kinds_text() {
  Table table{.header = {"codec", "sends", "keys"}, .rows = {}, .left = 3};
  [&]<class... Kind>(std::type_identity<std::variant<Kind...>>) {
    (table.rows.push_back(line<Kind>()), ...);
  }(std::type_identity<CodecConfig>{});
  return table_to_text(table);
}

}  // namespace trilemma
