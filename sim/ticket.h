#pragma once

#include <coroutine>

#include "models/server/server.h"
#include "models/server/site.h"
#include "sim/costs.h"
#include "sim/network.h"
#include "sim/request.h"

namespace trilemma {

class World;

/// What a request carries along on its way: its record, its clock, and what it left at the sites.
class Ticket {
 public:
  Ticket(World& world, const Request& request);
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  [[nodiscard]] const Request& request() const { return record_.request; }

  /// The device has worked for `pass`.
  void worked(const Server::Served& served, const Pass& pass);
  /// A message has come over radio and backhaul; false: it was lost.
  bool arrived(Direction direction, Bytes size, const Leg& leg);
  void crossed_wan(Duration time) { clock_.charge(Stage::wan, time); }
  void waited(Stage stage, Duration time) { clock_.charge(stage, time); }

  /// A visit to a site, whose tokens are sent as soon as they are there where the pass is streamed.
  [[nodiscard]] Visit visit(Station station, const Pass& pass);
  /// It is over; false: the site turned the request away.
  bool served(Station station, const Visit& visit);
  /// The site's copy forgets the tokens beyond the first `context`.
  void forget(Station station, Tokens context);

  /// Sends one token of the answer on its way down; the request goes on at once.
  void send_token();
  /// `co_await` it: until all tokens that were sent are there.
  auto tokens_delivered() {
    waits_since_ = now();
    struct Awaiter {
      Ticket& ticket;
      [[nodiscard]] bool await_ready() const { return ticket.under_way_ == 0; }
      void await_suspend(std::coroutine_handle<> waiting) const { ticket.all_there_ = Action::resume(waiting); }
      void await_resume() const { ticket.charge_delivery(); }
    };
    return Awaiter{*this};
  }
  void token_delivered(Bytes size, Duration over_wan, const Leg& leg);

  /// The first token is there.
  void first_token();
  [[nodiscard]] bool goes_on() const { return record_.outcome == Outcome::completed; }
  /// The request leaves the world.
  void end();

 private:
  [[nodiscard]] CachedSequence& sequence(Station station) { return station == Station::cloud ? at_cloud_ : at_edge_; }
  [[nodiscard]] Instant now() const;
  void charge_delivery();

  World& world_;
  RequestRecord record_;
  StageClock clock_;
  CachedSequence at_edge_;
  CachedSequence at_cloud_;
  Bytes token_{0};  // of an answer that is sent token by token
  Bytes token_over_wan_{0};
  std::int64_t under_way_ = 0;  // tokens on their way down
  Instant waits_since_{0};      // for them
  Duration last_over_wan_{0};   // of the token that came last
  Leg last_leg_;
  Action all_there_;
};

}  // namespace trilemma
