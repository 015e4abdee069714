#include <cstdlib>

#include "formats/zip/zip_reader.h"
#include "io/memory_file_system.h"

// Whatever the bytes say, reading ends, and what is read has the size that was said.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele;
  io::MemoryFileSystem fs;
  if (!io::ReplaceFile(fs, "x", {reinterpret_cast<const char*>(data), size})) std::abort();
  const auto zip = zip::ZipReader::Open(*fs.OpenForReading("x"));
  if (!zip) return 0;
  std::uint64_t packed = 0;
  for (const zip::Entry& entry : (*zip)->entries()) {
    packed += entry.packed_bytes;
    if ((*zip)->Find(entry.name) != &entry || (*zip)->At(entry.header) != &entry) std::abort();
    const auto content = (*zip)->ReadContent(entry, 1 << 20);
    if (content && content->size() != entry.bytes) std::abort();
  }
  if (packed > size) std::abort();
  return 0;
}
