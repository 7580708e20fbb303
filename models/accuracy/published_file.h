#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/catalogue.h"
#include "models/accuracy/published.h"

namespace trilemma {

/// Reads and checks a file of published values; every problem names its line. Throws config::Error.
///
/// Columns, in any order: llm (of configs/llms), method, task (of configs/tasks), ratio (in the convention of the
/// source; 1 for the baseline), ratio_is (swept or average), accuracy (with its unit, '74.6 %'), source.
/// Refused as gaps: an empty cell; a model and task without baseline; a sweep that lacks a ratio which the method has
/// for another model or task. Refused as duplicates: two rows of the same case.
std::vector<PublishedPoint> read_published(const std::filesystem::path& path, const std::string& shown,
                                           const config::Catalogue& catalogue);

}  // namespace trilemma
