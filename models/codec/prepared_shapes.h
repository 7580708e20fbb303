#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "models/codec/shape.h"

namespace trilemma {

/// What a codec has made for each shape it has met (plans, buffers, orders). Beyond 32 shapes or 2^25 values it starts
/// anew, so that a sweep over many shapes does not hoard memory.
template <class Key, class Prepared>
class PreparedShapes {
 public:
  /// What belongs to `key`, made by `make` (a unique_ptr) at its first use.
  template <class Make>
  Prepared& get(const Key& key, Shape shape, Make make) {
    if (const auto found = prepared_.find(key); found != prepared_.end()) return *found->second;
    if (prepared_.size() == max_shapes || elements_ + elements(shape) > max_elements) {
      prepared_.clear();
      elements_ = 0;
    }
    elements_ += elements(shape);
    return *prepared_.emplace(key, make()).first->second;
  }

 private:
  static constexpr std::size_t max_shapes = 32;
  static constexpr std::int64_t max_elements = std::int64_t{1} << 25;

  std::map<Key, std::unique_ptr<Prepared>> prepared_;
  std::int64_t elements_ = 0;
};

}  // namespace trilemma
