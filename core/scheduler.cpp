#include "core/scheduler.h"

#include <fstream>
#include <unistd.h>
#include <utility>

#include "ns3/event-impl.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"

#include "core/ensure.h"
#include "core/process.h"

namespace trilemma {
namespace {

constexpr Instant last_instant{3'153'600'000'000'000'000};  // 100 years: what is added to an instant cannot overflow
constexpr std::uint64_t events_between_limit_checks = 1U << 14U;

bool scheduler_alive = false;  // guards ns-3's singleton, nothing else

Instant wall_clock() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Bytes resident_memory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return Bytes(resident * sysconf(_SC_PAGESIZE));
}

}  // namespace

/// One entry of ns-3's event list.
class SchedulerEvent final : public ns3::EventImpl {
 public:
  SchedulerEvent(Scheduler& scheduler, Instant when, Action action)
      : scheduler_(scheduler), when_(when), action_(action) {}

  static void* operator new(std::size_t size, Scheduler& scheduler) { return scheduler.memory_.take(size); }
  static void operator delete(void* object) noexcept { BlockPool::give_back(object); }
  static void operator delete(void* object, Scheduler& /*scheduler*/) noexcept { BlockPool::give_back(object); }

 private:
  void Notify() override {
    // An exception that crossed ns-3's loop would leak the event that threw it.
    try {
      scheduler_.begin_event(when_);
      action_();
    } catch (...) {
      scheduler_.failure_ = std::current_exception();
      ns3::Simulator::Stop();
    }
  }

  Scheduler& scheduler_;
  Instant when_;
  Action action_;
};

Scheduler::Scheduler(RunLimits limits, RunObserver* observer) : limits_(limits), observer_(observer) {
  TRILEMMA_ENSURE(!scheduler_alive, "ns-3 has one event list, so one Scheduler is alive at a time");
  scheduler_alive = true;
  ns3::ObjectFactory fastest;
  fastest.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(fastest);
}

Scheduler::~Scheduler() {
  ProcessLink::destroy_all(*this);
  ns3::Simulator::Destroy();
  scheduler_alive = false;
}

void Scheduler::at(Instant when, Action action) {
  TRILEMMA_ENSURE(when >= now_, "no event is scheduled in the past");
  if (when > last_instant) {
    throw OutOfRange(
        "the run would go beyond 100 years of simulated time; check the rates, sizes and times of the scenario");
  }
  auto* event = new (*this) SchedulerEvent(*this, when, action);
  ns3::Simulator::Schedule(ns3::TimeStep(static_cast<std::uint64_t>((when - now_).count())),
                           ns3::Ptr<ns3::EventImpl>(event, false));
}

RunEnd Scheduler::run() {
  wall_start_ = wall_clock();
  end_ = RunEnd::done;
  ns3::Simulator::Run();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return end_;
}

void Scheduler::begin_event(Instant when) {
  now_ = when;
  if (++events_ % events_between_limit_checks == 0) check_limits();
  if (limits_.events && events_ >= *limits_.events) {
    end_ = RunEnd::event_limit;
    ns3::Simulator::Stop();
  }
}

void Scheduler::check_limits() {
  if (observer_ != nullptr) observer_->on_progress();
  if (limits_.wall && wall_clock() - wall_start_ > *limits_.wall) end_ = RunEnd::wall_limit;
  if (limits_.memory && resident_memory() > *limits_.memory) end_ = RunEnd::memory_limit;
  if (end_ != RunEnd::done) ns3::Simulator::Stop();
}

}  // namespace trilemma
