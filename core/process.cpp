#include "core/process.h"

namespace trilemma {

ProcessLink::ProcessLink(Scheduler& scheduler) : scheduler_(scheduler), next_(scheduler.processes_) {
  if (next_ != nullptr) next_->previous_ = this;
  scheduler.processes_ = this;
}

ProcessLink::~ProcessLink() {
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : scheduler_.processes_) = next_;
}

void ProcessLink::destroy_all(Scheduler& scheduler) {
  while (scheduler.processes_ != nullptr) scheduler.processes_->coroutine_.destroy();
}

}  // namespace trilemma
