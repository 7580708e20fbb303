// What a run says to the shell.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/support/command.h"

namespace trilemma::test {
namespace {

/// The quickstart in two seconds, with further options.
Output quickstart(std::vector<std::string> options) {
  std::vector<std::string> words{"run", TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml", "--set", "duration=2 s"};
  words.insert(words.end(), options.begin(), options.end());
  return run_program(words);
}

TEST(ExitCode, IsZeroForARunWhateverItsVerdict) {
  EXPECT_EQ(quickstart({}).code, 0);
  EXPECT_EQ(quickstart({"--set", "target.latency=1 ms"}).code, 0);
}

TEST(ExitCode, WithCheckTellsTheVerdict) {
  EXPECT_EQ(quickstart({"--check", "--set", "target={latency: 1 s, reliability: 50 %}"}).code, 0);
  EXPECT_EQ(quickstart({"--check", "--set", "target.latency=1 ms"}).code, 1);
  // Two seconds are too short for 99.9999 %.
  EXPECT_EQ(quickstart({"--check", "--set", "target={latency: 1 s, reliability: 99.9999 %}"}).code, 1);
}

TEST(ExitCode, IsThreeWhereEveryRequestFails) {
  // 50 m away behind clutter, a device of -50 dBm is not heard.
  const std::vector<std::string> unheard{"--set", "radio.device.power=-50 dBm", "--set",
                                         "radio.harq.max_transmissions=1"};
  const Output output = quickstart(unheard);
  EXPECT_EQ(output.code, 3);
  EXPECT_NE(output.text.find("completed 0 + failed"), std::string::npos) << output.text;
}

TEST(ExitCode, IsFourWhereALimitEndsTheRun) { EXPECT_EQ(quickstart({"--set", "limits.events=1000"}).code, 4); }

TEST(ExitCode, OfAnInterruptedRunIsThatOfTheSignalAndNothingIsLeftBehind) {
  namespace fs = std::filesystem;
  const fs::path out = fs::temp_directory_path() / ("trilemma-interrupt-" + std::to_string(getpid()));
  const pid_t child = fork();
  if (child == 0) {
    execl(TRILEMMA_BINARY, "trilemma", "run", TRILEMMA_SOURCE_DIR "/scenarios/quickstart.yaml", "--set",
          "duration=20 h", "--set", "limits.wall=2 min", "--out", out.c_str(), "--progress", "none", nullptr);
    _exit(99);
  }
  // The draft folder is made just before the run starts, and the run takes longer than anyone waits.
  while (!fs::exists(out) || fs::is_empty(out)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  // A signal before the handler is in place kills at once: that is no orderly end, and no defect either.
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
    EXPECT_TRUE(fs::is_empty(out));
  } else {
    EXPECT_EQ(WTERMSIG(status), SIGINT);
  }
  fs::remove_all(out);
}

}  // namespace
}  // namespace trilemma::test
