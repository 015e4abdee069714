// Any bytes as a compressed content: what is taken over gives the content wherever it stands, and
// nothing that is decoded is longer than was said.
#include <cstdint>
#include <string>

#include "codec/gzip_member.h"
#include "store/container_record.h"
#include "store/packed_content.h"
#include "util/check.h"

namespace stele::store {
namespace {

void CheckRecord(const TakenBlocks& taken, std::string_view content) {
  constexpr std::string_view kHead = "WARC/1.1\r\n\r\n";
  codec::Buffer record;
  RecordPacker packer(content.size(), nullptr, record);
  packer.Begin(kHead);
  packer.BeginBlocks(taken.crc);
  packer.AddBlocks(taken.blocks);
  packer.End();
  codec::GzipMemberInflater inflater;
  codec::Buffer plain;
  const auto inflated = inflater.Inflate(record.view(), content.size() + 100, plain);
  Check(inflated.ok() && inflated->consumed == record.size());
  Check(plain.view() == std::string(kHead).append(content) + "\r\n\r\n");
}

// As a stream, a member that can be taken over gives the same.
void CheckStream(std::string_view bytes, std::size_t said) {
  const auto taken = TakeBlocks(bytes, said);
  if (!taken) return;
  io::MemorySource source(bytes);
  StandingMember standing(source, said);
  DecodedSource decoded(standing, *WireCodec("gzip"), said + RecordPacker::kRecordEnd.size());
  std::string piece(1000, '\0');
  std::string plain;
  for (;;) {
    const Result<std::size_t> read = decoded.Read(piece);
    Check(read.ok());
    if (*read == 0) break;
    plain.append(piece, 0, *read);
  }
  Check(plain == taken->plain.view() && standing.taken_crc() == taken->crc);
}

}  // namespace
}  // namespace stele::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele;
  if (size < 2) return 0;
  const std::size_t said = data[0] + 256u * data[1];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (const auto taken = store::TakeBlocks(bytes, said)) {
    store::CheckRecord(*taken, taken->plain.view().substr(0, said));
  }
  codec::BlockDeflater deflater(1);
  const std::string member = store::PackGzip(bytes, deflater);
  const auto own = store::TakeBlocks(member, bytes.size());
  Check(own && own->plain.view().substr(0, bytes.size()) == bytes);
  store::CheckStream(bytes, said);
  for (const char* name : {"gzip", "zstd"}) {
    io::MemorySource packed(bytes);
    store::DecodedSource source(packed, *store::WireCodec(name), said);
    std::string piece(1000, '\0');
    std::size_t all = 0;
    for (;;) {
      const Result<std::size_t> read = source.Read(piece);
      if (!read || *read == 0) break;
      all += *read;
      Check(all <= said);
    }
  }
  return 0;
}
