#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/calibration/fit.h"
#include "analysis/calibration/measurement.h"
#include "models/processor/sheet.h"

namespace trilemma {

/// A measurement against the model.
struct Point {
  Measurement row;
  Duration predicted{0};           // by the rate of the device file
  std::optional<Duration> unseen;  // by a fit without this model, or without this row where there is one model
};

/// What is known of one precision after calibration.
struct CalibratedRate {
  PrecisionRate rate;
  std::vector<FittedParameter> parameters;  // empty: all given
  std::vector<Point> points;
  bool by_model = false;  // `unseen` leaves out whole models
};

/// Relative errors |predicted / measured - 1| of a set of points.
struct ErrorSummary {
  std::size_t points = 0;
  double median = 0;
  double worst = 0;
};
enum class Sample { fit, left_out, held_out };
enum class Phase { decode, prefill, convolution };
/// Of the points of a rate; empty where there are none.
std::optional<ErrorSummary> errors_of(const CalibratedRate& rate, Sample sample, Phase phase);

/// Fits each precision of a sheet to the rows for it. Throws config::Error that names the file and line: rows without a
/// peak, rows faster than the hardware can, parameters that the rows do not decide. `shown` is the measurements' name.
std::vector<CalibratedRate> calibrate(const HardwareSheet& sheet, std::span<const Measurement> rows,
                                      const std::string& shown);

/// The device file: `head`, which is the sheet up to its peaks, word for word, then the rates, each number with its
/// origin. `files` names the sheet and the measurements.
std::string device_file(const std::string& head, std::span<const CalibratedRate> rates, const std::string& files);

/// Every point with its errors, as a table for the terminal.
std::string point_table(std::span<const CalibratedRate> rates);
/// Errors by precision, runtime and phase: rows of a Markdown table that begin with `device`.
std::vector<std::vector<std::string>> error_rows(const std::string& device, std::span<const CalibratedRate> rates);

}  // namespace trilemma
