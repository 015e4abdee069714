#include <cstddef>
#include <cstdint>

#include "formats/record/fuzz_reading.h"
#include "formats/warc/rules.h"
#include "formats/warc/warc_grammar.h"
#include "formats/warc/warc_writer.h"

namespace {

using stele::Result;
using stele::record::Record;
using stele::record::RecordReader;

struct Copy {
  std::string heads;
  std::string blocks;
  std::uint64_t records = 0;
};

// Reads a file and writes a copy of its undamaged records.
Copy CopyRecords(std::string_view bytes, stele::warc::WarcWriter& writer) {
  Copy copy;
  stele::io::MemorySource source(bytes);
  Result<std::unique_ptr<stele::record::RecordInput>> input =
      stele::record::OpenRecordInput(source);
  if (!input) return copy;
  RecordReader reader(*std::move(input), std::make_unique<stele::warc::WarcGrammar>());
  while (const Record* record = *reader.Next()) {
    std::vector<stele::record::Defect> defects;
    stele::warc::CheckHead(*record, defects);
    std::string block;
    bool whole = true;
    for (;;) {
      Result<std::string_view> piece = reader.ReadBlock();
      whole = piece.ok();
      if (!piece || piece->empty()) break;
      block += *piece;
    }
    whole = reader.Finish().ok() && whole && !record->damaged;
    if (!whole || block.size() > 1 << 20) continue;
    Check(block.size() == record->content_length);
    copy.heads += record->head;
    copy.blocks += block;
    ++copy.records;
    Check(writer.BeginCopy(record->head, block.size(), "\r\n\r\n").ok());
    Check(writer.Append(block).ok());
    Check(writer.End().ok());
  }
  return copy;
}

// What was copied is read again as it was, from the copy, whatever the compression.
void CheckCopies(std::string_view bytes, stele::record::Compression compression) {
  stele::io::StringSink first, second;
  stele::warc::WriterOptions options;
  options.compression = compression;
  options.level = 1;
  const Copy copy = CopyRecords(bytes, **stele::warc::WarcWriter::Create(first, options));
  const Copy again =
      CopyRecords(first.content(), **stele::warc::WarcWriter::Create(second, options));
  Check(again.records == copy.records);
  Check(again.heads == copy.heads && again.blocks == copy.blocks);
  Check(second.content() == first.content());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stele::record::CheckReadings<stele::warc::WarcGrammar>(bytes);
  CheckCopies(
      bytes, size % 2 == 0 ? stele::record::Compression::kGzip : stele::record::Compression::kZstd);
  return 0;
}
