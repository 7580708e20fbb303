#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trilemma {

/// The cells of one line of a CSV file (RFC 4180 without line breaks inside of quotes); a trailing carriage return
/// goes.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace trilemma
