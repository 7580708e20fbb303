#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/scheduler.h"
#include "models/radio/config.h"
#include "models/radio/flexible_slots.h"
#include "models/radio/frame_grid.h"
#include "models/radio/nr_links.h"
#include "models/radio/nr_phy.h"
#include "models/radio/radio.h"
#include "models/radio/symbol_supply.h"
#include "models/radio/timing.h"

namespace trilemma {

/// What the channels of a direction share.
struct ChannelParts {
  Scheduler& scheduler;
  const NrRadio& config;
  const FrameGrid& grid;
  const NrPhy& phy;
  NrLinks& links;
  RadioTiming& timing;
  FlexibleSlots& flexible;
  Rng& errors;
  RadioCounts& counts;
};

/// One direction of a cell, or of a part of its band, or the configured grants of one client. Granted symbols are
/// filled from the client's queue, several messages to a block, and split messages over blocks. Retransmissions go
/// first. An event per scheduling instant that has something to send and one per message; nothing happens while
/// nothing is pending.
///
/// Uplink of dynamic access: the base station knows only what requests and buffer reports tell it.
class SharedChannel {
 public:
  /// `symbols` are those of clients that are `symbols.owner` modulo `symbols.owners` in the cell; there are `clients`.
  SharedChannel(const ChannelParts& parts, const SymbolSupply& symbols, std::int64_t clients);
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;

  void send(RadioMessage& message);

 private:
  static constexpr Duration fairness_window{100'000'000};  // of proportional fair

  enum class State { idle, requested, reporting };
  struct Client {
    RadioMessage* first = nullptr;
    RadioMessage* last = nullptr;
    RadioMessage* fresh = nullptr;  // the first that no block has been able to see yet
    Bytes visible{0};               // unsent bytes of the messages before `fresh`
    Bytes known{0};                 // what the scheduler believes waits and is not granted; below 0: not yet heard of
    Bytes standing{0};              // what a standing grant asks for
    Bytes asked{0};                 // what a scheduling request asks for
    std::int64_t granted = 0;       // bytes, ever
    std::int64_t heard = 0;         // of them, when the latest report that has arrived was written
    int share = 0;                  // symbols of the division at hand
    int want = 0;                   // symbols, of the division at hand
    int mcs = 0;                    // of that division: a block is sent as it was sized
    int least = 0;                  // of them, to have room for data
    std::int64_t unused = 0;        // standing grants in a row
    double mean_rate = 0;           // bytes/s, for proportional fair
    Instant rated{0};
    Instant request_known{-1};  // of the latest request
    Instant request_start{0};
    State state = State::idle;
    bool in_turn = false;
    bool stands = false;
  };
  /// Something the scheduler learns: more bytes, all that waits, or that a standing grant is due.
  struct Report {
    enum class Kind { more, all, standing };
    Instant eligible;  // the first start of a block that may use it
    std::uint64_t order;
    ClientIndex client;
    Kind kind;
    Bytes bytes;
    std::int64_t granted;  // of the client, when the report was written
    bool operator>(const Report& other) const {
      return eligible != other.eligible ? eligible > other.eligible : order > other.order;
    }
  };
  /// A part of a message in a block; with that block, the message had been on the air for `on_air`.
  struct Part {
    RadioMessage* message;
    Duration on_air;
    Bytes bytes;
  };
  struct Block {
    ClientIndex client = 0;
    OnAir first;  // transmission
    OnAir air;    // latest transmission
    int mcs = 0;
    int transmission = 1;
    std::int64_t restarts = 0;    // by RLC
    double sinr_sum = 0;          // linear, over the transmissions that are combined
    std::optional<Bytes> report;  // the buffer report inside
    std::int64_t granted = 0;
    std::vector<Part> parts;
  };
  struct Rank {
    double value;
    std::size_t turn;  // the earlier goes first among equals
    ClientIndex client;
    bool operator<(const Rank& other) const { return value != other.value ? value < other.value : turn > other.turn; }
  };
  struct Repetition {
    Instant eligible;
    std::uint64_t order;
    std::size_t block;  // in blocks_
    int symbols;
    bool operator>(const Repetition& other) const {
      return eligible != other.eligible ? eligible > other.eligible : order > other.order;
    }
  };
  [[nodiscard]] ClientIndex local(ClientIndex client) const {
    return static_cast<ClientIndex>(client / supply_.owners());
  }
  [[nodiscard]] ClientIndex in_cell(ClientIndex local) const {
    return static_cast<ClientIndex>(local * supply_.owners() + supply_.owner());
  }

