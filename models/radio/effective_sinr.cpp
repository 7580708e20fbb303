#include "models/radio/effective_sinr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/ensure.h"

namespace trilemma {
namespace {

constexpr std::array table_1{1.60,  1.61,  1.63,  1.65,  1.67,  1.70,  1.73,  1.76,  1.79,  1.82,
                             3.97,  4.27,  4.71,  5.16,  5.66,  6.16,  6.50,  9.95,  10.97, 12.92,
                             14.96, 17.06, 19.33, 21.85, 24.51, 27.14, 29.94, 32.05, 34.28};
constexpr std::array table_2{1.60,  1.63,  1.67,  1.73,  1.79,   4.27,   4.71,   5.16,  5.66,  6.16,
                             6.50,  10.97, 12.92, 14.96, 17.06,  19.33,  21.85,  24.51, 27.14, 29.94,
                             56.48, 65.0,  78.58, 92.48, 106.27, 118.74, 126.36, 132.54};

double nearest_beta(const Mcs& wanted) {
  double best = 0;
  double least = std::numeric_limits<double>::infinity();
  const std::span<const Mcs> rows = mcs_table(McsTable::qam64);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double distance = std::abs(rows[i].spectral_efficiency() - wanted.spectral_efficiency());
    if (rows[i].modulation_order != wanted.modulation_order || distance >= least) continue;
    least = distance;
    best = table_1.at(i);
  }
  return best;
}

}  // namespace

std::vector<double> eesm_betas(McsTable table) {
  std::vector<double> betas;
  if (table == McsTable::qam64) betas.assign(table_1.begin(), table_1.end());
  if (table == McsTable::qam256) betas.assign(table_2.begin(), table_2.end());
  if (table == McsTable::qam64_low_se) {
    for (const Mcs& row : mcs_table(table)) betas.push_back(nearest_beta(row));
  }
  TRILEMMA_ENSURE(betas.size() == mcs_table(table).size(), "every MCS has a beta");
  return betas;
}

double effective_sinr(std::span<const float> sinrs, double beta) {
  // From the smallest SINR up: exp() of the whole SINR vanishes for a strong signal.
  const float least = *std::min_element(sinrs.begin(), sinrs.end());
  const auto scale = static_cast<float>(-1 / beta);
  float sum = 0;
  for (const float sinr : sinrs) sum += std::exp((sinr - least) * scale);
  return static_cast<double>(least) - beta * std::log(static_cast<double>(sum) / static_cast<double>(sinrs.size()));
}

}  // namespace trilemma
