#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file_system.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::archive {

// A capture of a file, as its row tells of it.
struct CutCapture {
  std::uint64_t offset = 0;
  std::uint64_t uri = 0;  // checksum of its URL
  Timestamp time;
  bool goes = false;
};

// Copies the archive file at `path` to `to`, without the captures that go and the records that
// belong to them: requests and notes, and what else names them. `captures` are all that it has, in
// its order. Everything else stays byte for byte as it is, but for records that share a compressed
// member with one that goes: each gets a member of its own.
// Errors: kCorrupt when captures are not where they should be; those of reading and writing.
Status CopyWithout(io::FileSystem& fs, const std::string& path,
                   std::span<const CutCapture> captures, io::WritableFile& to);

// Whether such a copy would have anything but records about the file itself: other records, or
// damaged places. Errors: likewise.
Result<bool> LeavesSomething(io::FileSystem& fs, const std::string& path,
                             std::span<const CutCapture> captures);

}  // namespace stele::archive
