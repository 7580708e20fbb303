#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/reader.h"
#include "core/config/writer.h"
#include "sim/scenario.h"

namespace trilemma {

/// A scenario with the places its values came from.
struct Experiment {
  Scenario scenario;
  config::Origins origins;
};

/// Reads a scenario file, lays the --set options over it, fills it in from the catalogue and checks it as a whole.
/// Precedence: built-in < catalogue < file < --set. `shown` is the path as the user typed it.
/// Throws config::Error with one line per problem.
Experiment read_experiment(const std::filesystem::path& file, const std::vector<std::string>& sets,
                           const config::Catalogue& catalogue);

/// Every value of a scenario, in the order of its fields.
config::Json scenario_to_json(const Scenario& scenario);
/// What a scenario has where its file says nothing.
config::Json scenario_defaults();
/// JSON Schema of the scenario file.
config::Json scenario_schema(const config::Catalogue& catalogue);

/// A catalogue entry. Throws config::Error.
template <class T>
T read_part(const config::Catalogue& catalogue, const std::string& family, const std::string& name) {
  config::Problems problems;
  config::Reader reader(catalogue, problems);
  T entry = reader.read<T>(catalogue.read(family, name));
  problems.throw_if_any();
  return entry;
}

/// A catalogue entry as the reader understands it, to check configs/ itself. Throws config::Error.
config::Json read_catalogue_entry(const config::Catalogue& catalogue, const std::string& family,
                                  const std::string& name);

}  // namespace trilemma
