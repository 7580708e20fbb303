// What the reader accepts, the schema accepts: editors must not underline a file that runs.

#include <gtest/gtest.h>

#include "sim/experiment.h"
#include "tests/property/random_scenario.h"
#include "tests/support/json_schema.h"

namespace trilemma::test {
namespace {

TEST(RandomScenarios, AreValidByTheSchema) {
  const Json schema = scenario_schema(config::Catalogue(TRILEMMA_SOURCE_DIR "/configs"));
  for (std::uint32_t number = 1; number <= 300; ++number) {
    const Scenario scenario = random_scenario(number);
    if (!problems_of(scenario).empty()) continue;
    ASSERT_EQ(schema_faults(schema, scenario_to_json(scenario)), std::vector<std::string>{}) << as_yaml(scenario);
  }
}

}  // namespace
}  // namespace trilemma::test
