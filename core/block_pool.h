#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace trilemma {

/// Memory for objects that come and go by the million: freed blocks are kept by size and handed out again. A block
/// remembers its pool, so that `operator delete` needs no argument. Blocks must not outlive the pool.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    for (Header* block : free_) {
      while (block != nullptr) ::operator delete(std::exchange(block, block->next));
    }
  }

  void* take(std::size_t size) {
    const std::size_t slot = (size - 1) / step;
    Header* block = nullptr;
    if (slot < kept_sizes && free_[slot] != nullptr) {
      block = std::exchange(free_[slot], free_[slot]->next);
    } else {
      block = static_cast<Header*>(::operator new(sizeof(Header) + (slot + 1) * step));
    }
    ::new (block) Header{this, slot, nullptr};
    return block + 1;
  }

  static void give_back(void* object) noexcept {
    Header* block = static_cast<Header*>(object) - 1;
    if (block->slot >= kept_sizes) return ::operator delete(block);
    block->next = std::exchange(block->pool->free_[block->slot], block);
  }

 private:
  struct alignas(std::max_align_t) Header {
    BlockPool* pool;
    std::size_t slot;
    Header* next;
  };
  static constexpr std::size_t step = 64;
  static constexpr std::size_t kept_sizes = 64;  // blocks up to 4 KiB are kept

  std::array<Header*, kept_sizes> free_{};
};

}  // namespace trilemma
