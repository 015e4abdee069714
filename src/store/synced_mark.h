#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_system.h"

namespace stele::store {

// The file `synced` of a buffered volume: up to where its log was durable when the disk was last
// synced. After a power failure, what stands before it is damage where it cannot be read, and what
// stands behind it is what the power left. A line of fixed length, written in place:
//
//   0000000002 00000000000000123456 7D10E5A1C2B3F409 LF
//   file       bytes of it          Rabin fingerprint of what stands before it
//
// Not thread-safe.
class SyncedMark {
 public:
  struct Position {
    std::uint64_t file = 0;  // the number of a container; 0 for the journal of a tree
    std::uint64_t bytes = 0;

    friend bool operator==(const Position&, const Position&) = default;
  };

  // The file in `directory` is made when it is missing. Borrows `fs` for the call.
  static Result<std::unique_ptr<SyncedMark>> Open(io::FileSystem& fs, const std::string& directory);

  // What was found when it was opened; nothing is known to be durable when it was damaged or new.
  const Position& found() const { return found_; }

  // Durable when it returns.
  Status Set(const Position& position);

  // Takes the file away, durably. Fine when there is none.
  static Status Remove(io::FileSystem& fs, const std::string& directory);

 private:
  SyncedMark(std::unique_ptr<io::UpdatableFile> file, Position found)
      : file_(std::move(file)), found_(found) {}

  const std::unique_ptr<io::UpdatableFile> file_;
  const Position found_;
};

}  // namespace stele::store
