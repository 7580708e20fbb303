// Every calibrated part under configs/ reads as the program reads it, and says where its numbers come from.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/config/problems.h"
#include "sim/experiment.h"

namespace trilemma::test {
namespace {

const std::filesystem::path configs = TRILEMMA_SOURCE_DIR "/configs";

TEST(ShippedCatalogue, HasEveryFamily) {
  const std::vector<std::string> families = config::Catalogue(configs).families();
  for (const char* family : {"accuracy", "devices", "links", "llms", "networks", "targets", "tasks"}) {
    EXPECT_NE(std::find(families.begin(), families.end(), family), families.end()) << family;
  }
}

TEST(ShippedCatalogue, EveryEntryReadsAndNamesItsSource) {
  const config::Catalogue catalogue(configs);
  int entries = 0;
  for (const std::string& family : catalogue.families()) {
    for (const std::string& name : catalogue.names(family)) {
      SCOPED_TRACE(family + "/" + name);
      ++entries;
      try {
        const config::Json entry = read_catalogue_entry(catalogue, family, name);
        EXPECT_GE(entry.value("source", "").size(), 10U) << "a source is a publication, a standard or a measurement";
        EXPECT_FALSE(entry.value("title", "").empty());
      } catch (const config::Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_GE(entries, 40);
}

// A stray file in a family would never be offered, and nobody would notice.
TEST(ShippedCatalogue, HoldsNothingElse) {
  const config::Catalogue catalogue(configs);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(configs)) {
    if (entry.is_directory() || entry.path().filename() == "README.md") continue;
    const std::string family = entry.path().parent_path().filename();
    if (entry.path().parent_path().parent_path().filename() == "checkpoints") {
      EXPECT_TRUE(catalogue.contains("llms", family)) << entry.path() << " belongs to no model";
      EXPECT_EQ(entry.path().extension(), ".bin") << entry.path();
      continue;
    }
    EXPECT_TRUE(catalogue.contains(family, entry.path().stem().string())) << entry.path();
    const bool measurements = (family == "calibration" || family == "accuracy") && entry.path().extension() == ".csv";
    EXPECT_TRUE(measurements || entry.path().extension() == ".yaml") << entry.path();
  }
}

// Each number of a part has its source beside it: lines of the form `key: value  # source`.
TEST(ShippedCatalogue, EveryNumberHasAComment) {
  const config::Catalogue catalogue(configs);
  for (const std::string& family : catalogue.families()) {
    for (const std::string& name : catalogue.names(family)) {
      std::ifstream stream(catalogue.path(family, name));
      for (std::string line; std::getline(stream, line);) {
        const std::size_t colon = line.find(": ");
        const bool number = colon != std::string::npos && line.front() != '#' && colon + 2 < line.size() &&
                            std::isdigit(static_cast<unsigned char>(line[colon + 2])) != 0;
        EXPECT_TRUE(!number || line.find(" # ") != std::string::npos) << family << "/" << name << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace trilemma::test
