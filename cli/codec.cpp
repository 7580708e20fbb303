#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "analysis/codec_report.h"
#include "cli/parse.h"
#include "cli/whole_file.h"
#include "core/config/problems.h"
#include "models/codec/basis.h"
#include "models/codec/npy.h"

namespace trilemma::cli {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr const char* details = R"(
FILE is an .npy array of 16, 32 or 64 bit floats: windows x tokens x hidden values, tokens x hidden values, or one token.
Each window is coded by itself. 'trilemma show codecs' lists the kinds and their keys.

OUTPUT
  Bytes count headers. Ratios are uncompressed / sent bytes: of the codec's 'reference' format, of FP16 and of FP32;
  S D/(K_S K_D) is what the paper on FourierCompress calls the ratio of the same message. Times are medians on this
  machine. CSV has the first table only.

EXAMPLES
  trilemma codec acts.npy --kind fourier --ratio 8 --set coefficients=int8 --set reference=fp16
  trilemma codec acts.npy --sweep --format md
  trilemma codec acts.npy --calibrate basis.npy
  trilemma codec other.npy --kind transform --ratio 8 --set basis=basis.npy
)";

struct Options {
  fs::path file;
  std::vector<CodecOption> codec;
  std::string format = "table";
  std::string basis;
  bool sweep = false;
  bool streaming = false;
  std::string catalogue;
};

[[noreturn]] void fail(const std::string& problem) { throw UsageError("trilemma codec: " + problem); }

void check_options(const Options& options, bool calibrates) {
  const std::vector<std::string> formats{"table", "csv", "json", "md"};
  if (std::find(formats.begin(), formats.end(), options.format) == formats.end())
    fail(fmt::format("--format '{}' is not known; write table, csv, json or md", config::printable(options.format)));
  if (calibrates && options.basis.empty()) fail("--calibrate is empty; write the path of the basis");
  if (calibrates && (options.sweep || options.streaming || !options.codec.empty()))
    fail("--calibrate writes a basis and codes nothing; leave out --kind, --ratio, --set, --sweep and --streaming");
  if (options.sweep && !options.codec.empty())
    fail("--sweep takes every kind and ratio; leave out --kind, --ratio and --set");
}

std::optional<Options> read_options(const Arguments& arguments) {
  Syntax syntax{.verb = "codec",
                .synopsis =
                    "codec FILE.npy --kind KIND [--ratio R] [--set key=value]... [--streaming] [--format FORMAT]\n"
                    "  trilemma codec FILE.npy --sweep [--streaming] [--format FORMAT]\n"
                    "  trilemma codec FILE.npy --calibrate BASIS.npy",
                .description = "encode and decode real activations: bytes, errors, times, energy, entropy",
                .positional = "file",
                .details = details};
  Options options;
  std::string kind;
  std::string ratio;
  std::vector<std::string> sets;
  syntax.options.add_options()("kind", po::value(&kind), "kind of codec")(
      "ratio", po::value(&ratio), "bytes of the uncompressed message / bytes sent")(
      "set", po::value(&sets)->composing(), "another key of the codec, e.g. coefficients=int8; may be repeated")(
      "sweep", po::bool_switch(&options.sweep), "every kind of codec at the ratios 1, 2, 4, 7.6, 10.3 and 16")(
      "streaming", po::bool_switch(&options.streaming), "one message a token, as in a generation")(
      "calibrate", po::value(&options.basis), "writes the Karhunen-Loeve basis of the tokens in FILE, for 'transform'")(
      "format", po::value(&options.format), "table (default), csv, json or md")(
      "catalogue", po::value(&options.catalogue), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return std::nullopt;
  if (parsed.values.count("file") == 0) fail("no file; write for example 'trilemma codec acts.npy --kind fourier'");
  options.file = parsed.values["file"].as<std::vector<std::string>>().front();
  const auto add = [&](const std::string& option, const std::string& key, const std::string& value) {
    options.codec.push_back({.text = key + value, .origin = fmt::format("--{} {}", option, config::printable(value))});
  };
  if (parsed.values.count("kind") > 0) add("kind", "kind=", kind);
  if (parsed.values.count("ratio") > 0) add("ratio", "ratio=", ratio);
  for (const std::string& set : sets) add("set", "", set);
  check_options(options, parsed.values.count("calibrate") > 0);
  return options;
}

void write_basis_file(const Options& options) {
  const OutputFile output{.option = "trilemma codec: --calibrate", .path = options.basis};
  refuse_input(output, options.file, "the calibration");
  const ActivationWindows activations = read_activations(options.file);
  const std::int64_t tokens = activations.windows * activations.shape.tokens;
  if (tokens < 2) fail(fmt::format("'{}' has one token; a basis needs at least two", options.file.string()));
  const Basis basis = calibrated_basis(activations.values, activations.shape.hidden);
  write_whole(output, [&](const fs::path& draft) {
    try {
      write_basis(draft, basis);
      return true;
    } catch (const NpyProblem&) {
      return false;
    }
  });
  std::cout << fmt::format("{}: basis of {} hidden values from {} tokens\n", options.basis, basis.hidden, tokens);
}

std::string render(const CodecReport& report, const std::string& format) {
  if (format == "csv") return codec_report_to_csv(report);
  if (format == "md") return codec_report_to_markdown(report);
  if (format == "json") return codec_report_to_json(report).dump(2) + "\n";
  return codec_report_to_text(report);
}

}  // namespace

int codec(const Arguments& arguments) {
  const auto options = read_options(arguments);
  if (!options) return exit_done;
  if (!options->basis.empty()) {
    write_basis_file(*options);
    return exit_done;
  }
  const std::vector<CodecConfig> configs =
      options->sweep ? swept_codecs() : std::vector{read_codec(options->codec, find_catalogue(options->catalogue))};
  const ActivationWindows activations = read_activations(options->file);
  const CodecReport report =
      codec_report(configs, activations, options->streaming ? Messages::tokens : Messages::whole);
  if (!options->sweep && !report.rows.front().refusal.empty())
    fail(fmt::format("{}: {}", codec_label(configs.front()), report.rows.front().refusal));
  std::cout << render(report, options->format);
  return exit_done;
}

}  // namespace trilemma::cli
