#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/codec/codec.h"

/// One pair of functions for each alternative of CodecConfig; codec.cpp picks by std::visit.
namespace trilemma::codec_kinds {

std::optional<std::string> problem(const IdentityCodec& config);
std::optional<std::string> problem(const FourierCodec& config);
std::optional<std::string> problem(const FourierPublishedCodec& config);
std::optional<std::string> problem(const FourierTextCodec& config);
std::optional<std::string> problem(const TokenFourierCodec& config);
std::optional<std::string> problem(const DctCodec& config);
std::optional<std::string> problem(const TopKCodec& config);
std::optional<std::string> problem(const SvdCodec& config);
std::optional<std::string> problem(const QrCodec& config);
std::optional<std::string> problem(const QuantiseCodec& config);
std::optional<std::string> problem(const DeltaCodec& config);
std::optional<std::string> problem(const TransformCodec& config);

/// Require a configuration without problem.
std::unique_ptr<Codec> make(const IdentityCodec& config);
std::unique_ptr<Codec> make(const FourierCodec& config);
std::unique_ptr<Codec> make(const FourierPublishedCodec& config);
std::unique_ptr<Codec> make(const FourierTextCodec& config);
std::unique_ptr<Codec> make(const TokenFourierCodec& config);
std::unique_ptr<Codec> make(const DctCodec& config);
std::unique_ptr<Codec> make(const TopKCodec& config);
std::unique_ptr<Codec> make(const SvdCodec& config);
std::unique_ptr<Codec> make(const QrCodec& config);
std::unique_ptr<Codec> make(const QuantiseCodec& config);
std::unique_ptr<Codec> make(const DeltaCodec& config);
std::unique_ptr<Codec> make(const TransformCodec& config);

}  // namespace trilemma::codec_kinds
