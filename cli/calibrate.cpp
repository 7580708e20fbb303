#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "analysis/calibration/calibration.h"
#include "analysis/table.h"
#include "cli/parse.h"
#include "cli/whole_file.h"
#include "core/config/problems.h"
#include "core/config/reader.h"
#include "core/config/yaml.h"

namespace trilemma::cli {
namespace {

namespace fs = std::filesystem;

struct Sheet {
  HardwareSheet hardware;
  std::string head;  // the file up to its peaks
  fs::path path;
  std::string shown;
};

/// What stands above the peaks goes into the device file word for word; so nothing may stand below them.
std::string head_of(const std::string& text, const config::Node& sheet) {
  const auto is_peaks = [](const config::Entry& entry) { return entry.key == "peaks"; };
  const auto peaks = std::find_if(sheet.entries.begin(), sheet.entries.end(), is_peaks);
  if (peaks == sheet.entries.end()) return text;  // refused with the other problems of the sheet
  if (peaks + 1 != sheet.entries.end())
    throw config::Error(fmt::format("{}: {}: stands below 'peaks', which comes last in a sheet; write it above",
                                    (peaks + 1)->key_origin.text(), (peaks + 1)->key));
  std::size_t start = 0;
  for (int line = 1; line < peaks->key_origin.line; ++line) start = text.find('\n', start) + 1;
  if (peaks->key_origin.column != 1 || !text.substr(start).starts_with("peaks:"))
    throw config::Error(
        fmt::format("{}: peaks: is not a block of its own; write the hardware first, then 'peaks:' on a new line",
                    peaks->key_origin.text()));
  return text.substr(0, start);
}

Sheet read_sheet(const fs::path& path, const std::string& shown, const config::Catalogue& catalogue) {
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  const config::Node node = config::read_yaml_file(path, shown);
  Sheet sheet{.hardware = reader.read<HardwareSheet>(node), .head = {}, .path = path, .shown = shown};
  problems.throw_if_any();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  sheet.head = head_of(text.str().substr(text.view().starts_with(byte_order_mark) ? 3 : 0), node);
  return sheet;
}

/// A name means the catalogue's sheet, a path a file.
Sheet find_sheet(const std::string& device, const config::Catalogue& catalogue) {
  if (catalogue.contains("calibration", device))
    return read_sheet(catalogue.path("calibration", device), fmt::format("configs/calibration/{}.yaml", device),
                      catalogue);
  if (!fs::is_regular_file(device)) {
    const std::string close = config::nearest(device, catalogue.names("calibration"));
    throw UsageError(
        fmt::format("trilemma calibrate: --device '{}' is neither a sheet in configs/calibration nor a file{}", device,
                    close.empty() ? "; write the path of a YAML file with memory, bandwidth and peaks"
                                  : fmt::format("; write '{}'", close)));
  }
  return read_sheet(device, device, catalogue);
}

const std::vector<std::string> error_header{"device", "precision", "runtime",  "quality",
                                            "phase",  "fit",       "left out", "held out"};

/// The Markdown page over all sheets of the catalogue.
void print_all(const config::Catalogue& catalogue) {
  Table table{.header = error_header, .rows = {}, .left = 5};
  for (const std::string& name : catalogue.names("calibration")) {
    const Sheet sheet = find_sheet(name, catalogue);
    const fs::path data = fs::path(catalogue.path("calibration", name)).replace_extension(".csv");
    const auto rows =
        fs::exists(data) ? read_measurements(data, data.filename().string(), catalogue) : std::vector<Measurement>{};
    const auto more = error_rows(name, calibrate(sheet.hardware, rows, data.filename().string()));
    table.rows.insert(table.rows.end(), more.begin(), more.end());
  }
  std::cout << table_to_markdown(table);
}

}  // namespace

int calibrate(const Arguments& arguments) {
  namespace po = boost::program_options;
  Syntax syntax{
      .verb = "calibrate",
      .synopsis = "calibrate DATA.csv --device NAME|SHEET.yaml [--out FILE]\n  trilemma calibrate --table",
      .description = "fits the compute model of a device to measurements; prints each point with its error",
      .positional = "data",
      .details =
          "\nThe sheet has what is known before measuring (memory, bandwidth, peaks) and says which parameters to "
          "fit;\n"
          "a name means configs/calibration/NAME.yaml. Rows with use 'fit' are fitted, rows with 'test' only "
          "compared.\n"
          "'left out' is the error of a fit without that model. --table prints the errors of all shipped devices.\n"};
  std::string device;
  std::string out;
  std::string catalogue_option;
  syntax.options.add_options()("device", po::value(&device), "sheet of the hardware: name in the catalogue, or file")(
      "out", po::value(&out), "writes the device file; without it, the file goes to standard output")(
      "table", "errors of all shipped calibrations, as Markdown")(
      "catalogue", po::value(&catalogue_option), "folder of calibrated parts instead of the project's configs");
  const ParsedWords parsed = parse(syntax, arguments);
  if (parsed.help) return exit_done;
  const config::Catalogue catalogue = find_catalogue(catalogue_option);
  if (parsed.values.count("table") > 0) {
    print_all(catalogue);
    return exit_done;
  }
  if (parsed.values.count("data") == 0)
    throw UsageError("trilemma calibrate: needs a file of measurements; see 'trilemma calibrate --help'");
  if (device.empty())
    throw UsageError("trilemma calibrate: needs --device NAME or --device SHEET.yaml; see 'trilemma calibrate --help'");
  const auto data = parsed.values["data"].as<std::vector<std::string>>().front();
  const Sheet sheet = find_sheet(device, catalogue);
  const auto rates = trilemma::calibrate(sheet.hardware, read_measurements(data, data, catalogue), data);
  const std::string files =
      fmt::format("{} and {}", fs::path(data).filename().string(), fs::path(sheet.shown).filename().string());
  const std::string text = device_file(sheet.head, rates, files);
  if (out.empty()) {
    std::cout << text;
    return exit_done;
  }
  const OutputFile output{.option = "trilemma calibrate: --out", .path = out};
  for (const fs::path& input : {fs::path(data), sheet.path}) refuse_input(output, input, "the calibration");
  write_whole(output, [&](const fs::path& draft) {
    std::ofstream stream(draft, std::ios::binary);
    stream << text;
    stream.close();
    return bool(stream);
  });
  const bool measured = std::any_of(rates.begin(), rates.end(), [](const auto& rate) { return !rate.points.empty(); });
  std::cout << (measured ? point_table(rates) : "  nothing measured\n") << "\n"
            << table_to_text(
                   {.header = error_header, .rows = error_rows(fs::path(device).stem().string(), rates), .left = 5})
            << "\nerrors: median / worst (points); left out: by a fit without that model; *: without that row, there "
               "is one model\n";
  return exit_done;
}

}  // namespace trilemma::cli
