#include "models/server/site.h"

#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "core/process.h"

namespace trilemma {
namespace {

/// A step takes 10 us, 1 us a token that goes through the model, whatever is kept.
class TokenCost final : public StepCost {
 public:
  [[nodiscard]] Duration time(std::span<const StepPart> parts) const override {
    Duration sum = 10us;
    for (const StepPart& part : parts) sum += part.fresh.value() * 1us;
    return sum;
  }
};

/// A site with what happened to the requests that were sent there.
struct Bench {
  explicit Bench(const SiteConfig& its_config, std::int64_t blocks = 1'000)
      : config(its_config), site({events, config, cost, blocks, Pace(), Streams(1, 0).stream("balancer")}) {}
  Scheduler& scheduler() { return events; }

  struct Left {
    Instant when;
    int name;
    Visit visit;
  };

  SiteConfig config;
  TokenCost cost;
  Scheduler events;
  Site site;
  std::vector<Left> left;
};

struct Order {
  int name = 0;
  Duration at{0};
  Tokens prompt{10};
  Tokens output{1};
  std::int64_t priority = 0;
  Instant deadline = Instant::max();
};

Process request(Bench& bench, Order order) {
  co_await bench.events.delay(order.at);
  CachedSequence sequence{
      .priority = order.priority, .deadline = order.deadline, .longest = order.prompt + order.output};
  Visit visit{.sequence = &sequence, .fresh = order.prompt, .outputs = order.output, .is_last = true};
  co_await bench.site.serve(visit);
  bench.site.leave(sequence);
  EXPECT_FALSE(bench.site.wastes_time());
  bench.left.push_back({bench.events.now(), order.name, visit});
}

std::vector<int> names(const Bench& bench) {
  std::vector<int> found;
  for (const Bench::Left& one : bench.left) found.push_back(one.name);
  return found;
}

SiteConfig batched(Batching kind, std::int64_t most) {
  return {.batching = BatchingConfig{.kind = kind, .max_batch = most}};
}

TEST(Site, RunsOnePassAtATimeWithoutBatches) {
  Bench bench({});
  request(bench, {.name = 1});
  request(bench, {.name = 2});
  bench.events.run();
  ASSERT_EQ(names(bench), (std::vector{1, 2}));
  EXPECT_EQ(bench.left[0].when, 20us);
  EXPECT_EQ(bench.left[1].when, 40us);
  EXPECT_EQ(bench.left[1].visit.waited, 20us);
  EXPECT_EQ(bench.left[1].visit.took, 20us);
}

TEST(Site, ContinuousBatchesAreJoinedAtEveryStep) {
  Bench bench(batched(Batching::continuous, 8));
  // The first prompt is a step of 20 us; the second request waits for its end, and shares a step of 1 + 10 tokens.
  request(bench, {.name = 1, .output = Tokens(3)});
  request(bench, {.name = 2, .at = 5us, .output = Tokens(1)});
  bench.events.run();
  ASSERT_EQ(names(bench), (std::vector{2, 1}));
  EXPECT_EQ(bench.left[0].when, 20us + 21us);
  EXPECT_EQ(bench.left[1].when, 20us + 21us + 11us);
}

TEST(Site, LongPromptsAreCutIntoChunks) {
  SiteConfig config = batched(Batching::continuous, 8);
  config.batching->max_tokens = 4;
  Bench bench(config);
  request(bench, {.prompt = Tokens(10)});  // 4, 4 and 2 tokens
  bench.events.run();
  EXPECT_EQ(bench.left[0].when, 3 * 10us + 10us);
  EXPECT_EQ(bench.site.counts().steps, 3U);
}

TEST(Site, ADynamicBatchWaitsUntilItIsFullOrLongEnough) {
  SiteConfig config = batched(Batching::dynamic, 2);
  config.batching->max_wait = 100us;
  Bench full(config);
  request(full, {.name = 1});
  request(full, {.name = 2, .at = 99us});
  full.events.run();
  EXPECT_EQ(full.left[0].when, 99us + 30us);
}

TEST(Site, ADynamicBatchThatDoesNotFillStartsWhenItsFirstHasWaited) {
  SiteConfig config = batched(Batching::dynamic, 3);
  config.batching->max_wait = 100us;
  Bench bench(config);
  request(bench, {.name = 1});
  request(bench, {.name = 2, .at = 40us});
  bench.events.run();
  EXPECT_EQ(bench.left[1].when, 100us + 30us);
  EXPECT_EQ(bench.events.now(), 130us) << "no alarm outlives the batch";
}

TEST(Site, AStaticBatchStartsWhenItIsFullOrNothingElseCanCome) {
  Bench bench(batched(Batching::static_batch, 2));
  request(bench, {.name = 1});
  request(bench, {.name = 2, .at = 1ms});
  request(bench, {.name = 3, .at = 2ms});
  bench.events.run();
  EXPECT_EQ(bench.left[1].when, 1ms + 30us);
  EXPECT_EQ(bench.left[2].when, 2ms + 20us);
}

TEST(Site, KeepsItsCacheWithinItsBlocksAndLosesNoToken) {
  // Three sequences of 8 + 24 tokens grow to 2 blocks of 16 each, and there are 4.
  Bench bench(batched(Batching::continuous, 8), 4);
  for (int name = 1; name <= 3; ++name) request(bench, {.name = name, .prompt = Tokens(8), .output = Tokens(24)});
  bench.events.run();
  const SiteCounts& counts = bench.site.counts();
  EXPECT_EQ(names(bench), (std::vector{1, 2, 3})) << "the latest gives way";
  EXPECT_GT(counts.preemptions, 0U);
  EXPECT_LE(counts.most_blocks, 4);
  EXPECT_EQ(counts.generated, 3U * 24);
  // Every token but the last answer of each goes through once, and those of lost caches again.
  EXPECT_EQ(counts.tokens, 3U * (8 + 23) + counts.recomputed);
  EXPECT_EQ(bench.site.blocks_in_use(), 0);
}

TEST(Site, TurnsAwayWhatCanNeverFit) {
  Bench bench(batched(Batching::continuous, 8), 4);
  request(bench, {.name = 1, .prompt = Tokens(64), .output = Tokens(1)});
  request(bench, {.name = 2, .prompt = Tokens(63), .output = Tokens(1)});
  bench.events.run();
  ASSERT_EQ(names(bench), (std::vector{1, 2}));
  EXPECT_EQ(bench.left[0].visit.rejection, Rejection::too_large);
  EXPECT_EQ(bench.left[0].when, 0us);
  EXPECT_EQ(bench.left[1].visit.rejection, Rejection::none);
}

TEST(Site, TurnsAwayWhatFindsAFullQueue) {
  Bench bench({.drop = DropBeyond{.limit = 1}});
  for (int name = 1; name <= 3; ++name) request(bench, {.name = name});
  bench.events.run();
  EXPECT_EQ(names(bench), (std::vector{3, 1, 2}));
  EXPECT_EQ(bench.left[0].visit.rejection, Rejection::queue_full);
  EXPECT_EQ(bench.site.counts().queue_full, 1U);
}

TEST(Site, TurnsAwayWhatIsLateWhenItsTurnComes) {
  Bench bench({.drop = DropLate{}});
  request(bench, {.name = 1});
  request(bench, {.name = 2, .deadline = 19us});
  request(bench, {.name = 3, .deadline = 20us});
  bench.events.run();
  EXPECT_EQ(names(bench), (std::vector{1, 2, 3}));
  EXPECT_EQ(bench.left[1].visit.rejection, Rejection::late);
  EXPECT_EQ(bench.left[1].visit.waited, 20us);
  EXPECT_EQ(bench.left[2].when, 40us);
}

TEST(Site, ServesTheEarliestDeadlineFirst) {
  Bench bench({.scheduling = Scheduling::edf});
  request(bench, {.name = 1, .deadline = 90us});
  request(bench, {.name = 2, .deadline = 80us});
  request(bench, {.name = 3, .deadline = 70us});
  bench.events.run();
  EXPECT_EQ(names(bench), (std::vector{1, 3, 2}));
}

TEST(Site, JoinsTheShorterQueue) {
  Bench bench({.servers = 2});
  request(bench, {.name = 1, .prompt = Tokens(100)});
  request(bench, {.name = 2});
  request(bench, {.name = 3, .at = 25us});  // the second server is empty again
  bench.events.run();
  EXPECT_EQ(names(bench), (std::vector{2, 3, 1}));
  EXPECT_EQ(bench.left[1].when, 25us + 20us);
}

}  // namespace
}  // namespace trilemma