  // What the scheduler knows.
  void request(ClientIndex local, Instant offered);
  [[nodiscard]] Instant requested_start(ClientIndex local, Instant offered);
  void learn(Instant eligible, ClientIndex local, Report::Kind kind, Bytes bytes, std::int64_t granted = 0);
  void apply_reports(Instant time);
  void apply(const Report& report);
  void enter_turn(ClientIndex local);

  // When it decides.
  void plan(Instant earliest, int symbols);
  void plan_next();
  void on_slice();

  // Who gets how much.
  [[nodiscard]] bool silent(ClientIndex local, const SymbolSupply::Slice& slice) const;
  int choose_repetitions(const SymbolSupply::Slice& slice);
  void divide(const SymbolSupply::Slice& slice, int room);
  void divide_in_turn(const SymbolSupply::Slice& slice, int room);
  void divide_by_rank(const SymbolSupply::Slice& slice, int room);
  void ask(ClientIndex local, const SymbolSupply::Slice& slice);
  void give(ClientIndex local, int symbols);
  [[nodiscard]] Bytes demand(const Client& client) const {
    return std::max({client.known, client.standing, client.asked});
  }
  [[nodiscard]] double rank(ClientIndex local, Instant time);
  void leave_turns();

  // What is sent.
  void transmit_new(ClientIndex local, const SymbolSupply::Slice& slice, const OnAir& air);
  void see(Client& client, Instant cutoff);
  Bytes fill(Client& client, Bytes payload, const OnAir& air);
  std::optional<Bytes> write_report(ClientIndex local);
  void start(RadioMessage& message, const OnAir& air);
  void repeat(std::size_t index, const OnAir& air);
  void rate(Client& client, Instant time, Bytes bytes);
  void stand_again(ClientIndex local, Instant start, Bytes granted, bool used);
  [[nodiscard]] bool fails(const Block& block);

  // What becomes of it.
  std::size_t keep(Block block);
  void failed(std::size_t index);
  void repeat_apart(std::size_t index, Instant decoded);
  void received(const Block& block, std::span<const Part> parts, Instant decoded);
  void give_up(std::size_t index, Instant decoded);
  void settle(const Block& block, std::span<const Part> parts, Instant decoded);
  void drop_rest(ClientIndex local, RadioMessage& message);
  void finish(RadioMessage& message);
  void pop(Client& client);
  void release(std::size_t index);

  Scheduler& scheduler_;
  const FrameGrid& grid_;
  const NrPhy& phy_;
  NrLinks& links_;
  RadioTiming& timing_;
  FlexibleSlots& flexible_;
  Rng& errors_;
  RadioCounts& counts_;
  SymbolSupply supply_;
  Direction direction_;
  bool granted_;  // configured grants
  bool reports_;  // uplink, where the scheduler knows what it is told
  int shortest_;
  int longest_;
  RadioScheduler policy_;
  bool ranked_;     // by the policy, not in turn
  bool one_block_;  // a slice
  int quantum_;
  PersistenceConfig persistence_;
  RequestConfig request_;
  std::optional<AcknowledgedRlc> acknowledged_;

  std::vector<Client> clients_;
  std::deque<ClientIndex> turns_;  // with something known, in turn
  std::size_t visited_ = 0;        // of turns_, by the division at hand
  std::vector<ClientIndex> served_;
  std::vector<Rank> ranks_;       // a heap
  std::vector<std::size_t> due_;  // repetitions of the slice at hand
  std::priority_queue<Report, std::vector<Report>, std::greater<>> learnt_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> free_blocks_;
  std::priority_queue<Repetition, std::vector<Repetition>, std::greater<>> repetitions_;
  std::vector<Part> parts_;  // of the block at hand
  std::uint64_t order_ = 0;
  Instant cursor_{0};  // from when symbols are free
  std::optional<Instant> planned_;
};

}  // namespace trilemma
