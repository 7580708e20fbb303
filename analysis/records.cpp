#include "analysis/records.h"

#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace trilemma {
namespace {

constexpr std::size_t flush_size = 1U << 16U;

/// Milliseconds with all their nanoseconds, without floating point.
std::string milliseconds(Duration time) {
  return fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
}

std::string_view rejection_word(Rejection refusal) {
  switch (refusal) {
    case Rejection::too_large:
      return "dropped: too large";
    case Rejection::queue_full:
      return "dropped: queue full";
    case Rejection::late:
      return "dropped: late";
    case Rejection::none:
      break;
  }
  return "dropped";
}

std::string_view outcome_word(const RequestRecord& record) {
  if (record.outcome == Outcome::completed) return "completed";
  if (record.outcome == Outcome::failed) return "failed";
  return rejection_word(record.rejection);
}

}  // namespace

RecordWriter::RecordWriter(const std::filesystem::path& path, RecordSink& next)
    : stream_(path, std::ios::binary), next_(next) {
  if (!stream_) throw std::runtime_error(path.string() + ": cannot be written");
  buffer_ =
      "replication,request,client,class,prompt_tokens,output_tokens,outcome,arrival_ms,finish_ms,latency_ms,first_"
      "token_ms,"
      "floor_ms";
  for (const std::string_view stage : stage_names) buffer_ += fmt::format(",{}_ms", stage);
  buffer_ += ",uplink_bytes,downlink_bytes,blocks,retransmissions\n";
}

void RecordWriter::add(const RequestRecord& record) {
  const Request& request = record.request;
  const bool completed = record.outcome == Outcome::completed;
  fmt::format_to(std::back_inserter(buffer_), "{},{},{},{},{},{},{},{},{},{},{},{}", replication_, request.id,
                 request.client, request.kind, request.prompt.value(), request.output.value(), outcome_word(record),
                 milliseconds(request.arrival), milliseconds(record.finish), milliseconds(record.latency()),
                 completed ? milliseconds(record.first_token) : "", milliseconds(record.floor));
  for (const Duration time : record.stages) fmt::format_to(std::back_inserter(buffer_), ",{}", milliseconds(time));
  fmt::format_to(std::back_inserter(buffer_), ",{},{},{},{}\n", record.uplink_bytes.value(),
                 record.downlink_bytes.value(), record.blocks, record.retransmissions);
  if (buffer_.size() >= flush_size) {
    stream_ << buffer_;
    buffer_.clear();
  }
  next_.add(record);
}

void RecordWriter::close() {
  stream_ << buffer_;
  buffer_.clear();
  stream_.close();
  if (!stream_) throw std::runtime_error("records.csv: could not be written completely; is the disk full?");
}

}  // namespace trilemma
