#include <cmath>

#include <fmt/format.h>

#include "analysis/summary_json.h"
#include "tests/property/invariants.h"

namespace trilemma::test {
namespace {

using config::Json;

/// Members that are null by themselves: there is no target, no channel model, no activation, no load or no bound.
bool may_be_empty(const std::string& path) {
  for (const char* allowed : {"/target", "/radio", "/size/ratio", "/stability/binding_resource",
                              "/target/more_requests_needed", "/target/goodput_per_s"}) {
    if (path == allowed) return true;
  }
  return false;
}

/// Walks a summary: numbers are finite, and a null stands beside a reason or where it speaks for itself.
void walk(const Json& value, const std::string& path, bool explained, std::vector<std::string>& broken) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) broken.push_back(path + " is not finite");
  if (value.is_null() && !explained && !may_be_empty(path)) broken.push_back(path + " is null without a reason");
  if (value.is_array()) {
    for (const Json& item : value) walk(item, path + "[]", false, broken);
  }
  if (!value.is_object()) return;
  const bool reason = value.contains("reason") && !value["reason"].get<std::string>().empty();
  for (const auto& [key, child] : value.items()) walk(child, path + "/" + key, reason, broken);
}

void check_order(const Json& latency, std::vector<std::string>& broken) {
  double lower = 0;
  double value = 0;
  double upper = 0;
  const auto rises = [&](const Json& number, double& last, const std::string& what) {
    if (number.is_null()) return;
    if (number.get<double>() < last) broken.push_back(what + " is below that of a smaller quantile");
    last = number.get<double>();
  };
  for (const NamedQuantile& quantile : reported_quantiles) {
    const std::string name(quantile.name);
    const Json& one = latency[name];
    rises(one["lower"], lower, name + ".lower");
    rises(one["value"], value, name + ".value");
    rises(one["upper"], upper, name + ".upper");
    if (one["value"].is_null()) continue;
    if (!one["lower"].is_null() && one["lower"] > one["value"]) broken.push_back(name + ".lower exceeds the value");
    if (!one["upper"].is_null() && one["upper"] < one["value"]) broken.push_back(name + ".upper is below the value");
    if (one["value"] > latency["max"]) broken.push_back(name + " exceeds the maximum");
  }
}

void check_stages(const Json& json, std::vector<std::string>& broken) {
  double floor = 0;
  double mean = 0;
  bool said = true;
  for (const auto& [name, stage] : json["stages_ms"].items()) {
    floor += stage["floor"].get<double>();
    if (stage["mean"].is_null())
      said = false;
    else
      mean += stage["mean"].get<double>();
  }
  constexpr double tolerance_ms = 1e-6;  // nine means, each rounded to 1e-9 ms
  if (std::abs(floor - json["floor_ms"].get<double>()) > tolerance_ms) broken.push_back("stage floors miss the floor");
  if (said != !json["latency_ms"]["mean"].is_null()) broken.push_back("stages are said when the mean is");
  if (said && std::abs(mean - json["latency_ms"]["mean"].get<double>()) > tolerance_ms)
    broken.push_back("stage means miss the mean");
}

/// The floor is that of the best client; a row of a trace may ask for less than the scenario does.
void check_floor(const Scenario& scenario, const std::vector<RequestRecord>& records, const Json& json,
                 std::vector<std::string>& broken) {
  if (!scenario.trace.empty()) return;
  const double floor = json["floor_ms"].get<double>();
  double bound = floor;
  for (const RequestRecord& record : records) {
    if (record.bound > record.floor) return broken.push_back("a request has a higher bound than its floor");
    bound = std::min(bound, to_milliseconds(record.bound));
    if (to_milliseconds(record.floor) < floor - 1e-6)
      return broken.push_back("a request has a lower floor than the best");
  }
  const Json& mean = json["latency_ms"]["mean"];
  if (!mean.is_null() && mean.get<double>() < bound - 1e-6) broken.push_back("the mean beats the bound");
}

void check_target(const Scenario& scenario, const std::vector<RequestRecord>& records, const Json& json,
                  std::vector<std::string>& broken) {
  std::int64_t measured = 0;
  std::int64_t late = 0;
  for (const RequestRecord& record : records) {
    if (record.request.arrival < scenario.warmup) continue;
    ++measured;
    const bool lost = record.outcome != Outcome::completed;
    if (scenario.target && (lost || record.latency() > scenario.target->latency)) ++late;
  }
  if (json["requests"]["measured"] != measured) broken.push_back("measured requests are those after the warm-up");
  if (scenario.target.has_value() == json["target"].is_null()) broken.push_back("a target has a verdict");
  if (json["target"].is_null()) return;
  const Json& target = json["target"];
  if (target["n"] != measured) broken.push_back("the target counts every measured request");
  if (target["violations"] != late) broken.push_back("violations are the late and the lost requests");
  if (target["lower_bound"] > target["upper_bound"]) broken.push_back("the bounds of the target are in order");
  const double allowed = 1 - scenario.target->reliability.value();
  // A trace ends: its target is judged on its own requests.
  const bool overloaded = json["stability"]["verdict"] == "overloaded" && scenario.trace.empty();
  if (target["verdict"] == "holds" && (overloaded || target["upper_bound"].get<double>() > allowed + 1e-9))
    broken.push_back("a target holds only where the upper bound does");
  if (target["verdict"] == "fails" && !overloaded && target["lower_bound"].get<double>() < allowed - 1e-9)
    broken.push_back("a target fails only where the lower bound does");
}

void check_counts(const Json& requests, std::int64_t records, std::vector<std::string>& broken) {
  const auto number = [&](const char* key) { return requests[key].get<std::int64_t>(); };
  if (number("offered") != number("completed") + number("failed") + number("dropped") + number("in_flight"))
    broken.push_back("the counts of the summary add up");
  if (number("offered") != records) broken.push_back("every record was offered");
}

}  // namespace

Summary summary_of(const Scenario& scenario, const std::vector<Played>& runs) {
  Collector collector(scenario);
  std::vector<Replication> replications;
  for (const Played& run : runs) {
    for (const RequestRecord& record : run.records) collector.add(record);
    replications.push_back(run.replication);
  }
  return summarize(scenario, collector, replications);
}

std::vector<std::string> broken_by_summary(const Scenario& scenario, const std::vector<Played>& runs) {
  std::vector<std::string> broken;
  std::vector<RequestRecord> records;
  for (const Played& run : runs) records.insert(records.end(), run.records.begin(), run.records.end());
  const Json json = summary_to_json(scenario, summary_of(scenario, runs));
  walk(json, "", false, broken);
  check_order(json["latency_ms"], broken);
  check_stages(json, broken);
  check_floor(scenario, records, json, broken);
  check_target(scenario, records, json, broken);
  check_counts(json["requests"], std::ssize(records), broken);
  return broken;
}

}  // namespace trilemma::test
