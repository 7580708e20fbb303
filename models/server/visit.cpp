#include "models/server/visit.h"

#include <utility>

#include "core/ensure.h"

namespace trilemma {

void VisitQueue::put(std::size_t place, Visit& visit) {
  heap_[place] = &visit;
  visit.place = place;
}

void VisitQueue::add(Visit& visit) {
  heap_.push_back(&visit);
  visit.place = heap_.size() - 1;
  rise(visit.place);
  // One that comes back after it had begun is older than those that wait.
  const bool comes_back = newest_ != nullptr && visit.arrived < newest_->arrived;
  visit.earlier = comes_back ? nullptr : newest_;
  visit.later = comes_back ? oldest_ : nullptr;
  (visit.earlier != nullptr ? visit.earlier->later : oldest_) = &visit;
  (visit.later != nullptr ? visit.later->earlier : newest_) = &visit;
}

void VisitQueue::take(Visit& visit) {
  TRILEMMA_ENSURE(visit.place < heap_.size() && heap_[visit.place] == &visit, "a visit is taken from its own queue");
  (visit.earlier != nullptr ? visit.earlier->later : oldest_) = visit.later;
  (visit.later != nullptr ? visit.later->earlier : newest_) = visit.earlier;
  const std::size_t place = visit.place;
  Visit& last = *heap_.back();
  heap_.pop_back();
  if (&last == &visit) return;
  put(place, last);
  rise(place);
  sink(last.place);
}

void VisitQueue::rise(std::size_t place) {
  Visit& visit = *heap_[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (heap_[parent]->rank <= visit.rank) break;
    put(place, *heap_[parent]);
    place = parent;
  }
  put(place, visit);
}

void VisitQueue::sink(std::size_t place) {
  Visit& visit = *heap_[place];
  while (true) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->rank < heap_[child]->rank) ++child;
    if (visit.rank <= heap_[child]->rank) break;
    put(place, *heap_[child]);
    place = child;
  }
  put(place, visit);
}

}  // namespace trilemma
