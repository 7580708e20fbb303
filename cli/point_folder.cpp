#include "cli/point_folder.h"

#include <fstream>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>

#include "core/config/problems.h"

namespace trilemma::cli {

namespace fs = std::filesystem;

PointFolder::PointFolder(fs::path out, std::string id) : out_(std::move(out)), id_(std::move(id)) {}

PointFolder::~PointFolder() {
  std::error_code ignored;
  if (draft_) fs::remove_all(*draft_, ignored);
}

std::optional<std::string> PointFolder::read(const std::string& name) const {
  std::ifstream stream(path() / name, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

const fs::path& PointFolder::draft() {
  if (draft_) return *draft_;
  const fs::path folder = out_ / fmt::format(".{}.{}.tmp", id_, getpid());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw config::Error(fmt::format("{}: cannot be written: {}; choose another --out", out_.string(), error.message()));
  return draft_.emplace(folder);
}

void PointFolder::write(const std::string& name, const std::string& text) {
  std::ofstream stream(draft() / name, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw config::Error(fmt::format("{}: cannot be written; is the disk full?", (path() / name).string()));
}

void PointFolder::publish() {
  std::error_code error;
  fs::rename(draft(), path(), error);
  if (!error) {
    draft_.reset();
    return;
  }
  if (!fs::is_directory(path()))
    throw config::Error(fmt::format("{}: cannot be created: {}", path().string(), error.message()));
  // Somebody else finished the same point first; only records may be missing there.
  if (fs::exists(draft() / "records.csv") && !fs::exists(path() / "records.csv"))
    fs::rename(draft() / "records.csv", path() / "records.csv");
}

void PointFolder::publish_partial() {
  for (int attempt = 1;; ++attempt) {
    const std::string name = id_ + ".partial" + (attempt == 1 ? "" : "-" + std::to_string(attempt));
    if (fs::exists(out_ / name)) continue;
    id_ = name;
    return publish();
  }
}

}  // namespace trilemma::cli
