#include <cstddef>
#include <cstdint>

#include "catalog/page_file.h"
#include "catalog/page_frame.h"
#include "codec/zstd_codec.h"
#include "io/memory_file_system.h"
#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

// An index that is read writes itself again byte for byte.
void ReadIndex(std::string_view bytes) {
  const Result<PageIndex> index = PageIndex::Parse(bytes);
  if (index) Check(index->Format() == bytes);
}

// A frame with a good checksum and anything before it.
void ReadFrame(std::string_view bytes) {
  std::string frame(bytes);
  PutFixed64(frame, ChecksumOf(bytes, 7));
  const Result<std::string> plain = OpenFrame(frame, 7, 1 << 20, *codec::ZstdCodec().NewDecoder());
  if (!plain) return;
  std::string again;
  const std::size_t half = plain->size() / 2;
  AppendFrame({plain->substr(0, half), plain->substr(half)}, 7, *codec::ZstdCodec().NewEncoder(1),
              again);
  Check(*OpenFrame(again, 7, 1 << 20, *codec::ZstdCodec().NewDecoder()) == *plain);
}

void ReadWholeFile(std::string_view bytes) {
  io::MemoryFileSystem disk;
  Check(io::ReplaceFile(disk, "f", bytes).ok());
  PageCache cache(1 << 16);
  const Result<std::unique_ptr<PageFile>> file = PageFile::Open(disk, "f", "example", cache);
  if (file) (*file)->Verify([](const Error&) {});
}

}  // namespace
}  // namespace stele::catalog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  stele::catalog::ReadIndex(bytes);
  stele::catalog::ReadFrame(bytes);
  stele::catalog::ReadWholeFile(bytes);
  return 0;
}
