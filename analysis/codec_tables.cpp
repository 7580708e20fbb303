#include <cmath>

#include <fmt/format.h>

#include "analysis/codec_report.h"
#include "analysis/table.h"

namespace trilemma {
namespace {

std::string number(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "infinite";
}

std::string number(const std::optional<double>& value, int digits) { return value ? number(*value, digits) : "-"; }

std::string times(Bytes whole, Bytes part) { return fmt::format("{:.2f}", whole / part); }

std::string decibel(double psnr) {
  if (std::isfinite(psnr)) return fmt::format("{:.1f}", psnr);
  return psnr > 0 ? "exact" : "-";
}

std::string gigabytes(double bytes_per_s) {
  constexpr double giga = 1e9;
  return fmt::format("{:.3f}", bytes_per_s / giga);
}

std::vector<std::string> cells(const CodecRow& row) {
  const CodecMeasurement& m = *row.measured;
  return {codec_label(row.config),
          fmt::format("{}", m.wire.value()),
          times(m.reference, m.wire),
          times(m.fp16, m.wire),
          times(m.fp32, m.wire),
          number(m.coefficients, 2),
          number(m.bits_per_value, 3),
          number(m.relative_error, 6),
          decibel(m.psnr_db),
          human_ms(to_milliseconds(m.encode)),
          human_ms(to_milliseconds(m.decode)),
          gigabytes(m.encode_bytes_per_s),
          gigabytes(m.decode_bytes_per_s)};
}

Table codec_table(const CodecReport& report) {
  Table table{.header = {"codec", "bytes", "of reference", "of FP16", "of FP32", "S D/(K_S K_D)", "bits/value",
                         "rel. error", "PSNR dB", "encode ms", "decode ms", "encode GB/s", "decode GB/s"},
              .rows = {}};
  for (const CodecRow& row : report.rows) {
    if (row.measured) table.rows.push_back(cells(row));
  }
  return table;
}

Table refusal_table(const CodecReport& report) {
  Table table{.header = {"codec", "refused"}, .rows = {}, .left = 2};
  for (const CodecRow& row : report.rows) {
    if (!row.measured) table.rows.push_back({codec_label(row.config), row.refusal});
  }
  return table;
}

Table published_table(const CodecReport& report) {
  Table table{.header = {"published ratio", "coefficients", "FP32 bytes", "FP32 / these", "FP16 bytes", "FP16 / these",
                         "FP32 / these"},
              .rows = {}};
  for (const PublishedRatio& row : published_ratios(report.shape)) {
    table.rows.push_back({fmt::format("{:g}", row.ratio), fmt::format("{}", row.coefficients),
                          fmt::format("{}", row.fp32.value()), number(row.fp32_of_fp32, 2),
                          fmt::format("{}", row.fp16.value()), number(row.fp16_of_fp16, 2),
                          number(row.fp16_of_fp32, 2)});
  }
  return table;
}

std::vector<std::string> mean_cells(const std::optional<WindowMean>& value) {
  if (!value) return {"-", "-"};
  return {number(value->mean, 5), number(value->error, 5)};
}

Table energy_table(const CodecReport& report) {
  Table table{.header = {"energy by frequency", "coefficients", "energy", "std. error"}, .rows = {}};
  const auto add = [&](const std::string& name, const std::string& coefficients,
                       const std::optional<WindowMean>& value) {
    table.rows.push_back({name, coefficients});
    for (std::string& cell : mean_cells(value)) table.rows.back().push_back(std::move(cell));
  };
  for (const EnergyShare& share : report.energy) add(share.name, number(share.coefficients, 5), share.energy);
  add("correlation with the next token", "", report.correlation.tokens);
  add("correlation with the next hidden value", "", report.correlation.hidden);
  return table;
}

Table entropy_table(const CodecReport& report) {
  const StageEntropies& bits = report.entropies;
  Table table{.header = {"entropy", "bits/value"}, .rows = {}};
  table.rows.push_back({"H(X) values, FP16 patterns", number(bits.values, 3)});
  table.rows.push_back({"H(Z) 2-D Fourier coefficients, FP16 patterns", number(bits.coefficients, 3)});
  table.rows.push_back({"H(V) INT8 levels of the values, a scale a token", number(bits.levels, 3)});
  if (report.rows.size() == 1 && report.rows[0].measured)
    table.rows.push_back(
        {"on the wire: " + codec_label(report.rows[0].config), number(report.rows[0].measured->bits_per_value, 3)});
  table.rows.push_back({"H(V) <= H(Z) <= H(X)", bits.ordered() ? "holds" : "fails"});
  return table;
}

std::string title(const CodecReport& report) {
  return fmt::format("{} x {} values (tokens x hidden), {} window{}, coded {}", report.shape.tokens,
                     report.shape.hidden, report.windows, report.windows == 1 ? "" : "s",
                     report.messages == Messages::whole ? "each in one message" : "token by token");
}

std::string published_note() {
  return "One window if a complex coefficient counts as one number, as in the published ratio; header included.";
}

std::string entropy_note(const CodecReport& report) {
  return fmt::format(
      "Zeroth order, of single values. Estimated from {} samples, so never above {:.3f} bits and too low where a stage "
      "has nearly as many symbols as there are samples.",
      report.entropies.samples, std::log2(static_cast<double>(report.entropies.samples)));
}

template <class Render>
std::string render(const CodecReport& report, const std::string& indent, Render table) {
  std::string text = fmt::format("{}{}\n\n", indent, title(report));
  const auto add = [&](const Table& part, const std::string& note = {}) {
    if (part.rows.empty()) return;
    text += table(part);
    text += note.empty() ? "\n" : fmt::format("\n{}{}\n\n", indent, note);
  };
  add(codec_table(report));
  add(refusal_table(report));
  add(published_table(report), published_note());
  add(energy_table(report));
  add(entropy_table(report), entropy_note(report));
  text.pop_back();
  return text;
}

config::Json json_number(double value) { return std::isfinite(value) ? config::Json(value) : config::Json(nullptr); }

config::Json measurement_to_json(const CodecMeasurement& m) {
  return {{"wire_bytes", m.wire.value()},
          {"reference_bytes", m.reference.value()},
          {"fp16_bytes", m.fp16.value()},
          {"fp32_bytes", m.fp32.value()},
          {"ratio", m.reference / m.wire},
          {"ratio_of_fp16", m.fp16 / m.wire},
          {"ratio_of_fp32", m.fp32 / m.wire},
          {"ratio_of_coefficients", m.coefficients ? config::Json(*m.coefficients) : config::Json(nullptr)},
          {"bits_per_value", m.bits_per_value},
          {"relative_error", json_number(m.relative_error)},
          {"psnr_db", json_number(m.psnr_db)},
          {"encode_ms", to_milliseconds(m.encode)},
          {"decode_ms", to_milliseconds(m.decode)},
          {"encode_bytes_per_s", json_number(m.encode_bytes_per_s)},
          {"decode_bytes_per_s", json_number(m.decode_bytes_per_s)}};
}

config::Json mean_to_json(const std::optional<WindowMean>& value) {
  if (!value) return nullptr;
  return {{"mean", value->mean},
          {"standard_error", value->error ? config::Json(*value->error) : config::Json(nullptr)}};
}

config::Json rows_to_json(const CodecReport& report) {
  config::Json rows = config::Json::array();
  for (const CodecRow& row : report.rows) {
    config::Json entry{{"codec", config::to_json(row.config)}};
    entry["measured"] = row.measured ? measurement_to_json(*row.measured) : config::Json(nullptr);
    if (!row.measured) entry["refused"] = row.refusal;
    rows.push_back(std::move(entry));
  }
  return rows;
}

config::Json published_to_json(Shape shape) {
  config::Json rows = config::Json::array();
  for (const PublishedRatio& row : published_ratios(shape)) {
    rows.push_back({{"ratio", row.ratio},
                    {"coefficients", row.coefficients},
                    {"fp32_bytes", row.fp32.value()},
                    {"fp32_ratio_of_fp32", row.fp32_of_fp32},
                    {"fp16_bytes", row.fp16.value()},
                    {"fp16_ratio_of_fp16", row.fp16_of_fp16},
                    {"fp16_ratio_of_fp32", row.fp16_of_fp32}});
  }
  return rows;
}

config::Json energy_to_json(const CodecReport& report) {
  config::Json rows = config::Json::array();
  for (const EnergyShare& share : report.energy)
    rows.push_back(
        {{"region", share.name}, {"coefficients", share.coefficients}, {"energy", mean_to_json(share.energy)}});
  return rows;
}

std::string csv_cell(const config::Json& value) {
  return value.is_null() ? "" : value.is_number_float() ? fmt::format("{:.9g}", value.get<double>()) : value.dump();
}

}  // namespace

std::string codec_report_to_text(const CodecReport& report) { return render(report, "  ", table_to_text); }

std::string codec_report_to_markdown(const CodecReport& report) { return render(report, "", table_to_markdown); }

std::string codec_report_to_csv(const CodecReport& report) {
  Table table{.header = {"codec"}, .rows = {}};
  const config::Json names = measurement_to_json({.wire = Bytes(1)});
  for (const auto& [key, value] : names.items()) table.header.push_back(key);
  table.header.emplace_back("refused");
  for (const CodecRow& row : report.rows) {
    std::vector<std::string> line{codec_label(row.config)};
    if (row.measured) {
      const config::Json measured = measurement_to_json(*row.measured);
      for (const auto& [key, value] : measured.items()) line.push_back(csv_cell(value));
    }
    line.resize(table.header.size());
    line.back() = row.refusal;
    table.rows.push_back(std::move(line));
  }
  return table_to_csv(table);
}

config::Json codec_report_to_json(const CodecReport& report) {
  config::Json json{{"tokens", report.shape.tokens},
                    {"hidden", report.shape.hidden},
                    {"windows", report.windows},
                    {"messages", report.messages == Messages::whole ? "whole" : "tokens"}};
  json["codecs"] = rows_to_json(report);
  json["published_ratios"] = published_to_json(report.shape);
  json["energy"] = energy_to_json(report);
  json["correlation"] = {{"tokens", mean_to_json(report.correlation.tokens)},
                         {"hidden", mean_to_json(report.correlation.hidden)}};
  json["entropy_bits"] = {{"samples", report.entropies.samples},
                          {"values", report.entropies.values},
                          {"coefficients", report.entropies.coefficients},
                          {"levels", report.entropies.levels},
                          {"ordered", report.entropies.ordered()}};
  return json;
}

}  // namespace trilemma
