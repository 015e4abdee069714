#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/record/record.h"
#include "io/stream.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::tianwang {

// A page to be written. Borrowed for the call.
struct Page {
  std::string_view url;
  std::string_view origin = {};  // the URL that led to `url` by a redirect; empty: none
  Timestamp time;                // of harvest; written to the second
  std::string_view ip = {};      // empty: not known
  std::string_view data;
  bool compress = false;  // as a zlib stream
  // Set: `data` is compressed already, and this is its size before. Requires: !compress.
  std::optional<std::uint64_t> unzip_length = {};
};

// Writes Tianwang 1.0 by its seven rules. Not thread-safe. Borrows `sink` for life.
class Writer {
 public:
  // `offset`: how many bytes of records are in the file already.
  explicit Writer(io::Sink& sink, std::uint64_t offset = 0) : sink_(sink), offset_(offset) {}

  // Returns where the record lies. Errors: kInvalid when a value would break the rules (a line end
  // in it, a space at its ends, no url, a time that RFC 822 cannot write), nothing is written then;
  // those of the sink, and then the writer takes no more records, because the file may end in a
  // part of one.
  Result<record::Extent> Write(const Page& page);

 private:
  io::Sink& sink_;
  std::uint64_t offset_;
  bool failed_ = false;
};

}  // namespace stele::tianwang
