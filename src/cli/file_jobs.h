#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "io/stream.h"

namespace stele::cli {

// One file of a command that takes several.
struct FileJob {
  const std::string& path;
  io::Sink& out;  // reaches the command's output in the order of the files
  std::atomic<std::uint64_t>&
      done;  // bytes of input behind us, over all files; for the progress bar
};

// What became of a file. The text of an error names it.
using FileTask = std::function<Result<ExitCode>(FileJob& job)>;

// Runs `task` for every file, up to `threads` at a time, each on a thread of its own, and shows the
// progress on a terminal. What they write is passed on to `out` in the order of the files, in
// bounded memory. A file that fails does not stop the others; the worst outcome is returned.
ExitCode RunOverFiles(const std::vector<std::string>& paths, int threads, io::Sink& out,
                      bool show_progress, Context& context, const FileTask& task);

// Options that all commands over files share, and their values.
std::vector<Option> WithFileOptions(std::vector<Option> options);
// 0 when the value is wrong; a complaint has then been made.
int ThreadsOf(const Arguments& arguments, Context& context);
bool ShowsProgress(const Arguments& arguments, const Context& context);
// Complains and says false when no files were given.
bool HasFiles(const Arguments& arguments, Context& context);

}  // namespace stele::cli
