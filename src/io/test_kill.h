#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

// Processes of tests that are killed.
namespace stele::io {

// Starts the program words[0] with the others as arguments, and kills it some microseconds after
// it has said `begun` on its standard output. Appends everything that it said to `text`.
inline void RunAndKill(std::vector<std::string> words, std::string_view begun,
                       unsigned microseconds, std::string& text) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ASSERT_EQ(::posix_spawn_file_actions_init(&actions), 0);
  ASSERT_EQ(::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
  ASSERT_EQ(::posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  bool killed = false;
  std::string piece(4096, '\0');
  for (;;) {
    const ssize_t count = ::read(ends[0], piece.data(), piece.size());
    if (count <= 0) break;
    text.append(piece, 0, static_cast<std::size_t>(count));
    if (killed || text.find(begun) == std::string::npos) continue;
    ::usleep(microseconds);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    killed = true;
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << text;
}

}  // namespace stele::io
