#include "models/workload/trace.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "core/config/problems.h"
#include "core/config/text.h"

namespace trilemma {
namespace {

using config::Text;

constexpr double longest_ns = 9e18;

/// Splits and checks the rows of one file; every failure names its line.
class TraceReader {
 public:
  TraceReader(std::string shown, const TraceArrivals& config, std::int64_t clients)
      : shown_(std::move(shown)), config_(config), clients_(clients) {}

  std::vector<TraceRow> read(std::ifstream& stream) {
    std::string line;
    ++line_;
    if (!std::getline(stream, line)) fail("is empty; write a header 'time,client' and one row a request");
    if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark that spreadsheets put in front of UTF-8
    read_header(cells(line));
    while (std::getline(stream, line)) {
      ++line_;
      if (!line.empty() && line != "\r") rows_.push_back(row(cells(line)));
    }
    if (rows_.empty()) fail("has no row below the header; write one row a request");
    return std::move(rows_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw config::Error(fmt::format("{}:{}: {}", shown_, line_, problem));
  }

  static std::vector<std::string> cells(std::string line) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> found(1);
    for (const char character : line) {
      if (character == ',')
        found.emplace_back();
      else
        found.back() += character;
    }
    return found;
  }

  void read_header(const std::vector<std::string>& header) {
    const std::vector<std::string> whole{"time", "client", "prompt", "output"};
    columns_ = header.size();
    const bool known = columns_ >= 2 && columns_ <= 4 && std::equal(header.begin(), header.end(), whole.begin());
    if (!known) {
      fail(
          fmt::format("'{}' is not a trace header; write 'time,client', 'time,client,prompt' or "
                      "'time,client,prompt,output'",
                      config::printable(fmt::format("{}", fmt::join(header, ",")))));
    }
  }

  TraceRow row(const std::vector<std::string>& cell) {
    if (cell.size() != columns_)
      fail(fmt::format("has {} cells where the header has {}; write one a column", cell.size(), columns_));
    TraceRow result{
        .time = time(cell[0]), .client = whole("client", cell[1], 0, clients_ - 1), .prompt = {}, .output = {}};
    if (columns_ > 2) result.prompt = Tokens(whole("prompt", cell[2], 1, 1'000'000'000));
    if (columns_ > 3) result.output = Tokens(whole("output", cell[3], 1, 1'000'000));
    if (!rows_.empty() && result.time < rows_.back().time)
      fail(fmt::format("time '{}' lies before the row above; sort the rows by time", cell[0]));
    return result;
  }

  Instant time(const std::string& cell) {
    const auto parsed = Text<double>::parse(cell);
    if (const auto* problem = std::get_if<std::string>(&parsed))
      fail(fmt::format("time '{}' {}", config::printable(cell), *problem));
    const double raw = std::get<double>(parsed);
    if (!origin_) origin_ = config_.from_zero ? 0 : raw;
    const double nanoseconds = (raw - *origin_) * config_.time_scale * static_cast<double>(config_.time_unit.count());
    if (nanoseconds < 0 || nanoseconds > longest_ns)
      fail(
          fmt::format("time '{}' is not within 0 and 285 years of the start; check 'from_zero' and 'time_unit'", cell));
    return Instant(std::llround(nanoseconds));
  }

  std::int64_t whole(std::string_view column, const std::string& cell, std::int64_t min, std::int64_t max) const {
    const auto parsed = Text<std::int64_t>::parse(cell);
    if (const auto* problem = std::get_if<std::string>(&parsed))
      fail(fmt::format("{} '{}' {}", column, config::printable(cell), *problem));
    const std::int64_t value = std::get<std::int64_t>(parsed);
    if (value < min || value > max)
      fail(fmt::format("{0} '{1}' is outside {2} to {3}; write for example '{2}'", column, cell, min, max));
    return value;
  }

  std::string shown_;
  const TraceArrivals& config_;
  std::int64_t clients_;
  std::int64_t line_ = 0;
  std::size_t columns_ = 0;
  std::optional<double> origin_;
  std::vector<TraceRow> rows_;
};

}  // namespace

std::vector<config::FieldProblem> PeriodicArrivals::problems() const {
  if (jitter <= period) return {};
  return {{"jitter", "is longer than the period, so that requests would overtake each other; write a shorter time"}};
}

std::vector<TraceRow> read_trace(const std::filesystem::path& path, const std::string& shown,
                                 const TraceArrivals& config, std::int64_t clients) {
  std::ifstream stream(path);
  if (!stream || std::filesystem::is_directory(path))
    throw config::Error(shown + ": no such trace file; the path is relative to the scenario file");
  return TraceReader(shown, config, clients).read(stream);
}

}  // namespace trilemma
