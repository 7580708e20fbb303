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
  std::vector<std::string> keys;
  std::apply([&](const auto&... field) { (keys.emplace_back(field.key), ...); }, Car::fields());
  std::vector<std::string> properties;
  for (const auto& [key, property] : schema["properties"].items()) properties.push_back(key);
  EXPECT_EQ(properties, keys);
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
  EXPECT_EQ(engine["anyOf"][0]["enum"], Json::array({"electric", "kindless", "v8"}))
      << "'petrol' alone would lack its power";
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
  for (const std::string part :
       {"# Car\n", "| `5` | >= 1, <= 9 | seats |\n", "\n## wheels[]\n", "\n## engine, kind: petrol\n",
        "| required | > 0 m | radius |\n", "| `colour` | `red`, `dark-blue` | `red` |  | of the paint |\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << page;
}

}  // namespace
}  // namespace trilemma::test
