#include "catalog/page_file_writer.h"
#include "dedup/digest_entry.h"
#include "dedup/digest_index.h"
#include "io/memory_file_system.h"

// Pages with good checksums and any content: all of it is read or named as damage. The first byte
// says how many bytes the summary has.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t summary = std::min<std::size_t>(data[0], bytes.size());
  static_cast<void>(dedup::ParseEntry(bytes).ok());
  io::MemoryFileSystem fs;
  auto writer = catalog::PageFileWriter::Create(fs, "index", dedup::kDigestIndexKind);
  static_cast<void>((*writer)->Append({std::string(bytes.substr(summary))}).ok());
  static_cast<void>((*writer)->Finish(bytes.substr(0, summary)).ok());
  catalog::PageCache cache(1 << 20);
  const auto index = dedup::DigestIndex::Open(fs, "index", cache);
  if (!index) return 0;
  dedup::PayloadDigest digest;
  digest.sha1.emplace();
  static_cast<void>((*index)->ByUrl("").ok());
  static_cast<void>((*index)->ByEquivalentUrl("http://a/", digest).ok());
  static_cast<void>((*index)->ByDigest(digest).ok());
  return 0;
}
