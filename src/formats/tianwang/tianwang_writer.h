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

  // The same for data in pieces, `length` bytes in all; page.data is not looked at. Begin() has the
  // errors of Write(). Requires: !page.compress; each Begin() is followed by all the bytes, and
  // then by End().
  Status Begin(const Page& page, std::uint64_t length);
  Status Append(std::string_view piece);
  Result<record::Extent> End();

 private:
  Status Out(std::string_view bytes);

  io::Sink& sink_;
  std::uint64_t offset_;
  std::uint64_t begin_ = 0;  // of the record that is being written
  std::uint64_t left_ = 0;   // of its data
  bool failed_ = false;
};

}  // namespace stele::tianwang
