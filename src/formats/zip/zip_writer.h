#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/zip/zip_format.h"
#include "io/stream.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::zip {

struct WriterOptions {
  Timestamp time;  // of all entries; 1980 is the earliest that can be written
  // Numbers from here on are written in 64 bits.
  std::uint64_t wide_from = kElsewhere32;
};

// Writes a ZIP file from begin to end, with entries that are stored as they are. Not thread-safe.
// Borrows the sink for life; after an error of it nothing more can be written.
class ZipWriter {
 public:
  ZipWriter(io::Sink& sink, const WriterOptions& options) : sink_(sink), options_(options) {}

  // What an entry will consist of; it stands before it.
  struct Content {
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
  };
  // Requires: the entry before is complete. Errors: kInvalid when the name is too long or was there
  // before; those of the sink.
  Status Begin(std::string_view name, const Content& content);
  // Errors: kInvalid when these are not the bytes that Begin() announced: nothing more can be
  // written then.
  Status Append(std::string_view bytes);
  // Both at once.
  Status Add(std::string_view name, std::string_view bytes);
  // The directory. Requires: the last entry is complete.
  Status Finish();

 private:
  struct Written {
    std::string name;
    Content content;
    std::uint64_t header = 0;
  };
  bool IsWide(std::uint64_t number) const { return number >= options_.wide_from; }
  Status Write(std::string_view bytes);
  void PutCentral(std::string& out, const Written& entry) const;

  io::Sink& sink_;
  const WriterOptions options_;
  std::vector<Written> entries_;
  std::uint64_t position_ = 0;
  std::uint64_t missing_ = 0;  // bytes of the last entry
  std::uint32_t crc32_ = 0;    // of what is there of it
};

}  // namespace stele::zip
