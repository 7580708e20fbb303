#pragma once

#include <filesystem>
#include <fstream>

#include "sim/request.h"

namespace trilemma {

/// Writes one CSV row per request as it leaves, and hands the record on.
class RecordWriter final : public RecordSink {
 public:
  /// Writes the header; throws std::runtime_error when the file cannot be written.
  RecordWriter(const std::filesystem::path& path, RecordSink& next);

  void start_replication(std::uint32_t index) { replication_ = index; }
  void add(const RequestRecord& record) override;
  /// Throws std::runtime_error when something could not be written (a full disk).
  void close();

 private:
  std::ofstream stream_;
  std::string buffer_;
  RecordSink& next_;
  std::uint32_t replication_ = 0;
};

}  // namespace trilemma
