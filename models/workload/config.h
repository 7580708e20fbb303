#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/config/concepts.h"
#include "core/config/field.h"
#include "core/units.h"
#include "models/accuracy/published.h"
#include "models/workload/classes.h"
#include "models/workload/lengths.h"

namespace trilemma {

/// Exponential gaps of mean 1/rate, each client on its own stream.
struct PoissonArrivals {
  static constexpr std::string_view kind = "poisson";
  EventRate rate{0};

  static constexpr auto fields() {
    return std::tuple{config::required("rate", &PoissonArrivals::rate, "requests per second of one client",
                                       config::between(1e-7, 1e9))};
  }
};

/// One request every `period`, shifted by a phase drawn once per client (or none) and by jitter drawn per request.
struct PeriodicArrivals {
  static constexpr std::string_view kind = "periodic";
  Duration period{0};
  Duration jitter{0};
  bool aligned = false;

  static constexpr auto fields() {
    return std::tuple{
        config::required("period", &PeriodicArrivals::period, "time between two requests of one client",
                         config::positive_up_to_30_years),
        config::field("jitter", &PeriodicArrivals::jitter, "each request is late by up to this, uniformly",
                      config::up_to_30_years),
        config::field("aligned", &PeriodicArrivals::aligned, "all clients start at time 0 instead of a random phase")};
  }
  [[nodiscard]] std::vector<config::FieldProblem> problems() const;
};

/// A client asks again an exponential think time after the last answer.
struct ClosedArrivals {
  static constexpr std::string_view kind = "closed";
  Duration think{0};

  static constexpr auto fields() {
    return std::tuple{config::required("think", &ClosedArrivals::think, "mean think time; 0 s asks again at once",
                                       config::between(0, 1e16))};
  }
};

/// Arrivals from a CSV file with the header `time,client[,prompt,output]`.
struct TraceArrivals {
  static constexpr std::string_view kind = "trace";
  std::string file;
  Duration time_unit{0};
  bool from_zero = true;
  double time_scale = 1;

  static constexpr auto fields() {
    return std::tuple{config::required("file", &TraceArrivals::file, "CSV file, relative to the scenario file"),
                      config::required("time_unit", &TraceArrivals::time_unit,
                                       "unit of the column `time`, such as '1 ms'", config::positive_up_to_30_years),
                      config::field("from_zero", &TraceArrivals::from_zero,
                                    "true: times count from the start of the run; false: the first row is the start"),
                      config::field("time_scale", &TraceArrivals::time_scale, "times are multiplied by this",
                                    config::Bounds{.min = 0, .max = 1e9, .min_allowed = false})};
  }
};

using ArrivalConfig = std::variant<PoissonArrivals, PeriodicArrivals, ClosedArrivals, TraceArrivals>;

struct WorkloadConfig {
  std::int64_t clients = 1;
  ArrivalConfig arrivals;
  LengthConfig prompt = FixedLength{Tokens(128)};
  LengthConfig output = FixedLength{Tokens(1)};
  bool stream = true;
  std::optional<TaskConfig> task;
  std::vector<ClassConfig> classes;

  static constexpr auto fields() {
    using config::between, config::field, config::required;
    return std::tuple{
        field("clients", &WorkloadConfig::clients, "devices, spread evenly over the cells", between(1, 1e6)),
        required("arrivals", &WorkloadConfig::arrivals, "when each client sends a request"),
        field("prompt", &WorkloadConfig::prompt, "tokens of a prompt; a number or a distribution"),
        field("output", &WorkloadConfig::output,
              "tokens generated per request, one pass each; a number or a distribution"),
        field("stream", &WorkloadConfig::stream,
              "whether an answer that is generated behind the device goes down token by token or as a whole"),
        field("task", &WorkloadConfig::task, "what the answers are scored on; selects published accuracies"),
        field("classes", &WorkloadConfig::classes,
              "kinds of requests in a mix, drawn by their shares; absent: all are alike"),
    };
  }
};

}  // namespace trilemma
