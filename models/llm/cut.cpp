#include "models/llm/cut.h"

#include <fmt/format.h>

namespace trilemma::config {
namespace {

constexpr const char* examples = "write a number of layers such as '1', 'all', or '[1, 12]' for device, edge and cloud";

std::optional<std::int64_t> number_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto parsed = Text<std::int64_t>::parse(text);
  const auto* number = std::get_if<std::int64_t>(&parsed);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

Parsed<Cut> parse_pair(std::string_view inside) {
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos) return fmt::format("is not a cut; {}", examples);
  const auto first = number_in(inside.substr(0, comma));
  const auto second = number_in(inside.substr(comma + 1));
  if (!first || !second) return fmt::format("is not a cut; {}", examples);
  if (*first < 0 || *second < 0) return fmt::format("is below 0; {}", examples);
  if (*second < *first)
    return std::string("has the cloud begin before the device ends; write the smaller number first");
  return Cut{*first, *second};
}

}  // namespace

Parsed<Cut> Text<Cut>::parse(std::string_view text) {
  if (text == "all") return Cut{std::nullopt};
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') return parse_pair(text.substr(1, text.size() - 2));
  const auto layers = number_in(text);
  if (!layers) return fmt::format("is not a cut; {}", examples);
  if (*layers < 0) return fmt::format("is below 0; {}", examples);
  return Cut{*layers};
}

std::string Text<Cut>::format(Cut cut) {
  if (!cut.layers) return "all";
  return cut.cloud ? fmt::format("[{}, {}]", *cut.layers, *cut.cloud) : std::to_string(*cut.layers);
}

std::string Text<Cut>::pattern() { return R"(^(all|0|[1-9][0-9]*|\[ *[0-9]+ *, *[0-9]+ *\])$)"; }

}  // namespace trilemma::config
