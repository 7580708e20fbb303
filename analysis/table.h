#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary.h"
#include "sim/replicate.h"

namespace trilemma {

/// A grid of texts; the first `left` columns are left-aligned, the others right-aligned.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t left = 1;
};
std::string table_to_text(const Table& table);
std::string table_to_markdown(const Table& table);
std::string table_to_csv(const Table& table);

/// What a person reads after a run.
std::string summary_to_text(const Scenario& scenario, const Summary& summary);
std::string summary_to_markdown(const Scenario& scenario, const Summary& summary);
/// One row a point, unit last in each column name.
std::string summary_to_csv(const Scenario& scenario, const Summary& summary);

/// "edge_queue" as people write it: "edge queue".
std::string stage_label(std::string_view stage);
/// Sizes and times as people write them: three or four significant digits.
std::string human_size(Bytes size);
std::string human_ms(double milliseconds);
std::string human_share(double share);

}  // namespace trilemma
