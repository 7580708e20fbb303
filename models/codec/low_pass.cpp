#include "models/codec/low_pass.h"

#include <algorithm>
#include <tuple>

#include "core/ensure.h"

namespace trilemma {
namespace {

/// Largest possible width of at most `limit` >= 1.
std::int64_t width_at_most(std::int64_t limit, std::int64_t side) {
  if (limit >= side) return side;
  return limit % 2 == 1 ? limit : limit - 1;
}

/// Calls visit(candidate) for the largest block of each token width, narrow to wide.
template <class Visit>
void for_each_candidate(Shape shape, std::int64_t budget, Visit visit) {
  const std::int64_t widest = width_at_most(std::min(budget, shape.tokens), shape.tokens);
  TRILEMMA_ENSURE(widest >= 1, "a budget of at least one real keeps at least one token frequency");
  for (std::int64_t tokens = 1; tokens < widest; tokens += 2) {
    visit(LowPass{tokens, width_at_most(budget / tokens, shape.hidden)});
  }
  visit(LowPass{widest, width_at_most(budget / widest, shape.hidden)});
}

/// How far the block's proportions are from the matrix's; 1 is equal.
double disproportion(LowPass block, Shape shape) {
  const auto tall = static_cast<double>(block.tokens * shape.hidden);
  const auto wide = static_cast<double>(block.hidden * shape.tokens);
  return std::max(tall, wide) / std::min(tall, wide);
}

bool mirrors_onto_itself(std::int64_t frequency, std::int64_t side) {
  return frequency == 0 || (side % 2 == 0 && frequency == side / 2);
}

/// Sort key of a bin; `group` is 0 for DC, 1 for row u = 0, 2 for column v = 0 and 3 elsewhere.
struct RankedBin {
  int group;
  std::int64_t frequency;  // (u D)^2 + (v S)^2, at most 2^55
  Bin bin;
};

RankedBin ranked(Shape shape, std::int64_t row, std::int64_t column) {
  const std::int64_t u = std::min(row, shape.tokens - row);
  const std::int64_t scaled_u = u * shape.hidden;
  const std::int64_t scaled_v = column * shape.tokens;
  return {.group = (u != 0 ? 2 : 0) + (column != 0 ? 1 : 0),
          .frequency = scaled_u * scaled_u + scaled_v * scaled_v,
          .bin = {.index = static_cast<std::uint32_t>(row * (shape.hidden / 2 + 1) + column) & 0x7fffffffU,
                  .is_real = mirrors_onto_itself(u, shape.tokens) && mirrors_onto_itself(column, shape.hidden)}};
}

/// Whether row `row` of the half spectrum is kept and not the mirror of another row of the same column.
bool is_sent(Shape shape, LowPass block, std::int64_t row, std::int64_t column) {
  if (mirrors_onto_itself(column, shape.hidden) && row > shape.tokens / 2) return false;
  return std::min(row, shape.tokens - row) <= block.tokens / 2;
}

}  // namespace

bool valid(LowPass block, Shape shape) {
  const auto possible = [](std::int64_t width, std::int64_t side) {
    return width >= 1 && width <= side && (width % 2 == 1 || width == side);
  };
  return possible(block.tokens, shape.tokens) && possible(block.hidden, shape.hidden);
}

LowPass choose_low_pass(Shape shape, std::int64_t budget) {
  TRILEMMA_ENSURE(budget >= 1, "a low-pass keeps at least DC");
  std::int64_t fullest = 0;
  for_each_candidate(shape, budget, [&](LowPass block) { fullest = std::max(fullest, reals(block)); });
  LowPass best;
  auto rank_of_best = std::tuple{true, 0.0, std::int64_t{0}};
  for_each_candidate(shape, budget, [&](LowPass block) {
    const auto rank = std::tuple{16 * reals(block) < 15 * fullest, disproportion(block, shape), -reals(block)};
    if (rank >= rank_of_best) return;
    rank_of_best = rank;
    best = block;
  });
  return best;
}

std::vector<Bin> wire_order(Shape shape, LowPass block) {
  std::vector<RankedBin> bins;
  bins.reserve(static_cast<std::size_t>(reals(block)) / 2 + 2);
  for (std::int64_t column = 0; column <= block.hidden / 2; ++column) {
    for (std::int64_t row = 0; row < shape.tokens; ++row) {
      if (is_sent(shape, block, row, column)) bins.push_back(ranked(shape, row, column));
    }
  }
  std::ranges::sort(bins, {}, [](const RankedBin& bin) { return std::tuple{bin.group, bin.frequency, bin.bin.index}; });
  std::vector<Bin> order(bins.size());
  std::ranges::transform(bins, order.begin(), &RankedBin::bin);
  return order;
}

}  // namespace trilemma
