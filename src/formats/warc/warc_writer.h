#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/buffer.h"
#include "formats/record/record.h"
#include "formats/record/record_input.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::codec {
class Encoder;
class GzipMemberDeflater;
}  // namespace stele::codec

namespace stele::warc {

// The fields of a record to be written, in order. The writer adds Content-Length.
class FieldList {
 public:
  void Add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  // Replaces the value of the first field of that name, or adds it.
  void Set(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  const std::string* Find(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct WriterOptions {
  record::Compression compression = record::Compression::kGzip;
  int level = 6;
  // For kZstd: written as the first frame and used for every record. Empty: none.
  std::string dictionary;
};

// Writes WARC 1.1, each record as one gzip member, one zstd frame, or plain. A record goes out
// when it is complete, except for large ones, which go out in pieces. Not thread-safe. Borrows
// `sink`. After an error the output is unusable and takes nothing more.
class WarcWriter {
 public:
  // Errors: kInvalid when the dictionary cannot be used, and those of the sink.
  static Result<std::unique_ptr<WarcWriter>> Create(io::Sink& sink, WriterOptions options);
  ~WarcWriter();

  Result<record::Extent> Write(const FieldList& fields, std::string_view block);

  // A block in pieces, whose length is known before. Errors: kInvalid for a field with a line end
  // in it, which would let a value pass itself off as other fields.
  Status Begin(const FieldList& fields, std::uint64_t content_length);
  // The same for a copy of a record of any format: `head` goes out as it is, empty line included,
  // and `separator` behind the block.
  Status BeginCopy(std::string_view head, std::uint64_t content_length, std::string_view separator);
  // Requires: Begin() or BeginCopy() before, and not more bytes than it was told.
  Status Append(std::string_view piece);
  // Requires: all bytes are there.
  Result<record::Extent> End();

  // Forgets a record that was begun, if one was. False: a part of it is written, or an earlier
  // write failed, and nothing more can be.
  bool Abandon();

  // Bytes written so far.
  std::uint64_t offset() const { return offset_; }

 private:
  WarcWriter(io::Sink& sink, WriterOptions options);
  Status WriteDictionary();
  Status Put(std::string_view plain, bool last);
  Status PutCompressed(std::string_view plain, bool last);
  Status Out(std::string_view bytes);

  io::Sink& sink_;
  WriterOptions options_;
  std::unique_ptr<codec::GzipMemberDeflater> deflater_;
  std::unique_ptr<codec::Encoder> encoder_;
  codec::Buffer pending_;  // of the record, plain
  codec::Buffer packed_;
  bool in_pieces_ = false;  // the encoder is in the middle of the record
  std::uint64_t offset_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t record_bytes_ = 0;  // of the whole record, plain
  std::uint64_t block_left_ = 0;
  std::string separator_;
  bool failed_ = false;
};

}  // namespace stele::warc
