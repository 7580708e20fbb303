#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "analysis/codec_study.h"
#include "analysis/table.h"
#include "cli/parse.h"
#include "core/config/problems.h"

namespace trilemma::cli {
namespace {

namespace fs = std::filesystem;

/// A name of configs/checkpoints, or a file.
fs::path checkpoint_file(const std::string& name, const config::Catalogue& catalogue) {
  if (fs::is_regular_file(name)) return name;
  const fs::path folder = catalogue.root() / "checkpoints" / name;
  if (!name.empty() && fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().ends_with("_q80.bin")) return entry.path();
    }
  }
  throw UsageError(
      fmt::format("trilemma accuracy: --checkpoint '{}' is neither a folder in configs/checkpoints nor a "
                  "file; write 'kjv-4m', or the path of a llama2.c checkpoint",
                  name));
}

fs::path windows_file(const std::string& option, const fs::path& checkpoint) {
  if (!option.empty()) return option;
  fs::path own = checkpoint.parent_path() / "held_out_257_u16.bin";
  if (fs::is_regular_file(own)) return own;
  throw UsageError(
      "trilemma accuracy: needs --windows FILE, token ids as uint16, rows of the model's context and one more");
}

std::vector<StudiedCodec> chosen(const std::vector<std::string>& names) {
  std::vector<StudiedCodec> found;
  for (const StudiedCodec& codec : studied_codecs()) {
    const bool wanted = names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                          return codec.name == name || codec.name.starts_with(name + " ");
                        });
    if (wanted) found.push_back(codec);
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const StudiedCodec& codec : studied_codecs()) known.push_back(codec.name);
  throw UsageError(fmt::format("trilemma accuracy: --codec '{}' is not known; write one of {}", names.front(),
                               fmt::join(known, ", ")));
}

}  // namespace

int accuracy(const Arguments& arguments) {
  namespace po = boost::program_options;
  Syntax syntax{.verb = "accuracy",
                .synopsis = "accuracy [--checkpoint NAME|FILE] [--cut N] [--ratio R] [--codec NAME]... | --page",
                .description = "measures on a real transformer what codecs do to its answers",
                .positional = "",
                .details =
                    "\nActivations at the cut go through each codec's messages, and the model goes on from what was "
                    "restored. Ratios count\nbytes on the wire against FP16. --page writes results/codec_accuracy.md "
                    "(some minutes).\n\nEXAMPLES\n  trilemma accuracy --cut 1 --ratio 7.6\n  trilemma accuracy "
                    "--cut 3 --ratio 4 --codec 'transform klt' --codec topk\n"};
  std::string checkpoint = "kjv-4m";
  std::string windows;
  std::string catalogue_option;
  std::int64_t cut = 1;
  double ratio = 7.6;
  std::vector<std::string> names;
  StudyPlan plan;
  syntax.options.add_options()("checkpoint", po::value(&checkpoint), "folder of configs/checkpoints, or llama2.c file")(
      "windows", po::value(&windows), "token ids, uint16, rows of context + 1")(
      "cut", po::value(&cut), "blocks in front of the codec, default 1")("ratio", po::value(&ratio),
                                                                         "bytes of FP16 / bytes sent, default 7.6")(
      "codec", po::value(&names)->composing(), "a codec of the study; may be repeated; default all")(
      "page", "the whole study as a Markdown page")("catalogue", po::value(&catalogue_option),
                                                    "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return exit_done;
  for (const char* option : {"checkpoint", "windows", "cut", "ratio", "codec"}) {
    if (parsed.values.count("page") > 0 && parsed.values.count(option) > 0)
      throw UsageError(fmt::format(
          "trilemma accuracy: --page is of the project's own model, with all cuts, ratios and codecs; leave "
          "--{} out",
          option));
  }
  const auto codecs = chosen(names);
  const fs::path file = checkpoint_file(checkpoint, find_catalogue(catalogue_option));
  CodecStudy study(file, windows_file(windows, file), plan);
  if (parsed.values.count("page") > 0) {
    std::cout << codec_accuracy_page(study);
    return exit_done;
  }
  if (cut < 0 || cut > study.layers())
    throw UsageError(fmt::format("trilemma accuracy: --cut '{}' is outside 0 to {}", cut, study.layers()));
  if (!(ratio >= 1 && ratio <= max_compression_ratio))
    throw UsageError(
        fmt::format("trilemma accuracy: --ratio '{:g}' is outside 1 to {:g}", ratio, max_compression_ratio));
  Table table{.header = study_header(), .rows = {}};
  for (const StudiedCodec& codec : codecs)
    table.rows.push_back(
        study_cells(study.row(codec, cut, codec.has_ratio ? std::optional<double>(ratio) : std::nullopt)));
  std::cout << table_to_text(table)
            << fmt::format(
                   "\n{} tokens of {} texts; perplexity {:.2f}, top-1 {:.1f} %; ratio counts bytes against FP16\n",
                   study.reference().total().tokens, study.plan().windows, study.reference().perplexity(),
                   100 * study.reference().top1());
  return exit_done;
}

}  // namespace trilemma::cli
