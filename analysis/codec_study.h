#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/codec/basis.h"
#include "models/llm/evaluation.h"

/// What codecs do to the answers of a real transformer: its activations at a cut go through each codec's real messages,
/// and the rest of the model goes on from what was restored.
namespace trilemma {

/// A codec of the study; with a ratio it is made for each.
struct StudiedCodec {
  std::string name;
  bool has_ratio = true;
  std::function<std::unique_ptr<Codec>(double ratio, const Basis& basis)> make;
};
/// All kinds, in the number formats that serve them best; ratios count against FP16.
std::vector<StudiedCodec> studied_codecs();

/// One codec at one cut and ratio.
struct StudyRow {
  std::string codec;
  std::int64_t cut = 0;
  std::optional<double> target;  // the ratio that was asked for
  std::string refusal;           // why there is nothing else in the row
  Bytes bytes{0};                // a message of one window
  double ratio = 0;              // FP16 message / this one, headers included
  double error = 0;              // ||restored - sent|| / ||sent|| over all windows
  double agreement = 0;          // share of tokens with the same most probable next token
  double agreement_error = 0;    // standard error, from the differences between windows
  double lost_points = 0;        // of top-1 accuracy, in percentage points
  double perplexity_ratio = 1;
  double encode_us = 0;  // CPU time, median over windows, on the machine of the study
  double decode_us = 0;

  /// As the paper would have it: 99 % agreement, perplexity within 1 %.
  [[nodiscard]] bool near_lossless() const { return agreement >= 0.99 && perplexity_ratio <= 1.01; }
};

/// A model changed for good: its weights rounded, or parts left out.
struct WeightRow {
  std::string change;
  double size = 1;  // bytes of weights, of FP16
  double agreement = 0;
  double agreement_error = 0;
  double lost_points = 0;
  double perplexity_ratio = 1;
};

/// A continuation through a codec, prompt and each new token.
struct GenerationRow {
  std::string codec;
  double target = 0;
  std::string refusal;
  double exact = 0;      // share of continuations that are the same to the last token
  Bytes token_bytes{0};  // message of one token
};

struct StudyPlan {
  std::size_t windows = 40;      // scored, from the first row on
  std::size_t calibration = 16;  // the rows behind them: other texts
  std::int64_t tokens = 128;     // of a window
};

class CodecStudy {
 public:
  /// Reads a llama2.c checkpoint and windows of token ids. Throws config::Error.
  CodecStudy(const std::filesystem::path& checkpoint, const std::filesystem::path& windows, StudyPlan plan);

  [[nodiscard]] const PredictionScore& reference() const { return evaluation_.reference(); }
  [[nodiscard]] std::int64_t layers() const { return model_.llm().layers; }
  [[nodiscard]] std::int64_t hidden() const { return model_.llm().hidden; }
  [[nodiscard]] const StudyPlan& plan() const { return plan_; }

  [[nodiscard]] StudyRow row(const StudiedCodec& codec, std::int64_t cut, std::optional<double> ratio);
  [[nodiscard]] std::vector<WeightRow> weight_rows() const;
  [[nodiscard]] GenerationRow generation(const StudiedCodec& codec, std::int64_t cut, double ratio);

 private:
  struct AtCut {
    Basis basis;
    std::vector<Activations> sent;
  };
  const AtCut& at_cut(std::int64_t cut);

  TransformerWeights weights_;
  Transformer model_;
  StudyPlan plan_;
  std::vector<Sequence> rows_;
  Evaluation evaluation_;
  std::map<std::int64_t, AtCut> cuts_;
  std::vector<Sequence> continuations_;  // of the model as it is
};

/// The page results/codec_accuracy.md: every codec, ratio and cut, weights, generation, and what it says of the claims.
std::string codec_accuracy_page(CodecStudy& study);
/// The rows as a table; the last two columns are times and differ from run to run.
std::vector<std::string> study_header();
std::vector<std::string> study_cells(const StudyRow& row);

}  // namespace trilemma
