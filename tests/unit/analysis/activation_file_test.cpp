#include "analysis/activation_file.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/activation_statistics.h"
#include "core/csv.h"
#include "models/codec/little_endian.h"
#include "models/codec/npy.h"
#include "models/codec/number_format.h"
#include "tests/unit/codec/activations.h"

namespace trilemma::test {
namespace {

namespace fs = std::filesystem;
using Sides = std::vector<std::int64_t>;

class ActivationFile : public testing::Test {
 protected:
  ActivationWindows read(const Sides& sides, const std::vector<float>& values) {
    write_npy(file_, sides, values);
    return read_activations(file_);
  }
  std::string refused(const Sides& sides, const std::vector<float>& values) {
    try {
      (void)read(sides, values);
    } catch (const NpyProblem& problem) {
      return problem.what();
    }
    return {};
  }
  ~ActivationFile() override { fs::remove(file_); }

  const fs::path file_ = fs::path(testing::TempDir()) / ("activation_file_test_" + std::to_string(getpid()) + ".npy");
};

TEST_F(ActivationFile, IsOneTokenTokensOrWindows) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(read({12}, values).shape, (Shape{1, 12}));
  EXPECT_EQ(read({3, 4}, values).shape, (Shape{3, 4}));
  const ActivationWindows windows = read({2, 3, 2}, values);
  EXPECT_EQ(windows.shape, (Shape{3, 2}));
  EXPECT_EQ(windows.windows, 2);
  EXPECT_THAT(windows.window(1), testing::ElementsAre(7, 8, 9, 10, 11, 12));
}

TEST_F(ActivationFile, IsRefusedWithFourSidesOrNone) {
  EXPECT_THAT(refused({1, 1, 1, 2}, {1, 2}), testing::HasSubstr("has 4 sides"));
  EXPECT_THAT(refused({}, {1}), testing::HasSubstr("has 0 sides"));
}

TEST_F(ActivationFile, IsRefusedWithValuesThatAreNotFinite) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
    EXPECT_THAT(refused({2, 2}, {1, 2, bad, 4}), testing::HasSubstr("value 2 (counted from 0 in C order) is"));
}

/// The acts file of the reference folder: [layer][window][token][hidden value] as FP16.
ActivationWindows reference_layer(const fs::path& file, std::int64_t layer) {
  ActivationWindows activations{.shape = {128, 64}, .windows = 8, .values = {}};
  const auto count = static_cast<std::size_t>(8 * 128 * 64);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(2 * count) * layer);
  std::vector<std::byte> bytes(2 * count);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  for (std::size_t i = 0; i < count; ++i)
    activations.values.push_back(
        from_fp16(static_cast<std::uint16_t>(get_little_endian(std::span(bytes).subspan(2 * i, 2)))));
  return activations;
}

using Row = std::map<std::string, std::string>;

/// The row of 64 windows of the same model and length, first token included.
Row published_row(const fs::path& file, std::int64_t layer) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  const auto header = csv_cells(line);
  while (std::getline(stream, line)) {
    const auto cells = csv_cells(line);
    Row row;
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
    if (row["model"] == "stories260K" && row["S"] == "128" && row["layer"] == std::to_string(layer) &&
        row["tokens"] == "all_tokens")
      return row;
  }
  return {};
}

/// The file has the mean of 64 windows, eight of which are here: their difference scatters like the mean of eight, or a
/// little less.
void expect_like(const std::optional<WindowMean>& found, const Row& row, const std::string& column) {
  ASSERT_TRUE(row.contains(column)) << column;
  EXPECT_NEAR(found->mean, std::stod(row.at(column)), 4 * *found->error) << column;
}

TEST(RealActivations, HaveTheEnergiesThatNumpyFound) {
  const char* root = std::getenv("TRILEMMA_REFERENCE");
  const fs::path folder = root != nullptr ? root : TRILEMMA_SOURCE_DIR "/../shared/reference";
  const fs::path acts = folder / "weights" / "acts_6x8x128x64_f16.bin";
  const fs::path table = folder / "data" / "real_activation_energy.csv";
  if (!fs::exists(acts) || !fs::exists(table))
    GTEST_SKIP() << acts << " is not shipped; set TRILEMMA_REFERENCE to a folder with weights/ and data/";
  const std::vector<std::string> columns{"low10_radial",      "symbox10",     "low10_token_axis",
                                         "low10_hidden_axis", "dc_token_row", "dc_hidden_col"};
  const std::map<std::size_t, std::string> shares{
      {1, "symbox10_coef_frac"}, {2, "low10_token_axis_coef_frac"}, {3, "low10_hidden_axis_coef_frac"}};
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    const ActivationWindows activations = reference_layer(acts, layer);
    const Row row = published_row(table, layer);
    const auto found = energy_shares(activations);
    for (std::size_t i = 0; i < columns.size(); ++i) expect_like(found[i].energy, row, columns[i]);
    constexpr double five_decimals = 5.1e-6;
    for (const auto& [i, column] : shares) EXPECT_NEAR(found[i].coefficients, std::stod(row.at(column)), five_decimals);
    const NeighbourCorrelation correlation = neighbour_correlation(activations);
    expect_like(correlation.tokens, row, "lag1_token");
    expect_like(correlation.hidden, row, "lag1_hidden");
  }
}

}  // namespace
}  // namespace trilemma::test
