#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Sets of `count` different indices 0 .. `universe` - 1 in a number of bytes that depends on these two only.
///
/// Of two codes the shorter is used, a bitmap on a draw: a bitmap of `universe` bits, or that of Elias and Fano (1974;
/// Vigna, WSDM 2013): the lower l bits of every index, and the upper bits of index i as a one at position
/// (index >> l) + i of a bit string of count + ((universe - 1) >> l) + 1 bits; the l that gives fewest bits. That is
/// within 0.7 bits an index of log2(universe over count), the least that any code can do.
namespace trilemma::index_set {

/// Bytes, in O(1). Requires 1 <= count <= universe <= 2^40.
std::int64_t size(std::int64_t count, std::int64_t universe);

/// Writes rising indices into size() bytes.
void write(std::span<const std::uint32_t> indices, std::int64_t universe, std::span<std::byte> out);

/// Reads them; throws MalformedMessage unless there are `count` rising ones below `universe`, and nothing else.
std::vector<std::uint32_t> read(std::int64_t count, std::int64_t universe, std::span<const std::byte> in);

/// log2(universe over count) / 8: what no code can undercut on average, in bytes.
double least_size(std::int64_t count, std::int64_t universe);

}  // namespace trilemma::index_set
