// Writes the man pages and the completions into the directory that is its only argument.
#include <fmt/format.h>

#include <cstdio>

#include "cli/command_line.h"
#include "io/posix_file_system.h"

namespace stele::cli {
namespace {

Status WritePages(io::FileSystem& fs, const std::string& directory,
                  std::vector<const Command*>& path) {
  const std::string file = fmt::format("{}/{}.1", directory, FullName(path, '-'));
  if (Status written = io::ReplaceFile(fs, file, ManPage(path, STELE_VERSION)); !written) {
    return written;
  }
  for (const Command& child : path.back()->commands) {
    path.push_back(&child);
    if (Status written = WritePages(fs, directory, path); !written) return written;
    path.pop_back();
  }
  return {};
}

Status WriteAll(const std::string& directory) {
  io::PosixFileSystem fs;
  const std::string pages = directory + "/man1";
  for (const std::string& made : {directory, pages}) {
    if (Status status = fs.MakeDirectory(made); !status) return status;
  }
  const Command root = SteleCommand();
  std::vector<const Command*> path = {&root};
  if (Status written = WritePages(fs, pages, path); !written) return written;
  return io::ReplaceFile(fs, directory + "/stele.bash", BashCompletion(root));
}

}  // namespace
}  // namespace stele::cli

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: stele_manual DIRECTORY\n", stderr);
    return 2;
  }
  const stele::Status written = stele::cli::WriteAll(words[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().text.c_str());
  return written ? 0 : 3;
}
