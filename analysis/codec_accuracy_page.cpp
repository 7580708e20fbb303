#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/codec_study.h"
#include "analysis/table.h"

/// The published page of the study, and what it says of the claims.
namespace trilemma {
namespace {

constexpr std::array ratios{1.0, 2.0, 4.0, 7.6, 10.3, 16.0};
constexpr std::array<std::int64_t, 3> cuts{1, 3, 5};
constexpr double claimed_ratio = 7.6;
constexpr double share_of_low_frequencies = 10;  // one coefficient of ten

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

const StudyRow* find(const std::vector<StudyRow>& rows, std::string_view codec, std::int64_t cut, double target) {
  for (const StudyRow& row : rows) {
    if (row.codec == codec && row.cut == cut && row.target && std::abs(*row.target - target) < 1e-9) return &row;
  }
  return nullptr;
}

/// The largest ratio at which a codec is near-lossless at a cut, and at all smaller ones, in steps of a quarter.
double near_lossless_up_to(CodecStudy& study, const StudiedCodec& codec, std::int64_t cut) {
  constexpr int steps = 4;  // of a whole
  double best = 0;
  for (int i = steps + 1; i <= steps * ratios.back(); ++i) {
    const StudyRow row = study.row(codec, cut, static_cast<double>(i) / steps);
    if (!row.refusal.empty() || !row.near_lossless()) break;
    best = row.ratio;
  }
  return best;
}

std::string row_text(const StudyRow& row) {
  return fmt::format("agreement {} %, perplexity x {:.3f}, error {:.2f}", percent(row.agreement), row.perplexity_ratio,
                     row.error);
}

/// Share of the energy in the lowest tenth of the 2-D frequencies: what the low-pass of that size keeps.
double low_frequency_share(CodecStudy& study, std::int64_t cut) {
  const StudiedCodec low_pass{.name = "fourier fp32", .has_ratio = true, .make = [](double ratio, const Basis&) {
                                return make_codec(FourierCodec{.ratio = ratio});
                              }};
  const double error = study.row(low_pass, cut, share_of_low_frequencies).error;
  return 1 - error * error;
}

std::string smooth_verdict(CodecStudy& study) {
  const double share = low_frequency_share(study, 1);
  const bool smooth = share > 0.5;
  return fmt::format(
      "- **\"The first layer is smooth\"** (52.2 % of its energy in 10 % of the frequencies): {}. Behind block 1 the "
      "lowest "
      "tenth of the 2-D frequencies holds {} % of the energy; of white noise it would hold 10 %. A low-pass that keeps "
      "them has an error of {:.2f}.\n",
      smooth ? "holds" : "fails", percent(share), std::sqrt(1 - share));
}

std::string lossless_verdict(const std::vector<StudyRow>& rows) {
  std::string text = "- **\"Near-lossless at 7.6x\"** (agreement of 99 % and perplexity within 1 %), behind block 1:\n";
  for (const auto& [codec, ratio, convention] :
       {std::tuple{"fourier-published fp16", 4.0, "7.6 counted in coefficients is 3.8 in bytes; here 4.0"},
        std::tuple{"fourier-published fp16", claimed_ratio, "in bytes of FP16"},
        std::tuple{"fourier-text fp16", claimed_ratio, "in bytes of FP16"},
        std::tuple{"fourier int8", claimed_ratio, "in bytes of FP16"},
        std::tuple{"topk int4", claimed_ratio, "in bytes of FP16"},
        std::tuple{"svd int8", claimed_ratio, "in bytes of FP16"},
        std::tuple{"transform klt", claimed_ratio, "in bytes of FP16"},
        std::tuple{"transform klt", 4.0, "4.0 of FP16 is 8.0 of FP32"}}) {
    const StudyRow* row = find(rows, codec, 1, ratio);
    if (row == nullptr || !row->refusal.empty()) continue;
    text += fmt::format("  - `{}` at {:.1f} ({}): {}; {}.\n", codec, ratio, convention,
                        row->near_lossless() ? "holds" : "fails", row_text(*row));
  }
  return text;
}

std::string depth_verdict(const std::vector<StudyRow>& rows) {
  std::string text =
      "- **\"Layer 5 triples the error\"**, at 7.6 of FP16 bytes, error behind block 5 over that behind block 1: ";
  std::vector<std::string> parts;
  bool all = true;
  for (const char* codec :
       {"fourier-published fp16", "fourier-text fp16", "fourier int8", "topk int4", "svd int8", "transform klt"}) {
    const StudyRow* first = find(rows, codec, 1, claimed_ratio);
    const StudyRow* fifth = find(rows, codec, 5, claimed_ratio);
    if (first == nullptr || fifth == nullptr || !first->refusal.empty() || !fifth->refusal.empty()) continue;
    const double factor = fifth->error / first->error;
    all = all && factor >= 2.5;
    parts.push_back(fmt::format("`{}` {:.2f}", codec, factor));
  }
  return text + fmt::format("{}: {}.\n", fmt::join(parts, ", "), all ? "holds" : "fails");
}

std::string best_verdict(CodecStudy& study, const std::vector<StudyRow>& rows) {
  std::string text = "- **The best codec** by agreement, at each ratio of FP16 bytes:\n";
  for (const std::int64_t cut : cuts) {
    std::vector<std::string> parts;
    for (const double ratio : ratios) {
      const StudyRow* best = nullptr;
      for (const StudyRow& row : rows) {
        const bool candidate = row.cut == cut && row.refusal.empty() && row.ratio >= ratio * 0.995;
        if (candidate && (best == nullptr || row.agreement > best->agreement)) best = &row;
      }
      if (best != nullptr)
        parts.push_back(fmt::format("{:g}: {} ({} %)", ratio, best->codec, percent(best->agreement)));
    }
    text += fmt::format("  - behind block {}: {}.\n", cut, fmt::join(parts, "; "));
  }
  text += "- **Near-lossless up to** (`transform klt`, in steps of 0.25): ";
  const auto codecs = studied_codecs();
  const StudiedCodec& klt = *std::ranges::find(codecs, "transform klt", &StudiedCodec::name);
  std::vector<std::string> parts;
  for (const std::int64_t cut : cuts) {
    const double up_to = near_lossless_up_to(study, klt, cut);
    parts.push_back(up_to > 0 ? fmt::format("behind block {} {:.1f} times fewer bytes than FP16, {:.1f} than FP32", cut,
                                            up_to, 2 * up_to)
                              : fmt::format("behind block {} at no ratio above 1", cut));
  }
  return text + fmt::format("{}.\n", fmt::join(parts, "; "));
}

std::string introduction(const CodecStudy& study) {
  const PredictionScore& reference = study.reference();
  return fmt::format(
      "# What codecs do to the answers of a real transformer\n\n"
      "Written by `trilemma accuracy --page`; a test recomputes part of it. The model is `configs/checkpoints/kjv-4m` "
      "({} blocks, {} hidden values, 4.2 M parameters): its activations behind a block go through the real messages of "
      "each "
      "codec, and the rest of the model continues from what was restored. Scored on the first {} tokens of {} held-out "
      "texts ({} tokens; perplexity {:.2f}, top-1 {} %); the transform codec was calibrated on {} other texts. **One "
      "small "
      "model of one text: what holds here need not hold for large ones, and these are untested.**\n\n"
      "*Ratio* counts bytes on the wire, headers included, against FP16 (against FP32 it is twice as much). "
      "*Agreement*: "
      "share of tokens with the same most probable next token as the model without a codec, with its standard error "
      "(between "
      "texts). *Lost*: points of top-1 accuracy. *Error*: relative, Frobenius. Times are CPU times, medians of one "
      "message of {} "
      "tokens "
      "on one core of one machine and differ from run to run.\n\n",
      study.layers(), study.hidden(), study.plan().tokens, study.plan().windows, reference.total().tokens,
      reference.perplexity(), percent(reference.top1()), study.plan().calibration, study.plan().tokens);
}

std::string weights_section(const CodecStudy& study) {
  Table table{.header = {"change", "bytes / FP16", "agreement %", "lost points", "perplexity x"}, .rows = {}};
  for (const WeightRow& row : study.weight_rows())
    table.rows.push_back({row.change, fmt::format("{:.2f}", row.size),
                          fmt::format("{} +- {}", percent(row.agreement), percent(row.agreement_error)),
                          fmt::format("{:.1f}", row.lost_points), fmt::format("{:.3f}", row.perplexity_ratio)});
  return "## Weights\n\nRounded to the nearest, or left out by magnitude, without retraining: methods that calibrate "
         "or "
         "retrain do better.\n\n" +
         table_to_markdown(table) + "\n";
}

std::string generation_section(CodecStudy& study, const std::vector<StudiedCodec>& codecs) {
  Table table{.header = {"codec", "ratio asked", "bytes a token", "same continuations %"}, .rows = {}};
  for (const StudiedCodec& codec : codecs) {
    for (const double ratio : codec.has_ratio ? std::vector{2.0, 4.0, claimed_ratio} : std::vector{1.0}) {
      if (codec.name.starts_with("delta")) continue;  // one sequence at a time
      const GenerationRow row = study.generation(codec, 1, ratio);
      table.rows.push_back({row.codec, codec.has_ratio ? fmt::format("{:g}", ratio) : "-",
                            row.refusal.empty() ? std::to_string(row.token_bytes.value()) : "-",
                            row.refusal.empty() ? percent(row.exact) : "refused"});
    }
  }
  return fmt::format(
      "## Generation\n\nGreedy continuations by 32 tokens of 24 prompts of 64, cut behind block 1: prompt and every "
      "new "
      "token go through the codec. A token alone is {} bytes in FP16 and a header of {}. Same: to the last "
      "token.\n\n{}",
      2 * study.hidden(), wire::header_size, table_to_markdown(table));
}

}  // namespace

std::vector<std::string> study_header() {
  return {"codec",       "ratio asked", "bytes",        "ratio",     "error",
          "agreement %", "lost points", "perplexity x", "encode us", "decode us"};
}

std::vector<std::string> study_cells(const StudyRow& row) {
  const std::string asked = row.target ? fmt::format("{:g}", *row.target) : "-";
  if (!row.refusal.empty()) return {row.codec, asked, "refused", "-", "-", "-", "-", "-", "-", "-"};
  return {row.codec,
          asked,
          std::to_string(row.bytes.value()),
          fmt::format("{:.2f}", row.ratio),
          fmt::format("{:.3f}", row.error),
          fmt::format("{} +- {}", percent(row.agreement), percent(row.agreement_error)),
          fmt::format("{:.1f}", row.lost_points),
          row.perplexity_ratio < 100 ? fmt::format("{:.3f}", row.perplexity_ratio)
                                     : fmt::format("{:.0f}", row.perplexity_ratio),
          fmt::format("{:.0f}", row.encode_us),
          fmt::format("{:.0f}", row.decode_us)};
}

std::string codec_accuracy_page(CodecStudy& study) {
  const auto codecs = studied_codecs();
  std::vector<StudyRow> rows;
  std::string tables;
  for (const std::int64_t cut : cuts) {
    Table table{.header = study_header(), .rows = {}};
    for (const StudiedCodec& codec : codecs) {
      const std::vector<std::optional<double>> targets =
          codec.has_ratio ? std::vector<std::optional<double>>(ratios.begin(), ratios.end())
                          : std::vector<std::optional<double>>{std::nullopt};
      for (const auto& target : targets) {
        rows.push_back(study.row(codec, cut, target));
        table.rows.push_back(study_cells(rows.back()));
      }
    }
    tables += fmt::format("## Behind block {}\n\n{}\n", cut, table_to_markdown(table));
  }
  return introduction(study) + "## Verdicts\n\n" + smooth_verdict(study) + lossless_verdict(rows) +
         depth_verdict(rows) + best_verdict(study, rows) + "\n" + tables + weights_section(study) +
         generation_section(study, codecs);
}

}  // namespace trilemma
