#include "analysis/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trilemma {
namespace {

/// Columns as wide as their widest cell; UTF-8 continuation bytes take no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::size_t> widths(const Table& table) {
  std::vector<std::size_t> result;
  for (const std::string& cell : table.header) result.push_back(width(cell));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) result[i] = std::max(result[i], width(row[i]));
  }
  return result;
}

std::string text_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, std::size_t left) {
  std::string line = "  ";
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string space(widths[i] - width(row[i]), ' ');
    line += (i == 0 ? "" : "  ") + (i < left ? row[i] + space : space + row[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string table_to_text(const Table& table) {
  const auto columns = widths(table);
  std::string text = text_row(table.header, columns, table.left);
  for (const auto& row : table.rows) text += text_row(row, columns, table.left);
  return text;
}

std::string table_to_markdown(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string text = line(table.header) + "|---" + std::string();
  for (std::size_t i = 1; i < table.header.size(); ++i) text += i < table.left ? "|---" : "|---:";
  text += "|\n";
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string table_to_csv(const Table& table) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    text += "\n";
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

std::string stage_label(std::string_view stage) {
  std::string text(stage);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string human_size(Bytes size) {
  const auto value = static_cast<double>(size.value());
  if (value >= 0x1p30) return fmt::format("{:.2f} GiB", value / 0x1p30);
  if (value >= 0x1p20) return fmt::format("{:.1f} MiB", value / 0x1p20);
  if (value >= 0x1p10) return fmt::format("{:.1f} KiB", value / 0x1p10);
  return fmt::format("{} B", size.value());
}

std::string human_ms(double milliseconds) {
  if (milliseconds == 0) return "0";
  if (std::abs(milliseconds) < 0.0005) return "< 0.001";
  if (std::abs(milliseconds) >= 1000) return fmt::format("{:.1f}", milliseconds);
  return fmt::format("{:.3f}", milliseconds);
}

std::string human_share(double share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  if (!std::isfinite(share)) return "infinite";
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace trilemma
