#include "core/ensure.h"

namespace trilemma {

void report_broken_invariant(std::string_view invariant, const char* file, int line) {
  throw InvariantViolation("internal invariant broken: " + std::string(invariant) + " (" + file + ":" +
                           std::to_string(line) + ")");
}

}  // namespace trilemma
