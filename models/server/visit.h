#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/action.h"
#include "core/units.h"

namespace trilemma {

class Replica;
struct Visit;

/// Why a site turns a request away.
enum class Rejection {
  none,
  too_large,   // its prompt and answer can never fit the KV cache
  queue_full,  // a policy's limit
  late,        // its deadline was over when its turn came
};

/// A request as a site sees it, from its first visit until it has left: it may hold keys and values there.
struct CachedSequence {
  // Set by the sender before the first visit.
  std::size_t model = 0;  // which of the site's models
  std::int64_t priority = 0;
  Instant deadline{0};
  Tokens longest{1};  // of prompt and answer

  // Kept by the site.
  std::size_t server = 0;                         // that the balancer chose
  std::pair<std::int64_t, std::uint64_t> rank{};  // smaller keeps its cache longer
  bool present = false;                           // at that server
  Replica* replica = nullptr;                     // where its cache is; null: it has none
  Tokens context{0};                              // tokens that have gone through the model
  Tokens cached{0};                               // those of them whose keys and values are held
  std::int64_t blocks = 0;                        // of the cache
  Visit* visit = nullptr;                         // the one under way
};

/// One pass of a sequence through a site: a prompt, one more token, or a prompt and the whole answer. Lives with
/// whoever waits for it, until `done` has run.
struct Visit {
  // Set by the sender.
  CachedSequence* sequence = nullptr;
  Tokens fresh{1};         // tokens that come with it
  Tokens outputs{1};       // tokens to be generated before it is over, one pass each
  std::int64_t heads = 1;  // of the tokens that come with it, those whose successor is asked for
  Duration before{0};      // of its own work ahead of the model, such as decoding the message
  bool is_last = false;    // the sequence leaves the site when it is over
  Action each;             // after each generated token but the last; may be empty
  Action done;

  // Set by the site.
  Rejection rejection = Rejection::none;
  Duration waited{0};  // all time that is not `took`
  Duration took{0};    // steps that it took part in
  Duration alone{0};   // of that `before`, at the pace of the machine

  // The site's own.
  std::pair<std::int64_t, std::uint64_t> rank{};  // smaller first
  std::size_t place = 0;                          // in a queue
  Visit* earlier = nullptr;                       // in it, by arrival
  Visit* later = nullptr;
  Instant arrived{0};
  Tokens goal{0};        // context of the sequence when the next token is known
  Tokens chunk{0};       // tokens that go through the model in this step
  bool is_ahead = true;  // of the model: `before` is still to be done
  enum class State { nowhere, waiting, resident, active } state = State::nowhere;

  /// Tokens to go through the model before the next token is known.
  [[nodiscard]] Tokens left() const { return goal - sequence->cached; }
};

/// Visits by rank, and by arrival; one can be taken out from anywhere. Requires that ranks differ.
class VisitQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// That of the smallest rank; requires that there is one, as does oldest().
  [[nodiscard]] Visit& first() const { return *heap_.front(); }
  [[nodiscard]] const Visit& oldest() const { return *oldest_; }
  void add(Visit& visit);
  void take(Visit& visit);

 private:
  void put(std::size_t place, Visit& visit);
  void rise(std::size_t place);
  void sink(std::size_t place);

  std::vector<Visit*> heap_;
  Visit* oldest_ = nullptr;
  Visit* newest_ = nullptr;
};

}  // namespace trilemma
