#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::archive {

// Makes a file in a directory of its own, which is made, too, in one that exists. File, directory
// and both names are durable when it succeeds.
Status WriteDurably(io::FileSystem& fs, const std::string& path,
                    const std::function<Status(io::WritableFile&)>& write);

// Makes a directory and what it is in, durably; fine when it is there.
Status MakeDirectories(io::FileSystem& fs, const std::string& path);

// Removes a file, or a directory with all that is in it; fine when there is nothing.
Status RemoveTree(io::FileSystem& fs, const std::string& path);

// What the bytes of a file are.
struct FileFacts {
  std::string sha256;  // in hexadecimal digits
  std::uint64_t bytes = 0;
};
// Appends all of a source to a file, and says what it was. `progress` is told of each piece, and
// may be empty.
Result<FileFacts> CopyTo(io::Source& source, io::WritableFile& out,
                         const std::function<void(std::uint64_t bytes)>& progress = {});
// Reads it from begin to end; `progress` is told of each piece, and may be empty.
Result<FileFacts> FactsOf(io::FileSystem& fs, const std::string& path,
                          const std::function<void(std::uint64_t bytes)>& progress = {});

}  // namespace stele::archive
