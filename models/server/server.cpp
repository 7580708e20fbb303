#include "models/server/server.h"

namespace trilemma {

void Server::enter(Job& job) {
  job.arrived_ = scheduler_.now();
  if (idle_ > 0) {
    --idle_;
    return start(job);
  }
  (last_ != nullptr ? last_->next_ : first_) = &job;
  last_ = &job;
  ++waiting_;
}

void Server::start(Job& job) {
  job.started_ = scheduler_.now();
  job.service_ = pace_.stretched(job.started_, job.service_);
  scheduler_.after(job.service_, Action::call<&Job::finish>(job));
}

void Server::leave(Job& job) {
  busy_ += job.service_;
  if (first_ == nullptr) {
    ++idle_;
  } else {
    Job& next = *first_;
    first_ = next.next_;
    if (first_ == nullptr) last_ = nullptr;
    --waiting_;
    start(next);
  }
  job.done_();  // last: the job lives in the coroutine that this resumes
}

}  // namespace trilemma
