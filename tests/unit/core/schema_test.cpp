#include "core/config/schema.h"

#include <gtest/gtest.h>

#include "garage.h"

namespace trilemma::test {
namespace {

using config::Json;

Json car_schema() {
  const Garage garage;
  return config::schema_of<Car>(config::Catalogue(garage.path()));
}

TEST(Schema, ListsEveryFieldAndNoOther) {
  const Json schema = car_schema();
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json::array({"engine", "maker"}));
  std::size_t fields = 0;
  std::apply(
      [&](const auto&... field) {
        ((EXPECT_TRUE(schema["properties"].contains(std::string(field.key))) << field.key, ++fields), ...);
      },
      Car::fields());
  EXPECT_EQ(schema["properties"].size(), fields);
}

TEST(Schema, GivesTypeRangeDefaultAndMeaning) {
  const Json properties = car_schema()["properties"];
  EXPECT_EQ(properties["seats"],
            Json({{"type", "integer"}, {"minimum", 1}, {"maximum", 9}, {"description", "seats"}, {"default", 5}}));
  EXPECT_EQ(properties["open"]["type"], "boolean");
  EXPECT_EQ(properties["ratio"]["type"], "number");
  EXPECT_EQ(properties["name"]["type"], "string");
  EXPECT_EQ(properties["share"]["default"], "50 %");
  EXPECT_EQ(properties["share"]["$comment"], ">= 0 %, <= 100 %");
  EXPECT_FALSE(properties["trailer"].contains("default"));
  EXPECT_EQ(properties["colour"]["enum"], Json::array({"red", "dark-blue"}));
  EXPECT_EQ(properties["extras"]["items"]["type"], "string");
  EXPECT_EQ(properties["extras"]["minItems"], 1);
  EXPECT_EQ(properties["wheels"]["items"]["required"], Json::array({"radius"}));
}

TEST(Schema, OffersTheWordsAndMapsOfAVariant) {
  const Json engine = car_schema()["properties"]["engine"];
  EXPECT_EQ(engine["anyOf"][0]["enum"], Json::array({"electric", "petrol", "kindless", "v8"}));
  EXPECT_EQ(engine["anyOf"][1]["properties"]["kind"]["const"], "electric");
  EXPECT_EQ(engine["anyOf"][2]["required"], Json::array({"kind", "power"}));
}

TEST(Schema, OffersTheNamesOfACatalogue) {
  const Json maker = car_schema()["properties"]["maker"];
  EXPECT_EQ(maker["anyOf"][0]["enum"], Json::array({"acme", "broken"}));
  EXPECT_FALSE(maker["anyOf"][1].contains("required")) << "the rest may come from the catalogue";
}

TEST(Schema, IsAPageAsWell) {
  const std::string page = config::schema_to_markdown(car_schema(), "Car");
  for (const std::string line : {"# Car\n", "| `seats` | integer | `5` | >= 1, <= 9 | seats |\n", "\n## wheels[]\n",
                                 "\n## engine, kind: petrol\n", "| `radius` | `20 m` | required | > 0 m | radius |\n",
                                 "| `colour` | `red`, `dark-blue` | `red` |  | of the paint |\n"})
    EXPECT_NE(page.find(line), std::string::npos) << line << page;
}

}  // namespace
}  // namespace trilemma::test
