#include "core/scheduler.h"

#include <fstream>
#include <unistd.h>
#include <utility>

#include "ns3/default-simulator-impl.h"
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
  SchedulerEvent(Scheduler& scheduler, Action action, bool background)
      : scheduler_(scheduler), action_(action), background_(background) {}

  static void* operator new(std::size_t size, Scheduler& scheduler) { return scheduler.memory_.take(size); }
  static void operator delete(void* object) noexcept { BlockPool::give_back(object); }
  static void operator delete(void* object, Scheduler& /*scheduler*/) noexcept { BlockPool::give_back(object); }

 private:
  // An exception that crossed ns-3's loop would leak the event that threw it.
  void Notify() override {
    if (!background_ || scheduler_.begin_background()) scheduler_.guard(action_);
  }

  Scheduler& scheduler_;
  Action action_;
  bool background_;
};

/// ns-3's simulator, which tells its owner of every event before it runs, whoever scheduled it: that keeps the owner's
/// clock right in events of ns-3's own models too, at the price of one call an event and none a look at the clock. And
/// it counts what is on the list.
class OwnedSimulator final : public ns3::DefaultSimulatorImpl {
 public:
  explicit OwnedSimulator(Scheduler& owner) : owner_(owner) {}

  ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override {
    ++owner_.pending_;
    return DefaultSimulatorImpl::Schedule(delay, event);
  }
  void ScheduleWithContext(std::uint32_t context, const ns3::Time& delay, ns3::EventImpl* event) override {
    ++owner_.pending_;
    DefaultSimulatorImpl::ScheduleWithContext(context, delay, event);
  }
  ns3::EventId ScheduleNow(ns3::EventImpl* event) override {
    ++owner_.pending_;
    return DefaultSimulatorImpl::ScheduleNow(event);
  }
  // A cancelled event stays on the list; a removed one does not, unless its time is over.
  void Remove(const ns3::EventId& id) override {
    if (id.GetUid() != ns3::EventId::UID::DESTROY && !IsExpired(id)) --owner_.pending_;
    DefaultSimulatorImpl::Remove(id);
  }

 private:
  void PreEventHook(const ns3::EventId& event) override {
    owner_.begin_event(Instant(static_cast<std::int64_t>(event.GetTs())));
  }

  Scheduler& owner_;
};

Scheduler::Scheduler(RunLimits limits, RunObserver* observer) : limits_(limits), observer_(observer) {
  TRILEMMA_ENSURE(!scheduler_alive, "ns-3 has one event list, so one Scheduler is alive at a time");
  scheduler_alive = true;
  ns3::Simulator::Destroy();  // one that ns-3 made by itself when something asked for the time
  ns3::Simulator::SetImplementation(ns3::CreateObject<OwnedSimulator>(*this));
  ns3::ObjectFactory fastest;
  fastest.SetTypeId("ns3::PriorityQueueScheduler");
  ns3::Simulator::SetScheduler(fastest);
}

Scheduler::~Scheduler() {
  ProcessLink::destroy_all(*this);
  ns3::Simulator::Destroy();
  scheduler_alive = false;
}

void Scheduler::at(Instant when, Action action) { schedule(when, action, false); }

void Scheduler::at_background(Instant when, Action action) {
  ++background_;
  schedule(when, action, true);
}

void Scheduler::schedule(Instant when, Action action, bool background) {
  TRILEMMA_ENSURE(when >= now_, "no event is scheduled in the past");
  if (when > last_instant) {
    throw OutOfRange(
        "the run would go beyond 100 years of simulated time; check the rates, sizes and times of the scenario");
  }
  auto* event = new (*this) SchedulerEvent(*this, action, background);
  ns3::Simulator::Schedule(ns3::TimeStep(static_cast<std::uint64_t>((when - now_).count())),
                           ns3::Ptr<ns3::EventImpl>(event, false));
}

RunEnd Scheduler::run() {
  wall_start_ = wall_clock();
  end_ = RunEnd::done;
  do {
    ns3::Simulator::Run();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  } while (end_ == RunEnd::done && pending_ == 0 && goes_on());
  return end_;
}

bool Scheduler::goes_on() {
  bool answer = false;
  guard([&] {
    for (const auto& question : idle_questions_) answer = question() || answer;
  });
  return answer || failure_;
}

bool Scheduler::begin_background() {
  --background_;
  if (holds_ > 0 || pending_ > background_ || goes_on()) return true;
  now_ = before_;
  ns3::Simulator::Stop();
  return false;
}

void Scheduler::begin_event(Instant when) {
  --pending_;
  before_ = std::exchange(now_, when);
  if (++events_ % events_between_limit_checks == 0) guard([this] { check_limits(); });
  if (limits_.events && events_ >= *limits_.events) {
    end_ = RunEnd::event_limit;
    ns3::Simulator::Stop();
  }
}

void Scheduler::fail(std::exception_ptr failure) {
  // The first one is the cause; the event that is under way may run into more.
  if (!failure_) failure_ = std::move(failure);
  ns3::Simulator::Stop();
}

void Scheduler::check_limits() {
  if (observer_ != nullptr) observer_->on_progress();
  if (limits_.wall && wall_clock() - wall_start_ > *limits_.wall) end_ = RunEnd::wall_limit;
  if (limits_.memory && resident_memory() > *limits_.memory) end_ = RunEnd::memory_limit;
  if (end_ != RunEnd::done) ns3::Simulator::Stop();
}

}  // namespace trilemma
