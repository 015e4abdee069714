#pragma once

#include <algorithm>
#include <memory>

#include "formats/record/block_stream.h"
#include "formats/record/record_reader.h"
#include "io/memory_file_system.h"
#include "util/check.h"

// What must hold for every file, good or bad: for the fuzzers of grammars.
namespace stele::record {

inline void CheckReading(io::Source& source, std::uint64_t size, std::unique_ptr<Grammar> grammar) {
  Result<std::unique_ptr<RecordInput>> input = OpenRecordInput(source);
  if (!input) return;
  RecordReader reader(*std::move(input), std::move(grammar));
  const bool plain = reader.compression() == Compression::kNone;
  std::uint64_t end = 0;     // of the record before
  std::uint64_t blocks = 0;  // bytes of blocks as stored
  std::uint64_t records = 0;
  for (;;) {
    Result<const Record*> next = reader.Next();
    Check(next.ok());
    if (*next == nullptr) break;
    const Record& record = **next;
    ++records;
    Check(!plain || records <= size);
    Check(record.offset < size && !record.head.empty());
    for (const http::Field& field : record.fields.fields()) Check(!field.name.empty());
    if (records % 3 == 0) {
      BlockStream block(reader, record);
      for (Result<std::string_view> piece = block.Read(); piece && !piece->empty();) {
        piece = block.Read();
      }
    } else {
      for (Result<std::string_view> piece = reader.ReadBlock(); piece && !piece->empty();) {
        blocks += piece->size();
        piece = reader.ReadBlock();
      }
    }
    const Result<Extent> extent = reader.Finish();
    if (!extent) continue;
    Check(extent->offset == record.offset && extent->offset + extent->length <= size);
    if (plain) Check(extent->offset >= end && extent->length > 0);
    end = std::max(end, extent->offset + (plain ? extent->length : 0));
  }
  if (plain) Check(blocks <= size);
  std::uint64_t lost = 0;
  for (const Loss& loss : reader.losses()) {
    Check(loss.begin >= lost && loss.begin <= loss.end && loss.end <= size);
    lost = loss.end;
  }
}

// As a file and as a pipe.
template <typename GrammarType>
void CheckReadings(std::string_view bytes) {
  io::MemorySource pipe(bytes);
  CheckReading(pipe, bytes.size(), std::make_unique<GrammarType>());
  io::MemoryFileSystem fs;
  Check(io::ReplaceFile(fs, "f", bytes).ok());
  io::FileSource file(*fs.OpenForReading("f"));
  CheckReading(file, bytes.size(), std::make_unique<GrammarType>());
}

}  // namespace stele::record
