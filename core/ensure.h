#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace trilemma {

/// An internal invariant is broken: our mistake, never the user's. The command line ends with exit code 70.
class InvariantViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The input asks for more than the program can count (a step of 30 years, 9e18 bytes): the user's mistake, found only
/// when the numbers meet. The command line ends with exit code 2.
class OutOfRange : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void report_broken_invariant(std::string_view invariant, const char* file, int line);

}  // namespace trilemma

/// Checks an invariant in every build type; `invariant` is a sentence that must be true.
/// A macro only because clang-tidy 14 cannot digest std::source_location.
#define TRILEMMA_ENSURE(condition, invariant)          \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::trilemma::report_broken_invariant((invariant), __FILE__, __LINE__))
