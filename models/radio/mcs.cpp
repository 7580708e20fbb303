#include "models/radio/mcs.h"

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr Mcs row(int modulation_order, double code_rate_x1024) { return {modulation_order, code_rate_x1024 / 1024}; }

// TS 38.214 table 5.1.3.1-1.
constexpr std::array qam64_rows = {
    row(2, 120), row(2, 157), row(2, 193), row(2, 251), row(2, 308), row(2, 379), row(2, 449), row(2, 526),
    row(2, 602), row(2, 679), row(4, 340), row(4, 378), row(4, 434), row(4, 490), row(4, 553), row(4, 616),
    row(4, 658), row(6, 438), row(6, 466), row(6, 517), row(6, 567), row(6, 616), row(6, 666), row(6, 719),
    row(6, 772), row(6, 822), row(6, 873), row(6, 910), row(6, 948),
};

// TS 38.214 table 5.1.3.1-2.
constexpr std::array qam256_rows = {
    row(2, 120), row(2, 193), row(2, 308), row(2, 449), row(2, 602), row(4, 378),   row(4, 434),
    row(4, 490), row(4, 553), row(4, 616), row(4, 658), row(6, 466), row(6, 517),   row(6, 567),
    row(6, 616), row(6, 666), row(6, 719), row(6, 772), row(6, 822), row(6, 873),   row(8, 682.5),
    row(8, 711), row(8, 754), row(8, 797), row(8, 841), row(8, 885), row(8, 916.5), row(8, 948),
};

// TS 38.214 table 5.1.3.1-3.
constexpr std::array qam64_low_se_rows = {
    row(2, 30),  row(2, 40),  row(2, 50),  row(2, 64),  row(2, 78),  row(2, 99),  row(2, 120), row(2, 157),
    row(2, 193), row(2, 251), row(2, 308), row(2, 379), row(2, 449), row(2, 526), row(2, 602), row(4, 340),
    row(4, 378), row(4, 434), row(4, 490), row(4, 553), row(4, 616), row(6, 438), row(6, 466), row(6, 517),
    row(6, 567), row(6, 616), row(6, 666), row(6, 719), row(6, 772),
};

// TS 38.214 tables 5.2.2.1-2, -3 and -4, from CQI 1 on.
constexpr std::array cqi_rows_one = {row(2, 78),  row(2, 120), row(2, 193), row(2, 308), row(2, 449),
                                     row(2, 602), row(4, 378), row(4, 490), row(4, 616), row(6, 466),
                                     row(6, 567), row(6, 666), row(6, 772), row(6, 873), row(6, 948)};
constexpr std::array cqi_rows_two = {row(2, 78),  row(2, 193), row(2, 449), row(4, 378), row(4, 490),
                                     row(4, 616), row(6, 466), row(6, 567), row(6, 666), row(6, 772),
                                     row(6, 873), row(8, 711), row(8, 797), row(8, 885), row(8, 948)};
constexpr std::array cqi_rows_three = {row(2, 30),  row(2, 50),  row(2, 78),  row(2, 120), row(2, 193),
                                       row(2, 308), row(2, 449), row(2, 602), row(4, 378), row(4, 490),
                                       row(4, 616), row(6, 466), row(6, 567), row(6, 666), row(6, 772)};

}  // namespace

std::span<const Mcs> cqi_table(McsTable table) {
  switch (table) {
    case McsTable::qam64:
      return cqi_rows_one;
    case McsTable::qam256:
      return cqi_rows_two;
    case McsTable::qam64_low_se:
      return cqi_rows_three;
  }
  TRILEMMA_ENSURE(false, "every MCS table has a CQI table");
  return {};
}

double usual_target(McsTable table) { return table == McsTable::qam64_low_se ? 1e-5 : 0.1; }

std::span<const Mcs> mcs_table(McsTable table) {
  switch (table) {
    case McsTable::qam64:
      return qam64_rows;
    case McsTable::qam256:
      return qam256_rows;
    case McsTable::qam64_low_se:
      return qam64_low_se_rows;
  }
  TRILEMMA_ENSURE(false, "every MCS table has rows");
  return {};
}

}  // namespace trilemma
