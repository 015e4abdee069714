#include <cstddef>
#include <cstdint>

#include "formats/record/fuzz_reading.h"
#include "formats/tianwang/tianwang_grammar.h"
#include "formats/tianwang/tianwang_writer.h"

namespace {

using stele::Result;
using stele::tianwang::Page;

// The bytes as a page: what the writer takes, the reader gives back.
void CheckRoundTrip(std::string_view bytes) {
  Page page;
  page.compress = !bytes.empty() && bytes[0] % 2 == 1;
  page.url = bytes.substr(0, bytes.size() / 4);
  page.ip = bytes.substr(page.url.size(), bytes.size() / 8);
  page.data = bytes.substr(page.url.size());
  page.time.milliseconds = static_cast<std::int64_t>(bytes.size()) * 1'000'000'000;
  stele::io::StringSink sink;
  stele::tianwang::Writer writer(sink);
  const Result<stele::record::Extent> extent = writer.Write(page);
  if (!extent) {
    Check(sink.content().empty());
    return;
  }
  Check(extent->length == sink.content().size());
  stele::io::MemorySource source(sink.content());
  stele::record::RecordReader reader(*stele::record::OpenRecordInput(source),
                                     std::make_unique<stele::tianwang::TianwangGrammar>());
  Result<const stele::record::Record*> record = reader.Next();
  Check(record.ok() && *record != nullptr);
  Check((*record)->target_uri == page.url && (*record)->date == page.time);
  Check((*record)->fields.Find("ip").value_or("") == page.ip);
  stele::record::BlockStream block(reader, **record);
  std::string data;
  for (;;) {
    Result<std::string_view> piece = block.Read();
    Check(piece.ok());
    if (piece->empty()) break;
    data += *piece;
  }
  Check(data == page.data);
  Check(reader.Finish().ok() && reader.defects().empty());
  Check(*reader.Next() == nullptr && reader.losses().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckRoundTrip(bytes);
  stele::record::CheckReadings<stele::tianwang::TianwangGrammar>(bytes);
  return 0;
}
