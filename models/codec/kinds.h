#pragma once

#include <memory>
#include <optional>
#include <string>

#include "models/codec/codec.h"

/// One pair of functions for each alternative of CodecConfig; codec.cpp picks by std::visit.
namespace trilemma::codec_kinds {

std::optional<std::string> problem(const IdentityCodec& config);
std::optional<std::string> problem(const FourierCodec& config);

/// Require a configuration without problem.
std::unique_ptr<Codec> make(const IdentityCodec& config);
std::unique_ptr<Codec> make(const FourierCodec& config);

}  // namespace trilemma::codec_kinds
