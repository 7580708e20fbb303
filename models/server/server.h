#pragma once

#include <cstdint>

#include "core/action.h"
#include "core/scheduler.h"

namespace trilemma {

/// c parallel executors behind one first-come-first-served queue (G/G/c FCFS), never idle while a job waits.
/// `Duration waited = co_await server.run(service);` returns when the service is over.
class Server {
 public:
  /// Requires executors >= 1.
  Server(Scheduler& scheduler, std::int64_t executors) : scheduler_(scheduler), idle_(executors) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  class Job {
   public:
    Job(Server& server, Duration service) : server_(server), service_(service) {}
    [[nodiscard]] static bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      done_ = Action::resume(waiting);
      server_.enter(*this);
    }
    /// Time spent in the queue.
    [[nodiscard]] Duration await_resume() const { return started_ - arrived_; }

   private:
    friend class Server;
    void finish() { server_.leave(*this); }

    Server& server_;
    Duration service_;
    Instant arrived_{0};
    Instant started_{0};
    Action done_;
    Job* next_ = nullptr;
  };

  Job run(Duration service) { return {*this, service}; }

  /// Total service time of the jobs finished so far.
  [[nodiscard]] Duration busy() const { return busy_; }
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }

 private:
  void enter(Job& job);
  void start(Job& job);
  void leave(Job& job);

  Scheduler& scheduler_;
  std::int64_t idle_;
  std::int64_t waiting_ = 0;
  Job* first_ = nullptr;  // the queue is threaded through the jobs: no memory of its own
  Job* last_ = nullptr;
  Duration busy_{0};
};

}  // namespace trilemma
