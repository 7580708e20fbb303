#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/radio/cell_rig.h"

namespace trilemma {
namespace {

/// 32 resource blocks, so that blocks are short and their error rate falls gently with the SINR.
NrRadio narrow_radio(Access access) {
  NrRadio radio = test::loud_radio();
  radio.frame = std::string(full_uplink);
  radio.bandwidth = Frequency(50e6);
  radio.symbols = 2;
  radio.access = access;
  return radio;
}

/// The SINR at which the n-th transmission of a block of two symbols at MCS 0 fails half of the time.
Decibels half_lost_at(const NrPhy& phy, int transmission) {
  double low = -30;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (phy.block_error_rate(0, Decibels(middle), 2, transmission) > 0.5 ? low : high) = middle;
  }
  return Decibels(low);
}

/// What the error rates of the model say of one block: R retransmissions, and whether it is lost.
struct Law {
  double mean = 0;
  double variance = 0;
  double lost = 0;
};

Law law_of(const NrPhy& phy, Decibels sinr) {
  // P(R >= n) is the probability that the first n transmissions fail; the last failure is a loss.
  Law law{.lost = 1};
  double square = 0;
  for (int n = 1; n < phy.max_transmissions(); ++n) {
    law.lost *= phy.block_error_rate(0, sinr, 2, n);
    law.mean += law.lost;
    square += (2 * n - 1) * law.lost;
  }
  law.lost *= phy.block_error_rate(0, sinr, 2, phy.max_transmissions());
  law.variance = square - law.mean * law.mean;
  return law;
}

struct Sample {
  double messages = 0;
  double retransmissions = 0;
  double lost = 0;
};

/// One-byte messages, one block each, so far apart that none meets another.
Sample sample(const NrRadio& radio, int messages) {
  std::vector<test::Offer> offers;
  for (int i = 0; i < messages; ++i) offers.push_back({i * 10ms, Bytes(1)});
  const test::Run run = test::run(radio, offers);
  Sample found;
  for (const test::Transfer& transfer : run.transfers) {
    EXPECT_EQ(transfer.result.blocks, 1);
    ++found.messages;
    found.retransmissions += transfer.result.retransmissions;
    found.lost += transfer.result.lost ? 1 : 0;
  }
  EXPECT_EQ(static_cast<double>(run.uplink.retransmissions), found.retransmissions);
  EXPECT_EQ(static_cast<double>(run.uplink.lost_blocks), found.lost);
  return found;
}

void expect_law(Access access, int half_lost_transmission, std::int64_t max_transmissions) {
  NrRadio radio = narrow_radio(access);
  radio.harq.max_transmissions = max_transmissions;
  const Decibels sinr = half_lost_at(NrPhy(radio), half_lost_transmission);
  const Law law = law_of(NrPhy(radio), sinr);
  const Sample found = sample(test::with_uplink_sinr(radio, sinr), 4000);
  EXPECT_NEAR(found.retransmissions / found.messages, law.mean, 4 * std::sqrt(law.variance / found.messages));
  EXPECT_NEAR(found.lost / found.messages, law.lost, 4 * std::sqrt(law.lost * (1 - law.lost) / found.messages));
}

TEST(HarqStatistics, AreThoseOfTheErrorModelWhenEverySecondFirstTransmissionFails) {
  expect_law(Access::dynamic, 1, 4);
  expect_law(Access::configured_grant, 1, 4);
}

TEST(HarqStatistics, AreThoseOfTheErrorModelWhenEverySecondRetransmissionFails) {
  expect_law(Access::dynamic, 2, 4);
  expect_law(Access::configured_grant, 2, 4);
}

TEST(HarqStatistics, AreThoseOfTheErrorModelWhenEverySecondBlockIsLost) {
  expect_law(Access::dynamic, 2, 2);
  expect_law(Access::configured_grant, 2, 2);
}

TEST(HarqStatistics, TheScenariosOfThisFileAreWhatTheySay) {
  const NrPhy phy(narrow_radio(Access::dynamic));
  const Law first = law_of(phy, half_lost_at(phy, 1));
  EXPECT_GT(first.mean, 0.5);
  EXPECT_LT(first.lost, 0.01);
  const Law second = law_of(phy, half_lost_at(phy, 2));
  EXPECT_GT(second.mean, 1.4);  // the first transmission of a block fails nearly always, the second every other time
  const NrRadio radio = test::with_uplink_sinr(narrow_radio(Access::dynamic), Decibels(3.25));
  Scheduler scheduler;
  const auto cell = make_radio(scheduler, radio, {.clients = 1}, Streams(1, 1));
  EXPECT_NEAR(cell->links()[0].uplink_sinr_db, 3.25, 1e-9);
}

TEST(HarqStatistics, ErrorsOfReplicationsAreIndependentDraws) {
  const NrPhy phy(narrow_radio(Access::dynamic));
  const NrRadio radio = test::with_uplink_sinr(narrow_radio(Access::dynamic), half_lost_at(phy, 1));
  std::vector<test::Offer> offers;
  for (int i = 0; i < 200; ++i) offers.push_back({i * 10ms, Bytes(1)});
  const auto retransmissions = [&](std::uint64_t replication) {
    std::vector<std::int32_t> counts;
    for (const auto& transfer : test::run(radio, offers, 1, replication).transfers) {
      counts.push_back(transfer.result.retransmissions);
    }
    return counts;
  };
  EXPECT_EQ(retransmissions(1), retransmissions(1));
  EXPECT_NE(retransmissions(1), retransmissions(2));
}

}  // namespace
}  // namespace trilemma
