#include "core/block_pool.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace trilemma {
namespace {

TEST(BlockPool, HandsOutABlockAgainThatWasGivenBack) {
  BlockPool pool;
  void* first = pool.take(100);
  BlockPool::give_back(first);
  EXPECT_EQ(pool.take(100), first);
  BlockPool::give_back(first);
  EXPECT_EQ(pool.take(128), first) << "65 to 128 bytes are one size";
  BlockPool::give_back(first);
}

TEST(BlockPool, KeepsSizesApart) {
  BlockPool pool;
  void* small = pool.take(64);
  BlockPool::give_back(small);
  void* large = pool.take(65);
  EXPECT_NE(large, small);
  BlockPool::give_back(large);
}

TEST(BlockPool, GivesAlignedBlocksThatDoNotOverlap) {
  BlockPool pool;
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t size = 1; size <= 6000; size += 37) {
    auto* block = static_cast<unsigned char*>(pool.take(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    std::memset(block, static_cast<int>(size % 251), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) {
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(block[i], size % 251);
    BlockPool::give_back(block);
  }
}

TEST(BlockPool, UsesLastBlocksFirstAndNeverTwice) {
  BlockPool pool;
  std::vector<void*> taken;
  for (int i = 0; i < 100; ++i) taken.push_back(pool.take(48));
  EXPECT_EQ(std::set<void*>(taken.begin(), taken.end()).size(), taken.size());
  for (void* block : taken) BlockPool::give_back(block);
  for (auto block = taken.rbegin(); block != taken.rend(); ++block) EXPECT_EQ(pool.take(48), *block);
  for (void* block : taken) BlockPool::give_back(block);
}

TEST(BlockPool, TakesBlocksBeyondFourKibibytes) {
  BlockPool pool;
  void* large = pool.take(5000);
  std::memset(large, 1, 5000);
  BlockPool::give_back(large);
}

TEST(BlockPool, RemembersWhichPoolABlockIsFrom) {
  BlockPool one;
  BlockPool other;
  void* block = one.take(64);
  BlockPool::give_back(block);
  void* elsewhere = other.take(64);
  EXPECT_NE(elsewhere, block);
  EXPECT_EQ(one.take(64), block);
  BlockPool::give_back(block);
  BlockPool::give_back(elsewhere);
}

}  // namespace
}  // namespace trilemma
