#include "garage.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/config/reader.h"
#include "core/config/yaml.h"

namespace trilemma::test {

Garage::Garage() {
  std::string name = (std::filesystem::temp_directory_path() / "trilemma-garage-XXXXXX").string();
  path_ = mkdtemp(name.data());
  std::filesystem::create_directories(path_ / "makers");
  std::filesystem::create_directories(path_ / "engines");
  std::ofstream(path_ / "makers" / "acme.yaml") << "country: Utopia\nwarranty: 2 h\n";
  std::ofstream(path_ / "makers" / "broken.yaml") << "country: [Utopia\n";
  std::ofstream(path_ / "engines" / "v8.yaml") << "kind: petrol\npower: 300 kW\n";
  std::ofstream(path_ / "engines" / "kindless.yaml") << "power: 300 kW\n";
}
Garage::~Garage() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Read read_car(const std::string& text, const std::vector<std::string>& sets) {
  const Garage garage;
  const config::Catalogue catalogue(garage.path());
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  Read result;
  try {
    config::Node root = config::read_yaml_text(text, {.source = "car.yaml", .line = 1, .column = 1});
    for (const std::string& set : sets) config::apply_set(root, set);
    result.car = reader.read<Car>(root);
    problems.throw_if_any();
  } catch (const config::Error& error) {
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);) result.problems.push_back(line);
  }
  result.origins = reader.origins();
  return result;
}

std::string origin(const Read& read, const std::string& path) {
  const auto found = read.origins.find(path);
  return found == read.origins.end() ? "built-in" : found->second.text();
}

}  // namespace trilemma::test
